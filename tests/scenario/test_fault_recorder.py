"""Fault reports from a machine's own events, over the wire: what they hold and what they must never hold."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.kinds import SHOE, SHUFFLER
from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandRefused, PitboxError
from simulators.casino.device_bench import DeviceBench
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from simulators.kinds.shuffler.card_mover import STRAINED
from simulators.kinds.shuffler.machine import SimulatedShuffler
from table_controller.diagnosis import fault_report_store as st
from table_controller.diagnosis.causes import diagnose
from table_controller.diagnosis.fault_report import FaultReport, encode
from table_controller.diagnosis.findings import CardRange, CauseKind
from table_controller.maintenance.fault_recorder import FaultRecorder
from table_controller.maintenance.frame_ring import WINDOW_S, FrameRing
from tests.support.machines.bench import LADDER, over_the_ladder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@asynccontextmanager
async def watched(machine: Any, keep: st.FaultReportStore | None = None) -> AsyncIterator[tuple[Any, FaultRecorder]]:
    """Connect a machine with a fault recorder on its driver."""
    ring = FrameRing(asyncio.get_running_loop().time)
    kind = SHOE if machine.kind == "shoe" else SHUFFLER
    freezers: list[FaultRecorder] = []

    def original(event: Any) -> None:
        freezers[0].handle_device_event(event)

    bench: Any = DeviceBench(machine, kind, MemoryPort(machine).open, capture=ring, on_event=original)
    freezer = FaultRecorder(
        machine.slot, kind, bench.driver, ring, keep, facts=lambda: {"expected": 53}, wall_ns=lambda: 5
    )
    freezers.append(freezer)
    bench.supervisor.start()
    await bench.until_reported()
    try:
        yield bench, freezer
    finally:
        await freezer.close()
        await bench.close()


async def fails(bench: Any, freezer: FaultRecorder, method: str = "shuffle") -> FaultReport:
    """Make a command fail; return its fault report."""
    with pytest.raises(PitboxError):
        await getattr(bench.driver, method)(bench.next_id())
    await freezer.close()
    return freezer.reports[-1]


@over_the_ladder
async def test_a_jam_is_recorded_with_its_evidence(seed: int, rung: str) -> None:
    async with watched(SimulatedShuffler(seed=seed)) as (bench, freezer):
        for fault in LADDER[rung]:
            bench.inject(fault)
        bench.inject("jam:segment=lift,card=9")
        report = await fails(bench, freezer)
        (jam,) = bench.events_of(m.Jam)
        assert (report.halt.what, report.halt.segment, report.halt.card) == ("jam", "lift", 9)
        assert report.complete
        assert [level.level for level in report.levels] == [level.level for level in jam.levels]
        assert {each.motor: each.milliamps for each in report.currents}["transport"] > STRAINED
        assert report.edges[-1].sensor == "bridge", "the last sensor that saw the card"
        assert [edge.before_us for edge in report.edges] == sorted((e.before_us for e in report.edges), reverse=True)
        assert report.machine.serial == bench.machine.key.serial
        assert report.frames
        assert all(0 <= frame.before_ms <= WINDOW_S * 1000 for frame in report.frames)
        diagnosis = diagnose(report)
        assert (diagnosis.where.segments, diagnosis.causes[0].why) == (("lift",), CauseKind.STUCK_CARD)
        assert bench.machine.mechanics.inside() in (diagnosis.cards.inside or ())


async def test_the_next_fault_has_a_number_of_its_own_and_the_first_stays(seed: int, tmp_path: Path) -> None:
    async with watched(SimulatedShuffler(seed=seed), st.FaultReportStore(tmp_path)) as (bench, freezer):
        bench.inject("jam:segment=lift,card=9")
        await fails(bench, freezer)
        first = st.file_of(tmp_path, 1).read_bytes()
        bench.inject("clear_path")
        await bench.driver.clear_jam(bench.next_id())
        await bench.driver.eject(bench.next_id())
        bench.inject("take_deck")
        bench.inject("load")
        bench.inject("torn_card:segment=bridge,card=4")
        await fails(bench, freezer)
        assert st.numbers(tmp_path) == [1, 2]
        assert st.file_of(tmp_path, 1).read_bytes() == first
        assert st.read(tmp_path, 2).halt.what == "short_card"
        assert [end.message for end in st.read(tmp_path, 2).ends] == ["Jam", "Cleared"]


async def test_the_evidence_at_hand_is_on_disk_before_the_machine_is_queried(seed: int, tmp_path: Path) -> None:
    async with watched(SimulatedShuffler(seed=seed), st.FaultReportStore(tmp_path)) as (bench, freezer):
        bench.inject("jam:segment=lift,card=9")
        command = asyncio.ensure_future(bench.driver.shuffle(bench.next_id()))
        await bench.until(lambda event: isinstance(event, m.Jam))
        await asyncio.sleep(0)
        frozen = st.read(tmp_path, 1)
        assert not frozen.complete
        assert frozen.levels, "a jam brings its levels along"
        assert frozen.edges == ()
        await asyncio.gather(command, return_exceptions=True)
        await freezer.close()
        assert st.read(tmp_path, 1).complete


async def test_a_machine_that_disconnects_after_its_fault_still_has_a_fault_report(seed: int, tmp_path: Path) -> None:
    async with watched(SimulatedShuffler(seed=seed), st.FaultReportStore(tmp_path)) as (bench, freezer):
        bench.inject("jam:segment=lift,card=9")
        command = asyncio.ensure_future(bench.driver.shuffle(bench.next_id()))
        await bench.until(lambda event: isinstance(event, m.Jam))
        bench.inject("unplug:seconds=0")
        await asyncio.gather(command, return_exceptions=True)
        await freezer.close()
        report = st.read(tmp_path, 1)
        assert (report.complete, report.edges, report.times) == (True, (), ())
        diagnosis = diagnose(report)
        assert (diagnosis.where.segments, diagnosis.causes[0].why) == (("lift",), CauseKind.STUCK_CARD)


async def test_a_short_stack_and_the_counts_that_follow_it_are_one_fault(seed: int) -> None:
    async with watched(SimulatedShoe(seed=seed)) as (bench, freezer):
        bench.inject("card_left_inside:card=20")
        await bench.driver.load(bench.next_id())
        for _ in range(7):
            await bench.driver.dispense(bench.next_id(), 7)
            bench.inject("take")
        with pytest.raises(PitboxError):
            await bench.driver.dispense(bench.next_id(), 4)
        await freezer.close()
        (report,) = freezer.reports
        assert [halt.message for halt in report.halts] == ["ShortStack", "Unbalanced"]
        diagnosis = diagnose(report)
        assert (diagnosis.causes[0].why, diagnosis.where.hidden) == (CauseKind.SLIPPED_CARD, "behind the well")
        assert bench.machine.mechanics.left() in (diagnosis.cards.inside or ())


async def test_power_lost_in_mid_cycle_is_one_fault_report_however_often_the_machine_connects(seed: int) -> None:
    async with watched(SimulatedShuffler(seed=seed)) as (bench, freezer):
        command = asyncio.ensure_future(bench.driver.shuffle(bench.next_id()))
        await bench.until(lambda event: isinstance(event, m.Progress) and event.entered >= 9)
        bench.inject("power_cut:seconds=1")
        await bench.until_reported()
        await asyncio.gather(command, return_exceptions=True)
        for _ in range(2):
            bench.inject("unplug:seconds=1")
            await bench.until_reported()
        await freezer.close()
        assert [report.halt.what for report in freezer.reports] == ["power_lost"]
        assert diagnose(freezer.reports[0]).causes[0].why is CauseKind.INTERRUPTED


async def test_its_own_history_covers_the_time_before_the_motion(seed: int) -> None:
    async with watched(SimulatedShuffler(seed=seed)) as (bench, freezer):
        await bench.driver.shuffle(bench.next_id())
        await bench.driver.eject(bench.next_id())
        bench.inject("take_deck")
        bench.inject("load")
        bench.inject("jam:segment=stack,card=9")
        report = await fails(bench, freezer)
        before = {times.segment: times.cards for times in report.history}
        now = {times.segment: times.cards for times in report.times}
        assert (before["feed"], now["feed"]) == (53, 106)
        assert [end.message for end in report.ends] == ["Completed"]


# --- what a fault report must never hold -----------------------------------------------------------------------------


async def test_decks_that_differ_only_in_their_order_leave_the_same_fault_report(seed: int) -> None:
    """No byte of it depends on the order of the cards, so it cannot reveal the order."""
    kept = []
    for order in (1, 2):
        machine = SimulatedShuffler(seed=seed, identifies=True)
        cards = machine.world.at(machine.mechanics.intake)
        for card in sorted(cards, key=lambda card: hash((order, card.id * 7919))):
            machine.world.move(card, machine.mechanics.intake)
        faces = [card.face for card in machine.world.at(machine.mechanics.intake)]
        async with watched(machine) as (bench, freezer):
            bench.inject("jam:segment=drop,card=30")
            report = await fails(bench, freezer)
            kept.append((faces, encode(msgspec.structs.replace(report, frames=()))))
            assert len(report.frames) > 50
    assert kept[0][0] != kept[1][0]
    assert kept[0][1] == kept[1][1]


async def test_frames_that_name_cards_are_blanked(seed: int) -> None:
    async with watched(SimulatedShuffler(seed=seed, identifies=True)) as (bench, freezer):
        bench.inject("swapped_card")
        await bench.driver.shuffle(bench.next_id())
        finding = await bench.driver.findings()
        assert isinstance(finding, m.Findings)
        named = [frame.data for frame in freezer.ring.frames() if b"\x53" in frame.data[12:15]]
        payload = msgspec.msgpack.encode(finding)
        assert all(payload not in frame.data for frame in freezer.ring.frames())
        assert any(data[-4:] == bytes(4) for data in named), "it is there, and blanked"


async def test_only_the_last_thirty_seconds_of_frames_are_kept(seed: int) -> None:
    async with watched(SimulatedShuffler(seed=seed)) as (bench, freezer):
        await bench.driver.status()
        await asyncio.sleep(WINDOW_S + 1)
        await bench.driver.sensors()
        assert all(frame.before_ms <= WINDOW_S * 1000 for frame in freezer.ring.frames())
        assert freezer.ring.frames()


# --- a path that is dark before anything moves ------------------------------------------------------------------------


async def refuses(bench: Any, freezer: FaultRecorder, method: str, *args: int) -> tuple[FaultReport, ...]:
    """Make a command fail because the path is dark; return every fault report."""
    with pytest.raises(CommandRefused) as refusal:
        await getattr(bench.driver, method)(bench.next_id(), *args)
    assert refusal.value.reason == m.Reason.PATH_BLOCKED
    await freezer.close()
    return tuple(freezer.reports)


def leave_a_card(bench: Any, at: Any, on: Any, place: str) -> None:
    """Leave a card of a pile on the path, where it darkens a sensor."""
    mechanics = bench.machine.mechanics
    bench.machine.world.move(bench.machine.world.at(place)[-1], mechanics.segment_place(at))
    mechanics._edge(on, True)


@pytest.mark.parametrize("sensor", ["feed", "draw", "exit"])
async def test_a_shoe_that_refuses_for_dust_is_recorded_once_and_again_after_it_has_moved(
    seed: int, sensor: str
) -> None:
    async with watched(SimulatedShoe(seed=seed)) as (bench, freezer):
        await bench.driver.load(bench.next_id())
        bench.inject(f"dust:sensor={sensor},percent=70")
        (report,) = await refuses(bench, freezer, "dispense", 7)
        assert report.complete
        assert (report.halt.what, report.halt.refused, report.halt.leg) == ("path_blocked", "Dispense", 1)
        assert report.times, "it was asked after it, as after any halt"
        diagnosis = diagnose(report)
        assert (diagnosis.where.sensors, diagnosis.where.segments) == ((sensor,), ()), "no card makes it so"
        assert (diagnosis.cards.path, diagnosis.cards.inside) == (CardRange(0, 0), CardRange(53, 53))
        assert (diagnosis.causes[0].why, diagnosis.causes[0].at, diagnosis.staff) == (CauseKind.DUST, sensor, False)
        assert "below the threshold" in diagnosis.causes[0].evidence[-1]
        assert [cause.why for cause in diagnosis.causes[1:]] == [CauseKind.FOREIGN_OBJECT, CauseKind.LEFT_CARD]
        assert len(await refuses(bench, freezer, "dispense", 7)) == 1, "the same, however often it is asked"
        bench.inject("mend")
        await bench.driver.dispense(bench.next_id(), 7)
        bench.inject("take")
        bench.inject(f"dust:sensor={sensor},percent=70")
        *_, newest = await refuses(bench, freezer, "dispense", 7)
        assert (newest.halt.what, newest.ends[-1].message) == ("path_blocked", "Dispensed")
        assert diagnose(newest).cards.inside == CardRange(46, 46)


async def test_a_shuffler_that_refuses_to_clear_for_dust_is_recorded(seed: int) -> None:
    async with watched(SimulatedShuffler(seed=seed)) as (bench, freezer):
        bench.inject("dust:sensor=lift,percent=70")
        (report,) = await refuses(bench, freezer, "clear_jam")
        assert (report.halt.what, report.halt.refused, report.halt.leg) == ("path_blocked", "ClearJam", None)
        diagnosis = diagnose(report)
        assert (diagnosis.causes[0].why, diagnosis.where.sensors, diagnosis.staff) == (CauseKind.DUST, ("lift",), False)


async def test_a_card_left_on_the_path_is_cleared_by_table_staff(seed: int) -> None:
    async with watched(SimulatedShoe(seed=seed)) as (bench, freezer):
        await bench.driver.load(bench.next_id())
        mechanics = bench.machine.mechanics
        leave_a_card(bench, sh.Segment.EXIT, sh.Sensor.DRAW, mechanics.well)
        (report,) = await refuses(bench, freezer, "dispense", 7)
        diagnosis = diagnose(report)
        assert diagnosis.where.segments == ("draw", "exit"), "on either side of the sensor"
        assert 1 in diagnosis.cards.path
        assert mechanics.left() + 1 in (diagnosis.cards.inside or ())
        assert (diagnosis.causes[0].why, diagnosis.causes[0].at, diagnosis.staff) == (CauseKind.LEFT_CARD, "draw", True)
        assert not diagnosis.causes[0].sure, "thick dust looks the same"


async def test_two_dark_sensors_indicate_an_object_in_the_path(seed: int) -> None:
    async with watched(SimulatedShoe(seed=seed)) as (bench, freezer):
        await bench.driver.load(bench.next_id())
        for sensor in ("draw", "exit"):
            bench.inject(f"dust:sensor={sensor},percent=70")
        diagnosis = diagnose((await refuses(bench, freezer, "dispense", 7))[0])
        assert (diagnosis.causes[0].why, diagnosis.where.sensors, diagnosis.staff) == (
            CauseKind.FOREIGN_OBJECT,
            ("draw", "exit"),
            False,
        )


async def test_a_manual_shoe_whose_exit_is_dark_is_recorded_too(seed: int) -> None:
    async with watched(SimulatedManualShoe(seed=seed)) as (bench, freezer):
        await bench.driver.load(bench.next_id())
        bench.inject("dust:sensor=exit,percent=70")
        diagnosis = diagnose((await refuses(bench, freezer, "start_round"))[0])
        assert (diagnosis.causes[0].why, diagnosis.where.sensors) == (CauseKind.DUST, ("exit",))
        assert 53 in (diagnosis.cards.inside or ())


async def test_a_refusal_after_a_halt_or_of_a_command_that_moves_no_card_adds_no_fault_report(seed: int) -> None:
    async with watched(SimulatedShuffler(seed=seed)) as (bench, freezer):
        bench.inject("dust:sensor=lift,percent=70")
        with pytest.raises(CommandRefused):
            await bench.driver.jog(bench.next_id(), m.Motor.TRANSPORT)
        await freezer.close()
        assert not freezer.reports
        await fails(bench, freezer)
        assert [each.halt.what for each in await refuses(bench, freezer, "clear_jam")] == ["jam"]


async def test_a_machine_that_does_not_report_dark_sensors_leaves_the_cause_open(seed: int) -> None:
    async with watched(SimulatedShoe(seed=seed)) as (bench, freezer):
        await bench.driver.load(bench.next_id())
        bench.inject("dust:sensor=draw,percent=70")
        (report,) = await refuses(bench, freezer, "dispense", 7)
        mute = diagnose(msgspec.structs.replace(report, levels=()))
        assert (mute.causes[0].why, mute.staff) == (CauseKind.UNKNOWN, False)
        assert mute.cards.path == CardRange(0, 1)
        assert 53 in (mute.cards.inside or ())
        clear = tuple(msgspec.structs.replace(level, blocked=False) for level in report.levels)
        gone = diagnose(msgspec.structs.replace(report, levels=clear))
        assert (gone.causes[0].why, gone.staff) == (CauseKind.INTERRUPTED, True)


# --- a motor that does not turn ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("motor", list(m.Motor))
async def test_a_seized_motor_is_named_at_its_first_card_and_a_jog_confirms_it(motor: m.Motor) -> None:
    # Always the same seed: one measurement in a few hundred is as low as that of a turning motor.
    async with watched(SimulatedShuffler(seed=1)) as (bench, freezer):
        name = motor.name.lower()
        bench.inject(f"seized:motor={name}")
        diagnosis = diagnose(await fails(bench, freezer))
        assert (diagnosis.causes[0].why, diagnosis.causes[0].at, diagnosis.staff) == (
            CauseKind.SEIZED_MOTOR,
            name,
            False,
        )
        assert (diagnosis.causes[0].sure, diagnosis.causes[1].why) == (False, CauseKind.STUCK_CARD)
        assert bench.machine.mechanics.inside() in (diagnosis.cards.inside or ())
        bench.machine.world.move_all(bench.machine.mechanics.intake, "pocket")
        bench.inject("mend")
        bench.inject("clear_path")
        await bench.driver.clear_jam(bench.next_id())
        bench.inject(f"seized:motor={name}")
        with pytest.raises(PitboxError):
            await bench.driver.jog(bench.next_id(), motor)
        await freezer.close()
        jogged = diagnose(freezer.reports[-1])
        assert (freezer.reports[-1].halt.message, freezer.reports[-1].halt.bad_motors) == ("Jogged", (name,))
        assert (jogged.causes[0].why, jogged.causes[0].at, jogged.causes[0].sure) == (
            CauseKind.SEIZED_MOTOR,
            name,
            True,
        )
        with pytest.raises(PitboxError):
            await bench.driver.self_test(bench.next_id())
        await freezer.close()
        tested = diagnose(freezer.reports[-1])
        assert (tested.causes[0].why, tested.causes[0].at, tested.staff) == (CauseKind.SEIZED_MOTOR, name, False)


async def test_a_motor_that_seizes_in_mid_motion_is_named_when_it_stalls_again(seed: int) -> None:
    async with watched(SimulatedShoe(seed=seed)) as (bench, freezer):
        await bench.driver.load(bench.next_id())
        command = asyncio.ensure_future(bench.driver.dispense(bench.next_id(), 7))
        await bench.until(lambda event: isinstance(event, sh.Progress) and event.moved >= 3)
        bench.inject("seized:motor=draw")
        await asyncio.gather(command, return_exceptions=True)
        await freezer.close()
        diagnosis = diagnose(freezer.reports[-1])
        assert (diagnosis.causes[0].why, diagnosis.causes[0].sure) == (CauseKind.STUCK_CARD, False), (
            "it looks like a card"
        )
        bench.inject("clear_path")
        diagnosis = diagnose(await fails(bench, freezer, "clear_jam"))
        assert (diagnosis.causes[0].why, diagnosis.causes[0].at, diagnosis.staff) == (
            CauseKind.SEIZED_MOTOR,
            "draw",
            False,
        )
        assert "the motion before also ended in a jam" in diagnosis.causes[0].evidence
