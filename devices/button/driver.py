"""The flat button's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.button import messages as m
from devices.button.state import ButtonView, find_contradiction, fold
from devices.consistency_check import CheckedDriver

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.button.state import DriverEvent
    from firmware_bridge.commands import Settled


class ButtonDriver(CheckedDriver[ButtonView]):
    """Controls one sensor mat."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(
            m.KIND,
            m.GetStatus(),
            m.Status,
            on_event,
            initial_view=ButtonView(),
            fold=fold,
            contradiction=find_contradiction,
        )

    # --- requests --------------------------------------------------------------------------------------------

    async def where(self) -> m.Status:
        """Return where the button is, or why that is unclear."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Return the level of every place."""
        return await self.ask(m.GetSensors(), m.Sensors)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test every sensor."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
