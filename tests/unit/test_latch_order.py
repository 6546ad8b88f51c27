"""The latch decides: every order of bets, withdrawals, lock and reboot, with every loss or delay of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from devices.bet_sensor import messages as m
from simulators.kinds.bet_sensor import latch
from table_controller.table import betting, core
from table_controller.table import events as ev
from tests.support.core.latch_host import SEAT
from tests.support.core.latch_interleavings import Budget, Explorer, HistoryBroken, Moment, SensorParts
from tests.support.suite.case_counts import LAP

if TYPE_CHECKING:
    from table_controller.table.context import Context

# A bet, its withdrawal, a second bet; the lock; a restart; any one frame lost and any one doubled; the deadline.
USUAL: Final = Budget()


def explore(remaining: Budget, parts: SensorParts | None = None) -> tuple[int, int]:
    explorer = Explorer(parts)
    histories = explorer.histories(Moment(remaining))
    print(f"{histories:,} histories through {explorer.states:,} different moments: {remaining}")
    return histories, explorer.states


def test_every_order_of_bets_lock_reboot_and_frames_agrees_with_the_truth_at_the_latch() -> None:
    histories, states = explore(USUAL)
    assert histories > 10**9, "too few orders were tried"
    assert states > 50_000


@pytest.mark.parametrize(
    "remaining",
    [
        Budget(chips_laid=2, chips_taken=2, reboots=0, locks=1, losses=2, doubles=0),
        Budget(chips_laid=1, chips_taken=1, reboots=2, locks=2, losses=1, doubles=0),
        Budget(chips_laid=1, chips_taken=1, reboots=1, locks=1, losses=1, doubles=1, strays=1),
        Budget(chips_laid=3, chips_taken=1, reboots=1, locks=1, losses=0, doubles=0),
    ],
    ids=["two losses", "locked again after a restart", "a lock that is not ours", "chips on top of each other"],
)
def test_other_mixtures_agree_as_well(remaining: Budget) -> None:
    histories, _ = explore(remaining)
    assert histories > 10**5


# 1.6, 3.0 and 4.4 million moments, each a step of the whole core: the first in `make proof`, the others in the second
# and third lap of `make marathon`.
LARGER: Final = (
    Budget(chips_laid=2, chips_taken=1, reboots=2, locks=1, losses=2, doubles=1, strays=1),
    Budget(chips_laid=2, chips_taken=2, reboots=1, locks=2, losses=1, doubles=1),
    Budget(chips_laid=3, chips_taken=2, reboots=1, locks=2, losses=1, doubles=0),
)


@pytest.mark.proof
def test_larger_mixtures_agree_as_well() -> None:
    total = 0
    for remaining in LARGER[LAP - 1 : LAP]:
        total += explore(remaining)[0]
    print(f"{total:,} histories in all")
    assert total > 10**12 or LAP > 1


# --- planted mistakes: the search must find each -------------------------------------------------------------


def _by_arrival(c: Context, event: ev.SeatLatched) -> None:
    """A box that counts what it had received when the confirmation arrived."""
    bets = c.state.progressive.seats[event.seat]
    waits = not bets.latched and not c.state.progressive.overdue and not bets.refused
    if event.seat == SEAT and event.lock == bets.lock and waits:
        bets.latched, bets.bet = True, bets.placed
    elif event.seat != SEAT:
        betting.on_seat_latched(c, event)


def _hopeful(c: Context, event: ev.Due) -> None:
    """A box that reads a missing confirmation as "no bet"."""
    bets = c.state.progressive.seats[SEAT]
    if event.timer == "lock" and not bets.latched and not bets.refused and not bets.doubt:
        bets.latched, bets.bet = True, False


def _late_word_counts(c: Context, event: ev.SeatLatched) -> None:
    """A box that changes its decision when the confirmation comes late."""
    c.state.progressive.overdue, overdue = False, c.state.progressive.overdue
    betting.on_seat_latched(c, event)
    c.state.progressive.overdue = overdue


def _unclear_is_none(c: Context, event: ev.SeatLatched) -> None:
    """A box that reads an unclear spot as "no bet"."""
    betting.on_seat_latched(c, msgspec.structs.replace(event, clear=True))


def _doubts_what_comes_late(c: Context, event: ev.BetSensed) -> None:
    """A box that reads a change after the lock as one before it, and so faults correct sensors."""
    betting._record_spot(c, event)
    betting.on_bet_sensed(c, event)


def _forgetful(spot: latch.SpotMemory) -> latch.SpotMemory:
    """A sensor that restarts open and has forgotten its latch."""
    return msgspec.structs.replace(spot, latch=None, open=True)


def _latches_again(spot: latch.SpotMemory, number: int, lock_id: int) -> tuple[latch.SpotMemory, Any]:
    """A sensor that reads its spot again when its lock is repeated."""
    if spot.latch is not None:
        spot = msgspec.structs.replace(spot, latch=None, open=True)
    return latch.lock(spot, number, lock_id)


def _unnumbered(spot: latch.SpotMemory, lies: m.SpotContent, level: int) -> tuple[latch.SpotMemory, m.Changed | None]:
    """A sensor that does not number changes after the latch."""
    after, changed = latch.update_content(spot, lies, level)
    if changed is None or spot.latch is None:
        return after, changed
    last = spot.latch.last_change
    return msgspec.structs.replace(after, sequence=last), msgspec.structs.replace(changed, sequence=last)


def _any_light(_spot: latch.SpotMemory, _light: m.Light, _sequence: int) -> m.Reason:
    """A sensor that obeys every light command."""
    return m.Reason.NONE


@pytest.mark.parametrize(
    ("parts", "remaining", "why"),
    [
        (SensorParts(two_steps=True), USUAL, "at the latch|confirmed in time"),
        (SensorParts(rebooted=_forgetful), Budget(locks=2), "nothing is latched|differently"),
        (SensorParts(lock=_latches_again), Budget(locks=2), "differently"),
        (SensorParts(look=_unnumbered), USUAL, "number that counts"),
        (SensorParts(light_refused=_any_light), USUAL, "acknowledged light burns"),
    ],
    ids=lambda value: None,
)
def test_the_search_finds_a_planted_mistake_of_the_sensor(parts: SensorParts, remaining: Budget, why: str) -> None:
    with pytest.raises(HistoryBroken, match=why) as raised:
        explore(remaining, parts)
    print(raised.value)


@pytest.mark.parametrize(
    ("kind", "handler", "why"),
    [
        (ev.SeatLatched, _by_arrival, "chip|instead of"),
        (ev.Due, _hopeful, "none is said to be|a chip lay there"),
        (ev.SeatLatched, _late_word_counts, "a decision was changed"),
        (ev.SeatLatched, _unclear_is_none, "a chip lay there|chips lay there"),
        (ev.BetSensed, _doubts_what_comes_late, "instead of"),
    ],
)
def test_the_search_finds_a_planted_mistake_of_the_box(
    kind: type, handler: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(core._HANDLERS, kind, handler)
    with pytest.raises(HistoryBroken, match=why) as raised:
        explore(USUAL)
    print(raised.value)


def test_counting_by_arrival_fails_even_where_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    calm = Budget(reboots=0, losses=0, doubles=0, deadlines=0)
    explore(calm)
    monkeypatch.setitem(core._HANDLERS, ev.SeatLatched, _by_arrival)
    with pytest.raises(HistoryBroken):
        explore(calm)
