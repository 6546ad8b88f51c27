"""The shoe's driver: its questions and actuations, typed. What all drivers share is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.driver import Driver
from devices.shoe import messages as m
from devices.trail import TRAIL, GetTrail, Trail
from firmware_bridge.errors import CommandRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.shoe.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShoeDriver(Driver):
    """Talks to one shoe, automated or manual; what its model cannot do raises NotCapable, and nothing is sent."""

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

    async def trail(self) -> Trail:
        """The last edges with their times, and what the motors drew when motion broke off."""
        self._need_model(TRAIL, "tell its last edges")
        return await self.ask(GetTrail(), Trail)

    # --- actuations: each is done at most once -----------------------------------------------------------------

    async def load(self, command: int) -> Settled:
        """Take the block in and count it; on a manual shoe, begin to count what hands draw of it."""
        return await self.actuate(m.Load(command), command)

    async def dispense(self, command: int, cards: int) -> Settled:
        """Lay a stack into the slot; returns when it lies there. What came out is in the Dispensed event."""
        self._need_model(m.DISPENSES, "dispense stacks")
        if not 1 <= cards <= m.MAX_STACK:
            raise CommandRefused(
                f"a stack has 1 to {m.MAX_STACK} cards, not {cards}; nothing was sent", m.Reason.STACK_SIZE
            )
        return await self.actuate(m.Dispense(command, cards), command)

    async def count_stub(self, command: int) -> Settled:
        """Bring out and count what is left. On a manual shoe hands do; the Stub event comes when the well is empty."""
        return await self.actuate(m.CountStub(command), command)

    async def start_round(self, command: int) -> Settled:
        """Count what hands draw from now on as one round."""
        self._need_model(m.DRAWS, "count rounds that hands draw")
        return await self.actuate(m.StartRound(command), command)

    async def stop(self, command: int) -> Settled:
        """Stop all motion at once: written now, before anything queued; queued actuations are revoked."""
        return await self.actuate(m.Stop(command), command, urgent=True)

    async def self_test(self, command: int) -> Settled:
        """Test lamps, sensors and motors."""
        return await self.actuate(m.SelfTest(command), command)

    async def clear_jam(self, command: int) -> Settled:
        """After the path was cleared by hand: check it and empty the well into the slot."""
        return await self.actuate(m.ClearJam(command), command)

    async def jog(self, command: int, motor: m.Motor, *, reverse: bool = False) -> Settled:
        """Turn one motor a little. What it drew, and whether it turned, is in the Jogged event."""
        self._need_model(m.JOGS, "turn one motor by itself")
        return await self.actuate(m.Jog(command, motor, reverse), command)

    async def reset(self, command: int) -> Settled:
        """Restart the firmware; the link goes down and comes back with a new boot id."""
        return await self.actuate(m.Reset(command), command)
