"""The dealer's keypad against the real presses: every press once, none too old, a lock-out always."""

from __future__ import annotations

import asyncio

import pytest

from devices.driver_events import LinkUp, Reported
from devices.keypad import messages as m
from devices.keypad.driver import KeypadDriver
from devices.keypad.state import FRESH_MS, KeypadView, check_freshness, fold
from firmware_bridge.errors import BadFault, CommandFailed, StalePress
from simulators.kinds.keypad.firmware import REMEMBERED
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command, until_true
from tests.support.machines.keypads import reported_acts, until_all_received, until_reconnected
from tests.support.machines.progressive_kinds import PAD

# --- every press, once ---------------------------------------------------------------------------------------------


@over_the_ladder
async def test_every_press_is_reported_once_in_order_and_nothing_else_is(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        for _ in range(10):
            s.inject("press:key=start_game")
            await asyncio.sleep(0.3)
            s.inject("press:key=lock_out")
            await asyncio.sleep(0.3)
        await until_all_received(s)
        reported = reported_acts(s)
        assert [act.press for act in reported] == list(range(1, 21))
        assert [act.key for act in reported if isinstance(act, m.Pressed)] == s.machine.mechanics.pressed
        assert s.view.lost_presses == 0


@over_the_ladder
@pytest.mark.parametrize("seconds", [0.2, 2, 30])
async def test_presses_without_a_link_are_reported_later_with_their_age_and_never_twice(
    seed: int, rung: str, seconds: float
) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject("press:key=start_game")
        await until_all_received(s)
        s.inject(f"unplug:seconds={seconds}")
        await asyncio.sleep(0.1)
        s.inject("press:key=start_game")
        await asyncio.sleep(0.05)
        s.inject("press:key=lock_out")
        await until_reconnected(s)
        await until_all_received(s)
        assert [act.press for act in reported_acts(s)] == [1, 2, 3]
        for _ in range(3):
            s.inject("unplug:seconds=0.5")
            await until_reconnected(s)
        assert [act.press for act in reported_acts(s)] == [1, 2, 3], (
            "a press is reported once, however often the link is lost"
        )
        assert s.view.lost_presses == 0
        late = reported_acts(s)[1]
        assert late.age_ms >= (seconds - 0.1) * 1000
        if seconds == 30:
            assert isinstance(check_freshness(late), StalePress)
            assert check_freshness(reported_acts(s)[2]) is None, "a lock-out only closes: it is never too old"


@over_the_ladder
async def test_an_old_start_game_never_starts_a_round(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject("unplug:seconds=9")
        s.inject("press:key=start_game")
        await until_reconnected(s)
        await until_all_received(s)
        assert s.view.start_press is None
        assert isinstance(s.view.refused, m.Pressed)
        await asyncio.sleep(1)
        s.inject("press:key=start_game")
        await until_all_received(s)
        assert s.view.start_press == 2


@over_the_ladder
async def test_the_age_of_a_press_is_known_after_any_frame_loss_or_delay(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        await asyncio.sleep(1)
        s.inject("drop:rate=0.99")
        s.inject("press:key=start_game")
        pressed_at = asyncio.get_running_loop().time()
        await asyncio.sleep(1.8)
        s.inject("calm")
        await until_all_received(s)
        (act,) = reported_acts(s)
        assert (act.age_ms == 0) == (len([e for e in s.events if isinstance(e, Reported)]) == 1)
        age = await ask_until_answered(s, lambda: s.driver.age_of(act))
        real = (asyncio.get_running_loop().time() - pressed_at) * 1000
        assert real - 1 <= age <= real + 2000
        assert age > FRESH_MS, "the event has age 0 ms; a query shows that it is too old"


async def test_the_age_of_a_press_that_the_keypad_forgot_is_not_guessed(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("press:key=start_game")
        await until_all_received(s)
        (act,) = reported_acts(s)
        assert await s.driver.age_of(act) < 100
        s.inject("reboot")
        await until_reconnected(s)
        with pytest.raises(StalePress):
            await s.driver.age_of(act)


@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=3", "hang:seconds=6"])
async def test_presses_that_were_lost_with_the_power_are_counted_and_the_count_goes_on(seed: int, fault: str) -> None:
    async with PAD.bench(seed) as s:
        s.inject("press:key=start_game")
        await until_all_received(s)
        s.inject("unplug:seconds=1")
        s.inject("press:key=lock_out")
        s.inject("turn:to=floor")
        s.inject(fault)
        await until_reconnected(s)
        assert s.view.lost_presses == 2, "two were made and are never reported"
        assert [act.press for act in reported_acts(s)] == [1]
        s.inject("press:key=start_game")
        await until_all_received(s)
        assert reported_acts(s)[-1].press == 4
        assert s.view.lost_presses == 2
        assert s.view.switch is m.Switch.FLOOR, "where the switch stands is in the report"


async def test_more_presses_than_a_keypad_remembers_are_counted_as_lost(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("press:key=lock_out")
        await until_all_received(s)
        s.inject("unplug:seconds=60")
        for _ in range(REMEMBERED + 5):
            await asyncio.sleep(0.1)
            s.inject("press:key=lock_out")
        await until_reconnected(s)
        await until_all_received(s)
        assert s.view.lost_presses == 5
        assert len(reported_acts(s)) == 1 + REMEMBERED


async def test_a_press_before_a_lost_report_is_reported_in_the_next_session(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("unplug:seconds=1")
        s.inject("press:key=lock_out")
        s.inject("withhold:message=GetReport")
        await until_true(lambda: len(s.events_of(LinkUp)) == 2)
        await asyncio.sleep(0.2)
        assert reported_acts(s) == [], "no report, no press"
        await until_reconnected(s)
        await until_all_received(s)
        assert [act.press for act in reported_acts(s)] == [1]
        assert len(s.events_of(LinkUp)) == 3


async def test_another_keypad_in_the_same_place_has_a_count_of_its_own(seed: int) -> None:
    events: list[object] = []
    driver = KeypadDriver(events.append)
    driver.last_press, driver._serial = 40, "the old one"
    async with PAD.bench(seed) as s:
        link = s.driver.require_link()
        assert s.driver.reported is not None
        driver.link_up(link, s.driver.reported.hello)
        assert driver.last_press == 0
        await driver.ready()


def test_the_view_counts_no_press_twice() -> None:
    press = m.Pressed(5, 0, 1000, m.Key.START_GAME, m.Switch.DEALER)
    view = fold(KeypadView(press=4), press)
    assert (view.start_press, view.press, view.lost_presses) == (5, 5, 0)
    assert fold(view, press) == view
    assert fold(view, m.Pressed(3, 0, 900, m.Key.START_GAME, m.Switch.DEALER)) == view
    assert fold(view, m.Pressed(9, 0, 2000, m.Key.START_GAME, m.Switch.DEALER)).lost_presses == 3


# --- contacts --------------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("times", [2, 7, 50])
async def test_a_contact_that_bounces_is_one_press(seed: int, rung: str, times: int) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject(f"bounce:times={times}")
        s.inject("press:key=start_game")
        await asyncio.sleep(0.1)
        s.inject("press:key=start_game")
        await until_all_received(s)
        assert [act.press for act in reported_acts(s)] == [1, 2]


@over_the_ladder
@pytest.mark.parametrize("key", ["start_game", "digit_5", "lock_out"])
async def test_a_stuck_key_is_a_fault_and_not_a_row_of_presses(seed: int, rung: str, key: str) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject(f"stuck_key:key={key}")
        await until_true(lambda: s.events_of(m.Fault))
        assert s.events_of(m.Fault) == [m.Fault(m.Reason.STUCK_KEY, m.Key[key.upper()])]
        assert len(reported_acts(s)) == (key != "digit_5")
        assert s.service.state == "faulted"
        assert (await ask_until_answered(s, s.driver.status)).stuck == 1 << m.Key[key.upper()]
        await asyncio.sleep(60)
        assert len(s.events_of(m.Fault)) == 1
        with pytest.raises(CommandFailed):
            await run_command(s, s.driver.self_test)
        s.inject("mend")
        before = len(reported_acts(s))
        s.inject(f"press:key={key}")
        await asyncio.sleep(5)
        assert len(reported_acts(s)) - before == (key == "lock_out"), (
            "not taken until a test has passed; a lock-out always is"
        )
        await run_command(s, s.driver.self_test)
        assert (await ask_until_answered(s, s.driver.status)).stuck == 0
        s.inject(f"press:key={key}")
        await until_all_received(s)
        assert len(reported_acts(s)) - before == (0 if key == "digit_5" else 1 + (key == "lock_out"))


async def test_a_key_that_is_still_down_after_a_restart_is_stuck_and_pressed_nothing(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("stuck_key:key=start_game")
        await until_all_received(s)
        s.inject("power_cut:seconds=1")
        await until_reconnected(s)
        await until_true(lambda: s.events_of(m.Fault))
        assert [act.press for act in reported_acts(s)] == [1]


@pytest.mark.parametrize("fault", ["dead_lamp", "dead_display"])
async def test_a_self_test_names_what_does_not_work(seed: int, fault: str) -> None:
    async with PAD.bench(seed) as s:
        await run_command(s, s.driver.self_test)
        s.inject(fault)
        with pytest.raises(CommandFailed):
            await run_command(s, s.driver.self_test)
        tested = s.events_of(m.SelfTested)[-1]
        assert (tested.bad_lamps, tested.display) == ((4, True) if fault == "dead_lamp" else (0, False))
        assert s.service.state == "faulted"
        assert (await s.driver.status()).reason is m.Reason.SELF_TEST_FAILED


async def test_a_dead_key_and_a_stalled_keypad_report_nothing_and_the_simulator_shows_the_truth(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("dead_key:key=start_game")
        s.inject("press:key=start_game")
        s.inject("stall")
        s.inject("press:key=lock_out")
        await asyncio.sleep(5)
        assert reported_acts(s) == []
        assert s.machine.true_counts() == {"start_game": 1, "lock_out": 1}


async def test_impossible_finger_actions_are_refused(seed: int) -> None:
    async with PAD.bench(seed) as s:
        for words in ("press:key=any", "turn:to=left", "type:digits=x", "dead_lamp:lamp=red", "place_bet"):
            with pytest.raises(BadFault):
                s.inject(words)
