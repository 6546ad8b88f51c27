"""The dice shaker's driver: its questions and actuations, typed. What all drivers share is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.shaker import messages as m
from devices.shaker.state import ShakerView, contradiction, fold
from devices.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.shaker.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShakerDriver(Witness):
    """Talks to one dice shaker."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(
            m.KIND, m.GetStatus(), m.Status, on_event, blank=ShakerView(), fold=fold, contradiction=contradiction
        )

    # --- questions -------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """What the shaker does, and what became of the last roll."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Sensor levels, and the dice as they are seen."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def roll(self, command: int) -> m.Roll:
        """What became of a roll, by the id that armed it."""
        return await self.ask(m.GetRoll(command), m.Roll)

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def arm(self, command: int) -> Settled:
        """Allow a new roll; returns when it is open. How it ends is told by its Reading or NoRoll."""
        return await self.actuate(m.Arm(command), command)

    async def disarm(self, command: int) -> Settled:
        """End an open roll at once: written now, before anything queued; queued actuations are revoked."""
        return await self.actuate(m.Disarm(command), command, urgent=True)

    async def self_test(self, command: int) -> Settled:
        """Test every sensor."""
        return await self.actuate(m.SelfTest(command), command)

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self.actuate(m.Reset(command), command)
