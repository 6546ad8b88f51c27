"""The cable of a simulated machine at a real port: plugged in, pulled, put back later, removed for good."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulators.engine.machine import SimulatedMachine


class PluggedPort(ABC):
    """Base of the ports that keep one machine at its place over unplug and replug. It is plugged in from the start."""

    def __init__(self, machine: SimulatedMachine) -> None:
        self._machine = machine
        self._loop = asyncio.get_running_loop()
        self._replug: asyncio.TimerHandle | None = None
        machine.on_unplug = self.unplug
        self.plug()

    @abstractmethod
    def _connect(self) -> None:
        """Make the port anew, at the same place, and give the machine its end."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Remove what a host sees of the port, before the machine loses its end."""

    def plug(self) -> None:
        """Put the cable in."""
        self._replug = None
        self._connect()

    def unplug(self, seconds: float = 0.0) -> None:
        """Pull the cable; put it back later unless `seconds` is 0."""
        self._disconnect()
        self._machine.board.unplug()
        if seconds:
            self._replug = self._loop.call_later(seconds, self.plug)

    def close(self) -> None:
        """Remove the machine for good."""
        if self._replug is not None:
            self._replug.cancel()
        self.unplug()
        self._machine.board.power_off()
