"""The shuffler's driver: its questions and actuations, typed. What all drivers share is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.driver import Driver
from devices.shuffler import messages as m
from devices.shuffler.state import GivenOut
from devices.trail import TRAIL, GetTrail, Trail
from firmware_bridge.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.shuffler.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShufflerDriver(Driver):
    """Talks to one shuffler of any model; what its model cannot do raises NotCapable, and nothing is sent."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- questions -------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """What the machine does and what it believes is inside; an Inventory if it shuffles continuously."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Sensor levels and motor currents."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def transits(self) -> m.Transits:
        """Transit-time statistics."""
        return await self.ask(m.GetTransits(), m.Transits)

    async def trail(self) -> Trail:
        """The last edges with their times, and what the motors drew when motion broke off."""
        self._need_model(TRAIL, "tell its last edges")
        return await self.ask(GetTrail(), Trail)

    async def findings(self) -> m.Findings | m.BatchFindings | m.NoFindings:
        """What is missing or extra in a rejected deck or batch, if this machine can tell."""
        return await self.ask(m.GetFindings(), m.Findings, m.BatchFindings, m.NoFindings)

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def shuffle(self, command: int) -> Settled:
        """Run one cycle; returns when it is complete. What came out is in the Completed event."""
        self._need_model(m.CONTINUOUS, "run a cycle", named=False)
        return await self.actuate(m.StartCycle(command), command)

    async def eject(self, command: int) -> Settled:
        """Give the deck out."""
        settled = await self.actuate(m.Eject(command), command)
        self.tell(GivenOut(command))
        return settled

    async def stop(self, command: int) -> Settled:
        """Stop all motion at once: written now, before anything queued; queued actuations are revoked."""
        return await self.actuate(m.Stop(command), command, urgent=True)

    async def self_test(self, command: int) -> Settled:
        """Test lamps, sensors and motors."""
        return await self.actuate(m.SelfTest(command), command)

    async def set_mode(self, command: int, mode: m.Mode) -> Settled:
        """Choose SHUFFLE or SORT."""
        self._need_model(m.CONTINUOUS, "sort", named=False)
        return await self.actuate(m.SetMode(command, mode), command)

    async def clear_jam(self, command: int) -> Settled:
        """Check that the path is clear and empty the compartments: after a jam was cleared by hand, or at the end."""
        return await self.actuate(m.ClearJam(command), command)

    async def take_in(self, command: int) -> Settled:
        """Take the discards from the intake into the store. How many is in the TakenIn event."""
        self._need_model(m.CONTINUOUS, "take cards into a store")
        return await self.actuate(m.TakeIn(command), command)

    async def deliver(self, command: int, cards: int) -> Settled:
        """Bring cards from the store into the chute."""
        self._need_model(m.CONTINUOUS, "deliver into a chute")
        if not 1 <= cards <= m.MOST_DELIVERED:
            raise ConfigurationError(f"{cards} cards cannot be delivered; 1 to {m.MOST_DELIVERED} can")
        return await self.actuate(m.Deliver(command, cards), command)

    async def count_all(self, command: int) -> Settled:
        """Count the whole set. How many there are is in the Counted event."""
        self._need_model(m.CONTINUOUS, "count a store")
        return await self.actuate(m.CountAll(command), command)

    async def jog(self, command: int, motor: m.Motor, *, reverse: bool = False) -> Settled:
        """Turn one motor a little. What it drew, and whether it turned, is in the Jogged event."""
        self._need_model(m.JOGS, "turn one motor by itself")
        return await self.actuate(m.Jog(command, motor, reverse), command)

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self.actuate(m.Reset(command), command)
