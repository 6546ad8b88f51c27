"""The keypad's key switch and entries: whole or not at all, never for another question, and a lock-out always."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from devices.keypad import messages as m
from devices.keypad.state import FRESH_MS, seats_of
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.keypads import reported_acts, show_prompt, until_all_received, until_reconnected
from tests.support.machines.progressive_kinds import PAD

# --- the key switch ------------------------------------------------------------------------------------------------

ALL: Final = {"start_game", "lock_out"}


@over_the_ladder
@pytest.mark.parametrize(
    ("position", "taken"), [("off", {"lock_out"}), ("technician", {"lock_out"}), ("dealer", ALL), ("floor", ALL)]
)
async def test_the_key_switch_limits_the_keys_but_never_the_lock_out(
    seed: int, rung: str, position: str, taken: set[str]
) -> None:
    async with PAD.bench(seed, rung) as s:
        s.inject(f"turn:to={position}")
        for key in sorted(ALL):
            s.inject(f"press:key={key}")
        await until_all_received(s)
        pressed = [act for act in reported_acts(s) if isinstance(act, m.Pressed)]
        assert {act.key.name.lower() for act in pressed} == taken
        assert all(act.switch.name.lower() == position for act in pressed)
        assert s.view.switch is s.machine.mechanics.switch


async def test_a_lock_out_is_taken_in_the_middle_of_everything(seed: int) -> None:
    async with PAD.bench(seed) as s:
        await show_prompt(s, m.KeypadPrompt.STUB_COUNT, "Stub count?")
        s.inject("press:key=digit_4")
        s.inject("press:key=lock_out")
        await until_all_received(s)
        assert reported_acts(s)[-1].press == 1
        await show_prompt(s, m.KeypadPrompt.NOTHING)
        testing = asyncio.create_task(run_command(s, s.driver.self_test))
        await asyncio.sleep(0.1)
        s.inject("press:key=start_game")
        s.inject("press:key=lock_out")
        await testing
        await until_all_received(s)
        assert [act.key for act in reported_acts(s) if isinstance(act, m.Pressed)] == [m.Key.LOCK_OUT] * 2


# --- entries -------------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_the_seats_in_the_round_are_toggled_and_confirmed_as_one_entry(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        command = await show_prompt(s, m.KeypadPrompt.SEATS, "Seats in the round?")
        for key in ("seat_1", "seat_3", "seat_6", "seat_3", "seat_5"):
            s.inject(f"press:key={key}")
            await asyncio.sleep(0.1)
        assert s.machine.mechanics.display_text == ("Seats in the round?", "", "", "1 5 6")
        assert reported_acts(s) == []
        s.inject("press:key=confirm")
        await until_all_received(s)
        (entered,) = reported_acts(s)
        assert isinstance(entered, m.SeatsEntered)
        assert (entered.asked, seats_of(entered)) == (command, (1, 5, 6))
        assert s.view.seats == entered
        s.inject("press:key=confirm")
        await asyncio.sleep(3)
        assert len(reported_acts(s)) == 1, "the question is over"
        assert (await ask_until_answered(s, s.driver.status)).state is s.view.state is m.State.IDLE


@over_the_ladder
@pytest.mark.parametrize(("prompt", "digits"), [(m.KeypadPrompt.STUB_COUNT, "4"), (m.KeypadPrompt.CHIP_COUNT, "113")])
async def test_a_count_is_typed_and_entered_whole(seed: int, rung: str, prompt: m.KeypadPrompt, digits: str) -> None:
    async with PAD.bench(seed, rung) as s:
        command = await show_prompt(s, prompt, "How many?")
        s.inject(f"type:digits={digits}")
        await asyncio.sleep(1)
        await until_all_received(s)
        assert isinstance(s.view.count, m.CountEntered)
        assert (s.view.count.asked, s.view.count.prompt, s.view.count.count) == (command, prompt, int(digits))


async def test_an_entry_is_bounded_cleared_and_never_empty(seed: int) -> None:
    async with PAD.bench(seed) as s:
        await show_prompt(s, m.KeypadPrompt.CHIP_COUNT, "Chips?")
        s.inject("press:key=enter")
        s.inject("type:digits=98765")
        await asyncio.sleep(1)
        assert s.view.count is not None
        assert s.view.count.count == 987, "no stack of chips has more digits"
        await show_prompt(s, m.KeypadPrompt.CHIP_COUNT, "Chips?")
        s.inject("press:key=digit_9")
        s.inject("press:key=clear")
        s.inject("type:digits=6")
        await asyncio.sleep(1)
        assert s.view.count.count == 6


async def test_an_answer_is_never_used_for_another_question(seed: int) -> None:
    async with PAD.bench(seed) as s:
        first = await show_prompt(s, m.KeypadPrompt.STUB_COUNT, "Stub count?")
        s.inject("press:key=digit_5")
        second = await show_prompt(s, m.KeypadPrompt.CHIP_COUNT, "Chips?")
        s.inject("type:digits=3")
        await asyncio.sleep(1)
        assert s.view.count is not None
        assert (s.view.count.asked, s.view.count.count) == (second, 3), "what was half typed is gone"
        assert first != second


@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=2"])
async def test_a_restart_in_the_middle_of_an_entry_drops_it_and_reports_that(seed: int, fault: str) -> None:
    async with PAD.bench(seed) as s:
        await show_prompt(s, m.KeypadPrompt.STUB_COUNT, "Stub count?")
        s.inject("press:key=digit_5")
        s.inject(fault)
        await until_reconnected(s)
        status = await s.driver.status()
        assert (status.state, status.reason, status.prompt) == (
            m.State.IDLE,
            m.Reason.POWER_LOST,
            m.KeypadPrompt.NOTHING,
        )
        assert s.view.state is m.State.IDLE
        assert s.machine.mechanics.display_text == ()
        s.inject("press:key=enter")
        await asyncio.sleep(1)
        assert reported_acts(s) == []
        await show_prompt(s, m.KeypadPrompt.STUB_COUNT, "Stub count?")
        assert (await s.driver.status()).reason is m.Reason.NONE


@over_the_ladder
async def test_an_entry_made_without_a_link_is_reported_with_its_age(seed: int, rung: str) -> None:
    async with PAD.bench(seed, rung) as s:
        await show_prompt(s, m.KeypadPrompt.STUB_COUNT, "Stub count?")
        s.inject("unplug:seconds=20")
        s.inject("type:digits=4")
        await until_reconnected(s)
        await until_all_received(s)
        (entered,) = reported_acts(s)
        assert entered.age_ms > FRESH_MS
        assert s.view.count is None
        assert s.view.refused == entered
        assert s.view.state is m.State.IDLE
