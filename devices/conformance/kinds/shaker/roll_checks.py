"""Requirements from DS-20 on rolls: good ones, and those that do not count. All of them need an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from devices.conformance.assertions import (
    begin_command,
    broken_meanwhile,
    expect_refused,
    expect_same_except,
    expect_settled,
    wait_restarted,
)
from devices.conformance.kinds.shaker.setup import (
    CALM_S,
    CHAPTER,
    LID_OFF,
    LID_ON,
    REPAIR,
    arm_roll,
    bring_to_idle,
    expect_no_roll,
    roll_good_reading,
    roll_of,
    shake,
    shake_and_uncover,
    status_of,
    wait_roll_end,
)
from devices.conformance.operators import ManualStep
from devices.conformance.protocol.commands import POWER_CUT
from devices.conformance.raw_host import QUIET_S
from devices.conformance.requirements import expect
from devices.conformance.shared_checks import CLOSE_DOOR, OPEN_DOOR, SHORT_LIMIT_S
from devices.shaker import messages as m
from firmware_bridge.commands import Outcome

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.session import CheckSession

LEANING: Final = ManualStep("take the lid off and lean a die against the wall", ("lean", "lid:to=off"))
STACKED: Final = ManualStep("take the lid off and lay a die on another one", ("stack", "lid:to=off"))
OUTSIDE: Final = ManualStep("take the lid off so that a die falls out of the shaker", ("spill", "lid:to=off"))
PEEK: Final = ManualStep("take the lid off and put it on again at once", ("lid:to=off", "lid:to=on"))
BUMP: Final = ManualStep("knock against the shaker, so that the dice jump", ("bump",))
TAKE_DIE: Final = ManualStep("take one die out", ("remove_die",))
SMEAR: Final = ManualStep("cover a face of a die, so that it cannot be read", ("dust:percent=90",))
UNPLUG_ACCELEROMETER: Final = ManualStep("unplug the accelerometer", ("deaf",))


@CHAPTER.requirement(20, "A roll", needs_operator=True, needs=("DS-03",), at=bring_to_idle)
async def good_roll(bench: ConformanceBench, visit: CheckSession) -> None:
    """Three shakes, the lid off, three flat dice: Lid, then exactly one Reading, and the status agrees."""
    read = await roll_good_reading(bench, visit)
    expect(read.shakes >= m.LEAST_SHAKES and all(read.flat), "three shakes or more, three flat dice", read)
    lids = [place for place, event in enumerate(visit.events) if event == m.Lid(on=False)]
    expect(bool(lids) and lids[-1] < visit.events.index(read), "Lid off before the reading", visit.events)
    status, known = await status_of(visit), await roll_of(visit, read.command)
    meant = (status.state, status.roll, status.values) == (m.State.RESTING, read.command, read.values)
    expect(meant, f"RESTING, roll {read.command} with {read.values}", status)
    expected = m.Roll(read.command, m.Ending.READ, read.shakes, read.values, m.Reason.NONE)
    expect(known == expected, repr(expected), known)


@CHAPTER.requirement(21, "What it senses", needs_operator=True, needs=("DS-20",), at=bring_to_idle)
async def as_seen(bench: ConformanceBench, visit: CheckSession) -> None:
    """A reading is what the uncovered dice show."""
    read = await roll_good_reading(bench, visit)
    seen = (await visit.ask(m.GetSensors(), m.Sensors)).dice
    faces = sorted(die.face or 0 for die in seen)
    expect(faces == sorted(read.values), f"dice that show {sorted(read.values)}", faces)


@CHAPTER.requirement(22, "A roll", needs_operator=True, needs=("DS-20",))
async def same_answer(bench: ConformanceBench) -> None:
    """A roll's reading is the same for every request: covered, in the next roll, after a power cut."""
    await bring_to_idle(bench)
    async with bench.session() as visit:
        read = await roll_good_reading(bench, visit)
        answers = [await roll_of(visit, read.command) for _ in range(2)]
    await bring_to_idle(bench)
    async with bench.session() as visit:
        answers.append(await roll_of(visit, read.command))
        await arm_roll(bench, visit)
        answers.append(await roll_of(visit, read.command))
        await bench.perform(POWER_CUT)
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        answers.append(await roll_of(visit, read.command))
        expected = m.Roll(read.command, m.Ending.READ, read.shakes, read.values, m.Reason.NONE)
        expect(answers == [expected] * len(answers), f"{expected!r} every time", answers)


@CHAPTER.requirement(23, "A roll", needs_operator=True, needs=("DS-03",))
async def too_few(bench: ConformanceBench) -> None:
    """After fewer than three shakes there is no reading: NoRoll with 460."""
    for shakes in (0, m.LEAST_SHAKES - 1):
        await bring_to_idle(bench)
        async with bench.session() as visit:
            ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), LID_OFF, shakes)
            await expect_no_roll(visit, ended, m.Reason.TOO_FEW_SHAKES)
            expect(ended.shakes == shakes, f"{shakes} shakes", ended)


@CHAPTER.requirement(24, "A roll", needs_operator=True, needs=("DS-03",), at=bring_to_idle)
async def counted_from_arm(bench: ConformanceBench, visit: CheckSession) -> None:
    """Shakes before Arm do not count."""
    await shake(bench, visit, m.LEAST_SHAKES)
    await asyncio.sleep(CALM_S)
    ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), LID_OFF, shakes=0)
    await expect_no_roll(visit, ended, m.Reason.TOO_FEW_SHAKES)


@CHAPTER.requirement(25, "A roll", needs_operator=True, needs=("DS-03",), at=bring_to_idle)
async def lid_during_shake(bench: ConformanceBench, visit: CheckSession) -> None:
    """A lid that comes off during a shake makes an invalid roll: NoRoll with 463."""
    command = await arm_roll(bench, visit)
    await shake(bench, visit, m.LEAST_SHAKES)
    await bench.request_now(LID_OFF)  # less than half a second after the last shake
    await expect_no_roll(visit, await wait_roll_end(visit, command), m.Reason.LID_DURING_SHAKE)


@CHAPTER.requirement(26, "A roll", needs_operator=True, needs=("DS-20",))
async def not_flat(bench: ConformanceBench) -> None:
    """A die that leans or is on top of another makes an invalid roll: NoRoll with 461, and the number of flat dice."""
    for step in (LEANING, STACKED):
        await bring_to_idle(bench)
        async with bench.session() as visit:
            ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), step)
            await expect_no_roll(visit, ended, m.Reason.DIE_NOT_FLAT)
            expect((ended.dice, ended.flat) == (m.DICE, m.DICE - 1), "three dice, two of them flat", ended)


@CHAPTER.requirement(27, "A roll", needs_operator=True, needs=("DS-20",), at=bring_to_idle)
async def outside(bench: ConformanceBench, visit: CheckSession) -> None:
    """A die that falls out of the shaker makes an invalid roll: NoRoll with 462."""
    ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), OUTSIDE)
    await expect_no_roll(visit, ended, m.Reason.DIE_OUTSIDE)
    expect(ended.dice == m.DICE - 1, "two dice in the shaker", ended)


@CHAPTER.requirement(28, "A roll", needs_operator=True, needs=("DS-20",), at=bring_to_idle)
async def covered_again(bench: ConformanceBench, visit: CheckSession) -> None:
    """Dice covered again before the reading make an invalid roll: NoRoll with 467, and no reading under the lid."""
    ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), PEEK)
    await expect_no_roll(visit, ended, m.Reason.NOT_AT_REST)


@CHAPTER.requirement(29, "A roll", needs_operator=True, needs=("DS-20",), at=bring_to_idle)
async def disturbed(bench: ConformanceBench, visit: CheckSession) -> None:
    """Dice that move after an uncovered reading are reported once by Dice, disturbed; the reading is unchanged."""
    read = await roll_good_reading(bench, visit)
    since = len(visit.events)
    await bench.perform(BUMP)
    await visit.wait_for_event(m.Dice, bench.operator.effect_timeout_s, since)
    await asyncio.sleep(CALM_S)
    reported = visit.events_of(m.Dice, since)
    expect(reported == [m.Dice(door_open=False, dice=m.DICE, disturbed=True)], "one Dice with disturbed", reported)
    status, known = await status_of(visit), await roll_of(visit, read.command)
    expect(status.disturbed and status.values == read.values, f"disturbed, and {read.values}", status)
    expect((known.ending, known.values) == (m.Ending.READ, read.values), f"READ with {read.values}", known)


@CHAPTER.requirement(30, "A roll", needs_operator=True, needs=("DS-20",), at=bring_to_idle)
async def no_second_reading(bench: ConformanceBench, visit: CheckSession) -> None:
    """A roll never ends twice: shaking and uncovering again without Arm gives no reading and no NoRoll."""
    read = await roll_good_reading(bench, visit)
    await bench.perform(LID_ON)
    since = len(visit.events)
    await shake(bench, visit, m.LEAST_SHAKES)
    await asyncio.sleep(CALM_S)
    await bench.perform(LID_OFF)
    await asyncio.sleep(2 * CALM_S)
    ends = [event for event in visit.events[since:] if isinstance(event, m.Reading | m.NoRoll)]
    expect(not ends, "no Reading and no NoRoll", ends)
    known = await roll_of(visit, read.command)
    expect(known.values == read.values, f"{read.values} when asked", known)


@CHAPTER.requirement(31, "States", needs_operator=True, at=bring_to_idle)
async def lid_is_off(bench: ConformanceBench, visit: CheckSession) -> None:
    """Without its lid Arm is refused with 466."""
    await bench.perform(LID_OFF)
    reported = await visit.wait_for_event(m.Lid, bench.operator.effect_timeout_s)
    expect(not reported.on, "Lid with off", reported)
    await expect_refused(visit, m.Arm(bench.next_id()), m.Reason.LID_OFF, "without the lid")


@CHAPTER.requirement(32, "States", needs_operator=True, at=bring_to_idle)
async def two_dice(bench: ConformanceBench, visit: CheckSession) -> None:
    """With two dice Arm is refused with 465, and Dice reports the missing one."""
    await bench.perform(LID_OFF)
    await bench.perform(TAKE_DIE)
    missing = await visit.wait_until(
        lambda event: isinstance(event, m.Dice) and event.dice == m.DICE - 1, bench.operator.effect_timeout_s
    )
    expect(missing is not None, "Dice with two", visit.events)
    await bench.perform(LID_ON)
    expect((await status_of(visit)).dice == m.DICE - 1, "two dice", await status_of(visit))
    await expect_refused(visit, m.Arm(bench.next_id()), m.Reason.NOT_THREE_DICE, "with two dice")


@CHAPTER.requirement(33, "States", needs_operator=True, needs=("DS-03",), at=bring_to_idle)
async def door(bench: ConformanceBench, visit: CheckSession) -> None:
    """Opening the door ends an open roll (422), is counted and reported; while it is open Arm and SelfTest get 422."""
    command = await arm_roll(bench, visit)
    before = await status_of(visit)
    await bench.perform(OPEN_DOOR)
    await visit.wait_for_event(m.Dice, bench.operator.effect_timeout_s)
    await expect_no_roll(visit, await wait_roll_end(visit, command), m.Reason.DOOR_OPEN)
    expect_same_except(
        before, await status_of(visit), state=m.State.RESTING, door_open=True, openings=before.openings + 1,
        reason=m.Reason.DOOR_OPEN,
    )  # fmt: skip
    for order in (m.Arm(bench.next_id()), m.SelfTest(bench.next_id())):
        await expect_refused(visit, order, m.Reason.DOOR_OPEN, "with the door open")
    since = len(visit.events)
    await bench.perform(CLOSE_DOOR)
    reported = await visit.wait_for_event(m.Dice, bench.operator.effect_timeout_s, since)
    expect(not reported.door_open, "Dice with closed", reported)


@CHAPTER.requirement(34, "States", needs_operator=True, needs=("DS-06",))
async def faulty(bench: ConformanceBench) -> None:
    """A failed self-test is kept, also through a restart: FAULTY, and Arm is refused with 436 until one passes."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, UNPLUG_ACCELEROMETER, REPAIR), bench.session() as visit:
        command = await begin_command(visit, m.SelfTest(bench.next_id()))
        expect_settled(await visit.wait_settled(command, SHORT_LIMIT_S), Outcome.FAILED, m.Reason.SELF_TEST_FAILED)
        bad = (await visit.wait_for_event(m.SelfTested, QUIET_S)).bad_sensors
        expect(bad == 1 << m.Sensor.MOTION, "MOTION and no other sensor bad", bad)
        await visit.send_command(m.Reset(bench.next_id()))
    await wait_restarted(bench, visit)
    async with bench.session() as visit:
        expect((await status_of(visit)).state is m.State.FAULTY, "FAULTY", await status_of(visit))
        await expect_refused(visit, m.Arm(bench.next_id()), m.Reason.SELF_TEST_FAILED, "in FAULTY")
        await visit.complete_command(m.SelfTest(bench.next_id()), SHORT_LIMIT_S)
        await arm_roll(bench, visit)


@CHAPTER.requirement(35, "A roll", needs_operator=True, needs=("DS-20",))
async def unreadable(bench: ConformanceBench) -> None:
    """An unclear face makes an invalid roll: NoRoll with 464."""
    await bring_to_idle(bench)
    async with broken_meanwhile(bench, SMEAR, REPAIR), bench.session() as visit:
        ended = await shake_and_uncover(bench, visit, await arm_roll(bench, visit), LID_OFF)
        await expect_no_roll(visit, ended, m.Reason.UNREADABLE)
