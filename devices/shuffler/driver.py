"""The shuffler's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.driver import Driver
from devices.edge_log import EDGE_LOG, EdgeLog, GetEdgeLog
from devices.shuffler import messages as m
from devices.shuffler.state import DeckEjected
from firmware_bridge.errors import ConfigurationError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.shuffler.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShufflerDriver(Driver):
    """Controls one shuffler of any model. Commands that its model lacks raise NotCapable and are not sent."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the state of the machine and its card counts; an Inventory from a continuous shuffler."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Return the sensor levels and motor currents."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def transits(self) -> m.Transits:
        """Return the transit-time statistics."""
        return await self.ask(m.GetTransits(), m.Transits)

    async def edge_log(self) -> EdgeLog:
        """Return the latest sensor edges, and the motor currents when motion halted."""
        self._require_capability(EDGE_LOG, "report its edge log")
        return await self.ask(GetEdgeLog(), EdgeLog)

    async def findings(self) -> m.Findings | m.BatchFindings | m.NoFindings:
        """Return the missing and extra cards of a rejected deck or batch, if the machine identifies cards."""
        return await self.ask(m.GetFindings(), m.Findings, m.BatchFindings, m.NoFindings)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def shuffle(self, command: int) -> asyncio.Task[Settled]:
        """Run one cycle; returns when it is complete. The Completed event has its result."""
        self._require_capability(m.CONTINUOUS, "run a cycle", present=False)
        return self.actuate(m.StartCycle(command), command)

    def eject(self, command: int) -> asyncio.Task[Settled]:
        """Eject the deck."""
        return self.actuate(m.Eject(command), command, then=DeckEjected(command))

    def insert(self, command: int) -> asyncio.Task[Settled]:
        """Push the stack directly into the dealing shoe. The Inserted event reports that it has left the chute."""
        self._require_capability(m.INSERTS, "insert its stack into a shoe")
        return self.actuate(m.Insert(command), command)

    def stop(self, command: int) -> asyncio.Task[Settled]:
        """Stop all motion at once: sent before queued messages; queued commands are revoked."""
        return self.actuate(m.Stop(command), command, urgent=True)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test lamps, sensors and motors."""
        return self.actuate(m.SelfTest(command), command)

    def set_mode(self, command: int, mode: m.Mode) -> asyncio.Task[Settled]:
        """Choose SHUFFLE or SORT."""
        self._require_capability(m.CONTINUOUS, "sort", present=False)
        return self.actuate(m.SetMode(command, mode), command)

    def clear_jam(self, command: int) -> asyncio.Task[Settled]:
        """Check that the path is clear and empty the compartments: after a jam was cleared by hand, or to unload."""
        return self.actuate(m.ClearJam(command), command)

    def take_in(self, command: int) -> asyncio.Task[Settled]:
        """Take the discards from the intake into the store. The TakenIn event has their count."""
        self._require_capability(m.CONTINUOUS, "take cards into a store")
        return self.actuate(m.TakeIn(command), command)

    def deliver(self, command: int, cards: int) -> asyncio.Task[Settled]:
        """Bring cards from the store into the chute."""
        self._require_capability(m.CONTINUOUS, "deliver into a chute")
        if not 1 <= cards <= m.MAX_DELIVERED:
            raise ConfigurationError(f"{cards} cards cannot be delivered; 1 to {m.MAX_DELIVERED} can")
        return self.actuate(m.Deliver(command, cards), command)

    def count_all(self, command: int) -> asyncio.Task[Settled]:
        """Count the whole set. The Counted event has the count."""
        self._require_capability(m.CONTINUOUS, "count a store")
        return self.actuate(m.CountAll(command), command)

    def jog(self, command: int, motor: m.Motor, *, reverse: bool = False) -> asyncio.Task[Settled]:
        """Turn one motor a little. The Jogged event has its current, and whether it turned."""
        self._require_capability(m.JOGS, "turn one motor by itself")
        return self.actuate(m.Jog(command, motor, reverse), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
