"""Keeps one device connected: opens the port, performs the handshake, watches the link, and reconnects after a failure.

Drivers never open ports. Cancellation rules: `close` (or canceling the task that runs `run`) ends it in any phase; the
port is closed before either returns; CancelledError is never swallowed; after closing, nothing is reopened. The threads
of a USB or network port release it a moment later; opening the same USB device again waits for that.
"""

from __future__ import annotations

import asyncio
import logging
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, Any, Final, Protocol

from firmware_bridge.errors import (
    LinkClosed,
    LinkError,
    PitboxError,
    PortBusy,
    PortMissing,
    ProtocolError,
    SessionLost,
    TrustError,
)
from firmware_bridge.handshake import open_session
from firmware_bridge.link_drops import DROP_WINDOW_S, LinkDrops
from firmware_bridge.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import msgspec

    from firmware_bridge.handshake import Trust
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello
    from firmware_bridge.wire import Capture, Transport

log = logging.getLogger(__name__)

# How long (s) to wait after each kind of failure: first and longest; the wait doubles each time.
_WAITS: Final[list[tuple[type[PitboxError], float, float]]] = [
    (SessionLost, 0.05, 1.0),  # the device is there and has just rebooted
    (TrustError, 10.0, 60.0),  # a person must act; retrying more often only fills the log
    (ProtocolError, 5.0, 60.0),  # likewise
    (PortBusy, 1.0, 10.0),
    (PortMissing, 0.25, 5.0),  # unplugged: reconnect quickly when it returns
    (PitboxError, 0.1, 5.0),
]
# After a successful trial, reconnect after this long (s).
_AGAIN: Final = 0.1
# How soon (s) a trial ends once its owner no longer allows one.
_SLICE: Final = 0.2
# A link that was up for this long (s) was good: its next failure starts with the short wait again.
_GOOD: Final = 10.0


class LinkPhase(Enum):
    """The phase of a link."""

    IDLE = "idle"
    OPENING = "opening"
    HANDSHAKE = "handshake"
    UP = "up"
    WAITING = "waiting"
    CLOSED = "closed"


class LinkOwner(Protocol):
    """What a supervisor needs of the driver."""

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """Use a new link to a proven device; set the link's callbacks now."""

    def link_down(self, cause: PitboxError) -> None:
        """The link is down. Also called, once per kind of cause, when no link could be made."""


class FlapListener(Protocol):
    """Controls the trials of a link that keeps dropping, and is informed about them."""

    def longest_trial_s(self) -> float:
        """Return how long (s) a trial may last now; 0 if none is allowed."""

    def on_flapping(self, drops: LinkDrops, cause: PitboxError) -> None:
        """The link goes on trial, or dropped during one."""

    def on_steady(self, drops: LinkDrops) -> None:
        """A link that was on trial stayed up long enough to count as steady."""


class Supervisor:
    """Keeps one device connected for its driver. With a `flap_listener`, a link that keeps dropping goes on trial."""

    def __init__(
        self,
        name: str,
        open_port: Callable[[], Awaitable[Transport]],
        trust: Trust,
        decode: msgspec.msgpack.Decoder[Any],
        owner: LinkOwner,
        *,
        capture: Capture | None = None,
        jitter: Random | None = None,
        flap_listener: FlapListener | None = None,
    ) -> None:
        self.name = name
        self.phase = LinkPhase.IDLE
        self.failures = 0  # in a row
        self.last_cause: PitboxError | None = None
        self.link: Link | None = None
        self._open_port = open_port
        self.trust = trust
        self._decode = decode
        self._owner = owner
        self._capture = capture
        self._jitter = jitter or Random()
        self.drops = LinkDrops()
        self._watch = flap_listener
        self._is_proved = False  # a trial succeeded: the next session goes to the owner
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start in a task of its own."""
        if self.phase is not LinkPhase.IDLE or self._task is not None:
            raise LinkClosed(f"{self.name}: a supervisor can be started only once")
        self._task = asyncio.get_running_loop().create_task(self.run(), name=f"supervisor {self.name}")

    async def close(self) -> None:
        """End it in any phase; return once the port is closed. Closing twice is harmless."""
        task = self._task
        if task is not None:
            task.cancel()
            await asyncio.wait({task})  # every caller waits, not only the first
        self.phase, self._task = LinkPhase.CLOSED, None
        if task is not None and not task.cancelled():
            task.result()  # raise an error that was not a link failure

    async def run(self) -> None:
        """Keep the link alive until canceled."""
        try:
            while True:
                cause = await self._one_life()
                if cause is not None:
                    self._note(cause)
                self.phase = LinkPhase.WAITING
                await asyncio.sleep(_AGAIN if cause is None else self._wait_for(cause))
        except Exception as bug:
            # A bug of ours or of the owner: release every caller that waits for this link.
            self._owner.link_down(LinkError(f"{self.name}: the supervisor stopped: {bug!r}"))
            raise
        finally:
            self.phase = LinkPhase.CLOSED

    async def _one_life(self) -> PitboxError | None:
        """Open the port, perform the handshake, and run until the link fails; return the cause. Always closes the port.

        Returns None after a successful trial: a new handshake follows, so that the owner's session is the device's
        first session after the drop, checked against the trust settings of that moment.
        """
        transport: Transport | None = None
        try:
            self.phase = LinkPhase.OPENING
            transport = await self._open_port()
            self.phase = LinkPhase.HANDSHAKE
            link, hello = await self._greet(transport)
            if link.down is None and not self._is_proved and self._trial() > 0.0:
                return await self._try(link)
            self._is_proved = False
            return link.down or await self._live(link, hello)
        except PitboxError as cause:
            return cause
        finally:
            if transport is not None:
                transport.close()

    async def _greet(self, transport: Transport) -> tuple[Link, DeviceHello]:
        """Perform the handshake; LinkClosed if the trust settings changed meanwhile."""
        trust = self.trust
        link, hello = await open_session(Wire(transport, self._capture), trust, self._decode)
        if self.trust is not trust:
            link.close()
            raise LinkClosed(f"{self.name}: another device is expected now")
        return link, hello

    def _trial(self) -> float:
        """Return how long (s) a link must stay up now before its owner gets it; 0 without a trial."""
        return 0.0 if self._watch is None else min(self.drops.trial_s(), self._watch.longest_trial_s())

    async def _try(self, link: Link) -> PitboxError | None:
        """Watch a link that keeps dropping, without its owner; return why it dropped, None if it stayed up.

        The trial ends at once when the owner no longer allows one. The owner then gets a new session, so nothing that
        the device sent during the trial is lost.
        """
        loop = asyncio.get_running_loop()
        down: asyncio.Future[PitboxError] = loop.create_future()
        link.on_down = lambda cause: None if down.done() else down.set_result(cause)
        began = loop.time()
        try:
            while not down.done() and loop.time() - began < self._trial():
                await asyncio.wait({down}, timeout=_SLICE)
            self._is_proved = not down.done()
        finally:
            link.close()
        if self._is_proved:
            return None
        assert self._watch is not None
        self.drops.record_trial_drop()
        self._watch.on_flapping(self.drops, down.result())
        return down.result()

    async def _live(self, link: Link, hello: DeviceHello) -> PitboxError:
        loop = asyncio.get_running_loop()
        since = loop.time()
        down: asyncio.Future[PitboxError] = loop.create_future()
        steady = loop.call_later(DROP_WINDOW_S, self._held) if self.drops.is_flapping else None

        def fallen(cause: PitboxError) -> None:
            self.link = None
            self._fell(cause, loop.time() - since)
            if not down.done():
                down.set_result(cause)
            self._owner.link_down(cause)

        link.on_down = fallen
        self.link, self.phase = link, LinkPhase.UP
        log.info("%s: %s %s connected after %d failures", self.name, hello.kind, hello.serial, self.failures)
        try:
            self._owner.link_up(link, hello)
            return await down
        finally:
            if steady is not None:
                steady.cancel()
            if loop.time() - since > _GOOD:
                self.failures = 0
            link.close()

    def _fell(self, cause: PitboxError, lived: float) -> None:
        """Record the drop of a link that its owner had. Closing on purpose is not a drop."""
        if self._watch is None or isinstance(cause, LinkClosed):
            return
        newly = self.drops.record_drop(asyncio.get_running_loop().time(), lived)
        if newly:
            log.warning("%s: the link keeps dropping; it is on trial until it stays up", self.name)
            self._watch.on_flapping(self.drops, cause)

    def _held(self) -> None:
        """End the trials: the link stayed up for the whole window."""
        if self._watch is not None:
            self._watch.on_steady(self.drops)
        self.drops.reset()

    def _note(self, cause: PitboxError) -> None:
        """Log a failure: the first of its kind as a warning, repeats as debug messages."""
        repeated = self.failures > 0 and type(cause) is type(self.last_cause)
        self.failures += 1
        self.last_cause = cause
        level = logging.DEBUG if repeated or self.drops.is_flapping else logging.WARNING
        log.log(level, "%s: %s %s (failure %d in a row)", self.name, cause.code, cause, self.failures)
        if not repeated and self.phase is not LinkPhase.UP:
            self._owner.link_down(cause)

    def _wait_for(self, cause: PitboxError) -> float:
        first, longest = next((first, longest) for kind, first, longest in _WAITS if isinstance(cause, kind))
        wait = min(longest, first * 2.0 ** min(self.failures - 1, 16))
        return wait * self._jitter.uniform(0.75, 1.25)
