"""Which commands wait for the disk, a journal that fails, wrong clocks, and starts after a power cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from devices.bet_sensor import messages as bet_sensor
from firmware_bridge.errors import DiskFailed, DiskFull, DiskReadOnly
from simulators.casino.dealer import DEALER
from simulators.casino.disk_writer import DiskWriter
from simulators.casino.table import CasinoTable
from table_controller.journal import records as rec
from table_controller.journal.chain import Record
from table_controller.table import core, restart
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted, Command
from tests.support.box.power_cuts import cut_and_compare, decided, steps
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.table.context import Context

GAME: Final = "face_up_pai_gow"
YEAR_NS: Final = 365 * 86400 * 1_000_000_000
# Sync time of a slow disk, longer than everything that precedes it (s).
SLOW: Final = 5.0


async def opened(seed: int) -> CasinoTable:
    """Return a table that waits for its first round."""
    house = CasinoTable(GAME, seed=seed)
    await house.open("blue", "red")
    return house


def slow_disk(house: CasinoTable) -> None:
    house.writer._latency = lambda: SLOW  # type: ignore[method-assign]


def sensor(house: CasinoTable, seat: int) -> Any:
    return house.machines[f"bet_sensor.{seat}"]


async def bet_at_four_before_a_slow_disk(house: CasinoTable) -> None:
    """Place a bet at seat 4 and call no more bets; later records take long to reach the disk."""
    house.controller.submit(ev.OpenRound(DEALER))
    await house.wait(1.0)
    sensor(house, 4).inject("place_bet")
    await house.wait(1.0)
    slow_disk(house)
    house.controller.submit(ev.NoMoreBets(DEALER))


def against_opening(house: CasinoTable) -> set[str]:
    table = house.controller.table
    deck = table.context.next_deck()
    return {reason.key for reason in table.permit("open_bets", deck=deck.name if deck else None)}


async def test_permitting_commands_wait_for_the_disk_and_fail_safe_commands_do_not(seed: int) -> None:
    house = await opened(seed)
    try:
        slow_disk(house)
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(SLOW - 1)
        assert not sensor(house, 1).firmware.memory.open, "a sensor opened before its round was on disk"
        await house.wait(2.0)
        assert sensor(house, 1).firmware.memory.open
        sensor(house, 1).inject("place_bet")
        await house.wait(SLOW + 1)
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.wait(0.1)
        assert house.writer.waiting, "the call is not on disk yet"
        assert sensor(house, 1).firmware.memory.latch is not None, "a lock waited for the disk"
    finally:
        await house.close()


async def test_the_accepted_light_means_that_the_bet_is_on_disk(seed: int) -> None:
    house = await opened(seed)
    try:
        await bet_at_four_before_a_slow_disk(house)
        await house.until(lambda: 4 in house.controller.table.state.money.bets, 120.0)
        on_disk = [d for d in decided(house.disk.records) if isinstance(d, BetAccepted)]
        assert on_disk == []
        assert sensor(house, 4).spot.light is not bet_sensor.Light.ACCEPTED
        await house.until(lambda: sensor(house, 4).spot.light is bet_sensor.Light.ACCEPTED, 120.0)
        (accepted,) = [d for d in decided(house.disk.records) if isinstance(d, BetAccepted)]
        assert (accepted.round, accepted.seat) == (1, 4)
    finally:
        await house.close()


async def test_a_command_that_is_not_permitted_any_more_when_it_is_on_disk_is_revoked(seed: int) -> None:
    house = await opened(seed)
    try:
        slow_disk(house)
        house.controller.submit(ev.OpenRound(DEALER))
        issued = [id_ for id_, each in house.controller.table.state.commands.items() if each.act == "open_bets"]
        assert len(issued) == 6
        await house.wait(1.0)
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.wait(2 * SLOW + 1)
        ends = [e for e, _ in house.step_log if isinstance(e, ev.CommandEnded) and e.command in issued]
        assert [(end.command, end.outcome) for end in ends] == [(id_, "revoked") for id_ in issued]
        assert not any(sensor(house, seat).firmware.memory.open for seat in range(1, 7))
    finally:
        await house.close()


async def test_the_journal_holds_every_step_in_the_order_of_the_steps(seed: int) -> None:
    house = await opened(seed)
    try:
        await house.round((1, 4))
        reported = [(event, decisions) for event, decisions in house.step_log]
        assert [(step.event, step.decisions) for step in steps(house.disk.records)] == reported
        times = [(r.wall_ns, r.mono_ns) for r in house.disk.records if r.kind == rec.STEP]
        assert times == sorted(times)
    finally:
        await house.close()


@pytest.mark.parametrize("trouble", [DiskFull("no room"), DiskReadOnly("read-only"), DiskFailed("an error")])
async def test_a_failing_journal_locks_everything_until_the_restart_and_loses_nothing(
    seed: int, trouble: DiskFull
) -> None:
    house = await opened(seed)
    shown: list[str] = []
    try:
        await house.round((1, 4))
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(1.0)
        sensor(house, 2).inject("place_bet")
        await house.wait(1.0)
        assert sensor(house, 2).firmware.memory.open
        before = list(house.disk.records)
        house.controller.on_halted = lambda why: shown.append(why.code)
        house.disk.fault = trouble
        sensor(house, 6).inject("place_bet")  # the next record
        await house.wait(1.0)
        assert shown == [trouble.code]
        assert all(sensor(house, seat).firmware.memory.latch is not None for seat in range(1, 7)), "a sensor is open"
        state = house.controller.table.snapshot()
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.wait(5.0)
        assert house.controller.table.snapshot() == state, "something happened that cannot be recorded"
        assert house.disk.records == before
        # Restarted with the cause fixed: the round is kept, and latched bets count.
        house.disk.fault = None
        house.disk.cut()
        await house.power_up()
        hold = next(iter(house.controller.table.state.holds.values()))
        assert (hold.trigger, hold.this_round) == ("box_restarted", True)
        await house.until_quiescent()
        assert house.controller.table.state.round.state == mc.IDLE
        assert [(d.round, d.seat) for d in decided(house.disk.records) if isinstance(d, BetAccepted)] == [
            (1, 1), (1, 4), (2, 2), (2, 6),
        ]  # fmt: skip
    finally:
        await house.close()


async def test_a_lock_whose_record_was_lost_still_counts_and_its_number_is_never_used_again(seed: int) -> None:
    house = await opened(seed)
    try:
        await bet_at_four_before_a_slow_disk(house)
        await house.wait(0.5)
        lost = sensor(house, 4).firmware.memory.latch
        assert lost is not None
        house.disk.rng.random = lambda: 1.0  # type: ignore[method-assign] # what was not synced is gone
        house.disk.cut()
        assert not [step for step in steps(house.disk.records) if isinstance(step.event, ev.NoMoreBets)]
        sensor(house, 4).inject("drop_chip")  # changes after the latch do not count
        sensor(house, 4).inject("place_bet")
        await house.power_up()
        await house.until(lambda: house.controller.table.state.progressive.seats[4].latched, 60.0)
        assert house.controller.table.state.progressive.seats[4].lock == lost.lock_id
        sent = [d.id for d in decided(house.disk.records) if isinstance(d, Command)]
        assert lost.lock_id not in sent
        assert house.controller.table.state.next_id > 2 << 32
        await house.until_quiescent()
        (bet,) = [d for d in decided(house.disk.records) if isinstance(d, BetAccepted)]
        assert (bet.round, bet.seat) == (1, 4)
    finally:
        await house.close()


async def restarted(house: CasinoTable) -> None:
    house.disk.cut()
    await house.power_up()
    await house.until_quiescent()


@clauses("688a.3(c)(2)")
@pytest.mark.parametrize("right", [True, False])
async def test_over_a_power_off_a_deck_is_expired_unless_a_trusted_clock_proves_otherwise(
    seed: int, right: bool
) -> None:
    house = await opened(seed)
    try:
        house.clock.is_synchronized = right
        await restarted(house)
        due = [step.event for step in steps(house.disk.records) if isinstance(step.event, ev.Due)]
        assert ("deck_expired" in against_opening(house)) is not right
        assert (ev.Due("deck_age/blue/8") in due) is not right, "the expiry must be in the journal"
    finally:
        await house.close()


async def test_a_clock_that_went_back_by_a_year_locks_the_table_until_a_floorperson_acknowledges(seed: int) -> None:
    house = await opened(seed)
    try:
        house.clock.ahead_ns = -YEAR_NS
        house.disk.cut()
        house.people.see_decision = lambda decision: None  # type: ignore[method-assign] # nobody is there
        await house.power_up()
        assert [hold.trigger for hold in house.controller.table.state.holds.values()] == ["clock_back"]
        assert {"any_irregularity", "deck_expired"} <= against_opening(house)
        box = [r for r in house.disk.records if r.kind == rec.BOX][-1]
        assert rec.decode_box(box.body).back
        del house.people.see_decision
        house.people.look_at_screen()
        await house.until_quiescent()
        assert "deck_expired" in against_opening(house), "an acknowledgment makes no deck younger"
        assert "any_irregularity" not in against_opening(house)
    finally:
        await house.close()


async def test_a_step_of_the_clock_is_written_down_and_ages_take_the_larger(seed: int) -> None:
    house = await opened(seed)
    try:
        house.clock.ahead_ns = 9 * 3600 * 1_000_000_000
        await house.wait(61.0)
        assert "deck_expired" in against_opening(house)
        (step,) = [r for r in house.disk.records if r.kind == rec.CLOCK]
        assert step.body == rec.encode_body(rec.ClockRecord(9 * 3600 * 1_000_000_000))
    finally:
        await house.close()


@pytest.mark.parametrize("trouble", ["damaged", "newer", "full"])
async def test_a_box_whose_journal_cannot_be_opened_locks_every_device_that_answers_and_moves_nothing(
    seed: int, trouble: str
) -> None:
    house = await opened(seed)
    try:
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(1.0)
        assert all(sensor(house, seat).firmware.memory.open for seat in range(1, 7))
        house.disk.cut()
        whole = list(house.disk.records)
        if trouble == "damaged":
            house.disk.records[-3] = msgspec.structs.replace(whole[-3], body=b"{}")
        elif trouble == "newer":
            house.disk.version += 1
        else:
            house.disk.fault = DiskFull("no room left")
        await house.power_up()
        box = house.box
        assert box.controller is None
        assert box.safe_mode is not None
        await house.wait(5.0)
        assert sorted(box.safe_mode.stopped_slots) == sorted(
            name for name in house.machines if name != "meter_sign.1"
        )  # shows, moves not
        assert not any(sensor(house, seat).firmware.memory.open for seat in range(1, 7))
        assert box.safe_mode.cause.code in ("PB-712", "PB-713", "PB-716")
        assert [record for record in house.disk.records if record.body != b"{}"] == [
            record for record in whole if trouble != "damaged" or record.seq != whole[-3].seq
        ], "nothing may be written"
    finally:
        await house.close()


async def test_a_disk_that_lies_about_durability_is_caught_by_the_comparison(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check can fail: with a disk that reports durability too early, the box lights bets that power cuts lose.

    Every such series of power cuts is caught. In some the table first waits for a command whose record is lost.
    """
    honest: Any = DiskWriter.append

    def lying(self: DiskWriter, *details: Any) -> int:
        *entry, on_durable = details
        kind, wall_ns, mono_ns, boot, body = entry
        self._loop.call_soon(on_durable, Record(self.next_seq, kind, wall_ns, mono_ns, boot, body, bytes(32)))
        number: int = honest(self, *entry, lambda _: None)
        return number

    monkeypatch.setattr(DiskWriter, "append", lying)
    caught = []
    for series in (seed, seed + 1):
        with pytest.raises(AssertionError, match="; repeat: ") as failure:
            await cut_and_compare(GAME, series, 20)
        caught.append(str(failure.value))
    assert [text for text in caught if "lit before they were on disk" in text]


async def test_a_start_that_forgets_a_claimed_hit_is_caught_by_the_comparison(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check can fail: a core that starts without its unpaid hits."""

    def forgetful(c: Context, event: ev.BoxStarted) -> None:
        restart.on_box_started(c, event)
        money = c.state.money
        money.hits = {id_: hit for id_, hit in money.hits.items() if hit.state not in mc.HIT_OPEN}

    monkeypatch.setitem(core._HANDLERS, ev.BoxStarted, forgetful)
    with pytest.raises(AssertionError, match=r"pending before the cut.*; repeat: "):
        await cut_and_compare(GAME, seed + 3, 12)
