"""The dealer's keypad against what fingers really did: every press once, none too old, a lock-out always."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from devices.keypad import messages as m
from devices.keypad.driver import KeypadDriver
from devices.keypad.state import FRESH_MS, KeypadView, fold, seats_of, stale
from devices.report import Reported
from firmware_bridge.errors import BadFault, CommandFailed, StalePress
from simulators.house.stand import Stand
from simulators.machines.keypad import SimulatedKeypad
from simulators.twins.keypad import REMEMBERED
from tests.support.beliefs import ask, carried_out, comes_true
from tests.support.bench import over_the_ladder
from tests.support.kinds import PAD

Keypad = Stand[SimulatedKeypad, KeypadDriver, KeypadView]


def acts(s: Keypad) -> list[m.Act]:
    return [event for event in s.events if isinstance(event, m.Act)]


async def all_heard(s: Keypad) -> None:
    """Wait until the last press was heard, and that of no press that is on its way."""
    await comes_true(lambda: s.driver.heard == s.machine.twin._press and s.driver.reported is not None)


async def back(s: Keypad) -> None:
    await comes_true(lambda: s.driver.reported is None)
    await comes_true(lambda: s.driver.reported is not None)


async def asked(s: Keypad, prompt: m.Prompt, *lines: str) -> int:
    settled = await carried_out(s, lambda command: s.driver.show(command, prompt, list(lines)))
    return settled.command


# --- every press, once ---------------------------------------------------------------------------------------------


@over_the_ladder
async def test_every_press_is_told_once_in_order_and_nothing_else_is(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        for _ in range(10):
            s.inject("press:key=start_game")
            await asyncio.sleep(0.3)
            s.inject("press:key=lock_out")
            await asyncio.sleep(0.3)
        await all_heard(s)
        told = acts(s)
        assert [act.press for act in told] == list(range(1, 21))
        assert [act.key for act in told if isinstance(act, m.Pressed)] == s.machine.mechanics.pressed
        assert s.view.lost == 0


@over_the_ladder
@pytest.mark.parametrize("seconds", [0.2, 2, 30])
async def test_presses_without_a_link_are_told_later_with_their_age_and_never_twice(
    seed: int, rung: str, seconds: float
) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject("press:key=start_game")
        await all_heard(s)
        s.inject(f"unplug:seconds={seconds}")
        await asyncio.sleep(0.1)
        s.inject("press:key=start_game")
        await asyncio.sleep(0.05)
        s.inject("press:key=lock_out")
        await back(s)
        await all_heard(s)
        assert [act.press for act in acts(s)] == [1, 2, 3]
        for _ in range(3):
            s.inject("unplug:seconds=0.5")
            await back(s)
        assert [act.press for act in acts(s)] == [1, 2, 3], "a press is told once, however often the link is lost"
        assert s.view.lost == 0
        late = acts(s)[1]
        assert late.age_ms >= (seconds - 0.1) * 1000
        if seconds == 30:
            assert isinstance(stale(late), StalePress)
            assert stale(acts(s)[2]) is None, "a lock-out only closes: it is never too old"


@over_the_ladder
async def test_an_old_start_game_never_starts_a_round(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject("unplug:seconds=9")
        s.inject("press:key=start_game")
        await back(s)
        await all_heard(s)
        assert s.view.start is None
        assert isinstance(s.view.refused, m.Pressed)
        await asyncio.sleep(1)
        s.inject("press:key=start_game")
        await all_heard(s)
        assert s.view.start == 2


@over_the_ladder
async def test_the_age_of_a_press_is_known_whatever_the_line_did_to_its_frame(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        await asyncio.sleep(1)
        s.inject("drop:rate=0.99")
        s.inject("press:key=start_game")
        pressed_at = asyncio.get_running_loop().time()
        await asyncio.sleep(1.8)
        s.inject("calm")
        await all_heard(s)
        (act,) = acts(s)
        assert (act.age_ms == 0) == (len([e for e in s.events if isinstance(e, Reported)]) == 1)
        age = await ask(s, lambda: s.driver.age_of(act))
        real = (asyncio.get_running_loop().time() - pressed_at) * 1000
        assert real - 1 <= age <= real + 2000
        assert age > FRESH_MS, "the event says 0 ms; asking shows that it is too old"


async def test_the_age_of_a_press_that_the_keypad_forgot_is_not_guessed(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("press:key=start_game")
        await all_heard(s)
        (act,) = acts(s)
        assert await s.driver.age_of(act) < 100
        s.inject("reboot")
        await back(s)
        with pytest.raises(StalePress):
            await s.driver.age_of(act)


@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=3", "hang:seconds=6"])
async def test_presses_that_were_lost_with_the_power_are_counted_and_the_count_goes_on(seed: int, fault: str) -> None:
    async with PAD.bench(seed) as s:
        s.inject("press:key=start_game")
        await all_heard(s)
        s.inject("unplug:seconds=1")
        s.inject("press:key=lock_out")
        s.inject("turn:to=floor")
        s.inject(fault)
        await back(s)
        assert s.view.lost == 2, "two were made and will never be heard"
        assert [act.press for act in acts(s)] == [1]
        s.inject("press:key=start_game")
        await all_heard(s)
        assert acts(s)[-1].press == 4
        assert s.view.lost == 2
        assert s.view.switch is m.Switch.FLOOR, "where the switch stands is in the report"


async def test_more_presses_than_a_keypad_remembers_are_counted_as_lost(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("press:key=lock_out")
        await all_heard(s)
        s.inject("unplug:seconds=60")
        for _ in range(REMEMBERED + 5):
            await asyncio.sleep(0.1)
            s.inject("press:key=lock_out")
        await back(s)
        await all_heard(s)
        assert s.view.lost == 5
        assert len(acts(s)) == 1 + REMEMBERED


async def test_another_keypad_in_the_same_place_has_a_count_of_its_own(seed: int) -> None:
    events: list[object] = []
    driver = KeypadDriver(events.append)
    driver.heard, driver._serial = 40, "the old one"
    async with PAD.bench(seed) as s:
        link = s.driver.need_link()
        assert s.driver.reported is not None
        driver.link_up(link, s.driver.reported.hello)
        assert driver.heard == 0
        await driver.ready()


def test_the_picture_counts_no_press_twice() -> None:
    press = m.Pressed(5, 0, 1000, m.Key.START_GAME, m.Switch.DEALER)
    view = fold(KeypadView(press=4), press)
    assert (view.start, view.press, view.lost) == (5, 5, 0)
    assert fold(view, press) == view
    assert fold(view, m.Pressed(3, 0, 900, m.Key.START_GAME, m.Switch.DEALER)) == view
    assert fold(view, m.Pressed(9, 0, 2000, m.Key.START_GAME, m.Switch.DEALER)).lost == 3


# --- contacts --------------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("times", [2, 7, 50])
async def test_a_contact_that_bounces_is_one_press(seed: int, rung: str, times: int) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject(f"bounce:times={times}")
        s.inject("press:key=start_game")
        await asyncio.sleep(0.1)
        s.inject("press:key=start_game")
        await all_heard(s)
        assert [act.press for act in acts(s)] == [1, 2]


@over_the_ladder
@pytest.mark.parametrize("key", ["start_game", "digit_5", "lock_out"])
async def test_a_stuck_key_is_a_fault_and_not_a_row_of_presses(seed: int, rung: str, key: str) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject(f"stuck_key:key={key}")
        await comes_true(lambda: s.told(m.Fault))
        assert s.told(m.Fault) == [m.Fault(m.Reason.STUCK_KEY, m.Key[key.upper()])]
        assert len(acts(s)) == (key != "digit_5")
        assert s.service.state == "faulted"
        assert (await ask(s, s.driver.status)).stuck == 1 << m.Key[key.upper()]
        await asyncio.sleep(60)
        assert len(s.told(m.Fault)) == 1
        with pytest.raises(CommandFailed):
            await carried_out(s, s.driver.self_test)
        s.inject("mend")
        before = len(acts(s))
        s.inject(f"press:key={key}")
        await asyncio.sleep(5)
        assert len(acts(s)) - before == (key == "lock_out"), "not taken until a test has passed; a lock-out always is"
        await carried_out(s, s.driver.self_test)
        assert (await ask(s, s.driver.status)).stuck == 0
        s.inject(f"press:key={key}")
        await all_heard(s)
        assert len(acts(s)) - before == (0 if key == "digit_5" else 1 + (key == "lock_out"))


async def test_a_key_that_is_still_down_after_a_restart_is_stuck_and_pressed_nothing(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("stuck_key:key=start_game")
        await all_heard(s)
        s.inject("power_cut:seconds=1")
        await back(s)
        await comes_true(lambda: s.told(m.Fault))
        assert [act.press for act in acts(s)] == [1]


@pytest.mark.parametrize("fault", ["dead_lamp", "dead_display"])
async def test_a_self_test_names_what_does_not_work(seed: int, fault: str) -> None:
    async with PAD.bench(seed) as s:
        await carried_out(s, s.driver.self_test)
        s.inject(fault)
        with pytest.raises(CommandFailed):
            await carried_out(s, s.driver.self_test)
        tested = s.told(m.SelfTested)[-1]
        assert (tested.bad_lamps, tested.display) == ((4, True) if fault == "dead_lamp" else (0, False))
        assert s.service.state == "faulted"
        assert (await s.driver.status()).reason is m.Reason.SELF_TEST_FAILED


async def test_a_dead_key_and_a_stalled_keypad_tell_nothing_and_the_truth_shows_it(seed: int) -> None:
    async with PAD.bench(seed) as s:
        s.inject("dead_key:key=start_game")
        s.inject("press:key=start_game")
        s.inject("stall")
        s.inject("press:key=lock_out")
        await asyncio.sleep(5)
        assert acts(s) == []
        assert s.machine.truth() == {"start_game": 1, "lock_out": 1}


async def test_fingers_cannot_do_what_makes_no_sense(seed: int) -> None:
    async with PAD.bench(seed) as s:
        for words in ("press:key=any", "turn:to=left", "type:digits=x", "dead_lamp:lamp=red", "place_bet"):
            with pytest.raises(BadFault):
                s.inject(words)


# --- the key switch ------------------------------------------------------------------------------------------------

ALL: Final = {"start_game", "lock_out"}


@over_the_ladder
@pytest.mark.parametrize(
    ("position", "taken"), [("off", {"lock_out"}), ("technician", {"lock_out"}), ("dealer", ALL), ("floor", ALL)]
)
async def test_what_the_key_switch_lets_through_and_a_lock_out_always(
    seed: int, rung: str, position: str, taken: set[str]
) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject(f"turn:to={position}")
        for key in sorted(ALL):
            s.inject(f"press:key={key}")
        await all_heard(s)
        pressed = [act for act in acts(s) if isinstance(act, m.Pressed)]
        assert {act.key.name.lower() for act in pressed} == taken
        assert all(act.switch.name.lower() == position for act in pressed)
        assert s.view.switch is s.machine.mechanics.switch


async def test_a_lock_out_is_taken_in_the_middle_of_everything(seed: int) -> None:
    async with PAD.bench(seed) as s:
        await asked(s, m.Prompt.STUB_COUNT, "Stub count?")
        s.inject("press:key=digit_4")
        s.inject("press:key=lock_out")
        await all_heard(s)
        assert acts(s)[-1].press == 1
        await asked(s, m.Prompt.NOTHING)
        testing = asyncio.create_task(carried_out(s, s.driver.self_test))
        await asyncio.sleep(0.1)
        s.inject("press:key=start_game")
        s.inject("press:key=lock_out")
        await testing
        await all_heard(s)
        assert [act.key for act in acts(s) if isinstance(act, m.Pressed)] == [m.Key.LOCK_OUT] * 2


# --- entries -------------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_the_seats_in_the_round_are_toggled_and_confirmed_as_one_entry(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        command = await asked(s, m.Prompt.SEATS, "Seats in the round?")
        for key in ("seat_1", "seat_3", "seat_6", "seat_3", "seat_5"):
            s.inject(f"press:key={key}")
            await asyncio.sleep(0.1)
        assert s.machine.mechanics.glass == ("Seats in the round?", "", "", "1 5 6")
        assert acts(s) == []
        s.inject("press:key=confirm")
        await all_heard(s)
        (entered,) = acts(s)
        assert isinstance(entered, m.SeatsEntered)
        assert (entered.asked, seats_of(entered)) == (command, (1, 5, 6))
        assert s.view.seats == entered
        s.inject("press:key=confirm")
        await asyncio.sleep(3)
        assert len(acts(s)) == 1, "the question is over"
        assert (await ask(s, s.driver.status)).state is s.view.state is m.State.IDLE


@over_the_ladder
@pytest.mark.parametrize(("prompt", "digits"), [(m.Prompt.STUB_COUNT, "4"), (m.Prompt.CHIP_COUNT, "113")])
async def test_a_count_is_typed_and_entered_whole(seed: int, rung: str, prompt: m.Prompt, digits: str) -> None:
    async with PAD.bench(seed, rung) as s:
        command = await asked(s, prompt, "How many?")
        s.inject(f"type:digits={digits}")
        await asyncio.sleep(1)
        await all_heard(s)
        assert isinstance(s.view.count, m.CountEntered)
        assert (s.view.count.asked, s.view.count.prompt, s.view.count.count) == (command, prompt, int(digits))


async def test_an_entry_is_bounded_cleared_and_never_empty(seed: int) -> None:
    async with PAD.bench(seed) as s:
        await asked(s, m.Prompt.CHIP_COUNT, "Chips?")
        s.inject("press:key=enter")
        s.inject("type:digits=98765")
        await asyncio.sleep(1)
        assert s.view.count is not None
        assert s.view.count.count == 987, "no stack of chips has more digits"
        await asked(s, m.Prompt.CHIP_COUNT, "Chips?")
        s.inject("press:key=digit_9")
        s.inject("press:key=clear")
        s.inject("type:digits=6")
        await asyncio.sleep(1)
        assert s.view.count.count == 6


async def test_an_answer_is_never_taken_for_that_to_another_question(seed: int) -> None:
    async with PAD.bench(seed) as s:
        first = await asked(s, m.Prompt.STUB_COUNT, "Stub count?")
        s.inject("press:key=digit_5")
        second = await asked(s, m.Prompt.CHIP_COUNT, "Chips?")
        s.inject("type:digits=3")
        await asyncio.sleep(1)
        assert s.view.count is not None
        assert (s.view.count.asked, s.view.count.count) == (second, 3), "what was half typed is gone"
        assert first != second


@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=2"])
async def test_a_restart_in_the_middle_of_an_entry_forgets_it_and_says_so(seed: int, fault: str) -> None:
    async with PAD.bench(seed) as s:
        await asked(s, m.Prompt.STUB_COUNT, "Stub count?")
        s.inject("press:key=digit_5")
        s.inject(fault)
        await back(s)
        status = await s.driver.status()
        assert (status.state, status.reason, status.prompt) == (m.State.IDLE, m.Reason.POWER_LOST, m.Prompt.NOTHING)
        assert s.view.state is m.State.IDLE
        assert s.machine.mechanics.glass == ()
        s.inject("press:key=enter")
        await asyncio.sleep(1)
        assert acts(s) == []
        await asked(s, m.Prompt.STUB_COUNT, "Stub count?")
        assert (await s.driver.status()).reason is m.Reason.NONE


@over_the_ladder
async def test_an_entry_made_without_a_link_is_told_with_its_age(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        await asked(s, m.Prompt.STUB_COUNT, "Stub count?")
        s.inject("unplug:seconds=20")
        s.inject("type:digits=4")
        await back(s)
        await all_heard(s)
        (entered,) = acts(s)
        assert entered.age_ms > FRESH_MS
        assert s.view.count is None
        assert s.view.refused == entered
        assert s.view.state is m.State.IDLE
