"""The lock-out: no more bets at any seat, written to every sensor in one callback. Which bets count, `bets` decides.

Whoever owns the drivers hands every event of theirs to `take`, so that what was told before the lock is known here.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices import bets
from devices.bet_sensor import messages as m
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
        self._asked = bets.Asked(0, 0)
        self._waiting: asyncio.Future[LockedOut] | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def take(self, seat: int, event: Any) -> None:
        """Take what a seat's driver told."""
        if isinstance(event, m.Changed):
            self.seats[seat] = bets.fold(self.seats[seat], event)
        elif isinstance(event, Reported):
            self.seats[seat] = bets.fold(self.seats[seat], event.inventory)
        elif isinstance(event, LinkDown):
            self._give_up(seat, f"the link to its sensor was lost: {event.cause}")

    def lock(self, number: int, lock_id: int) -> asyncio.Future[LockedOut]:
        """Write the lock of a round to every sensor in this very call; return the future of what they confirmed.

        It always has a result, at the latest after `DEADLINE`: a seat without a confirmation is undecided. A lock-out
        that is still under way ends undecided where another one overtakes it.
        """
        answers: dict[int, asyncio.Future[m.Locked | m.LockRefused] | LinkError] = {}
        for seat, driver in self._sensors.items():
            try:
                answers[seat] = driver.lock(number, lock_id)
            except LinkError as failed:
                answers[seat] = failed
        # Every lock is on its way; from here on it is book-keeping.
        self._end(f"overtaken by lock {lock_id}")
        loop = asyncio.get_running_loop()
        self._waiting = waiting = loop.create_future()
        self._deadline = loop.call_later(DEADLINE, self._end, f"no confirmation within {DEADLINE:g} s")
        self._asked = asked = bets.Asked(number, lock_id)
        self.seats = {seat: bets.fold(known, asked) for seat, known in self.seats.items()}
        for seat, answer in answers.items():
            if isinstance(answer, LinkError):
                self._give_up(seat, f"the lock was not sent: {answer}")
            else:
                answer.add_done_callback(partial(self._answered, seat, asked))
        return waiting

    def _answered(self, seat: int, asked: bets.Asked, answer: asyncio.Future[m.Locked | m.LockRefused]) -> None:
        if asked is not self._asked:
            return  # of an earlier lock-out: its driver told it, and here it decides nothing
        if answer.cancelled() or answer.exception() is not None:
            self._give_up(seat, f"no confirmation: {'cancelled' if answer.cancelled() else answer.exception()}")
        else:
            self.seats[seat] = bets.answered(self.seats[seat], answer.result())
            self._settle()

    def _end(self, why: str) -> None:
        for seat in self.seats:
            self._give_up(seat, why)

    def _give_up(self, seat: int, why: str) -> None:
        self.seats[seat] = bets.fold(self.seats[seat], bets.Unheard(why))
        self._settle()

    def _settle(self) -> None:
        """Tell the end as soon as every seat has its decision."""
        if self._waiting is None or self._waiting.done():
            return
        found = {seat: known.decision for seat, known in self.seats.items() if known.decision is not None}
        if len(found) == len(self.seats):
            if self._deadline is not None:
                self._deadline.cancel()
            self._waiting.set_result(LockedOut(self._asked.round, self._asked.lock_id, found))
