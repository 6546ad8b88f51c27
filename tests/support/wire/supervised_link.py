"""A supervisor with a recording owner, over ports that can be missing, slow or silent."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import PortMissing
from firmware_bridge.supervisor import LinkPhase, Supervisor
from tests.support.wire.handshakes import TRUST, HandshakeMachine
from tests.support.wire.links import TO_HOST, Port, ports

if TYPE_CHECKING:
    from firmware_bridge.errors import PitboxError
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello
    from firmware_bridge.wire import Transport


class SupervisedLink:
    """One supervisor and the world around it. `open_errors` holds what the next attempts to open raise; None opens."""

    def __init__(self, *, seed: int = 1, **machine: Any) -> None:
        self.notifications: list[DeviceHello | PitboxError] = []
        self.notified_at: list[float] = []
        self.tries: list[float] = []
        self.opened: list[Port] = []
        self.open_errors: list[PitboxError | None] = []
        self.open_error: PitboxError | None = None  # for every attempt once `open_errors` is used up
        self.open_time_s = 0.0
        self.mute = False  # ports open, nobody answers
        self.machine: HandshakeMachine | None = None
        self._options = machine
        self._loop = asyncio.get_running_loop()
        self.supervisor = Supervisor("shuffler.1", self.open, TRUST, TO_HOST, self, jitter=Random(seed))

    async def open(self) -> Transport:
        """Open the port, or not."""
        self.tries.append(self._loop.time())
        assert all(port.closed for port in self.opened), "a port is opened before the last one was given back"
        if self.open_time_s:
            await asyncio.sleep(self.open_time_s)
        trouble = self.open_errors.pop(0) if self.open_errors else self.open_error
        if trouble is not None:
            raise trouble
        near, far = ports()
        self.opened.append(near)
        if not self.mute:
            if self.machine is None:
                self.machine = HandshakeMachine(far, **self._options)
            else:
                self.machine.port = far
                self.machine.boot()
        return near

    def link_up(self, link: Link, hello: DeviceHello) -> None:
        """Note that the link is up."""
        assert link.down is None
        self._note(hello)

    def link_down(self, cause: PitboxError) -> None:
        """Note that the link is down."""
        self._note(cause)

    def _note(self, what: DeviceHello | PitboxError) -> None:
        self.notifications.append(what)
        self.notified_at.append(self._loop.time())

    def kinds(self) -> list[str]:
        """The names of the owner's notifications."""
        return [type(what).__name__ for what in self.notifications]

    async def reach(self, phase: LinkPhase, seconds: float = 100.0) -> None:
        """Let time pass until the supervisor is in this phase."""
        async with asyncio.timeout(seconds):
            while self.supervisor.phase is not phase:  # noqa: ASYNC110 - the clock is virtual
                await asyncio.sleep(0.005)

    async def enter(self, phase: LinkPhase) -> None:
        """Start, and arrange the world so that the supervisor stays in this phase."""
        if phase is LinkPhase.OPENING:
            self.open_time_s = 1000.0
        elif phase is LinkPhase.HANDSHAKE:
            self.mute = True
        elif phase is LinkPhase.WAITING:
            self.open_error = PortMissing("no such port")
        if phase is not LinkPhase.IDLE:
            self.supervisor.start()
        await self.reach(phase)

    def pull(self) -> None:
        """Pull the cable out of the port that is open."""
        assert self.machine is not None
        self.machine.port.close()

    def ports_given_back(self) -> bool:
        """Whether every port that was opened is closed."""
        return all(port.closed for port in self.opened)

    def halt(self) -> None:
        """Switch the machine off, so that none of its timers remain."""
        if self.machine is not None:
            self.machine.halt()
