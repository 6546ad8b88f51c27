"""The latch is the order: every order of bets, withdrawals, lock and reboot and every fate of their frames."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from devices import bets
from devices.bet_sensor import messages as m
from devices.report import LinkUp
from firmware_bridge.messages import DeviceHello
from simulators.twins import latch
from tests.support.interleavings import ASKED, ROUND, Broken, Explorer, Parts, Rest, World

# A bet, its withdrawal, a second bet; the lock; a restart; one frame lost and one doubled, whichever; the deadline.
USUAL: Final = Rest()


def explore(rest: Rest, parts: Parts | None = None) -> tuple[int, int]:
    explorer = Explorer(parts)
    histories = explorer.histories(World(rest))
    print(f"{histories:,} histories through {explorer.states:,} different moments: {rest}")
    return histories, explorer.states


def test_every_order_of_bets_lock_reboot_and_frames_agrees_with_the_truth_at_the_latch() -> None:
    histories, states = explore(USUAL)
    assert histories > 10**9, "too few orders were tried"
    assert states > 50_000


@pytest.mark.parametrize(
    "rest",
    [
        Rest(lays=2, takes=2, reboots=0, locks=1, losses=2, doubles=0),
        Rest(lays=1, takes=1, reboots=2, locks=2, losses=1, doubles=0),
        Rest(lays=1, takes=1, reboots=1, locks=1, losses=1, doubles=1, strays=1),
        Rest(lays=3, takes=1, reboots=1, locks=1, losses=0, doubles=0),
    ],
    ids=["two losses", "locked again after a restart", "a lock that is not ours", "chips on top of each other"],
)
def test_other_mixtures_agree_as_well(rest: Rest) -> None:
    histories, _ = explore(rest)
    assert histories > 10**5


@pytest.mark.proof
def test_larger_mixtures_agree_as_well() -> None:
    total = 0
    for rest in (
        Rest(lays=3, takes=2, reboots=1, locks=2, losses=1, doubles=0),
        Rest(lays=2, takes=2, reboots=1, locks=2, losses=1, doubles=1),
        Rest(lays=2, takes=1, reboots=2, locks=1, losses=2, doubles=1, strays=1),
    ):
        total += explore(rest)[0]
    print(f"{total:,} histories in all")
    assert total > 10**12


# --- planted mistakes: the search must find each -------------------------------------------------------------


def _by_arrival(seat: bets.Seat, event: Any) -> bets.Seat:
    """A host that counts what it had heard when the confirmation arrived."""
    if isinstance(event, m.Changed) and seat.decision is None:
        return msgspec.structs.replace(seat, heard=event.sequence, lay=event.lies)
    if isinstance(event, m.Locked) and seat.asked is not None and seat.decision is None:
        lay = seat.lay is m.Lies.CHIP
        return msgspec.structs.replace(seat, decision=bets.Bet(seat.heard) if lay else bets.NoBet())
    return bets.fold(seat, event)


def _hopeful(seat: bets.Seat, event: Any) -> bets.Seat:
    """A host that takes silence for "no bet"."""
    if isinstance(event, bets.Unheard) and seat.asked is not None and seat.decision is None:
        return msgspec.structs.replace(seat, decision=bets.NoBet())
    return bets.fold(seat, event)


def _late_word_counts(seat: bets.Seat, event: Any) -> bets.Seat:
    """A host that changes its mind when the confirmation comes after all."""
    if isinstance(event, m.Locked) and isinstance(seat.decision, bets.Undecided):
        return msgspec.structs.replace(seat, decision=bets.Bet(event.latch.last))
    return bets.fold(seat, event)


def _forgetful(spot: latch.Spot) -> latch.Spot:
    """A sensor that comes back open and has forgotten its latch."""
    return msgspec.structs.replace(spot, latch=None, open=True)


def _latches_again(spot: latch.Spot, number: int, lock_id: int) -> tuple[latch.Spot, Any]:
    """A sensor that looks anew when its lock is repeated."""
    if spot.latch is not None:
        spot = msgspec.structs.replace(spot, latch=None, open=True)
    return latch.lock(spot, number, lock_id)


def _unnumbered(spot: latch.Spot, lies: m.Lies, level: int) -> tuple[latch.Spot, m.Changed | None]:
    """A sensor that does not number what is laid after the latch."""
    after, changed = latch.look(spot, lies, level)
    if changed is None or spot.latch is None:
        return after, changed
    last = spot.latch.last
    return msgspec.structs.replace(after, sequence=last), msgspec.structs.replace(changed, sequence=last)


def _any_light(_spot: latch.Spot, _light: m.Light, _sequence: int) -> m.Reason:
    """A sensor that lights whatever it is told."""
    return m.Reason.NONE


@pytest.mark.parametrize(
    ("parts", "rest", "why"),
    [
        (Parts(fold=_by_arrival), USUAL, "chip"),
        (Parts(fold=_hopeful), USUAL, "none is said to be"),
        (Parts(fold=_late_word_counts), USUAL, "a decision was changed"),
        (Parts(two_steps=True), USUAL, "at the latch"),
        (Parts(rebooted=_forgetful), Rest(locks=2), "nothing is latched|differently"),
        (Parts(lock=_latches_again), Rest(locks=2), "differently"),
        (Parts(look=_unnumbered), USUAL, "number that counts"),
        (Parts(light_refused=_any_light), USUAL, "acknowledged light burns"),
    ],
    ids=lambda value: None,
)
def test_the_search_finds_a_planted_mistake(parts: Parts, rest: Rest, why: str) -> None:
    with pytest.raises(Broken, match=why) as found:
        explore(rest, parts)
    print(found.value)


def test_counting_by_arrival_fails_even_where_nothing_is_lost() -> None:
    calm = Rest(reboots=0, losses=0, doubles=0, deadlines=0)
    explore(calm)
    with pytest.raises(Broken):
        explore(calm, Parts(fold=_by_arrival))


# --- the fold, word by word ----------------------------------------------------------------------------------


def told(*events: Any) -> bets.Seat:
    seat = bets.NOTHING_ASKED
    for event in events:
        seat = bets.fold(seat, event)
    return seat


def locked(last: int, lies: m.Lies, number: int = ROUND, lock_id: int = ASKED.lock_id) -> m.Locked:
    return m.Locked(m.Latch(number, lock_id, last, lies))


def changed(sequence: int, lies: m.Lies) -> m.Changed:
    return m.Changed(sequence, ROUND, m.Change.PLACED if lies else m.Change.WITHDRAWN, lies, 700)


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([locked(3, m.Lies.CHIP, number=ROUND + 1), bets.Unheard("no word")], "no word"),
        ([locked(3, m.Lies.CHIP, lock_id=5), bets.Unheard("no word")], "no word"),
        ([m.LockRefused(5, m.Reason.NOT_OPEN, 7, None), bets.Unheard("no word")], "no word"),
        ([m.Health(m.Lies.CHIP, 700, 450, 6, 96, True), bets.Unheard("no word")], "no word"),
        ([locked(3, m.Lies.EDGE)], "edge"),
        ([locked(3, m.Lies.SEVERAL)], "several"),
        ([locked(3, m.Lies.FOREIGN)], "foreign"),
        ([locked(3, m.Lies.UNREAD)], "unread"),
        ([m.LockRefused(901, m.Reason.NOT_OPEN, 7, None)], "not open"),
        ([bets.Unheard("the dog ate it"), locked(3, m.Lies.CHIP)], "the dog ate it"),
    ],
)
def test_whatever_is_not_a_clear_confirmation_in_time_leaves_the_seat_undecided(events: list[Any], why: str) -> None:
    seat = told(ASKED, *events)
    assert isinstance(seat.decision, bets.Undecided)
    assert why in seat.decision.why


def test_a_sensor_that_contradicts_what_it_told_before_the_lock_is_not_believed() -> None:
    before = changed(4, m.Lies.CHIP)
    assert isinstance(told(before, ASKED, locked(3, m.Lies.EMPTY)).decision, bets.Undecided)
    assert isinstance(told(before, ASKED, locked(4, m.Lies.EMPTY)).decision, bets.Undecided)
    assert told(before, ASKED, locked(4, m.Lies.CHIP)).decision == bets.Bet(4)
    assert told(before, ASKED, locked(5, m.Lies.EMPTY)).decision == bets.NoBet()


def test_what_is_heard_after_the_lock_was_written_may_be_on_either_side_of_the_latch() -> None:
    after = changed(4, m.Lies.CHIP)
    assert told(ASKED, after, locked(3, m.Lies.EMPTY)).decision == bets.NoBet()
    assert told(ASKED, after, locked(4, m.Lies.CHIP)).decision == bets.Bet(4)


def test_a_late_confirmation_is_kept_as_evidence_and_decides_nothing() -> None:
    latched = locked(3, m.Lies.CHIP)
    status = m.Status(m.State.LOCKED, ROUND, m.Lies.CHIP, 3, m.Light.OFF, latched.latch, m.Reason.NONE)
    for late in (latched, status):
        seat = told(ASKED, bets.Unheard("too late"), late)
        assert seat.decision == bets.Undecided("too late")
        assert seat.late == latched.latch
    other = told(ASKED, bets.Unheard("too late"), locked(3, m.Lies.CHIP, lock_id=5))
    assert other.late is None


def test_the_next_lock_begins_anew_and_knows_what_was_heard() -> None:
    seat = told(changed(4, m.Lies.CHIP), ASKED, locked(4, m.Lies.CHIP), changed(5, m.Lies.EMPTY))
    assert seat.decision == bets.Bet(4)
    following = bets.fold(seat, bets.Asked(ROUND + 1, 950))
    assert (following.decision, following.heard, following.lay) == (None, 5, m.Lies.EMPTY)
    assert isinstance(bets.fold(following, locked(4, m.Lies.CHIP, ROUND + 1, 950)).decision, bets.Undecided)


def test_another_sensor_in_the_same_place_has_a_count_of_its_own() -> None:
    hello = DeviceHello(m.KIND, "another", "PB-B1", "1", bytes(32), [m.LATCHES], 1, bytes(16))
    seat = told(changed(900, m.Lies.CHIP), LinkUp(hello), changed(1, m.Lies.EMPTY), ASKED, locked(2, m.Lies.CHIP))
    assert seat.decision == bets.Bet(2)


def test_without_a_lock_nothing_is_decided() -> None:
    assert told(changed(4, m.Lies.CHIP), locked(4, m.Lies.CHIP), bets.Unheard("x")).decision is None
