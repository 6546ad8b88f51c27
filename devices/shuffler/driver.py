"""The shuffler's driver: its questions and actuations, typed. What all drivers share is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.driver import Driver
from devices.shuffler import messages as m
from devices.shuffler.state import GivenOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.shuffler.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShufflerDriver(Driver):
    """Talks to one shuffler."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- questions -------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """What the machine does and what it believes is inside."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Sensor levels and motor currents."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def transits(self) -> m.Transits:
        """Transit-time statistics."""
        return await self.ask(m.GetTransits(), m.Transits)

    async def findings(self) -> m.Findings | m.NoFindings:
        """What is missing or extra in a rejected deck, if this machine can tell."""
        return await self.ask(m.GetFindings(), m.Findings, m.NoFindings)

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def shuffle(self, command: int) -> Settled:
        """Run one cycle; returns when it is complete. What came out is in the Completed event."""
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
        return await self.actuate(m.SetMode(command, mode), command)

    async def clear_jam(self, command: int) -> Settled:
        """After the path was cleared by hand: check it and empty the compartments."""
        return await self.actuate(m.ClearJam(command), command)

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self.actuate(m.Reset(command), command)
