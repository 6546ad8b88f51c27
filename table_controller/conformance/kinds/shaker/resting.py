"""DS-01 to DS-19: a shaker under its lid, and rolls that are opened and ended without a shake. Needs no operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devices.shaker import messages as m
from firmware_bridge.commands import REMEMBERED, Outcome, Settled
from table_controller.conformance.judging import begin, one_end, refused, restarted, same_but, settled_as
from table_controller.conformance.kinds.shaker.machine import (
    CHAPTER,
    SHORT,
    armed,
    end_of,
    no_roll,
    rest,
    roll_of,
    status_of,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench


@CHAPTER.requirement(1, "What it senses")
async def consistent(bench: Bench) -> None:
    """When it is idle, its status and its sensors agree: RESTING, the lid on, three dice."""
    await rest(bench)
    async with bench.visit() as visit:
        status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
        expect(status.state is m.State.RESTING, "RESTING", status)
        expect(sensors.lid.active is status.lid_on is True, "the lid on in both", (status, sensors))
        for level in (sensors.lid, sensors.motion):
            expect(level.active is (level.level >= level.threshold), "active from its threshold on", level)
        expect(sensors.weight > 0, "the weight of three dice", sensors)


@CHAPTER.requirement(2, "What is never sent")
async def nothing_under_the_lid(bench: Bench) -> None:
    """Nothing is reported about dice under the lid, idle or armed."""
    await rest(bench)
    async with bench.visit() as visit:
        for _ in range(2):
            sensors = await visit.ask(m.GetSensors(), m.Sensors)
            expect(not sensors.dice, "no dice in Sensors", f"{len(sensors.dice)} dice")
            await visit.order(m.Arm(bench.next_id()))


@CHAPTER.requirement(3, "A roll")
async def arms(bench: Bench) -> None:
    """Arm opens a roll with its id and no shakes: Shaken 0, ARMED, one more roll, OPEN when asked."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        command = await armed(bench, visit)
        reported = await visit.event(m.Shaken, SHORT)
        expect(reported == m.Shaken(command, 0), f"Shaken about {command} with 0", reported)
        same_but(
            before, await status_of(visit), state=m.State.ARMED, shakes=0, roll=command, values=None, disturbed=False,
            rolls=before.rolls + 1, reason=m.Reason.NONE,
        )  # fmt: skip
        known = await roll_of(visit, command)
        expect(known == m.Roll(command, m.Ending.OPEN, 0, None, m.Reason.NONE), "OPEN", known)


@CHAPTER.requirement(4, "States", needs=("DS-03",))
async def busy_armed(bench: Bench) -> None:
    """While a roll is open Arm and SelfTest are refused with 420, and the roll stays open."""
    await rest(bench)
    async with bench.visit() as visit:
        await armed(bench, visit)
        before = await status_of(visit)
        for order in (m.Arm(bench.next_id()), m.SelfTest(bench.next_id())):
            await refused(visit, order, m.Reason.BUSY, "in ARMED")
        same_but(before, await status_of(visit))


@CHAPTER.requirement(5, "States", needs=("DS-03",))
async def disarms(bench: Bench) -> None:
    """Disarm ends an open roll at once, with one NoRoll 434; without an open roll it changes and reports nothing."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await armed(bench, visit)
        await visit.done(m.Disarm(bench.next_id()), SHORT)
        await no_roll(visit, await end_of(visit, command), m.Reason.STOPPED)
        before, reported = await status_of(visit), list(visit.events)
        expect(before.state is m.State.RESTING, "RESTING", before)
        await visit.done(m.Disarm(bench.next_id()), SHORT)
        await asyncio.sleep(QUIET)
        same_but(before, await status_of(visit))
        expect(visit.events == reported, "no event", visit.events[len(reported) :])


@CHAPTER.requirement(6, "States")
async def tested(bench: Bench) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every sensor passed."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled = await visit.end(command, SHORT)
        await asyncio.sleep(QUIET)
        bad = one_end(visit, command, m.SelfTested, settled).bad_sensors
        outcome, reason = (Outcome.FAILED, m.Reason.SELF_TEST_FAILED) if bad else (Outcome.DONE, m.Reason.NONE)
        settled_as(settled, outcome, reason)


@CHAPTER.requirement(7, "States")
async def testing(bench: Bench) -> None:
    """During a self-test it is TESTING, and Arm and SelfTest are refused with 420."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        status = await status_of(visit)
        for order in (m.Arm(bench.next_id()), m.SelfTest(bench.next_id())):
            await refused(visit, order, m.Reason.BUSY, "in TESTING")
        if visit.about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        await visit.end(command, SHORT)


@CHAPTER.requirement(8, "A roll")
async def unknown(bench: Bench) -> None:
    """The result of an unknown roll is UNKNOWN."""
    async with bench.visit() as visit:
        command = bench.next_id()
        known = await roll_of(visit, command)
        expect(known == m.Roll(command, m.Ending.UNKNOWN, 0, None, m.Reason.NONE), "UNKNOWN", known)


@CHAPTER.requirement(9, "States", needs=("DS-03",))
async def restart(bench: Bench) -> None:
    """A restart while a roll is open ends it: RESTING, and NoRoll with 435."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await armed(bench, visit)
        before = await status_of(visit)
        reply = await visit.order(m.Reset(bench.next_id()))
        expect(isinstance(reply, Settled) and reply.outcome is Outcome.DONE, "Reset to be DONE", reply)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        after = await status_of(visit)
        same_but(before, after, state=m.State.RESTING, reason=m.Reason.POWER_LOST)
        known = await roll_of(visit, command)
        expect(known == m.Roll(command, m.Ending.NO_ROLL, 0, None, m.Reason.POWER_LOST), "NO_ROLL with 435", known)


@CHAPTER.requirement(10, "A roll", needs=("DS-05",))
async def remembers(bench: Bench) -> None:
    """It remembers its last 16 rolls, also through a restart."""
    await rest(bench)
    async with bench.visit() as visit:
        rolls = []
        for _ in range(REMEMBERED):
            rolls.append(await armed(bench, visit))
            await visit.done(m.Disarm(bench.next_id()), SHORT)
        await visit.order(m.Reset(bench.next_id()))
    await restarted(bench, visit)
    async with bench.visit() as visit:
        for command in rolls:
            known = await roll_of(visit, command)
            expect(known == m.Roll(command, m.Ending.NO_ROLL, 0, None, m.Reason.STOPPED), "NO_ROLL with 434", known)
