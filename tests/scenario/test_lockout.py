"""No more bets at six seats over six real links: which bets count, against what really lay there at each latch."""

from __future__ import annotations

import asyncio
from itertools import permutations, product
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from devices import bets
from devices.bet_sensor import messages as m
from devices.bet_sensor.state import findings
from devices.lockout import DEADLINE
from devices.report import Misread
from firmware_bridge.errors import Revoked, SeatUndecided
from simulators.world.chips import TRAY
from tests.support.beliefs import ask, carried_out
from tests.support.bench import over_the_ladder
from tests.support.clauses import clauses
from tests.support.progressive import SEATS, Table, beliefs_hold, heard, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.lockout import LockedOut

BETTING: Final = (1, 3, 6)


async def bet(t: Table) -> None:
    await t.open(7)
    for seat in BETTING:
        t.seats[seat].inject("place_bet")


# --- the usual round -----------------------------------------------------------------------------------------


@over_the_ladder
async def test_bets_that_lie_there_count_and_the_chips_collected_are_the_bets_accepted(seed: int, rung: str) -> None:
    async with table(seed, rung) as t:
        await bet(t)
        ended = await t.lock(7)
        t.check_truth(ended)
        assert rung == "lossy" or (set(ended.bets) == set(BETTING) and not ended.findings)
        for seat, sequence in ended.bets.items():
            stand = t.seats[seat]
            await carried_out(stand, lambda command: stand.driver.light(command, m.Light.ACCEPTED, sequence))  # noqa: B023
            assert stand.machine.spot.light is m.Light.ACCEPTED
        for stand in t.seats.values():
            stand.inject("collect")
        undecided = sum(t.seats[error.seat].machine.latched[-1][1] for error in ended.findings)
        assert t.chips.census().get(TRAY, 0) == len(ended.bets) + undecided


@over_the_ladder
async def test_the_six_locks_are_written_in_one_callback(seed: int, rung: str) -> None:
    async with table(seed, rung) as t:
        await bet(t)
        await asyncio.sleep(5)
        sent = {seat: stand.supervisor.link.counters.sent for seat, stand in t.seats.items() if stand.supervisor.link}
        waiting = t.lockout.lock(7, t.next_id())
        for seat, stand in t.seats.items():
            assert stand.supervisor.link is not None
            assert stand.supervisor.link.counters.sent == sent[seat] + 1, f"seat {seat} was not written at once"
        t.check_truth(await waiting)


# --- bad input: late bets, wrong rounds, five of six -----------------------------------------------------------


@clauses("688a.2(d)(2)")
@over_the_ladder
async def test_a_bet_during_lock_out_is_refused_with_its_code_and_never_counts(seed: int, rung: str) -> None:
    async with table(seed, rung) as t:
        await bet(t)
        ended = await t.lock(7)
        late = t.seats[2]
        late.inject("place_bet")
        await heard(late)
        assert late.told(m.Changed)[-1].change is m.Change.LATE
        assert [code for code, _ in findings(late.view)] == [m.Reason.LATE_BET]
        assert late.view.latched is None
        assert 2 not in ended.bets
        with pytest.raises(Exception, match="refused") as refused:
            await carried_out(late, lambda command: late.driver.light(command, m.Light.ACCEPTED, late.view.sequence))
        assert refused.value.code == "PB-485"  # type: ignore[attr-defined]
        late.inject("take_bet")
        await heard(late)
        assert findings(late.view) == []
        t.check_truth(ended)


@over_the_ladder
async def test_a_second_chip_on_a_latched_bet_is_late_and_the_bet_stands(seed: int, rung: str) -> None:
    async with table(seed, rung, range(1, 2)) as t:
        await t.open(7)
        seat = t.seats[1]
        seat.inject("place_bet")
        ended = await t.lock(7)
        seat.inject("place_bet")
        await heard(seat)
        assert seat.told(m.Changed)[-1].change is m.Change.LATE
        assert m.Reason.LATE_BET in dict(findings(seat.view))
        seat.inject("take_bet")
        await heard(seat)
        assert seat.told(m.Changed)[-1].change is m.Change.TAKEN
        assert findings(seat.view) == []
        t.check_truth(ended)
        await beliefs_hold(seat)


@over_the_ladder
async def test_a_chip_taken_after_the_latch_is_told_and_the_bet_still_counts(seed: int, rung: str) -> None:
    async with table(seed, rung, range(1, 2)) as t:
        await t.open(7)
        seat = t.seats[1]
        seat.inject("place_bet")
        await heard(seat)
        ended = await t.lock(7)
        seat.inject("take_bet")
        await heard(seat)
        assert seat.told(m.Changed)[-1].change is m.Change.TAKEN
        assert [code for code, _ in findings(seat.view)] == [m.Reason.BET_TAKEN]
        assert seat.view.latched == 1
        assert (await beliefs_hold(seat)).latch == seat.machine.latched[-1][0]
        t.check_truth(ended)


@over_the_ladder
@pytest.mark.parametrize(
    "fault", ["unplug:seconds=0", "hang:seconds=0", "withhold:message=Lock", "power_cut:seconds=9"]
)
@pytest.mark.parametrize("before", [True, False], ids=["before the lock", "after the lock was written"])
async def test_five_of_six_answering_leaves_the_sixth_undecided_by_name(
    seed: int, rung: str, fault: str, before: bool
) -> None:
    async with table(seed, rung) as t:
        await bet(t)
        await asyncio.sleep(1)
        sixth = t.seats[4]
        sixth.inject("place_bet")
        if before:
            sixth.inject(fault)
        began = asyncio.get_running_loop().time()
        waiting = t.lockout.lock(7, t.next_id())
        if not before:
            sixth.inject(fault)
        ended = await waiting
        assert asyncio.get_running_loop().time() - began <= DEADLINE + 0.01
        t.check_truth(ended)
        found = {error.seat: error for error in ended.findings}
        if rung != "lossy":
            assert set(found) == {4}
            assert set(ended.bets) == set(BETTING)
        assert isinstance(found[4], SeatUndecided)
        assert found[4].code == "PB-480"
        assert str(found[4]).startswith("seat 4, round 7: ")


async def test_a_lock_of_a_wrong_round_is_refused_by_every_sensor_and_nothing_is_assumed(seed: int) -> None:
    async with table(seed) as t:
        await bet(t)
        ended = await t.lock(8)
        assert {error.seat for error in ended.findings} == set(SEATS)
        assert all("wrong round" in str(error) for error in ended.findings)
        for stand in t.seats.values():
            status = await beliefs_hold(stand)
            assert (status.state, status.latch, status.reason) == (m.State.NONE, None, m.Reason.WRONG_ROUND)
            stand.inject("place_bet")
            assert (await beliefs_hold(stand)).state is m.State.NONE, "a lock never leaves a sensor open"
        again = await t.lock(7)
        assert all("not open" in str(error) for error in again.findings)


async def test_another_lock_while_locked_is_refused_and_the_first_one_stands(seed: int) -> None:
    async with table(seed) as t:
        await bet(t)
        first = await t.lock(7)
        for number, words in ((7, "other lock"), (8, "wrong round")):
            ended = await t.lock(number)
            assert all(words in str(error) for error in ended.findings)
            assert len(ended.findings) == len(SEATS)
        again = await t.lockout.lock(7, first.lock_id)
        assert again == first, "the same lock gets the same confirmation"
        for stand in t.seats.values():
            assert len(stand.machine.latched) == 1


async def test_the_same_lock_out_again_has_the_same_result_whatever_happened_since(seed: int) -> None:
    async with table(seed) as t:
        await bet(t)
        t.seats[5].inject("unplug:seconds=1")
        lock_id = t.next_id()
        waiting = t.lockout.lock(7, lock_id)
        assert t.lockout.lock(7, lock_id) is waiting
        first = await waiting
        assert [error.seat for error in first.findings] == [5]
        t.seats[1].inject("take_bet")
        t.seats[2].inject("place_bet")
        await asyncio.sleep(5)
        again = await t.lockout.lock(7, lock_id)
        assert again == first, "an undecided seat stays undecided until a person decides"
        t.check_truth(again)


async def test_a_second_lock_out_overtakes_one_that_still_waits(seed: int) -> None:
    async with table(seed) as t:
        await bet(t)
        t.seats[5].inject("hang:seconds=0")
        first, second = t.lockout.lock(7, t.next_id()), t.lockout.lock(7, t.next_id())
        overtaken = await first
        assert all(isinstance(found, bets.Undecided) for found in overtaken.seats.values())
        ended = await second
        assert {error.seat for error in ended.findings} == set(SEATS), "the first lock latched, the second is another"


# --- a late confirmation ---------------------------------------------------------------------------------------


async def test_a_confirmation_after_the_deadline_is_recorded_and_decides_nothing(seed: int) -> None:
    async with table(seed) as t:
        await bet(t)
        await asyncio.sleep(1)
        slow = t.seats[3]
        slow.inject("drop:rate=0.99")
        ended = await t.lockout.lock(7, t.next_id())
        assert [error.seat for error in ended.findings] == [3]
        slow.inject("calm")
        for _ in range(100):
            await asyncio.sleep(0.1)
            if t.lockout.seats[3].late is not None:
                break
        late = t.lockout.seats[3]
        assert late.late == slow.machine.latched[-1][0]
        assert isinstance(late.decision, bets.Undecided), "only a person decides now"


async def test_an_old_confirmation_does_not_spoil_the_next_lock_out(seed: int) -> None:
    async with table(seed, seats=range(1, 2)) as t:
        seat = t.seats[1]
        await t.open(7)
        await asyncio.sleep(1)
        seat.inject("drop:rate=0.99")
        first = t.lockout.lock(7, t.next_id())
        ended = await first
        assert len(ended.findings) == 1
        second = t.lockout.lock(7, t.next_id())
        seat.inject("calm")
        again = await second
        assert "other lock" in str(again.findings[0]) or "no confirmation" in str(again.findings[0])
        assert again.lock_id == ended.lock_id + 1


@over_the_ladder
async def test_a_lock_whose_answer_is_lost_puts_the_slot_in_doubt_until_it_is_asked_about(seed: int, rung: str) -> None:
    async with table(seed, rung, range(1, 2)) as t:
        seat = t.seats[1]
        await t.open(7)
        seat.inject("withhold:message=Lock")
        ended = await t.lock(7)
        assert len(ended.findings) == 1
        await seat.until(lambda event: event == Misread(ended.lock_id))
        assert seat.view.unsettled == {ended.lock_id}
        assert seat.service.state == "unverified"
        assert (await ask(seat, lambda: seat.driver.outcome(ended.lock_id))).reason == 0
        await ask(seat, seat.driver.report)
        assert seat.service.state == "in_service"
        assert t.lockout.seats[1].late == seat.view.latch, "the report is evidence for whoever decides"
        assert isinstance(t.lockout.seats[1].decision, bets.Undecided)


# --- the lock is urgent ----------------------------------------------------------------------------------------


async def test_a_lock_overtakes_and_revokes_what_waits_in_the_queue(seed: int) -> None:
    async with table(seed, seats=range(1, 2)) as t:
        seat = t.seats[1]
        await t.open(7)
        seat.inject("place_bet")
        await heard(seat)
        seat.inject("slow:baud=9600")
        lights = [
            asyncio.create_task(seat.driver.light(seat.next_id(), m.Light.ACKNOWLEDGED, seat.view.sequence))
            for _ in range(20)
        ]
        await asyncio.sleep(0)
        ended = await t.lock(7)
        done = await asyncio.gather(*lights, return_exceptions=True)
        assert sum(isinstance(found, Revoked) for found in done) >= 8
        assert ended.bets == {1: seat.view.sequence}
        t.check_truth(ended)


# --- every order over the real link ------------------------------------------------------------------------------

# What happens to the frames between sensor and host, from just before the first event on.
FATES: Final = {
    "clean": (),
    "the next frame is lost": ("drop:frames=1",),
    "three frames are lost": ("drop:frames=3",),
    "six frames come twice": ("duplicate:frames=6",),
    "two frames are broken": ("corrupt:frames=2",),
    "every byte by itself": ("split",),
    "slow": ("slow:baud=9600",),
    "the answer is withheld": ("withhold:message=Lock",),
}
ORDERS: Final = sorted(
    {*permutations(("lay", "take", "lay", "lock", "reboot")), *permutations(("lay", "take", "lay", "lock"))}
)
# Lines that lose nothing: over these a sensor that keeps its power confirms in time.
HARMLESS: Final = ("clean", "six frames come twice", "every byte by itself", "slow")
# Between two events (s): none, so that all frames are on their way at once; some; and time enough to reconnect.
PAUSES: Final = (0.0, 0.003, 1.5)


async def _play(seed: int, order: tuple[str, ...], fates: tuple[str, ...], pause: float) -> bets.Decision:
    """Let the events happen in this order; return the decision, compared with the truth."""
    async with table(seed, seats=range(1, 2)) as t:
        seat = t.seats[1]
        await t.open(7)
        for fate in fates:
            seat.inject(fate)
        act: dict[str, Callable[[], Any]] = {
            "lay": lambda: seat.inject("place_bet"),
            "take": lambda: seat.inject("take_bet"),
            "reboot": lambda: seat.inject("reboot"),
        }
        waiting: asyncio.Future[Any] | None = None
        for event in order:
            if event == "lock":
                waiting = t.lockout.lock(7, t.next_id())
            else:
                act[event]()
            if pause:
                await asyncio.sleep(pause)
        assert waiting is not None
        ended: LockedOut = await waiting
        t.check_truth(ended)
        await _the_latch_stands(t)
        return ended.seats[1]


async def _the_latch_stands(t: Table) -> None:
    """Whatever follows, the sensor says the same of its latch, and nothing more is taken."""
    seat = t.seats[1]
    for fault in ("calm", "take_bet", "place_bet", "place_bet"):
        seat.inject(fault)
    if seat.driver.reported is None:
        await seat.until_reported()
    await heard(seat)
    status = await ask(seat, seat.driver.status)
    assert status.state in (m.State.LOCKED, m.State.NONE, m.State.AWAITING, m.State.PLACED)
    if seat.machine.latched:
        ((latch, _),) = seat.machine.latched
        assert status.latch == latch


async def _every_order(seed: int, fates: list[str], pauses: tuple[float, ...]) -> dict[type, int]:
    found: dict[type, int] = {}
    for order, fate, pause in product(ORDERS, fates, pauses):
        decision = await _play(seed, order, FATES[fate], pause)
        if fate in HARMLESS and "reboot" not in order and isinstance(decision, bets.Undecided):
            assert "several" in decision.why, (order, fate, decision)
        found[type(decision)] = found.get(type(decision), 0) + 1
    print(f"{sum(found.values())} orders over the real link:", {kind.__name__: n for kind, n in found.items()})
    return found


async def test_every_order_and_every_fate_over_the_real_link_agrees_with_the_truth(seed: int) -> None:
    found = await _every_order(seed, list(FATES), PAUSES)
    assert sum(found.values()) == 72 * 8 * 3
    assert min(found[kind] for kind in (bets.Bet, bets.NoBet, bets.Undecided)) > 100, "the orders met too few ends"


async def test_a_host_that_counts_by_arrival_is_found_over_the_real_link(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fold(seat: bets.Seat, event: Any) -> bets.Seat:
        if isinstance(event, m.Changed):
            return msgspec.structs.replace(seat, heard=event.sequence, lay=event.lies)
        if isinstance(event, m.Locked) and seat.asked is not None and seat.decision is None:
            lay = seat.lay is m.Lies.CHIP
            return msgspec.structs.replace(seat, decision=bets.Bet(seat.heard) if lay else bets.NoBet())
        return real(seat, event)

    real = bets.fold
    monkeypatch.setattr(bets, "fold", fold)
    with pytest.raises(AssertionError, match="chips lay there"):
        await _every_order(seed, list(FATES), PAUSES)
