"""The lock-out: no more bets at any seat, written to every sensor in one callback. Which bets count, `bets` decides.

Whoever owns the drivers hands every event of theirs to `take`: the confirmations, and what was told before the lock.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices import bets
from devices.report import LinkDown, Reported
from firmware_bridge.errors import LinkError, SeatUndecided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from devices.bet_sensor.driver import BetSensorDriver

# How long (s) a confirmation may take. A sensor answers within a millisecond; the rest is for a line that loses frames.
# Nobody may wait longer at a table: then a person decides.
DEADLINE: Final = 2.0


class LockedOut(msgspec.Struct, frozen=True):
    """How a lock-out ended, seat by seat."""

    round: int
    lock_id: int
    seats: dict[int, bets.Decision]

    @property
    def bets(self) -> dict[int, int]:
        """The bets that count: their numbers, by seat."""
        return {seat: found.sequence for seat, found in self.seats.items() if isinstance(found, bets.Bet)}

    @property
    def findings(self) -> list[SeatUndecided]:
        """An error for every seat that a person must decide."""
        return [
            SeatUndecided(f"seat {seat}, round {self.round}: {found.why}", seat)
            for seat, found in self.seats.items()
            if isinstance(found, bets.Undecided)
        ]


class LockOut:
    """The lock-out of one table, given the driver of each seat's sensor."""

    def __init__(self, sensors: Mapping[int, BetSensorDriver]) -> None:
        assert sensors
        assert set(sensors) <= set(range(1, 7)), "a table has seats 1 to 6"
        self.seats: dict[int, bets.Seat] = dict.fromkeys(sensors, bets.NOTHING_ASKED)
        self._sensors = dict(sensors)
        self._pending: set[int] = set()  # seats that have not decided yet
        self._asked = bets.Asked(0, 0)
        self._waiting: asyncio.Future[LockedOut]
        self._deadline: asyncio.TimerHandle

    def take(self, seat: int, event: Any) -> None:
        """Take what a seat's driver told."""
        if isinstance(event, Reported):
            event = event.inventory
        elif isinstance(event, LinkDown):
            event = bets.Unheard(f"the link to its sensor was lost: {event.cause}")
        self._move(seat, event)

    def lock(self, number: int, lock_id: int) -> asyncio.Future[LockedOut]:
        """Write the lock of a round to every sensor in this very call; return the future of what they confirmed.

        It always has a result, at the latest after `DEADLINE`: a seat without a confirmation is undecided. The same
        lock again is written again and has the same result; another one ends a lock-out under way undecided.
        """
        failed: dict[int, LinkError] = {}
        for seat, driver in self._sensors.items():
            try:
                driver.lock(number, lock_id)
            except LinkError as error:
                failed[seat] = error
        # Every lock is on its way; from here on it is book-keeping.
        asked = bets.Asked(number, lock_id)
        if asked == self._asked and self._pending:
            return self._waiting
        self._end(f"overtaken by lock {lock_id}")
        self._begin(asked)
        for seat, cause in failed.items():
            self._move(seat, bets.Unheard(f"the lock was not sent: {cause}"))
        return self._waiting

    def _begin(self, asked: bets.Asked) -> None:
        loop = asyncio.get_running_loop()
        self._asked, self._waiting = asked, loop.create_future()
        self._deadline = loop.call_later(DEADLINE, self._end, f"no confirmation within {DEADLINE:g} s")
        self.seats = {seat: bets.fold(known, asked) for seat, known in self.seats.items()}
        self._pending = {seat for seat, known in self.seats.items() if known.decision is None}
        if not self._pending:
            self._finish()

    def _end(self, why: str) -> None:
        for seat in tuple(self._pending):
            self._move(seat, bets.Unheard(why))

    def _move(self, seat: int, event: Any) -> None:
        """Fold an event into a seat; tell the end as soon as every seat has its decision."""
        self.seats[seat] = known = bets.fold(self.seats[seat], event)
        if seat in self._pending and known.decision is not None:
            self._pending.remove(seat)
            if not self._pending:
                self._finish()

    def _finish(self) -> None:
        self._deadline.cancel()
        if not self._waiting.done():  # else whoever waited has left
            found = {seat: known.decision for seat, known in self.seats.items() if known.decision is not None}
            self._waiting.set_result(LockedOut(self._asked.round, self._asked.lock_id, found))
