"""The number generator's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.consistency_check import CheckedDriver
from devices.rng import messages as m
from devices.rng.state import RngView, find_contradiction, fold

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.rng.state import DriverEvent
    from firmware_bridge.commands import Settled


class RngDriver(CheckedDriver[RngView]):
    """Controls one number generator."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(
            m.KIND,
            m.GetStatus(),
            m.Status,
            on_event,
            initial_view=RngView(),
            fold=fold,
            contradiction=find_contradiction,
        )

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the state of the generator and the number on its display."""
        return await self.ask(m.GetStatus(), m.Status)

    async def health(self) -> m.Health:
        """Return how close the noise came to failing a health test."""
        return await self.ask(m.GetHealth(), m.Health)

    async def drawn(self, command: int) -> m.PastDraw:
        """Return the number that a command drew, for example if its Drawn event was lost. Never draws again."""
        return await self.ask(m.GetDraw(command), m.PastDraw)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def draw(self, command: int) -> asyncio.Task[Settled]:
        """Draw one number and show it; returns when it is shown. The number is in the Drawn event."""
        return self.actuate(m.Draw(command), command)

    def clear(self, command: int) -> asyncio.Task[Settled]:
        """Blank the display."""
        return self.actuate(m.Clear(command), command)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Run the start-up tests; a latched failure is cleared if all pass."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
