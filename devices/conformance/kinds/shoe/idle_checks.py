"""SO-01 to SO-09: a shoe when idle, of either model. Needs no operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devices.conformance.assertions import begin_command, check_jog, expect_refused, expect_same_except, expect_settled
from devices.conformance.kinds.shoe.setup import (
    CHAPTER,
    COMMANDS,
    PATH,
    SHORT_LIMIT_S,
    bring_to_idle,
    expect_all_refused,
    expect_one_end,
    is_manual,
    status_of,
    try_commands,
)
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import NotChecked, expect
from devices.shoe import messages as m
from firmware_bridge.commands import Outcome, Settled

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench


@CHAPTER.requirement(1, "The card path")
async def consistent(bench: ConformanceBench) -> None:
    """When it is idle, its status and its sensors agree; a sensor that it lacks has level 0 and threshold 0."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        status, sensors = await status_of(visit), await visit.ask(m.GetSensors(), m.Sensors)
        fitted = (m.Sensor.WELL, m.Sensor.DRAW, m.Sensor.EXIT) if is_manual(visit) else tuple(m.Sensor)
        for sensor, level in zip(m.Sensor, sensors.levels, strict=True):
            expect(
                (level.threshold > 0) is (sensor in fitted), f"a threshold only of sensors it has: {sensor.name}", level
            )
            expect(level.blocked is (level.level < level.threshold), f"{sensor.name} dark below its threshold", level)
            expect(level.level <= 1023, f"{sensor.name} between 0 and 1023", level)
        dark = [sensor.name for sensor in PATH if sensors.levels[sensor].blocked]
        expect(not dark, "no dark sensor on the path of an idle machine", f"dark: {dark}")
        for sensor, lies in ((m.Sensor.INTAKE, status.in_intake), (m.Sensor.WELL, status.in_well),
                             (m.Sensor.SLOT, status.in_slot)):  # fmt: skip
            expect(sensors.levels[sensor].blocked is lies, f"{sensor.name} to agree with the status", status)


@CHAPTER.requirement(2, "States")
async def not_capable(bench: ConformanceBench) -> None:
    """A command that its model lacks is refused with 440, before any other reason."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        command = bench.next_id()
        beyond = m.Dispense(command, 99) if is_manual(visit) else m.StartRound(command)
        await expect_refused(visit, beyond, m.Reason.NOT_CAPABLE, "by this model")


@CHAPTER.requirement(3, "States", capability=m.DISPENSES)
async def stack_size(bench: ConformanceBench) -> None:
    """A stack of no cards, or of more than 10, is refused with 441."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        for cards in (0, m.MAX_STACK + 1, 255):
            await expect_refused(visit, m.Dispense(bench.next_id(), cards), m.Reason.STACK_SIZE, f"for {cards} cards")


@CHAPTER.requirement(4, "States")
async def stop_at_rest(bench: ConformanceBench) -> None:
    """Stop is never refused, and changes nothing in an idle machine."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        command = bench.next_id()
        reply = await visit.send_command(m.Stop(command))
        expect(reply == Settled(command, Outcome.DONE, 0), "DONE", reply)
        expect_same_except(before, await status_of(visit))
        expect(not visit.events, "no event", visit.events)


@CHAPTER.requirement(5, "States")
async def self_test(bench: ConformanceBench) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every sensor and motor passed; nothing changes."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        settled = await visit.wait_settled(command, SHORT_LIMIT_S)
        await asyncio.sleep(QUIET_S)
        tested: m.SelfTested = expect_one_end(visit.events, command, m.SelfTested, settled)
        passed = not tested.bad_sensors and not tested.bad_motors
        outcome, reason = (Outcome.DONE, m.Reason.NONE) if passed else (Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        expect_settled(settled, outcome, reason)
        expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(8, "One motor", capability=m.JOGS)
async def jog(bench: ConformanceBench) -> None:
    """A jog ends in Jogged of that motor and direction, then Settled, DONE only if it turned; nothing else changes."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        await check_jog(bench, visit, m, SHORT_LIMIT_S, QUIET_S)
        expect_same_except(before, await status_of(visit))


@CHAPTER.requirement(6, "States")
async def busy_testing(bench: ConformanceBench) -> None:
    """During a self-test it is TESTING, and every other command is refused with 420."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        names = [name for name in COMMANDS if name != "Dispense" or not is_manual(visit)]
        status, replies = await status_of(visit), await try_commands(visit, bench, names)
        if visit.events_about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        expect_all_refused(replies, m.Reason.BUSY, "in TESTING")
        await visit.wait_settled(command, SHORT_LIMIT_S)


@CHAPTER.requirement(7, "States")
async def stopped_test(bench: ConformanceBench) -> None:
    """Stop ends a self-test as FAILED with 434; the machine is idle as before, with no Stopped."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        before = await status_of(visit)
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        reply = await visit.send_command(m.Stop(bench.next_id()))
        expect(isinstance(reply, Settled) and reply.outcome is Outcome.DONE, "Stop to be DONE", reply)
        if Settled(command, Outcome.DONE, 0) in visit.events:
            raise NotChecked("it ended before the stop came; run the simulator more slowly")
        expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, m.Reason.STOPPED)
        await asyncio.sleep(QUIET_S)
        expect(not visit.events_of(m.Stopped), "no Stopped", visit.events)
        expect_same_except(before, await status_of(visit))
