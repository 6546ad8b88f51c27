"""The bet sensor's driver: typed requests and commands. The common part is in devices/driver.py."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from devices.bet_sensor import messages as m
from devices.bet_sensor.state import BettingOpened, Unlocked
from devices.driver import Driver
from devices.driver_events import OutcomeLost
from firmware_bridge.errors import NotSent, PitboxError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from devices.bet_sensor.state import DriverEvent
    from firmware_bridge.commands import Settled
    from firmware_bridge.messages import Message

# How long (s) a confirmation is accepted. The caller has a shorter deadline; a later confirmation decides nothing, but
# is recorded.
LOCK_REPLY_TIMEOUT_S: Final = 10.0


class BetSensorDriver(Driver):
    """Controls the bet sensor of one seat."""

    def __init__(self, on_event: Callable[[DriverEvent], None]) -> None:
        super().__init__(m.KIND, m.GetStatus(), m.Status, on_event)

    # --- requests --------------------------------------------------------------------------------------------

    async def status(self) -> m.Status:
        """Return whether bets are open, what is on the spot, and what is latched."""
        return await self.ask(m.GetStatus(), m.Status)

    async def health(self) -> m.Health:
        """Return the quality of the sensing."""
        return await self.ask(m.GetHealth(), m.Health)

    # --- the lock --------------------------------------------------------------------------------------------

    def lock(self, number: int, lock_id: int) -> asyncio.Future[m.Locked | m.LockRefused]:
        """Send the lock of a round now, before queued messages; queued commands are revoked.

        Returns the future of the device's answer, which is also published in the order of the wire. Raises NotSent or
        QueueFull if it cannot be sent. It may be sent again with the same id: a lock only closes, and the same lock
        gets the same answer.
        """
        answer: asyncio.Future[m.Locked | m.LockRefused] = self.require_link().request(
            m.Lock(number, lock_id),
            LOCK_REPLY_TIMEOUT_S,
            urgent=True,
            actuation=True,
            on_end=partial(self._ended, lock_id),
        )
        if answer.done():
            answer.result()  # raises the error: it was not queued
        return answer

    def _ended(self, lock_id: int, answer: Message | PitboxError) -> None:
        if not isinstance(answer, PitboxError):
            self._on_link_event(answer)
        elif not isinstance(answer, NotSent):
            self.publish(OutcomeLost(lock_id))  # it may have latched: read the sensor before its return to service

    # --- commands: each is executed at most once ----------------------------------------------------------------

    def open(self, command: int, number: int) -> asyncio.Task[Settled]:
        """Open bets for a round; the spot must be empty."""
        return self.actuate(m.Open(command, number), command, then=BettingOpened(number))

    def unlock(self, command: int, lock_id: int) -> asyncio.Task[Settled]:
        """Release the latch of this lock; bets stay closed."""
        return self.actuate(m.Unlock(command, lock_id), command, then=Unlocked(lock_id))

    def light(self, command: int, light: m.Light, sequence: int = 0) -> asyncio.Task[Settled]:
        """Light a lamp for the bet with this number, or switch both off."""
        return self.actuate(m.SetLight(command, light, sequence), command)

    def self_test(self, command: int) -> asyncio.Task[Settled]:
        """Test coil and lamps."""
        return self.actuate(m.SelfTest(command), command)

    def reset(self, command: int) -> asyncio.Task[Settled]:
        """Restart the firmware; the link drops and comes back with a new boot id. A latch is kept."""
        return self.actuate(m.Reset(command), command)
