"""SO-01 to SO-09: a shoe when idle, of either model. Needs no operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from devices.shoe import messages as m
from firmware_bridge.commands import Outcome, Settled
from table_controller.conformance.judging import begin, one_motor, refused, same_but, settled_as
from table_controller.conformance.kinds.shoe.machine import (
    CHAPTER,
    COMMANDS,
    PATH,
    SHORT,
    all_refused,
    is_manual,
    one_end,
    rest,
    status_of,
    tried,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.requirements import NotChecked, expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench


@CHAPTER.requirement(1, "The card path")
async def consistent(bench: Bench) -> None:
    """When it is idle, its status and its sensors agree; a sensor that it lacks has level 0 and threshold 0."""
    await rest(bench)
    async with bench.visit() as visit:
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
async def not_capable(bench: Bench) -> None:
    """A command that its model lacks is refused with 440, before any other reason."""
    await rest(bench)
    async with bench.visit() as visit:
        command = bench.next_id()
        beyond = m.Dispense(command, 99) if is_manual(visit) else m.StartRound(command)
        await refused(visit, beyond, m.Reason.NOT_CAPABLE, "by this model")


@CHAPTER.requirement(3, "States", capability=m.DISPENSES)
async def stack_size(bench: Bench) -> None:
    """A stack of no cards, or of more than 10, is refused with 441."""
    await rest(bench)
    async with bench.visit() as visit:
        for cards in (0, m.MAX_STACK + 1, 255):
            await refused(visit, m.Dispense(bench.next_id(), cards), m.Reason.STACK_SIZE, f"for {cards} cards")


@CHAPTER.requirement(4, "States")
async def stop_at_rest(bench: Bench) -> None:
    """Stop is never refused, and changes nothing in an idle machine."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        command = bench.next_id()
        reply = await visit.order(m.Stop(command))
        expect(reply == Settled(command, Outcome.DONE, 0), "DONE", reply)
        same_but(before, await status_of(visit))
        expect(not visit.events, "no event", visit.events)


@CHAPTER.requirement(5, "States")
async def self_test(bench: Bench) -> None:
    """A self-test ends in SelfTested and then Settled, DONE only if every sensor and motor passed; nothing changes."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled = await visit.end(command, SHORT)
        await asyncio.sleep(QUIET)
        tested: m.SelfTested = one_end(visit.events, command, m.SelfTested, settled)
        passed = not tested.bad_sensors and not tested.bad_motors
        outcome, reason = (Outcome.DONE, m.Reason.NONE) if passed else (Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        settled_as(settled, outcome, reason)
        same_but(before, await status_of(visit))


@CHAPTER.requirement(8, "One motor", capability=m.JOGS)
async def jog(bench: Bench) -> None:
    """A jog ends in Jogged of that motor and direction, then Settled, DONE only if it turned; nothing else changes."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        await one_motor(bench, visit, m, SHORT, QUIET)
        same_but(before, await status_of(visit))


@CHAPTER.requirement(6, "States")
async def busy_testing(bench: Bench) -> None:
    """During a self-test it is TESTING, and every other command is refused with 420."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        names = [name for name in COMMANDS if name != "Dispense" or not is_manual(visit)]
        status, replies = await status_of(visit), await tried(visit, bench, names)
        if visit.about(command):
            raise NotChecked("the test ended before it could be observed; run the simulator more slowly")
        expect(status.state is m.State.TESTING, "TESTING", status)
        all_refused(replies, m.Reason.BUSY, "in TESTING")
        await visit.end(command, SHORT)


@CHAPTER.requirement(7, "States")
async def stopped_test(bench: Bench) -> None:
    """Stop ends a self-test as FAILED with 434; the machine is idle as before, with no Stopped."""
    await rest(bench)
    async with bench.visit() as visit:
        before = await status_of(visit)
        command = await begin(visit, m.SelfTest(bench.next_id()))
        reply = await visit.order(m.Stop(bench.next_id()))
        expect(isinstance(reply, Settled) and reply.outcome is Outcome.DONE, "Stop to be DONE", reply)
        if Settled(command, Outcome.DONE, 0) in visit.events:
            raise NotChecked("it ended before the stop came; run the simulator more slowly")
        settled_as(await visit.end(command, SHORT), Outcome.FAILED, m.Reason.STOPPED)
        await asyncio.sleep(QUIET)
        expect(not visit.told(m.Stopped), "no Stopped", visit.events)
        same_but(before, await status_of(visit))
