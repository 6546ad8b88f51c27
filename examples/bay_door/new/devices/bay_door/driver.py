"""The bay door's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.bay_door import messages as m
from devices.driver import Driver

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.bay_door.state import DriverEvent
    from firmware_bridge.commands import Settled


class BayDoorDriver(Driver):
    """Controls one bay door."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return whether the door is open."""
        return await self.ask(m.GetStatus(), m.Status)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test the lamp."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
