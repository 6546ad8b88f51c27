"""Rolls of dice over every rung of the ladder: the reading is right, or it is no roll with a reason."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pytest

from devices.position import position_of_dice
from devices.shaker import messages as m
from firmware_bridge.errors import BadFault, CommandFailed, code_of
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.start_devices import (
    ShakerBench,
    check_reported_dice,
    good_roll,
    reported,
    roll_and_uncover,
    shaker_bench,
    until_roll_ended,
)
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


R: Final = m.Reason


# --- good rolls ------------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_roll_is_read_as_the_dice_lie_and_reported_once(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        seen = set()
        for number in range(1, 6):
            roll = await good_roll(b)
            assert roll.shakes == 3
            assert b.view.values == tuple(roll.values or ())
            assert 1 <= position_of_dice(b.view.values) <= 7
            if rung != "lossy":  # where a link may be lost, a report may give the reading instead
                assert [event.command for event in b.events_of(m.Reading)].count(roll.command) == 1
            assert (await ask_until_answered(b, b.driver.status)).rolls == number
            seen.add(b.view.values)
        assert len(seen) > 1
        assert not b.events_of(m.NoRoll)
        assert b.service.state == "in_service"


@over_the_ladder
async def test_the_shakes_are_counted_from_none_and_the_lid_is_watched(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        roll = await until_roll_ended(b, await roll_and_uncover(b, shakes=5))
        assert roll.shakes == b.view.shakes == 5
        shakes = [event.shakes for event in b.events_of(m.Shaken) if event.roll == roll.command]
        assert shakes == sorted(set(shakes)), "a count never goes back; on a bad line one may be missing"
        assert rung != "clean" or shakes == [0, 1, 2, 3, 4, 5]
        assert m.Lid(on=False) in b.events_of(m.Lid) or rung == "lossy"


@clauses("575.5(g)(1)(iv)", "688a.5(i)(1)(iv)")
async def test_after_the_deal_the_covered_dice_are_shaken_once_and_the_reading_stands(seed: int) -> None:
    async with shaker_bench(seed) as b:
        roll = await good_roll(b)
        b.inject("lid:to=on")
        b.inject("shake:times=1")
        await asyncio.sleep(2)
        assert b.events_of(m.Shaken)[-1] == m.Shaken(None, 1)
        assert b.view.values == tuple(roll.values or ())
        assert not b.view.disturbed
        await check_reported_dice(b)


@over_the_ladder
async def test_dice_that_tremble_are_read_when_they_rest_and_not_before(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        b.inject("tremble:seconds=4")
        command = await roll_and_uncover(b)
        await asyncio.sleep(3)
        assert b.machine.mechanics.moving
        assert (
            await ask_until_answered(b, lambda: b.driver.roll(command))
        ).ending is m.Ending.OPEN or not b.machine.mechanics.moving
        roll = await until_roll_ended(b, command)
        assert tuple(roll.values or ()) == b.machine.mechanics.shown_faces()


# --- no roll ---------------------------------------------------------------------------------------------------------


async def _too_few(b: ShakerBench) -> int:
    return await roll_and_uncover(b, shakes=2)


async def _weak(b: ShakerBench) -> int:
    command = (await run_command(b, b.driver.arm)).command
    b.inject("shake:times=5,strength=30")
    await asyncio.sleep(4)
    b.inject("lid")
    return command


async def _none(b: ShakerBench) -> int:
    return await roll_and_uncover(b, shakes=0)


async def _deaf(b: ShakerBench) -> int:
    b.inject("deaf")
    return await roll_and_uncover(b)


async def _lid_while_shaking(b: ShakerBench) -> int:
    return await roll_and_uncover(b, shakes=6, wait=5 * 0.35 + 0.1)


async def _with(b: ShakerBench, fault: str) -> int:
    b.inject(fault)
    return await roll_and_uncover(b)


async def _covered_too_soon(b: ShakerBench) -> int:
    command = await roll_and_uncover(b)
    await asyncio.sleep(0.2)
    b.inject("lid:to=on")
    return command


async def _door(b: ShakerBench) -> int:
    command = (await run_command(b, b.driver.arm)).command
    b.inject("door")
    return command


async def _disarmed(b: ShakerBench) -> int:
    command = (await run_command(b, b.driver.arm)).command
    b.inject("shake")
    await run_command(b, b.driver.disarm)
    return command


NO_ROLLS: Final[dict[str, tuple[m.Reason, Callable[[ShakerBench], Awaitable[int]]]]] = {
    "two shakes": (R.TOO_FEW_SHAKES, _too_few),
    "shaken too weakly": (R.TOO_FEW_SHAKES, _weak),
    "not shaken": (R.TOO_FEW_SHAKES, _none),
    "deaf": (R.TOO_FEW_SHAKES, _deaf),
    "leaning": (R.DIE_NOT_FLAT, lambda b: _with(b, "lean:die=2")),
    "stacked": (R.DIE_NOT_FLAT, lambda b: _with(b, "stack:die=3")),
    "spilled": (R.DIE_OUTSIDE, lambda b: _with(b, "spill:die=1")),
    "lid while shaking": (R.LID_DURING_SHAKE, _lid_while_shaking),
    "dusty": (R.UNREADABLE, lambda b: _with(b, "dust:die=2")),
    "trembling": (R.NOT_AT_REST, lambda b: _with(b, "tremble:seconds=30")),
    "covered too soon": (R.NOT_AT_REST, _covered_too_soon),
    "door": (R.DOOR_OPEN, _door),
    "disarmed": (R.STOPPED, _disarmed),
}


@clauses("575.5(g)(1)(i)", "688a.5(i)(1)(i)")
@over_the_ladder
@pytest.mark.parametrize("what", NO_ROLLS)
async def test_an_invalid_roll_gives_the_reason_and_the_next_one_counts(seed: int, rung: str, what: str) -> None:
    """575.13(a) and (b), 688a.13(a) and (b) among them."""
    reason, happens = NO_ROLLS[what]
    async with shaker_bench(seed, rung) as b:
        command = await happens(b)
        roll = await until_roll_ended(b, command)
        assert (roll.ending, roll.reason, roll.values) == (m.Ending.NO_ROLL, reason, None)
        assert (b.view.roll, b.view.no_roll, b.view.values) == (command, reason, None)
        assert not b.events_of(m.Reading)
        for event in b.events_of(m.NoRoll):
            assert (event.command, event.reason) == (command, reason)
        status = await check_reported_dice(b)
        assert (status.roll, status.reason) == (command, reason)
        assert code_of(reason).startswith("PB-")
        assert b.service.state == "in_service", "dice that fall badly are no fault of the shaker"
        b.inject("mend")
        b.inject("door:to=closed")
        await asyncio.sleep(30)  # until the last tremble and shake is over
        b.inject("lid:to=off")
        b.inject("pick_up")
        await good_roll(b)


def test_every_reason_for_no_roll_is_tried() -> None:
    refusals = {R.NONE, R.BUSY, R.LID_OFF, R.SELF_TEST_FAILED}
    elsewhere = {R.POWER_LOST, R.NOT_THREE_DICE}  # test_start_reconnect and below
    assert {reason for reason, _ in NO_ROLLS.values()} | refusals | elsewhere == set(m.Reason)


@over_the_ladder
async def test_wrong_dice_are_detected_by_weight_and_by_sight(seed: int, rung: str) -> None:
    """A stacked die is weighed and not seen, a spilled one neither; the numbers in NoRoll show which."""
    async with shaker_bench(seed, rung) as b:
        for fault, dice, flat in (("stack", 3, 2), ("lean", 3, 2), ("spill", 2, 2)):
            b.inject(fault)
            command = await roll_and_uncover(b)
            await until_roll_ended(b, command)
            events = [event for event in b.events_of(m.NoRoll) if event.command == command]
            assert [(event.dice, event.flat) for event in events] == [(dice, flat)] or (rung == "lossy" and not events)
            assert len(b.machine.mechanics.in_shaker) == dice


@pytest.mark.parametrize(("drift", "reason"), [(15, R.UNREADABLE), (33.4, R.NOT_THREE_DICE)])
async def test_a_load_cell_that_drifts_gives_no_reading(seed: int, drift: float, reason: m.Reason) -> None:
    async with shaker_bench(seed) as b:
        command = (await b.driver.arm(b.next_id())).command
        b.inject(f"drift:percent={drift}")
        b.inject("shake")
        await asyncio.sleep(3)
        b.inject("lid")
        assert (await until_roll_ended(b, command)).reason == reason


# --- one end for a roll ----------------------------------------------------------------------------------------------


@over_the_ladder
async def test_dice_that_move_after_their_reading_are_reported_and_change_nothing(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        roll = await good_roll(b)
        while b.machine.mechanics.shown_faces() in (None, b.view.values):
            b.inject("bump")
            await asyncio.sleep(2)
        status = await check_reported_dice(b)
        assert status.disturbed
        assert b.view.disturbed
        assert b.view.values == tuple(roll.values or ())
        assert await ask_until_answered(b, lambda: b.driver.roll(roll.command)) == roll
        assert sum(event.disturbed for event in b.events_of(m.Dice)) <= 1
        await good_roll(b)
        assert not b.view.disturbed


@over_the_ladder
async def test_a_roll_is_remembered_and_an_unknown_one_is_unknown(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        rolls = [await good_roll(b) for _ in range(3)]
        for roll in rolls:
            assert await ask_until_answered(b, lambda roll=roll: b.driver.roll(roll.command)) == roll  # type: ignore[misc]
        unknown = await ask_until_answered(b, lambda: b.driver.roll(4711))
        assert unknown == m.Roll(4711, m.Ending.UNKNOWN, 0, None, R.NONE)


async def test_sixteen_rolls_are_remembered_and_the_oldest_is_forgotten_first(seed: int) -> None:
    async with shaker_bench(seed) as b:
        commands = []
        for _ in range(17):
            commands.append((await b.driver.arm(b.next_id())).command)
            await b.driver.disarm(b.next_id())
        endings = [(await b.driver.roll(command)).ending for command in commands]
        assert endings == [m.Ending.UNKNOWN] + [m.Ending.NO_ROLL] * 16


# --- hands at the dice -----------------------------------------------------------------------------------------------


@over_the_ladder
async def test_exchanged_dice_are_reported_to_the_host(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        b.inject("exchange_dice")
        await asyncio.sleep(5)
        status = await check_reported_dice(b)
        assert (status.door_open, status.dice) == (False, 3)
        if rung != "lossy":
            assert [event.door_open for event in b.events_of(m.Dice)] == [True, False]
        assert b.machine.true_counts() == {"old_dice": 3, "shaker.1/inside": 3}
        await good_roll(b)


@over_the_ladder
async def test_dice_exchanged_without_a_link_are_reported_later(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        assert b.view.openings == 0
        b.inject("unplug:seconds=3")
        b.inject("exchange_dice")
        await b.until_reported()
        await reported(b)
        assert b.view.openings == 1
        b.inject("reboot")
        await b.until_reported()
        await reported(b)
        assert b.view.openings == 1, "kept over a restart"


@clauses("575.2(c)(1)(i)/1", "688a.2(c)(1)(i)/1")
@over_the_ladder
async def test_a_missing_die_is_detected(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        b.inject("lid")
        b.inject("remove_die")
        await asyncio.sleep(5)
        assert (await check_reported_dice(b)).dice == b.view.dice == 2
        b.inject("pick_up")
        await asyncio.sleep(5)
        assert (await check_reported_dice(b)).dice == b.view.dice == 3


async def test_shaken_without_its_lid_the_dice_fly_out(seed: int) -> None:
    async with shaker_bench(seed) as b:
        b.inject("lid")
        b.inject("shake:times=1")
        await asyncio.sleep(2)
        assert b.machine.true_counts() == {"table": 3}
        assert (await check_reported_dice(b)).dice == 0


async def test_the_stated_limits_a_loaded_die_and_a_reader_with_a_constant_error(seed: int) -> None:
    """The device detects neither; the dealer's announced total and the statistics do."""
    async with shaker_bench(seed) as b:
        b.inject("swap_die:die=1,loaded=6")
        for _ in range(3):
            assert 6 in ((await good_roll(b)).values or [])
        b.inject("misread:die=2,as=1")
        roll = await until_roll_ended(b, await roll_and_uncover(b))
        lying = b.machine.mechanics.shown_faces()
        while lying is not None and lying[1] == 1:
            roll = await until_roll_ended(b, await roll_and_uncover(b))
            lying = b.machine.mechanics.shown_faces()
        assert tuple(roll.values or ()) != lying


@pytest.mark.parametrize(
    "wrong", ["lean:die=4", "lean:die=0", "misread:as=7", "swap_die:loaded=7", "pick_up", "lie", "lie:how=x", "jam"]
)
async def test_an_impossible_action_is_refused_and_changes_nothing(seed: int, wrong: str) -> None:
    async with shaker_bench(seed) as b:
        truth = b.machine.true_counts()
        with pytest.raises(BadFault):
            b.inject(wrong)
        assert b.machine.true_counts() == truth
        await good_roll(b)


# --- self-test -------------------------------------------------------------------------------------------------------

BROKEN: Final = {
    "deaf": m.Sensor.MOTION,
    "drift:percent=15": m.Sensor.WEIGHT,
    "dust:die=1": m.Sensor.READER,
}


@over_the_ladder
@pytest.mark.parametrize("fault", BROKEN)
async def test_a_self_test_names_the_sensor_and_the_fault_is_latched(seed: int, rung: str, fault: str) -> None:
    async with shaker_bench(seed, rung) as b:
        b.inject(fault)
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.self_test)
        assert failed.value.reason == R.SELF_TEST_FAILED
        assert {event.bad_sensors for event in b.events_of(m.SelfTested)} <= {1 << BROKEN[fault]}
        assert b.view.state is m.State.FAULTY
        assert b.service.state == "faulted"
        b.inject("mend")
        b.inject("reboot")
        await b.until_reported()
        assert (await ask_until_answered(b, b.driver.status)).state is m.State.FAULTY, "kept over a restart"
        await run_command(b, b.driver.self_test)
        assert (await ask_until_answered(b, b.driver.status)).state is m.State.RESTING
        assert b.service.state == "faulted", "a person must still acknowledge"
        b.service.fire("clear")
        b.service.fire("acknowledge")
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        await good_roll(b)
