"""SH-01 to SH-09 and SH-20 to SH-29: a shuffler when idle, empty or with a deck behind its gate. Needs no operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.conformance.assertions import begin_command, expect_refused, expect_same_except, expect_settled
from devices.conformance.kinds.shuffler.setup import (
    COMMANDS,
    PATH,
    bring_to_empty,
    bring_to_idle,
    bring_to_loaded,
    bring_to_ready,
    cycling,
    status_of,
)
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import (
    SHORT_LIMIT_S,
    check_jog_in_place,
    check_stop_at_rest,
    check_stopped,
    check_testing,
    expect_levels,
    expect_path_clear,
    expect_test_result,
    run_self_test,
)
from devices.shuffler import messages as m
from firmware_bridge.commands import GetReport, Outcome, Report, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession


async def _consistent(visit: CheckSession) -> None:
    """Status and sensors of an idle machine agree."""
    status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
    expect_levels(m, sensors.levels)
    expect_path_clear(sensors.levels, PATH)
    expect(sensors.levels[m.Sensor.INTAKE].blocked is status.cards_in_intake, "INTAKE to agree with the status", status)
    gate = sensors.levels[m.Sensor.GATE].blocked
    expect(gate is (status.state is m.State.READY), "cards behind the gate in READY, and in no other state", status)


@cycling(1, "The card path", at=bring_to_idle)
async def consistent(_: ConformanceBench, visit: CheckSession) -> None:
    """When it is idle, its status and its sensors agree."""
    await _consistent(visit)


@cycling(2, "States", at=bring_to_idle)
async def nothing_to_eject(bench: ConformanceBench, visit: CheckSession) -> None:
    """With nothing behind the gate Eject is refused with 424."""
    await expect_refused(visit, m.Eject(bench.next_id()), m.Reason.NOTHING_TO_EJECT, "in IDLE")


@cycling(3, "States")
async def stop_at_rest(bench: ConformanceBench) -> None:
    """Stop is never refused, and changes nothing in an idle machine."""
    await bring_to_idle(bench)
    await check_stop_at_rest(bench, m)


@cycling(4, "States", at=bring_to_idle)
async def self_test(bench: ConformanceBench, visit: CheckSession) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every sensor and motor passed."""
    tested, settled = await run_self_test(bench, visit, m)
    expect_test_result(m, settled, passed=not tested.bad_sensors and not tested.bad_motors)
    expect((await status_of(visit)).state is m.State.IDLE, "IDLE again", await status_of(visit))


@cycling(8, "One motor", capability=m.JOGS)
async def jog(bench: ConformanceBench) -> None:
    """A jog ends in Jogged of that motor and direction, then Settled, DONE only if it turned; nothing else changes."""
    await bring_to_idle(bench)
    await check_jog_in_place(bench, m)


@cycling(9, "One motor", capability=m.JOGS, needs_operator=True, at=bring_to_loaded)
async def jog_in_reach(bench: ConformanceBench, visit: CheckSession) -> None:
    """While cards are in the intake, the feed motor is not jogged: 445."""
    jog_in = m.Jog(bench.next_id(), m.Motor.FEED, False)
    await expect_refused(visit, jog_in, m.Reason.CARDS_IN_REACH, "with cards in the intake")


@cycling(5, "States")
async def busy_testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and every other motion is refused with 420."""
    await bring_to_idle(bench)
    await check_testing(bench, m, COMMANDS.values())


@cycling(6, "States")
async def stopped_test(bench: ConformanceBench) -> None:
    """Stop ends a self-test as FAILED with 434; the machine is idle as before, with no Stopped."""
    await bring_to_idle(bench)
    await check_stopped(bench, m, m.SelfTest)


@cycling(7, "States")
async def restart(bench: ConformanceBench) -> None:
    """After a restart while idle, the boot id is new, the mode SHUFFLE, and the machine IDLE as before."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        await visit.complete_command(m.SetMode(bench.next_id(), m.Mode.SORT), SHORT_LIMIT_S)
        before = await status_of(visit)
        command = bench.next_id()
        reply = await visit.send_command(m.Reset(command))
        expect(reply == Settled(command, Outcome.DONE, 0), "DONE", reply)
    await bench.wait_for_device(not_boot=visit.hello.boot_id)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit), mode=m.Mode.SHUFFLE)
        expect(not visit.events_of(m.Power), "no Power: nothing was interrupted", visit.events)
        known = await visit.ask_outcome(command)
        expect(known.outcome is Outcome.DONE, "the reset remembered as DONE", known)
        await visit.ask(GetReport(), Report)


# --- with a deck behind the gate ------------------------------------------------------------------------------------


@cycling(20, "States", needs=("SH-11",), at=bring_to_ready)
async def gate_occupied(bench: ConformanceBench, visit: CheckSession) -> None:
    """With cards behind the gate StartCycle is refused with 425."""
    await _consistent(visit)
    await expect_refused(visit, m.StartCycle(bench.next_id()), m.Reason.GATE_OCCUPIED, "in READY")


@cycling(21, "States", needs=("SH-11",), at=bring_to_ready)
async def test_in_ready(bench: ConformanceBench, visit: CheckSession) -> None:
    """In READY a self-test and SetMode are not refused, and it is READY again with the same cards."""
    before = await status_of(visit)
    await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
    await visit.complete_command(m.SetMode(bench.next_id(), m.Mode.SHUFFLE), SHORT_LIMIT_S)
    expect_same_except(before, await status_of(visit), mode=m.Mode.SHUFFLE)


@cycling(22, "States", needs=("SH-11",))
async def stopped_gate(bench: ConformanceBench) -> None:
    """Stop while the gate opens ends Eject as FAILED with 434; the machine is READY as before."""
    await bring_to_ready(bench)
    await check_stopped(bench, m, m.Eject)


@cycling(23, "States", needs=("SH-11",))
async def restart_ready(bench: ConformanceBench) -> None:
    """After a restart in READY it is READY, and the count behind the gate is nil."""
    await bring_to_ready(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        await visit.complete_command(m.Reset(bench.next_id()), SHORT_LIMIT_S)
    await bench.wait_for_device(not_boot=visit.hello.boot_id)
    async with bench.session() as visit:
        expect_same_except(before, await status_of(visit), behind_gate=None, mode=m.Mode.SHUFFLE)


@cycling(24, "A cycle", needs=("SH-11",), at=bring_to_ready)
async def eject(bench: ConformanceBench, visit: CheckSession) -> None:
    """Eject opens the gate: Accepted, then Settled DONE, IDLE, and nothing behind the gate."""
    before = await status_of(visit)
    command = await begin_command(visit, m.Eject(bench.next_id()))
    expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.DONE, m.Reason.NONE)
    expect_same_except(before, await status_of(visit), state=m.State.IDLE, behind_gate=0)
    expect(
        len(visit.events_about(command)) == 1,
        "one Settled and no other event about it",
        visit.events_about(command),
    )
    await _consistent(visit)


@cycling(25, "States", needs=("SH-11",), at=bring_to_empty)
async def nothing_loaded(bench: ConformanceBench, visit: CheckSession) -> None:
    """Without cards in the intake StartCycle is refused with 421."""
    await expect_refused(visit, m.StartCycle(bench.next_id()), m.Reason.NOTHING_LOADED, "with an empty intake")
