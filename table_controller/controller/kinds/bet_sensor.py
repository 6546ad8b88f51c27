"""The bet sensor of a seat at the table: bets and latches for the core, and the lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices import kinds
from devices.bet_sensor import messages as m
from devices.bet_sensor.driver import BetSensorDriver
from devices.driver_events import Reported
from table_controller.controller.kinds.controller_kind import ControllerKind, MakeSafe, order
from table_controller.controller.kinds.table_needs import offers_progressive
from table_controller.table import events as ev
from table_controller.table.betting import seat_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devices.bet_sensor.state import DriverEvent
    from table_controller.rulebook import Edition, Submission

# Contents of a spot that are certain enough to confirm a lock.
_CLEAR: Final = (m.SpotContent.EMPTY, m.SpotContent.CHIP)
# States in which it takes bets.
_OPEN: Final = (m.State.AWAITING, m.State.PLACED)


def _core_events(slot: str, event: DriverEvent) -> Iterator[ev.Event]:
    seat = seat_of(slot)
    match event:
        case m.Changed():
            yield _bet_sensed(seat, event)
            if event.change is m.Change.LATE:
                yield ev.LateBet(seat)
        case Reported(inventory=m.Status() as status):  # what people did while the link was down
            yield _bet_sensed(seat, status)
        case m.Locked(latch=latch):
            bet = latch.content is m.SpotContent.CHIP
            yield ev.SeatLatched(seat, latch.round, latch.lock_id, latch.last_change, bet, latch.content in _CLEAR)
        case m.LockRefused():
            held = event.latch
            if event.reason is m.Reason.OTHER_LOCK and held is not None and held.content in _CLEAR:
                yield ev.EarlierLatchReported(
                    seat, held.round, held.lock_id, held.last_change, held.content is m.SpotContent.CHIP
                )
            yield ev.SeatLockRefused(seat, event.lock_id, event.reason)


def _bet_sensed(seat: int, spot: m.Changed | m.Status) -> ev.BetSensed:
    return ev.BetSensed(seat, spot.sequence, spot.content is m.SpotContent.CHIP, spot.content in _CLEAR)


def _open_round(inventory: m.Status) -> int | None:
    """Return the round whose bets it takes; None if bets are closed."""
    return inventory.round if inventory.state in _OPEN else None


def _why_required(rules: Edition, submission: Submission) -> str:
    if rules.progressive is None or not offers_progressive(rules, submission):
        return ""
    wager = rules.wager(rules.progressive.wager)
    clause = wager.clause if wager else rules.chapter
    return f'rules.wagers has "{rules.progressive.wager}", and every seat is sensed ({clause})'


BET_SENSOR: Final = ControllerKind(
    device=kinds.BET_SENSOR,
    core_events=_core_events,
    commands={
        "open_bets": lambda driver, c: driver.open(c.id, c.number),
        "light": lambda driver, c: driver.light(c.id, m.Light.ACCEPTED, c.number),
    },
    make_safe=MakeSafe(send=lambda driver, command, round_: driver.lock(round_, command), unsafe_round=_open_round),
    permits=("light", "unlock"),
    questions=(BetSensorDriver.status, BetSensorDriver.health),
    orders=(order(BetSensorDriver.self_test), order(BetSensorDriver.reset)),
    is_at_seats=True,
    why_required=_why_required,
)
