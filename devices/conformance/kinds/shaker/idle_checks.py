"""DS-01 to DS-19: a shaker under its lid, and rolls that are opened and ended without a shake. Needs no operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devices.conformance.assertions import expect_refused, expect_same_except, wait_restarted
from devices.conformance.kinds.shaker.setup import (
    CHAPTER,
    arm_roll,
    bring_to_idle,
    expect_no_roll,
    roll_of,
    status_of,
    wait_roll_end,
)
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import SHORT_LIMIT_S, check_testing, expect_test_result, run_self_test
from devices.shaker import messages as m
from firmware_bridge.commands import REMEMBERED, Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession


@CHAPTER.requirement(1, "What it senses", at=bring_to_idle)
async def consistent(_: ConformanceBench, visit: CheckSession) -> None:
    """When it is idle, its status and its sensors agree: RESTING, the lid on, three dice."""
    status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
    expect(status.state is m.State.RESTING, "RESTING", status)
    expect(sensors.lid.active is status.lid_on is True, "the lid on in both", (status, sensors))
    for level in (sensors.lid, sensors.motion):
        expect(level.active is (level.level >= level.threshold), "active from its threshold on", level)
    expect(sensors.weight > 0, "the weight of three dice", sensors)


@CHAPTER.requirement(2, "What is never sent", at=bring_to_idle)
async def nothing_under_the_lid(bench: ConformanceBench, visit: CheckSession) -> None:
    """Nothing is reported about dice under the lid, idle or armed."""
    for _ in range(2):
        sensors = await visit.ask(m.GetSensors(), m.Sensors)
        expect(not sensors.dice, "no dice in Sensors", f"{len(sensors.dice)} dice")
        await visit.send_command(m.Arm(bench.next_id()))


@CHAPTER.requirement(3, "A roll", at=bring_to_idle)
async def arms(bench: ConformanceBench, visit: CheckSession) -> None:
    """Arm opens a roll with its id and no shakes: Shaken 0, ARMED, one more roll, OPEN when asked."""
    before = await status_of(visit)
    command = await arm_roll(bench, visit)
    reported = await visit.wait_for_event(m.Shaken, SHORT_LIMIT_S)
    expect(reported == m.Shaken(command, 0), f"Shaken about {command} with 0", reported)
    expect_same_except(
        before, await status_of(visit), state=m.State.ARMED, shakes=0, roll=command, values=None, disturbed=False,
        rolls=before.rolls + 1, reason=m.Reason.NONE,
    )  # fmt: skip
    known = await roll_of(visit, command)
    expect(known == m.Roll(command, m.Ending.OPEN, 0, None, m.Reason.NONE), "OPEN", known)


@CHAPTER.requirement(4, "States", needs=("DS-03",), at=bring_to_idle)
async def busy_armed(bench: ConformanceBench, visit: CheckSession) -> None:
    """While a roll is open Arm and SelfTest are refused with 420, and the roll stays open."""
    await arm_roll(bench, visit)
    before = await status_of(visit)
    for order in (m.Arm(bench.next_id()), m.SelfTest(bench.next_id())):
        await expect_refused(visit, order, m.Reason.BUSY, "in ARMED")
    expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(5, "States", needs=("DS-03",), at=bring_to_idle)
async def disarms(bench: ConformanceBench, visit: CheckSession) -> None:
    """Disarm ends an open roll at once, with one NoRoll 434; without an open roll it changes and reports nothing."""
    command = await arm_roll(bench, visit)
    await visit.complete_command(m.Disarm(bench.next_id()), SHORT_LIMIT_S)
    await expect_no_roll(visit, await wait_roll_end(visit, command), m.Reason.STOPPED)
    before, reported = await status_of(visit), list(visit.events)
    expect(before.state is m.State.RESTING, "RESTING", before)
    await visit.complete_command(m.Disarm(bench.next_id()), SHORT_LIMIT_S)
    await asyncio.sleep(QUIET_S)
    expect_same_except(before, await status_of(visit))
    expect(visit.events == reported, "no event", visit.events[len(reported) :])


@CHAPTER.requirement(6, "States", at=bring_to_idle)
async def tested(bench: ConformanceBench, visit: CheckSession) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every sensor passed."""
    reported, settled = await run_self_test(bench, visit, m)
    expect_test_result(m, settled, passed=not reported.bad_sensors)


@CHAPTER.requirement(7, "States")
async def testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and Arm and SelfTest are refused with 420."""
    await bring_to_idle(bench)
    await check_testing(bench, m, (m.Arm, m.SelfTest))


@CHAPTER.requirement(8, "A roll")
async def unknown(bench: ConformanceBench) -> None:
    """The result of an unknown roll is UNKNOWN."""
    async with bench.session() as visit:
        command = bench.next_id()
        known = await roll_of(visit, command)
        expect(known == m.Roll(command, m.Ending.UNKNOWN, 0, None, m.Reason.NONE), "UNKNOWN", known)


@CHAPTER.requirement(9, "States", needs=("DS-03",))
async def restart(bench: ConformanceBench) -> None:
    """A restart while a roll is open ends it: RESTING, and NoRoll with 435."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        command = await arm_roll(bench, visit)
        before = await status_of(visit)
        reply = await visit.send_command(m.Reset(bench.next_id()))
        expect(isinstance(reply, Settled) and reply.outcome is Outcome.DONE, "Reset to be DONE", reply)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        after = await status_of(visit)
        expect_same_except(before, after, state=m.State.RESTING, reason=m.Reason.POWER_LOST)
        known = await roll_of(visit, command)
        expect(known == m.Roll(command, m.Ending.NO_ROLL, 0, None, m.Reason.POWER_LOST), "NO_ROLL with 435", known)


@CHAPTER.requirement(10, "A roll", needs=("DS-05",))
async def remembers(bench: ConformanceBench) -> None:
    """It remembers its last 16 rolls, also through a restart."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        rolls = []
        for _ in range(REMEMBERED):
            rolls.append(await arm_roll(bench, visit))
            await visit.complete_command(m.Disarm(bench.next_id()), SHORT_LIMIT_S)
        await visit.send_command(m.Reset(bench.next_id()))
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        for command in rolls:
            known = await roll_of(visit, command)
            expect(known == m.Roll(command, m.Ending.NO_ROLL, 0, None, m.Reason.STOPPED), "NO_ROLL with 434", known)
