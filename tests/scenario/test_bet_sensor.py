"""One bet sensor against the real content of its spot: edges, stacks, foreign objects, drift, power off and on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pytest

from devices.bet_sensor import messages as m
from devices.bet_sensor.state import BetSensorView, BettingOpened, DriverEvent, findings, fold
from devices.driver_events import LinkUp, Reported
from firmware_bridge.errors import BadFault, CommandFailed, CommandRefused
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.bet_sensors import Sensor, check_reported_spot, sensor_bench, until_received
from tests.support.machines.card_checks import ask_until_answered, run_command, until_true
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from firmware_bridge.link import Link
    from firmware_bridge.messages import DeviceHello

RESTARTS: Final = ["reboot", "power_cut:seconds=2", "hang:seconds=6", "power_cut:seconds=0.4"]


async def opened(s: Sensor, number: int = 7) -> None:
    await run_command(s, lambda command: s.driver.open(command, number))


async def light(s: Sensor, which: m.Light, sequence: int) -> None:
    await run_command(s, lambda command: s.driver.light(command, which, sequence))


def burning(s: Sensor) -> m.Light:
    """Return which lamp is really on."""
    return s.machine.spot.light


async def refused(s: Sensor, which: m.Light, sequence: int) -> m.Reason:
    with pytest.raises(CommandRefused) as error:
        await light(s, which, sequence)
    return m.Reason(error.value.reason)


async def latched(s: Sensor, lock_id: int = 900, number: int = 7) -> m.Latch:
    """Send the lock as often as a bad line needs; the answer is the same."""
    await until_true(lambda: s.driver.reported is not None)
    answer = await ask_until_answered(s, lambda: s.driver.lock(number, lock_id))
    assert isinstance(answer, m.Locked)
    return answer.latch


async def back(s: Sensor) -> None:
    await until_true(lambda: s.driver.reported is None)
    await until_true(lambda: s.driver.reported is not None)


# --- what is sensed ----------------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_bet_is_placed_and_withdrawn_and_every_change_has_the_next_number(seed: int, rung: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        for _ in range(5):
            s.inject("place_bet")
            s.inject("take_bet")
        s.inject("place_bet")
        await until_received(s)
        events = s.events_of(m.Changed)
        assert [change.sequence for change in events] == list(range(1, 12))
        assert [change.change for change in events] == [m.Change.PLACED, m.Change.WITHDRAWN] * 5 + [m.Change.PLACED]
        assert (await check_reported_spot(s)).state is m.State.PLACED
        assert s.view.sensed_bet == 11


UNCLEAR: Final = {
    "edge_bet": m.SpotContent.EDGE,
    "place_bet:chips=2": m.SpotContent.SEVERAL,
    "foreign_object": m.SpotContent.FOREIGN,
    "interference:noise=200": m.SpotContent.UNREAD,
    "drift:percent=30": m.SpotContent.FOREIGN,
}


@over_the_ladder
@pytest.mark.parametrize("fault", UNCLEAR)
async def test_anything_that_is_not_clearly_one_chip_is_reported_as_unclear(seed: int, rung: str, fault: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject(fault)
        await until_received(s)
        status = await check_reported_spot(s)
        assert (status.state, status.content) == (m.State.AWAITING, UNCLEAR[fault])
        assert s.view.sensed_bet is None
        await until_true(lambda: findings(s.view))
        assert [code for code, _ in findings(s.view)] == [
            m.Reason.SENSING_FAILED if UNCLEAR[fault] is m.SpotContent.UNREAD else m.Reason.UNCLEAR_BET
        ]
        assert await refused(s, m.Light.ACKNOWLEDGED, status.sequence) is m.Reason.NO_SUCH_BET
        assert (await latched(s)).content is UNCLEAR[fault]
        assert s.view.latched_bet is None


@over_the_ladder
async def test_a_chip_at_the_edge_has_a_small_margin_and_becomes_a_bet_when_it_is_straightened(
    seed: int, rung: str
) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("edge_bet")
        edge = await ask_until_answered(s, s.driver.health)
        s.inject("straighten")
        straight = await ask_until_answered(s, s.driver.health)
        assert edge.margin < 100 < 200 < straight.margin
        await until_received(s)
        assert (await check_reported_spot(s)).state is m.State.PLACED


@over_the_ladder
@pytest.mark.parametrize("percent", [5, 15, 25, 40, 90])
async def test_a_drifting_coil_never_reports_a_wrong_bet(seed: int, rung: str, percent: int) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject(f"drift:percent={percent}")
        await until_received(s)
        await check_reported_spot(s)
        s.inject("place_bet")
        await until_received(s)
        await check_reported_spot(s)
        s.inject("take_bet")
        await until_received(s)
        assert (await check_reported_spot(s)).content is (
            m.SpotContent.EMPTY if percent < 25 else m.SpotContent.FOREIGN
        )


async def test_drift_shows_in_the_margin_before_the_self_test_fails(seed: int) -> None:
    async with sensor_bench(seed) as s:
        fresh = (await s.driver.health()).margin
        s.inject("drift:percent=5")
        assert (await s.driver.health()).margin < fresh
        await run_command(s, s.driver.self_test)
        s.inject("drift:percent=15")
        with pytest.raises(CommandFailed) as failed:
            await run_command(s, s.driver.self_test)
        assert failed.value.reason == m.Reason.SELF_TEST_FAILED
        assert s.events_of(m.SelfTested)[-1].bad_parts == 1 << m.Part.COIL
        assert s.service.state == "faulted"
        with pytest.raises(CommandRefused) as closed:
            await opened(s)
        assert closed.value.reason == m.Reason.SENSING_FAILED


@over_the_ladder
@pytest.mark.parametrize("fault", ["interference", "stall"])
async def test_a_coil_that_cannot_be_read_is_a_fault_and_no_bet_is_taken_until_a_test_has_passed(
    seed: int, rung: str, fault: str
) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("place_bet")
        await until_received(s)
        s.inject(fault)
        await until_true(lambda: s.events_of(m.Fault))
        assert s.events_of(m.Fault)[-1].reason is m.Reason.SENSING_FAILED
        assert s.service.state == "faulted"
        s.inject("take_bet")  # without power no change is seen
        assert (await latched(s)).content is m.SpotContent.UNREAD
        s.inject("mend")
        await run_command(s, lambda command: s.driver.unlock(command, 900))
        with pytest.raises(CommandRefused):
            await opened(s, 8)
        if fault == "stall":
            s.inject("reboot")
            await back(s)
        await run_command(s, s.driver.self_test)
        await opened(s, 8)
        assert s.service.state == "faulted", "a person must still acknowledge"
        await check_reported_spot(s)


@pytest.mark.parametrize("which", ["acknowledged", "accepted"])
async def test_a_dead_lamp_is_found_by_the_self_test(seed: int, which: str) -> None:
    async with sensor_bench(seed) as s:
        s.inject(f"dead_lamp:light={which}")
        with pytest.raises(CommandFailed):
            await run_command(s, s.driver.self_test)
        part = m.Part.ACKNOWLEDGED_LAMP if which == "acknowledged" else m.Part.ACCEPTED_LAMP
        assert s.events_of(m.SelfTested)[-1].bad_parts == 1 << part


async def test_impossible_hand_actions_are_refused(seed: int) -> None:
    async with sensor_bench(seed) as s:
        for words in ("place_bet:chips=0", "place_bet:chips=99", "dead_lamp:light=blue", "jam"):
            with pytest.raises(BadFault):
                s.inject(words)
        assert s.inject("take_bet").endswith("0 chips taken back by the player")
        s.inject("place_bet")
        assert s.inject("drop_chip").endswith("1 chip fell from the spot under the rail")
        assert s.machine.true_counts()["under_the_rail"] == 1


# --- the lights ------------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_the_acknowledged_light_goes_out_with_its_bet_and_never_burns_for_another(seed: int, rung: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("place_bet")
        await light(s, m.Light.ACKNOWLEDGED, 1)
        assert burning(s) is m.Light.ACKNOWLEDGED
        s.inject("take_bet")
        assert burning(s) is m.Light.OFF
        s.inject("place_bet")
        assert await refused(s, m.Light.ACKNOWLEDGED, 1) is m.Reason.NO_SUCH_BET
        assert burning(s) is m.Light.OFF
        await light(s, m.Light.ACKNOWLEDGED, 3)
        assert burning(s) is m.Light.ACKNOWLEDGED


@clauses("688a.2(d)(1)")
@over_the_ladder
async def test_the_accepted_light_burns_for_a_latched_bet_only(seed: int, rung: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("place_bet")
        await light(s, m.Light.ACKNOWLEDGED, 1)
        assert await refused(s, m.Light.ACCEPTED, 1) is m.Reason.NO_SUCH_BET, "sensed is not accepted"
        assert (await latched(s)).last_change == 1
        assert burning(s) is m.Light.ACKNOWLEDGED, "latched is not accepted either: the host must have it safe"
        assert await refused(s, m.Light.ACKNOWLEDGED, 1) is m.Reason.NO_SUCH_BET
        await light(s, m.Light.ACCEPTED, 1)
        s.inject("collect")
        assert burning(s) is m.Light.ACCEPTED, "collecting the chip does not undo the bet"
        await opened(s, 8)
        assert burning(s) is m.Light.OFF


@over_the_ladder
@pytest.mark.parametrize("fault", RESTARTS)
async def test_lights_are_out_after_a_restart(seed: int, rung: str, fault: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("place_bet")
        await latched(s)
        await light(s, m.Light.ACCEPTED, 1)
        s.inject(fault)
        assert burning(s) is m.Light.OFF
        await back(s)
        assert (await check_reported_spot(s)).light is m.Light.OFF
        await light(s, m.Light.ACCEPTED, 1)
        assert burning(s) is m.Light.ACCEPTED


# --- power off and on ----------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("hands", ["nothing", "place_bet", "take_bet", "collect"])
@pytest.mark.parametrize("fault", RESTARTS)
async def test_a_latch_outlives_a_restart_through_any_hand_action_while_power_is_off(
    seed: int, rung: str, fault: str, hands: str
) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("place_bet")
        latch = await latched(s)
        s.inject(fault)
        if hands != "nothing":
            s.inject(hands)
        await back(s)
        status = await check_reported_spot(s)
        assert (status.state, status.latch) == (m.State.LOCKED, latch)
        assert status.sequence == latch.last_change + (hands != "nothing"), (
            "what changed in the dark has its number too"
        )
        assert await latched(s) == latch, "the same lock gets the same confirmation"
        assert len(s.machine.latched) == 1
        assert s.driver.reported is not None
        assert s.driver.reported.rebooted
        expected = {"nothing": [], "place_bet": [m.Reason.LATE_BET]}.get(hands, [m.Reason.BET_TAKEN])
        assert [code for code, _ in findings(s.view)] == expected


@over_the_ladder
@pytest.mark.parametrize("lay", [False, True])
@pytest.mark.parametrize("fault", RESTARTS)
async def test_an_open_sensor_restarts_closed_and_reports_the_spots_content(
    seed: int, rung: str, fault: str, lay: bool
) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        if lay:
            s.inject("place_bet")
        s.inject(fault)
        await back(s)
        status = await check_reported_spot(s)
        assert (status.state, status.reason) == (m.State.NONE, m.Reason.POWER_LOST)
        assert status.content is (m.SpotContent.CHIP if lay else m.SpotContent.EMPTY)
        s.inject("place_bet")
        assert (await check_reported_spot(s)).state is m.State.NONE
        answer = await ask_until_answered(s, lambda: s.driver.lock(7, 901))
        assert isinstance(answer, m.LockRefused)
        assert answer.reason is m.Reason.NOT_OPEN
        assert s.machine.latched == []


@over_the_ladder
async def test_numbers_rise_over_restarts(seed: int, rung: str) -> None:
    async with sensor_bench(seed, rung) as s:
        last = 0
        for number in (7, 8, 9):
            await opened(s, number)
            s.inject("place_bet")
            latch = await latched(s, 900 + number, number)
            assert latch.last_change > last
            last = latch.last_change
            s.inject("reboot")
            s.inject("collect")
            await back(s)
        assert (await check_reported_spot(s)).sequence == last + 1


@over_the_ladder
async def test_an_unplugged_sensor_keeps_its_round_and_its_count(seed: int, rung: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("unplug:seconds=2")
        s.inject("place_bet")
        await back(s)
        status = await check_reported_spot(s)
        assert (status.state, status.sequence) == (m.State.PLACED, 1)
        assert s.events_of(m.Changed) == [], "no event arrived; the report shows it"
        assert s.view.sensed_bet == 1
        assert (await latched(s)).last_change == 1


# --- the picture ---------------------------------------------------------------------------------------------------


def test_the_view_follows_the_change_numbers_and_not_the_order_of_arrival() -> None:
    latch = m.Latch(7, 900, 1, m.SpotContent.CHIP)
    events: list[DriverEvent] = [
        BettingOpened(7),
        m.Changed(1, 7, m.Change.PLACED, m.SpotContent.CHIP, 700),
        m.Locked(latch),
        m.Changed(2, 7, m.Change.TAKEN, m.SpotContent.EMPTY, 100),
    ]
    for order in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2), (0, 3, 2, 1), (0, 2, 3, 1), (1, 0, 2, 3), (1, 2, 0, 3)):
        view = BetSensorView(connected=True)
        for number in order:
            view = fold(view, events[number])
        assert (view.state, view.latch, view.content, view.sequence) == (
            m.State.LOCKED,
            latch,
            m.SpotContent.EMPTY,
            2,
        ), order
        assert [code for code, _ in findings(view)] == [m.Reason.BET_TAKEN]


@over_the_ladder
async def test_a_lock_written_before_the_first_report_is_confirmed_after_it(seed: int, rung: str) -> None:
    async with sensor_bench(seed, rung) as s:
        await opened(s)
        s.inject("place_bet")
        real = s.driver.link_up

        def lock_at_once(link: Link, hello: DeviceHello) -> None:
            real(link, hello)
            s.driver.lock(7, 900)

        s.driver.link_up = lock_at_once  # type: ignore[method-assign]
        s.inject("unplug:seconds=1")
        await until_true(lambda: s.events_of(m.Locked))
        follows = [
            type(event) for event in s.events[max(at for at, e in enumerate(s.events) if isinstance(e, LinkUp)) :]
        ]
        assert follows[:3] == [LinkUp, Reported, m.Locked]
        assert s.view.latched_bet == 1
        await check_reported_spot(s)


async def test_time_alone_changes_nothing(seed: int) -> None:
    async with sensor_bench(seed) as s:
        await opened(s)
        s.inject("place_bet")
        before = await check_reported_spot(s)
        await asyncio.sleep(3600)
        assert await check_reported_spot(s) == before
