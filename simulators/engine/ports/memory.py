"""A simulated machine on a pipe in memory, for virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from firmware_bridge.errors import PortBusy, PortMissing
from firmware_bridge.transport.memory import MemoryTransport, memory_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.wire import Transport
    from simulators.engine.machine import SimulatedMachine


class MemoryPort:
    """Gives the host's end of the pipe to one opener at a time, like a real port."""

    def __init__(self, machine: SimulatedMachine, end: Callable[[], MemoryTransport] = MemoryTransport) -> None:
        self._machine = machine
        self._make_end = end
        self._loop = asyncio.get_running_loop()
        self._present = True
        self._end: MemoryTransport | None = None
        machine.on_unplug = self.unplug

    async def open(self) -> Transport:
        """Open the port, as `open_serial` does for a real one."""
        if not self._present:
            raise PortMissing(f"{self._machine.slot} is not plugged in")
        if self._end is not None and not self._end.closed:
            raise PortBusy(f"{self._machine.slot} is in use by another opener")
        self._end, far = memory_pair(self._make_end)
        self._machine.board.plug(far)
        return self._end

    def unplug(self, seconds: float) -> None:
        """Pull the cable; put it back later unless `seconds` is 0."""
        self._present = False
        self._machine.board.unplug()
        if seconds:
            self._loop.call_later(seconds, self._replug)

    def _replug(self) -> None:
        self._present = True
