"""No more bets at six seats over real links and the shipped controller: which bets count, against the real chips."""

from __future__ import annotations

import asyncio
from itertools import permutations, product
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.bet_sensor import messages as m
from devices.bet_sensor.state import findings
from firmware_bridge.errors import Revoked
from simulators.world.chips import TRAY
from table_controller.table import betting, core
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.betting import LOCK_TIMEOUT_S
from table_controller.table.decisions import Command, RequestRefused, StateChanged
from tests.support.box.lockout import BET, NO_BET, SEATS, UNDECIDED, LockedOut, LockingTable, is_locked, locking
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.bet_sensors import sensor_bench, until_received
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.table.context import Context

BETTING: Final = (1, 3, 6)


def bet(t: LockingTable) -> None:
    for seat in BETTING:
        t.machine(seat).inject("place_bet")


# --- the usual round -----------------------------------------------------------------------------------------


@over_the_ladder
async def test_bets_that_lie_there_count_and_the_chips_collected_are_the_bets_accepted(seed: int, rung: str) -> None:
    async with locking(seed, rung) as t:
        bet(t)
        ended = await t.lock()
        t.check_truth(ended)
        assert rung == "lossy" or (ended.bets == list(BETTING) and not ended.findings)
        if not ended.findings:
            await t.until_true(lambda: all(t.machine(s).spot.light is m.Light.ACCEPTED for s in ended.bets))
        undecided = sum(t.machine(seat).spot.chip_count() for seat in ended.findings)
        await t.finish()
        assert len(t.accepted()) == len(ended.bets) + undecided
        assert t.house.people.collected, "nobody collected a chip"
        assert not t.findings_of("chips_differ")
        assert t.house.chips.census().get(TRAY, 0) == len(t.accepted())


@over_the_ladder
async def test_the_six_locks_are_written_in_one_callback(seed: int, rung: str) -> None:
    async with locking(seed, rung) as t:
        bet(t)
        await asyncio.sleep(5)
        links = {seat: t.house.slots[f"bet_sensor.{seat}"].supervisor.link for seat in SEATS}
        sent = {seat: link.counters.sent for seat, link in links.items() if link}
        assert set(sent) == set(SEATS)
        at = t.call()
        for seat, link in links.items():
            assert link is not None
            assert link.counters.sent == sent[seat] + 1, f"seat {seat} was not written at once"
        t.check_truth(await t.ended(at))


# --- bad input: late bets, wrong rounds, five of six -----------------------------------------------------------


@clauses("688a.2(d)(2)")
@over_the_ladder
async def test_a_bet_during_lock_out_is_refused_with_its_code_and_never_counts(seed: int, rung: str) -> None:
    async with locking(seed, rung) as t:
        bet(t)
        ended = await t.lock()
        at = len(t.house.step_log)
        t.machine(2).inject("place_bet")
        await t.until_received(2)
        await t.until_true(lambda: t.findings_of("late_bet", at))
        assert [code for code, _ in findings(t.view(2))] == [m.Reason.LATE_BET]
        assert t.view(2).latched_bet is None
        assert 2 not in ended.bets
        assert [p.seat for p in t.state.prompts.values() if p.kind == "late_chip"] == [2]
        with pytest.raises(Exception, match="refused") as refused:
            await t.driver(2).light(t.state.next_id + 1000, m.Light.ACCEPTED, t.view(2).sequence)
        assert refused.value.code == "PB-485"  # type: ignore[attr-defined]
        t.machine(2).inject("take_bet")
        await t.until_received(2)
        assert findings(t.view(2)) == []
        t.check_truth(ended)
        assert 2 not in t.accepted()


@over_the_ladder
async def test_a_second_chip_on_a_latched_bet_is_late_and_the_bet_stands(seed: int, rung: str) -> None:
    async with locking(seed, rung) as t:
        t.machine(1).inject("place_bet")
        ended = await t.lock()
        at = len(t.house.step_log)
        t.machine(1).inject("place_bet")
        await t.until_received(1)
        await t.until_true(lambda: t.findings_of("late_bet", at))
        assert m.Reason.LATE_BET in dict(findings(t.view(1)))
        t.machine(1).inject("take_bet")
        await t.until_received(1)
        assert findings(t.view(1)) == []
        t.check_truth(ended)
        assert rung == "lossy" or t.accepted() == [1]


@over_the_ladder
async def test_a_chip_removed_after_the_latch_is_reported_and_the_bet_still_counts(seed: int, rung: str) -> None:
    async with locking(seed, rung) as t:
        t.machine(1).inject("place_bet")
        await t.until_received(1)
        ended = await t.lock()
        await t.until_true(lambda: is_locked(t.machine(1)))
        t.machine(1).inject("take_bet")
        await t.until_received(1)
        await t.until_true(lambda: t.view(1).latch is not None)
        assert [code for code, _ in findings(t.view(1))] == [m.Reason.BET_TAKEN]
        assert t.view(1).latched_bet == 1
        assert (await t.driver(1).status()).latch == t.machine(1).latched[-1][0]
        t.check_truth(ended)
        assert rung == "lossy" or t.accepted() == [1]


@over_the_ladder
@pytest.mark.parametrize(
    "fault", ["unplug:seconds=0", "hang:seconds=0", "withhold:message=Lock", "power_cut:seconds=9"]
)
@pytest.mark.parametrize("before", [True, False], ids=["before the lock", "after the lock was written"])
async def test_five_of_six_answering_leaves_the_sixth_undecided_by_name(
    seed: int, rung: str, fault: str, before: bool
) -> None:
    async with locking(seed, rung) as t:
        bet(t)
        await asyncio.sleep(1)
        t.machine(4).inject("place_bet")
        if before:
            t.machine(4).inject(fault)
        began = asyncio.get_running_loop().time()
        at = t.call()
        if not before:
            t.machine(4).inject(fault)
        ended = await t.ended(at)
        assert asyncio.get_running_loop().time() - began <= LOCK_TIMEOUT_S + 0.2
        t.check_truth(ended)
        if rung != "lossy":
            assert set(ended.findings) == {4}
            assert ended.bets == list(BETTING)
        assert ended.findings[4].startswith("PB-480: seat 4, round 1: ")
        assert t.accepted() == [], "nothing is booked while a seat is undecided"
        reasons = {reason.key for reason in t.house.controller.table.permit("arm_dice", "shaker.1", t.state.round.deck)}
        assert "bets_not_verified" in reasons


async def test_a_lock_of_a_wrong_round_is_refused_by_every_sensor_and_nothing_is_assumed(seed: int) -> None:
    async with locking(seed) as t:
        bet(t)
        await asyncio.sleep(1)
        t.state.round.number += 1  # box and sensors disagree about the round
        ended = await t.lock()
        assert set(ended.findings) == set(SEATS)
        assert all("refused the lock (PB-481)" in text for text in ended.findings.values())
        for seat in SEATS:
            status = await t.driver(seat).status()
            assert (status.state, status.latch, status.reason) == (m.State.NONE, None, m.Reason.WRONG_ROUND)
            t.machine(seat).inject("place_bet")
            assert (await t.driver(seat).status()).state is m.State.NONE, "a lock never leaves a sensor open"
            again = await t.driver(seat).lock(1, t.state.next_id + 1000)
            assert isinstance(again, m.LockRefused)
            assert again.reason is m.Reason.NOT_OPEN


async def test_another_lock_while_locked_is_refused_and_the_first_one_stands(seed: int) -> None:
    async with locking(seed) as t:
        bet(t)
        await asyncio.sleep(1)
        other = t.state.next_id + 1000
        first = {seat: await t.driver(seat).lock(1, other) for seat in SEATS}
        ended = await t.lock()
        assert set(ended.findings) == set(SEATS), "what somebody else latched is no confirmation of ours"
        assert all("refused the lock (PB-482)" in text for text in ended.findings.values())
        for seat in SEATS:
            wrong = await t.driver(seat).lock(2, other)
            assert isinstance(wrong, m.LockRefused)
            assert wrong.reason is m.Reason.WRONG_ROUND
            assert await t.driver(seat).lock(1, other) == first[seat], "the same lock gets the same confirmation"
            assert len(t.machine(seat).latched) == 1


async def test_an_undecided_seat_stays_undecided_regardless_of_later_sensor_reports(seed: int) -> None:
    async with locking(seed) as t:
        bet(t)
        t.machine(5).inject("unplug:seconds=4")
        at = t.call()
        first = await t.ended(at)
        assert list(first.findings) == [5]
        t.machine(1).inject("take_bet")
        t.machine(2).inject("place_bet")
        await asyncio.sleep(10)
        assert t.view(5).latch is not None, "the lock was sent again when the sensor came back"
        assert t.findings_of("late_latch", at)
        again = await t.ended(at)
        assert again == first, "an undecided seat stays undecided until a person decides"
        t.check_truth(again)
        await t.finish()
        assert t.findings_of("seat_decided", at)[0].startswith("seat 5: ")


async def test_a_second_call_while_one_waits_is_refused_and_writes_nothing(seed: int) -> None:
    async with locking(seed) as t:
        bet(t)
        t.machine(5).inject("hang:seconds=0")
        at = t.call()
        again = t.call()
        ended = await t.ended(at)
        assert set(ended.findings) == {5}
        assert ended.bets == list(BETTING)
        refused = [
            event for event, decided in t.house.step_log[again:] if any(isinstance(d, RequestRefused) for d in decided)
        ]
        assert [type(event) for event in refused] == [ev.NoMoreBets]
        locks = [d for d in t.decisions(at) if isinstance(d, Command) and d.act == "lock"]
        assert len(locks) == len(SEATS)


# --- a late confirmation ---------------------------------------------------------------------------------------


async def test_a_confirmation_after_the_deadline_is_recorded_and_decides_nothing(seed: int) -> None:
    async with locking(seed) as t:
        bet(t)
        await asyncio.sleep(1)
        t.machine(3).inject("drop:rate=0.99")
        at = t.call()
        ended = await t.ended(at)
        assert list(ended.findings) == [3]
        t.machine(3).inject("calm")
        await t.until_true(lambda: t.findings_of("late_latch", at))
        assert t.findings_of("late_latch", at) == ["seat 3 confirmed a bet too late; the floorperson decides"]
        assert (await t.ended(at)).seats[3] == UNDECIDED, "only a person decides now"


async def test_an_old_confirmation_does_not_spoil_the_next_lock_out(seed: int) -> None:
    async with locking(seed) as t:
        await asyncio.sleep(1)
        t.machine(1).inject("drop:rate=0.99")
        ended = await t.lock()
        assert list(ended.findings) == [1]
        t.machine(1).inject("calm")
        t.people.choices["seats"] = "nobody"
        await t.finish()
        await t.open_round()
        t.machine(1).inject("place_bet")
        again = await t.lock()
        assert (again.round, again.bets, again.findings) == (2, [1], {})
        t.check_truth(again)


@over_the_ladder
async def test_a_lock_whose_answer_is_lost_puts_the_slot_in_doubt_until_it_is_asked_about(seed: int, rung: str) -> None:
    async with locking(seed, rung) as t:
        t.machine(1).inject("withhold:message=Lock")
        at = t.call()
        ended = await t.ended(at)
        assert 1 in ended.findings
        doubted = StateChanged("slot bet_sensor.1", "unverified")
        await t.until_true(lambda: doubted in t.decisions(at))
        await t.finish()
        await t.until_true(lambda: t.state.slots["bet_sensor.1"].state == "in_service")
        assert t.machine(1).latched[-1][0].lock_id == ended.locks[1]
        assert t.findings_of("seat_decided", at), "it was for a person, and the report changed nothing"


# --- the lock is urgent ----------------------------------------------------------------------------------------


async def test_a_lock_overtakes_and_revokes_what_waits_in_the_queue(seed: int) -> None:
    async with sensor_bench(seed) as seat:
        await seat.driver.open(seat.next_id(), 7)
        seat.inject("place_bet")
        await until_received(seat)
        seat.inject("slow:baud=9600")
        lights = [seat.driver.light(seat.next_id(), m.Light.ACKNOWLEDGED, seat.view.sequence) for _ in range(20)]
        await asyncio.sleep(0)
        locked = await seat.driver.lock(7, seat.next_id())
        done = await asyncio.gather(*lights, return_exceptions=True)
        assert sum(isinstance(result, Revoked) for result in done) >= 8
        assert isinstance(locked, m.Locked)
        assert (locked.latch.content, locked.latch.last_change) == (m.SpotContent.CHIP, seat.view.sequence)


# --- every order over the real link ------------------------------------------------------------------------------

# What the line does to frames between sensor and host, from just before the first event on.
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
ACTS: Final = {"lay": "place_bet", "take": "take_bet", "reboot": "reboot"}
# Lines that lose nothing: over these a sensor that keeps its power confirms in time.
HARMLESS: Final = ("clean", "six frames come twice", "every byte by itself", "slow")
# Between two events (s): none, so that all frames are on their way at once; some; and time enough to reconnect.
PAUSES: Final = (0.0, 0.003, 1.5)
Play = tuple[tuple[str, ...], str]  # an order and a fate


def _rounds() -> list[tuple[int, float, list[Play]]]:
    """Every order with every fate and pause, six at a time: each seat has its own, and one call locks all."""
    results = []
    for pause, place in product(PAUSES, range(5)):
        plays = [(o, f) for o, f in product(ORDERS, FATES) if o.index("lock") == place]
        results += [(place, pause, plays[at : at + len(SEATS)]) for at in range(0, len(plays), len(SEATS))]
    return results


async def _play(t: LockingTable, place: int, pause: float, plays: list[Play]) -> LockedOut:
    """Play the events of every seat in its order, the lock at the same index; compare with the simulator."""
    for seat, (_, fate) in zip(SEATS, plays, strict=False):
        for fault in FATES[fate]:
            t.machine(seat).inject(fault)
    at = 0
    for step in range(5):
        if step == place:
            at = t.call()
        else:
            for seat, (order, _) in zip(SEATS, plays, strict=False):
                if step < len(order):
                    t.machine(seat).inject(ACTS[order[step]])
        if pause:
            await asyncio.sleep(pause)
    ended = await t.ended(at)
    t.check_truth(ended)
    return ended


async def _the_latch_stands(t: LockingTable) -> None:
    """Check that later events change no latch and no accepted bet."""
    for seat in SEATS:
        for fault in ("calm", "take_bet", "place_bet", "place_bet"):
            t.machine(seat).inject(fault)
    await t.until_true(lambda: all(t.view(seat).connected and t.driver(seat).reported for seat in SEATS))
    for seat in SEATS:
        status = await t.status(seat)
        await t.until_received(seat)
        latched = [latch for latch, _ in t.machine(seat).latched if latch.round == t.state.round.number]
        assert len(latched) <= 1
        assert status.latch == (latched[0] if latched else None)


async def _every_order(seed: int) -> dict[str, int]:
    results: dict[str, int] = {}
    async with locking(seed) as t:
        t.people.choices["seats"] = "nobody"
        rounds = _rounds()
        for number, (place, pause, plays) in enumerate(rounds):
            ended = await _play(t, place, pause, plays)
            await _the_latch_stands(t)
            for seat, (order, fate) in zip(SEATS, plays, strict=False):
                if fate in HARMLESS and "reboot" not in order and ended.seats[seat] == UNDECIDED:
                    assert "neither clearly one chip" in ended.findings[seat], (order, fate, ended.findings[seat])
                results[ended.seats[seat]] = results.get(ended.seats[seat], 0) + 1
            for seat in SEATS:
                t.machine(seat).inject("collect")
            await t.finish()
            t.sell_chips()
            if number + 1 < len(rounds):
                await t.open_round()
    print(f"{sum(results.values())} orders over the real link:", results)
    return results


async def test_every_order_and_every_fate_over_the_real_link_agrees_with_the_truth(seed: int) -> None:
    result = await _every_order(seed)
    assert sum(result.values()) == 72 * 8 * 3
    assert min(result[kind] for kind in (BET, NO_BET, UNDECIDED)) > 100, "the orders met too few ends"


async def test_a_host_that_counts_by_arrival_is_found_over_the_real_link(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def latched(c: Context, event: ev.SeatLatched) -> None:
        bets = c.state.progressive.seats[event.seat]
        decided = bets.latched or bets.refused or c.state.progressive.overdue
        if event.lock == bets.lock and c.state.progressive.state == mc.LOCKING and not decided:
            bets.latched, bets.bet = True, bets.placed
        else:
            betting.on_seat_latched(c, event)

    monkeypatch.setitem(core._HANDLERS, ev.SeatLatched, latched)
    with pytest.raises(AssertionError, match="chips lay there"):
        await _every_order(seed)


async def test_a_sensor_that_contradicts_what_it_reported_is_undecided_over_the_real_link(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with locking(seed) as t:
        bet(t)
        await t.until_received(3)
        twin: Any = t.machine(3).firmware
        monkeypatch.setattr(twin, "memory", type(twin.memory)(open=True, round=1, sequence=0))  # it forgets its bet
        ended = await t.lock()
        assert list(ended.findings) == [3]
        assert "confirmed 0 as its last change, but had reported change 1" in ended.findings[3]
        assert ended.bets == [1, 6]
        await t.finish()
        assert t.findings_of("seat_decided")[0].startswith("seat 3: the sensor confirmed 0 as its last change")
