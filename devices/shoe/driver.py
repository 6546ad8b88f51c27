"""The shoe's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.driver import Driver
from devices.edge_log import EDGE_LOG, EdgeLog, GetEdgeLog
from devices.shoe import messages as m
from firmware_bridge.errors import CommandRefused

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.shoe.state import DriverEvent
    from firmware_bridge.commands import Settled


class ShoeDriver(Driver):
    """Controls one shoe, automated or manual. Commands that its model lacks raise NotCapable and are not sent."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return the state of the machine and its card counts."""
        return await self.ask(m.GetStatus(), m.Status)

    async def sensors(self) -> m.Sensors:
        """Return the sensor levels and motor currents."""
        return await self.ask(m.GetSensors(), m.Sensors)

    async def transits(self) -> m.Transits:
        """Return the transit-time statistics."""
        return await self.ask(m.GetTransits(), m.Transits)

    async def edge_log(self) -> EdgeLog:
        """Return the latest sensor edges, and the motor currents when motion halted."""
        self._require_capability(EDGE_LOG, "report its edge log")
        return await self.ask(GetEdgeLog(), EdgeLog)

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def load(self, command: int) -> asyncio.Task[Settled]:
        """Load the block and count it; on a manual shoe, start counting the cards drawn by hand."""
        return self.actuate(m.Load(command), command)

    def dispense(self, command: int, cards: int) -> asyncio.Task[Settled]:
        """Dispense a stack into the slot; returns when it is there. The Dispensed event has its count."""
        self._require_capability(m.DISPENSES, "dispense stacks")
        if not 1 <= cards <= m.MAX_STACK:
            raise CommandRefused(
                f"a stack has 1 to {m.MAX_STACK} cards, not {cards}; nothing was sent", m.Reason.STACK_SIZE
            )
        return self.actuate(m.Dispense(command, cards), command)

    def count_stub(self, command: int) -> asyncio.Task[Settled]:
        """Bring out and count the stub. On a manual shoe people do; the Stub event comes when the well is empty."""
        return self.actuate(m.CountStub(command), command)

    def start_round(self, command: int) -> asyncio.Task[Settled]:
        """Count the cards drawn by hand from now on as one round."""
        self._require_capability(m.DRAWS, "count rounds that hands draw")
        return self.actuate(m.StartRound(command), command)

    def stop(self, command: int) -> asyncio.Task[Settled]:
        """Stop all motion at once: sent before queued messages; queued commands are revoked."""
        return self.actuate(m.Stop(command), command, urgent=True)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test lamps, sensors and motors."""
        return self.actuate(m.SelfTest(command), command)

    def clear_jam(self, command: int) -> asyncio.Task[Settled]:
        """After the path was cleared by hand: check it and empty the well into the slot."""
        return self.actuate(m.ClearJam(command), command)

    def jog(self, command: int, motor: m.Motor, *, reverse: bool = False) -> asyncio.Task[Settled]:
        """Turn one motor a little. The Jogged event has its current, and whether it turned."""
        self._require_capability(m.JOGS, "turn one motor by itself")
        return self.actuate(m.Jog(command, motor, reverse), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id."""
        return self.actuate(m.Reset(command), command)
