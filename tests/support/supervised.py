"""A supervisor with a recording owner, over ports that can be missing, slow or silent."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import PortMissing
from firmware_bridge.supervisor import Phase, Supervisor
from tests.support.greetings import TRUST, Machine
from tests.support.links import TO_HOST, Port, ports

if TYPE_CHECKING:
    from firmware_bridge.errors import PitboxError
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello
    from firmware_bridge.wire import Transport


class Rig:
    """One supervisor and the world around it. `troubles` holds what the next attempts to open raise; None opens."""

    def __init__(self, *, seed: int = 1, **machine: Any) -> None:
        self.told: list[DeviceHello | PitboxError] = []
        self.told_at: list[float] = []
        self.tries: list[float] = []
        self.opened: list[Port] = []
        self.troubles: list[PitboxError | None] = []
        self.trouble: PitboxError | None = None  # for every attempt once `troubles` is used up
        self.opening_takes = 0.0
        self.mute = False  # ports open, nobody answers
        self.machine: Machine | None = None
        self._options = machine
        self._loop = asyncio.get_running_loop()
        self.supervisor = Supervisor("shuffler.1", self.open, TRUST, TO_HOST, self, jitter=Random(seed))

    async def open(self) -> Transport:
        """Open the port, or not."""
        self.tries.append(self._loop.time())
        assert all(port.closed for port in self.opened), "a port is opened before the last one was given back"
        if self.opening_takes:
            await asyncio.sleep(self.opening_takes)
        trouble = self.troubles.pop(0) if self.troubles else self.trouble
        if trouble is not None:
            raise trouble
        near, far = ports()
        self.opened.append(near)
        if not self.mute:
            if self.machine is None:
                self.machine = Machine(far, **self._options)
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
        self.told.append(what)
        self.told_at.append(self._loop.time())

    def kinds(self) -> list[str]:
        """The names of the owner's notifications."""
        return [type(what).__name__ for what in self.told]

    async def reach(self, phase: Phase, seconds: float = 100.0) -> None:
        """Let time pass until the supervisor is in this phase."""
        async with asyncio.timeout(seconds):
            while self.supervisor.phase is not phase:  # noqa: ASYNC110 - the clock is virtual
                await asyncio.sleep(0.005)

    async def enter(self, phase: Phase) -> None:
        """Start, and arrange the world so that the supervisor stays in this phase."""
        if phase is Phase.OPENING:
            self.opening_takes = 1000.0
        elif phase is Phase.HANDSHAKE:
            self.mute = True
        elif phase is Phase.WAITING:
            self.trouble = PortMissing("no such port")
        if phase is not Phase.IDLE:
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
