"""The flat button's driver: its questions and actuations, typed. What all drivers share is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.button import messages as m
from devices.button.state import ButtonView, contradiction, fold
from devices.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.button.state import DriverEvent
    from firmware_bridge.commands import Settled


class ButtonDriver(Witness):
    """Talks to one sensor mat."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(
            m.KIND, m.GetStatus(), m.Status, on_event, blank=ButtonView(), fold=fold, contradiction=contradiction
        )

    # --- questions -------------------------------------------------------------------------------------------

    async def where(self) -> m.Status:
        """Where the button lies, or why that is not clear."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """The level of every place."""
        return await self.ask(m.GetSensors(), m.Sensors)

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def self_test(self, command: int) -> Settled:
        """Test every sensor."""
        return await self.actuate(m.SelfTest(command), command)

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self.actuate(m.Reset(command), command)
