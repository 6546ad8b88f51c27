"""The meter sign's driver: typed requests and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.driver import Driver
from devices.meter_sign import messages as m
from devices.meter_sign.state import RequestedAmounts
from firmware_bridge.errors import ConfigurationError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.meter_sign.state import DriverEvent
    from firmware_bridge.commands import Settled

_CENTS: Final = list[m.Cents]


class MeterSignDriver(Driver):
    """Controls one meter sign."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the state of the sign, and the age of its amounts."""
        return await self.ask(m.GetStatus(), m.Status)

    async def shown(self) -> m.Shown:
        """Return the amounts read back from the display, and publish them for comparison."""
        shown = await self.ask(m.GetShown(), m.Shown)
        self.publish(shown)
        return shown

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def show(self, command: int, sequence: int, value: int, pending: int = 0, won: int = 0) -> asyncio.Task[Settled]:
        """Show amounts (cents); ends when the sign has read them back from its display."""
        try:
            msgspec.convert([value, pending, won], _CENTS)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"amounts are whole cents from 0 up: {error}") from error
        self.publish(
            RequestedAmounts(sequence, value, pending, won)
        )  # published first: these amounts must be shown from now on
        return self.actuate(m.Show(command, sequence, value, pending, won), command)

    def set_limit(self, command: int, limit_ms: int) -> asyncio.Task[Settled]:
        """Set after how long (ms) without a Show the amounts are stale."""
        return self.actuate(m.SetLimit(command, limit_ms), command)

    def blank(self, command: int) -> asyncio.Task[Settled]:
        """Show no amount at all."""
        return self.actuate(m.Blank(command), command)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Show the test pattern and measure every digit."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
