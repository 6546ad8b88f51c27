"""The dice shaker's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.consistency_check import CheckedDriver
from devices.shaker import messages as m
from devices.shaker.state import ShakerView, find_contradiction, fold

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.shaker.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShakerDriver(CheckedDriver[ShakerView]):
    """Controls one dice shaker."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(
            m.KIND,
            m.GetStatus(),
            m.Status,
            on_event,
            initial_view=ShakerView(),
            fold=fold,
            contradiction=find_contradiction,
        )

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the state of the shaker and the result of the last roll."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Return the sensor levels, and the dice as read."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def roll(self, command: int) -> m.Roll:
        """Return the result of a roll, by the id that armed it."""
        return await self.ask(m.GetRoll(command), m.Roll)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def arm(self, command: int) -> asyncio.Task[Settled]:
        """Open a new roll; returns when it is open. Its end is the Reading or NoRoll event."""
        return self.actuate(m.Arm(command), command)

    def disarm(self, command: int) -> asyncio.Task[Settled]:
        """End an open roll at once: sent before queued messages; queued commands are revoked."""
        return self.actuate(m.Disarm(command), command, urgent=True)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test every sensor."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
