"""DS-20 up: rolls with shakes, good ones and those that do not count. All of them need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.shaker import messages as m
from firmware_bridge.commands import Outcome
from table_controller.conformance.hands import Step
from table_controller.conformance.judging import begin, refused, restarted, same_but, settled_as, spoiled
from table_controller.conformance.kinds.shaker.machine import (
    CALM,
    CHAPTER,
    CLOSE_DOOR,
    LID_OFF,
    LID_ON,
    OPEN_DOOR,
    REPAIR,
    SHORT,
    armed,
    end_of,
    no_roll,
    reading,
    rest,
    roll_of,
    shaken,
    status_of,
    uncovered,
)
from table_controller.conformance.probe import QUIET
from table_controller.conformance.protocol.commands import POWER_CUT
from table_controller.conformance.requirements import expect

if TYPE_CHECKING:
    from table_controller.conformance.bench import Bench

LEANING: Final = Step("take the lid off and lean a die against the wall", ("lean", "lid:to=off"))
STACKED: Final = Step("take the lid off and lay a die on another one", ("stack", "lid:to=off"))
OUTSIDE: Final = Step("take the lid off so that a die falls out of the shaker", ("spill", "lid:to=off"))
PEEK: Final = Step("take the lid off and put it on again at once", ("lid:to=off", "lid:to=on"))
BUMP: Final = Step("knock against the shaker, so that the dice jump", ("bump",))
TAKE_DIE: Final = Step("take one die out", ("remove_die",))
SMEAR: Final = Step("cover a face of a die, so that it cannot be read", ("dust:percent=90",))
HOLD: Final = Step("unplug the accelerometer", ("deaf",))


@CHAPTER.requirement(20, "A roll", hands=True, needs=("DS-03",))
async def good_roll(bench: Bench) -> None:
    """Three shakes, the lid off, three flat dice: Lid, then exactly one Reading, and the status agrees."""
    await rest(bench)
    async with bench.visit() as visit:
        read = await reading(bench, visit)
        expect(read.shakes >= m.LEAST_SHAKES and all(read.flat), "three shakes or more, three flat dice", read)
        lids = [place for place, event in enumerate(visit.events) if event == m.Lid(on=False)]
        expect(bool(lids) and lids[-1] < visit.events.index(read), "Lid off before the reading", visit.events)
        status, known = await status_of(visit), await roll_of(visit, read.command)
        meant = (status.state, status.roll, status.values) == (m.State.RESTING, read.command, read.values)
        expect(meant, f"RESTING, roll {read.command} with {read.values}", status)
        expected = m.Roll(read.command, m.Ending.READ, read.shakes, read.values, m.Reason.NONE)
        expect(known == expected, repr(expected), known)


@CHAPTER.requirement(21, "What it senses", hands=True, needs=("DS-20",))
async def as_seen(bench: Bench) -> None:
    """A reading is what the uncovered dice show."""
    await rest(bench)
    async with bench.visit() as visit:
        read = await reading(bench, visit)
        seen = (await visit.ask(m.GetSensors(), m.Sensors)).dice
        faces = sorted(die.face or 0 for die in seen)
        expect(faces == sorted(read.values), f"dice that show {sorted(read.values)}", faces)


@CHAPTER.requirement(22, "A roll", hands=True, needs=("DS-20",))
async def same_answer(bench: Bench) -> None:
    """A roll's reading is the same for every request: covered, in the next roll, after a power cut."""
    await rest(bench)
    async with bench.visit() as visit:
        read = await reading(bench, visit)
        answers = [await roll_of(visit, read.command) for _ in range(2)]
    await rest(bench)
    async with bench.visit() as visit:
        answers.append(await roll_of(visit, read.command))
        await armed(bench, visit)
        answers.append(await roll_of(visit, read.command))
        await bench.do(POWER_CUT)
    await restarted(bench, visit)
    async with bench.visit() as visit:
        answers.append(await roll_of(visit, read.command))
        expected = m.Roll(read.command, m.Ending.READ, read.shakes, read.values, m.Reason.NONE)
        expect(answers == [expected] * len(answers), f"{expected!r} every time", answers)


@CHAPTER.requirement(23, "A roll", hands=True, needs=("DS-03",))
async def too_few(bench: Bench) -> None:
    """After fewer than three shakes there is no reading: NoRoll with 460."""
    for shakes in (0, m.LEAST_SHAKES - 1):
        await rest(bench)
        async with bench.visit() as visit:
            ended = await uncovered(bench, visit, await armed(bench, visit), LID_OFF, shakes)
            await no_roll(visit, ended, m.Reason.TOO_FEW_SHAKES)
            expect(ended.shakes == shakes, f"{shakes} shakes", ended)


@CHAPTER.requirement(24, "A roll", hands=True, needs=("DS-03",))
async def counted_from_arm(bench: Bench) -> None:
    """Shakes before Arm do not count."""
    await rest(bench)
    async with bench.visit() as visit:
        await shaken(bench, visit, m.LEAST_SHAKES)
        await asyncio.sleep(CALM)
        ended = await uncovered(bench, visit, await armed(bench, visit), LID_OFF, shakes=0)
        await no_roll(visit, ended, m.Reason.TOO_FEW_SHAKES)


@CHAPTER.requirement(25, "A roll", hands=True, needs=("DS-03",))
async def lid_during_shake(bench: Bench) -> None:
    """A lid that comes off during a shake makes an invalid roll: NoRoll with 463."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await armed(bench, visit)
        await shaken(bench, visit, m.LEAST_SHAKES)
        await bench.now(LID_OFF)  # less than half a second after the last shake
        await no_roll(visit, await end_of(visit, command), m.Reason.LID_DURING_SHAKE)


@CHAPTER.requirement(26, "A roll", hands=True, needs=("DS-20",))
async def not_flat(bench: Bench) -> None:
    """A die that leans or is on top of another makes an invalid roll: NoRoll with 461, and the number of flat dice."""
    for step in (LEANING, STACKED):
        await rest(bench)
        async with bench.visit() as visit:
            ended = await uncovered(bench, visit, await armed(bench, visit), step)
            await no_roll(visit, ended, m.Reason.DIE_NOT_FLAT)
            expect((ended.dice, ended.flat) == (m.DICE, m.DICE - 1), "three dice, two of them flat", ended)


@CHAPTER.requirement(27, "A roll", hands=True, needs=("DS-20",))
async def outside(bench: Bench) -> None:
    """A die that falls out of the shaker makes an invalid roll: NoRoll with 462."""
    await rest(bench)
    async with bench.visit() as visit:
        ended = await uncovered(bench, visit, await armed(bench, visit), OUTSIDE)
        await no_roll(visit, ended, m.Reason.DIE_OUTSIDE)
        expect(ended.dice == m.DICE - 1, "two dice in the shaker", ended)


@CHAPTER.requirement(28, "A roll", hands=True, needs=("DS-20",))
async def covered_again(bench: Bench) -> None:
    """Dice covered again before the reading make an invalid roll: NoRoll with 467, and no reading under the lid."""
    await rest(bench)
    async with bench.visit() as visit:
        ended = await uncovered(bench, visit, await armed(bench, visit), PEEK)
        await no_roll(visit, ended, m.Reason.NOT_AT_REST)


@CHAPTER.requirement(29, "A roll", hands=True, needs=("DS-20",))
async def disturbed(bench: Bench) -> None:
    """Dice that move after an uncovered reading are reported once by Dice, disturbed; the reading is unchanged."""
    await rest(bench)
    async with bench.visit() as visit:
        read = await reading(bench, visit)
        since = len(visit.events)
        await bench.do(BUMP)
        await visit.event(m.Dice, bench.hands.patience, since)
        await asyncio.sleep(CALM)
        reported = visit.told(m.Dice, since)
        expect(reported == [m.Dice(door_open=False, dice=m.DICE, disturbed=True)], "one Dice with disturbed", reported)
        status, known = await status_of(visit), await roll_of(visit, read.command)
        expect(status.disturbed and status.values == read.values, f"disturbed, and {read.values}", status)
        expect((known.ending, known.values) == (m.Ending.READ, read.values), f"READ with {read.values}", known)


@CHAPTER.requirement(30, "A roll", hands=True, needs=("DS-20",))
async def no_second_reading(bench: Bench) -> None:
    """A roll never ends twice: shaking and uncovering again without Arm gives no reading and no NoRoll."""
    await rest(bench)
    async with bench.visit() as visit:
        read = await reading(bench, visit)
        await bench.do(LID_ON)
        since = len(visit.events)
        await shaken(bench, visit, m.LEAST_SHAKES)
        await asyncio.sleep(CALM)
        await bench.do(LID_OFF)
        await asyncio.sleep(2 * CALM)
        ends = [event for event in visit.events[since:] if isinstance(event, m.Reading | m.NoRoll)]
        expect(not ends, "no Reading and no NoRoll", ends)
        known = await roll_of(visit, read.command)
        expect(known.values == read.values, f"{read.values} when asked", known)


@CHAPTER.requirement(31, "States", hands=True)
async def lid_is_off(bench: Bench) -> None:
    """Without its lid Arm is refused with 466."""
    await rest(bench)
    async with bench.visit() as visit:
        await bench.do(LID_OFF)
        reported = await visit.event(m.Lid, bench.hands.patience)
        expect(not reported.on, "Lid with off", reported)
        await refused(visit, m.Arm(bench.next_id()), m.Reason.LID_OFF, "without the lid")


@CHAPTER.requirement(32, "States", hands=True)
async def two_dice(bench: Bench) -> None:
    """With two dice Arm is refused with 465, and Dice reports the missing one."""
    await rest(bench)
    async with bench.visit() as visit:
        await bench.do(LID_OFF)
        await bench.do(TAKE_DIE)
        missing = await visit.until(
            lambda event: isinstance(event, m.Dice) and event.dice == m.DICE - 1, bench.hands.patience
        )
        expect(missing is not None, "Dice with two", visit.events)
        await bench.do(LID_ON)
        expect((await status_of(visit)).dice == m.DICE - 1, "two dice", await status_of(visit))
        await refused(visit, m.Arm(bench.next_id()), m.Reason.NOT_THREE_DICE, "with two dice")


@CHAPTER.requirement(33, "States", hands=True, needs=("DS-03",))
async def door(bench: Bench) -> None:
    """Opening the door ends an open roll (422), is counted and reported; while it is open Arm and SelfTest get 422."""
    await rest(bench)
    async with bench.visit() as visit:
        command = await armed(bench, visit)
        before = await status_of(visit)
        await bench.do(OPEN_DOOR)
        await visit.event(m.Dice, bench.hands.patience)
        await no_roll(visit, await end_of(visit, command), m.Reason.DOOR_OPEN)
        same_but(
            before, await status_of(visit), state=m.State.RESTING, door_open=True, openings=before.openings + 1,
            reason=m.Reason.DOOR_OPEN,
        )  # fmt: skip
        for order in (m.Arm(bench.next_id()), m.SelfTest(bench.next_id())):
            await refused(visit, order, m.Reason.DOOR_OPEN, "with the door open")
        since = len(visit.events)
        await bench.do(CLOSE_DOOR)
        reported = await visit.event(m.Dice, bench.hands.patience, since)
        expect(not reported.door_open, "Dice with closed", reported)


@CHAPTER.requirement(34, "States", hands=True, needs=("DS-06",))
async def faulty(bench: Bench) -> None:
    """A failed self-test is kept, also through a restart: FAULTY, and Arm is refused with 436 until one passes."""
    await rest(bench)
    async with spoiled(bench, HOLD, REPAIR), bench.visit() as visit:
        command = await begin(visit, m.SelfTest(bench.next_id()))
        settled_as(await visit.end(command, SHORT), Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        bad = (await visit.event(m.SelfTested, QUIET)).bad_sensors
        expect(bad == 1 << m.Sensor.MOTION, "MOTION and no other sensor bad", bad)
        await visit.order(m.Reset(bench.next_id()))
    await restarted(bench, visit)
    async with bench.visit() as visit:
        expect((await status_of(visit)).state is m.State.FAULTY, "FAULTY", await status_of(visit))
        await refused(visit, m.Arm(bench.next_id()), m.Reason.SELF_TEST_FAILED, "in FAULTY")
        await visit.done(m.SelfTest(bench.next_id()), SHORT)
        await armed(bench, visit)


@CHAPTER.requirement(35, "A roll", hands=True, needs=("DS-20",))
async def unreadable(bench: Bench) -> None:
    """An unclear face makes an invalid roll: NoRoll with 464."""
    await rest(bench)
    async with spoiled(bench, SMEAR, REPAIR), bench.visit() as visit:
        ended = await uncovered(bench, visit, await armed(bench, visit), LID_OFF)
        await no_roll(visit, ended, m.Reason.UNREADABLE)
