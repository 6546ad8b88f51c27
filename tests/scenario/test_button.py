"""The flat button over every rung of the ladder: its position, or no position with the reason; never a wrong one."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from devices.button import messages as m
from devices.position import seat_of
from firmware_bridge.errors import BadFault, CommandFailed
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.start_devices import ButtonBench, button_bench, check_reported_place, expect_false_report

R: Final = m.Reason


async def wait_until_still(b: ButtonBench) -> m.Status:
    """Wait until the button is still, and return its status."""
    await asyncio.sleep(2)
    return await check_reported_place(b)


@over_the_ladder
async def test_play_begins_with_the_button_in_front_of_the_dealer(seed: int, rung: str) -> None:
    """575.5(g)(3)."""
    async with button_bench(seed, rung) as b:
        status = await check_reported_place(b)
        assert (status.place, status.reason) == (1, R.NONE)
        assert b.view.place == 1
        assert b.service.state == "in_service"


@over_the_ladder
async def test_the_button_is_followed_around_the_table(seed: int, rung: str) -> None:
    async with button_bench(seed, rung) as b:
        before = 1
        for place in (7, 6, 5, 4, 3, 2, 1):  # clockwise: to the dealer's left first, where seat 1 is
            b.inject(f"put_button:at={place}")
            status = await wait_until_still(b)
            assert status.place == b.view.place == place
            moved = b.events_of(m.Moved)
            assert rung == "lossy" or moved[-2:] == [
                m.Moved(before, None, R.MOVING),
                m.Moved(before, place, R.NONE),
            ]
            before = place
        assert (await ask_until_answered(b, b.driver.where)).moves == 7
        assert [seat_of(place) for place in (7, 6, 5, 4, 3, 2, 1)] == [1, 2, 3, 4, 5, 6, None]


@over_the_ladder
async def test_a_button_between_two_places_lies_at_neither(seed: int, rung: str) -> None:
    async with button_bench(seed, rung) as b:
        for percent in range(0, 101, 5):
            b.inject(f"slide_button:toward=2,percent={percent}")
            status = await wait_until_still(b)
            if 30 <= percent <= 70:
                assert (status.place, status.reason) == (None, R.BETWEEN_PLACES)
            else:
                assert status.place == (1 if percent <= 25 else 2)


CONFUSED: Final = {
    "take_buttons": R.NO_BUTTON,
    "second_button:at=5": R.MORE_THAN_ONE,
    "second_button:at=1": R.NONE,  # two buttons on top of each other are one position
    "stray_field:place=4,level=700": R.MORE_THAN_ONE,
    "stray_field:place=4,level=400": R.BETWEEN_PLACES,
    "weak_magnet:percent=45": R.BETWEEN_PLACES,
    "weak_magnet:percent=90": R.NO_BUTTON,
    "weak_magnet:percent=20": R.NONE,
}


@over_the_ladder
@pytest.mark.parametrize("what", CONFUSED)
async def test_an_unclear_signal_gives_no_position_and_the_reason(seed: int, rung: str, what: str) -> None:
    async with button_bench(seed, rung) as b:
        b.inject(what)
        await asyncio.sleep(2)
        status = await ask_until_answered(b, b.driver.where)
        assert status.reason is b.view.reason is CONFUSED[what]
        assert status.place == b.view.place == (1 if CONFUSED[what] is R.NONE else None)
        assert b.service.state == "in_service", "where the button lies is people's to put right"
        b.inject("mend")
        b.inject("put_button:at=3")
        assert (await wait_until_still(b)).place == 3


@over_the_ladder
async def test_a_button_in_motion_has_no_place(seed: int, rung: str) -> None:
    async with button_bench(seed, rung) as b:
        for percent in range(10, 100, 10):
            b.inject(f"slide_button:toward=2,percent={percent}")
            assert b.machine.firmware.handle(m.GetStatus()) == m.Status(m.State.WATCHING, None, R.MOVING, 0)
            await asyncio.sleep(0.2)
        b.inject("put_button:at=2")
        assert (await wait_until_still(b)).place == 2
        assert rung == "lossy" or len(b.events_of(m.Moved)) == 2, (
            "reported when it left and when it was still, not in between"
        )


async def test_the_levels_show_how_sure_the_place_is(seed: int) -> None:
    async with button_bench(seed) as b:
        sure = await b.driver.sensors()
        assert sure.levels[0] >= sure.present
        assert all(level <= sure.absent for level in sure.levels[1:])
        assert min(sure.margin(place) for place in range(1, 8)) > 200
        b.inject("slide_button:toward=2,percent=20")
        less = await b.driver.sensors()
        assert 0 < less.margin(2) < sure.margin(2)
        b.inject("slide_button:toward=2,percent=50")
        assert (await b.driver.sensors()).margin(2) < 0


@over_the_ladder
@pytest.mark.parametrize("place", [1, 4])
async def test_a_dead_sensor_is_a_fault_wherever_the_button_lies(seed: int, rung: str, place: int) -> None:
    async with button_bench(seed, rung) as b:
        b.inject(f"dead_sensor:place={place}")
        status = await wait_until_still(b)
        assert (status.state, status.place, status.reason) == (m.State.FAULTY, None, R.SENSOR_DEAD)
        assert b.service.state == "faulted"
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.self_test)
        assert failed.value.reason == R.SELF_TEST_FAILED
        assert {event.bad_places for event in b.events_of(m.SelfTested)} <= {1 << (place - 1)}
        b.inject("mend")
        b.inject("reboot")
        await b.until_reported()
        assert (await check_reported_place(b)).state is m.State.FAULTY, "kept over a restart"
        await run_command(b, b.driver.self_test)
        assert b.view.state is m.State.WATCHING
        assert b.service.state == "faulted", "a person must still acknowledge"
        b.service.fire("clear")
        b.service.fire("acknowledge")
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        assert (await check_reported_place(b)).place == 1


@over_the_ladder
@pytest.mark.parametrize("fault", ["unplug:seconds=3", "power_cut:seconds=3", "reboot", "hang:seconds=6"])
async def test_a_button_that_moved_while_nobody_listened_is_found_where_it_is(seed: int, rung: str, fault: str) -> None:
    async with button_bench(seed, rung) as b:
        b.inject(fault)
        b.inject("put_button:at=6")
        await b.until_reported()
        await wait_until_still(b)
        await ask_until_answered(b, b.driver.report)
        assert b.view.place == 6
        assert b.service.state == "in_service"


async def test_without_a_link_no_position_is_accepted(seed: int) -> None:
    async with button_bench(seed) as b:
        b.inject("unplug:seconds=0")
        await b.until(lambda _: not b.view.connected)
        assert b.view.place is None
        assert b.service.state == "absent"


async def test_the_stated_limit_a_magnet_is_reported_as_the_button(seed: int) -> None:
    async with button_bench(seed) as b:
        b.inject("take_buttons")
        b.inject("stray_field:place=4,level=880")
        await asyncio.sleep(2)
        assert (await b.driver.where()).place == 4
        assert b.machine.mat.true_place() is None


@over_the_ladder
@pytest.mark.parametrize("how", ["eight", "unclear", "nowhere"])
async def test_an_impossible_place_ends_the_session_and_is_not_taken(seed: int, rung: str, how: str) -> None:
    async with button_bench(seed, rung) as b:
        b.inject(f"lie:how={how}")
        await expect_false_report(b)
        assert not b.events_of(m.Moved)
        assert b.view.place == 1, "as it was reported anew"


@pytest.mark.parametrize("wrong", ["put_button:at=8", "put_button:at=0", "dead_sensor:place=9", "lie:how=x", "jam"])
async def test_an_impossible_action_is_refused_and_changes_nothing(seed: int, wrong: str) -> None:
    async with button_bench(seed) as b:
        with pytest.raises(BadFault):
            b.inject(wrong)
        assert (await wait_until_still(b)).place == 1


async def test_a_missing_button_cannot_be_moved(seed: int) -> None:
    async with button_bench(seed) as b:
        b.inject("take_buttons")
        with pytest.raises(BadFault):
            b.inject("slide_button")
