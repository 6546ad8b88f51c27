"""One supervisor owns one link's life: open, shake hands, watch, close, wait, again. Drivers never open ports.

Cancellation rules: `close` (or cancelling the task that runs `run`) ends it in any phase; the port is closed before
either returns; CancelledError is never swallowed; after closing, nothing is reopened. A port that has threads (USB,
network) is given back by its thread a moment later; who opens a USB device again waits for it.
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
from firmware_bridge.falls import WINDOW, Falls
from firmware_bridge.handshake import greet
from firmware_bridge.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import msgspec

    from firmware_bridge.handshake import Trust
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello
    from firmware_bridge.wire import Capture, Transport

log = logging.getLogger(__name__)

# How long to wait after each kind of failure (s): first and longest, doubling in between.
_WAITS: Final[list[tuple[type[PitboxError], float, float]]] = [
    (SessionLost, 0.05, 1.0),  # the device is there and has just rebooted
    (TrustError, 10.0, 60.0),  # a person must act; asking more often only fills the log
    (ProtocolError, 5.0, 60.0),  # likewise
    (PortBusy, 1.0, 10.0),
    (PortMissing, 0.25, 5.0),  # unplugged: quick when it returns
    (PitboxError, 0.1, 5.0),
]
# After a trial that held, the device is met again so soon (s).
_AGAIN: Final = 0.1
# How soon (s) a trial ends once its owner allows none any more.
_SLICE: Final = 0.2
# A link that lived this long (s) was good: its next failure starts with the short wait again.
_GOOD: Final = 10.0


class Phase(Enum):
    """Where a link's life is."""

    IDLE = "idle"
    OPENING = "opening"
    HANDSHAKE = "handshake"
    UP = "up"
    WAITING = "waiting"
    CLOSED = "closed"


class Owner(Protocol):
    """The driver, as its supervisor sees it."""

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """A proved session stands; set the link's callbacks now."""

    def link_down(self, cause: PitboxError) -> None:
        """The session is gone; also told, once per kind of cause, when none could be made."""


class FlapWatch(Protocol):
    """Whoever may put a link on trial that falls again and again."""

    def longest_trial(self) -> float:
        """Return for how long (s) the device may stay unknown to its owner now; 0: not at all."""

    def flapping(self, falls: Falls, cause: PitboxError) -> None:
        """The link is on trial from now on, or fell during one."""

    def steady(self, falls: Falls) -> None:
        """A link that was on trial has held for long enough to be trusted as any other."""


class Supervisor:
    """Keeps one device connected for its driver. With a `watch`, a link that falls again and again is on trial."""

    def __init__(
        self,
        name: str,
        open_port: Callable[[], Awaitable[Transport]],
        trust: Trust,
        decode: msgspec.msgpack.Decoder[Any],
        owner: Owner,
        *,
        capture: Capture | None = None,
        jitter: Random | None = None,
        watch: FlapWatch | None = None,
    ) -> None:
        self.name = name
        self.phase = Phase.IDLE
        self.failures = 0  # in a row
        self.last_cause: PitboxError | None = None
        self.link: Link | None = None
        self._open_port = open_port
        self.trust = trust
        self._decode = decode
        self._owner = owner
        self._capture = capture
        self._jitter = jitter or Random()
        self.falls = Falls()
        self._watch = watch
        self._is_proved = False  # a trial has held, and the next session is the owner's
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin in a task of its own."""
        if self.phase is not Phase.IDLE or self._task is not None:
            raise LinkClosed(f"{self.name}: a supervisor lives once")
        self._task = asyncio.get_running_loop().create_task(self.run(), name=f"supervisor {self.name}")

    async def close(self) -> None:
        """End it, whatever it is doing; returns once the port is closed. Closing twice is harmless."""
        task = self._task
        if task is not None:
            task.cancel()
            await asyncio.wait({task})  # for everybody who closes, not only for the first
        self.phase, self._task = Phase.CLOSED, None
        if task is not None and not task.cancelled():
            task.result()  # it died of something that is not a link's failure: say so

    async def run(self) -> None:
        """Keep the link alive until cancelled."""
        try:
            while True:
                cause = await self._one_life()
                if cause is not None:
                    self._note(cause)
                self.phase = Phase.WAITING
                await asyncio.sleep(_AGAIN if cause is None else self._wait_for(cause))
        except Exception as bug:
            # Not a link's failure but ours or the owner's: nobody may wait for a supervisor that is gone.
            self._owner.link_down(LinkError(f"{self.name}: the supervisor died of {bug!r}"))
            raise
        finally:
            self.phase = Phase.CLOSED

    async def _one_life(self) -> PitboxError | None:
        """Open, shake hands and live until the link fails; return why. The port is closed on every way out.

        None after a trial that held: the device is met anew, so that the session that its owner gets is the first one
        that the device knows after its fall, under the trust of that moment.
        """
        transport: Transport | None = None
        try:
            self.phase = Phase.OPENING
            transport = await self._open_port()
            self.phase = Phase.HANDSHAKE
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
        """Shake hands; LinkClosed if another device is expected by the time that this one has proved itself."""
        trust = self.trust
        link, hello = await greet(Wire(transport, self._capture), trust, self._decode)
        if self.trust is not trust:
            link.close()
            raise LinkClosed(f"{self.name}: another device is expected now")
        return link, hello

    def _trial(self) -> float:
        """How long (s) a link must hold now before its owner is told; 0: not at all."""
        return 0.0 if self._watch is None else min(self.falls.trial(), self._watch.longest_trial())

    async def _try(self, link: Link) -> PitboxError | None:
        """Have a link that fell again and again hold for a while, unknown to its owner; return why it fell, if it did.

        The trial ends at once when its owner allows none any more. What the device sends meanwhile is not lost with it:
        the session that the owner gets is a new one.
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
        self.falls.fell_on_trial()
        self._watch.flapping(self.falls, down.result())
        return down.result()

    async def _live(self, link: Link, hello: DeviceHello) -> PitboxError:
        loop = asyncio.get_running_loop()
        since = loop.time()
        down: asyncio.Future[PitboxError] = loop.create_future()
        steady = loop.call_later(WINDOW, self._held) if self.falls.is_flapping else None

        def fallen(cause: PitboxError) -> None:
            self.link = None
            self._fell(cause, loop.time() - since)
            if not down.done():
                down.set_result(cause)
            self._owner.link_down(cause)

        link.on_down = fallen
        self.link, self.phase = link, Phase.UP
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
        """A link fell that the owner knew. One that is closed on purpose has not fallen."""
        if self._watch is None or isinstance(cause, LinkClosed):
            return
        newly = self.falls.fell(asyncio.get_running_loop().time(), lived)
        if newly:
            log.warning("%s: it falls again and again; from now on it must hold before it counts", self.name)
            self._watch.flapping(self.falls, cause)

    def _held(self) -> None:
        """A link that was on trial has held for the whole window."""
        if self._watch is not None:
            self._watch.steady(self.falls)
        self.falls.steady()

    def _note(self, cause: PitboxError) -> None:
        """First failure loud, repeats quiet; a new kind of failure is loud again."""
        repeated = self.failures > 0 and type(cause) is type(self.last_cause)
        self.failures += 1
        self.last_cause = cause
        level = logging.DEBUG if repeated or self.falls.is_flapping else logging.WARNING
        log.log(level, "%s: %s %s (failure %d in a row)", self.name, cause.code, cause, self.failures)
        if not repeated and self.phase is not Phase.UP:
            self._owner.link_down(cause)

    def _wait_for(self, cause: PitboxError) -> float:
        first, longest = next((first, longest) for kind, first, longest in _WAITS if isinstance(cause, kind))
        wait = min(longest, first * 2.0 ** min(self.failures - 1, 16))
        return wait * self._jitter.uniform(0.75, 1.25)
