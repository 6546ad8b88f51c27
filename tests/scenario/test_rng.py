"""Draws over every rung of the ladder: one number per draw, the same everywhere, and none from failed noise."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from devices.kinds import RNG
from devices.number_draw import PROPORTION_CUTOFF, REPETITION_CUTOFF, STARTUP_SAMPLES
from devices.rng import messages as m
from firmware_bridge.errors import BadFault, BadMessage, CommandFailed, CommandRefused
from simulators.kinds.rng.machine import SimulatedRng
from tests.support.machines.bench import LADDER, device_bench, over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.start_devices import (
    RngBench,
    check_reported_number,
    expect_false_report,
    reported,
    rng_bench,
)
from tests.support.suite.clauses import clauses

R: Final = m.Reason
# One segment over every rung, and every segment over one.
each_segment = pytest.mark.parametrize(
    ("rung", "segment"), [*((rung, "a") for rung in LADDER), *(("clean", segment) for segment in "bcdefg")]
)


async def draw(b: RngBench) -> tuple[int, int]:
    """Draw a number and fail unless view, memory and display agree about it; return the draw and the number."""
    command = (await run_command(b, b.driver.draw)).command
    number = (await ask_until_answered(b, lambda: b.driver.drawn(command))).number
    assert number is not None
    assert (b.view.draw, b.view.number) == (command, number)
    assert number == b.machine.shown_number()
    await check_reported_number(b)
    return command, number


async def fails(b: RngBench, reason: m.Reason) -> None:
    """Order a draw that must fail for this reason, give no number, and latch the slot."""
    before, read = b.view.number, len(b.events_of(m.Drawn))
    with pytest.raises(CommandFailed) as failed:
        await run_command(b, b.driver.draw)
    assert failed.value.reason == reason
    assert (b.view.number, len(b.events_of(m.Drawn))) == (before, read)
    assert b.machine.display.lit == m.BLANK or reason is R.DISPLAY_FAULT
    assert b.service.state == "faulted"


# --- good draws ------------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_drawn_number_is_shown_reported_and_remembered(seed: int, rung: str) -> None:
    async with rng_bench(seed, rung) as b:
        drawn = {}
        for count in range(1, 11):
            command, number = await draw(b)
            drawn[command] = number
            assert (await ask_until_answered(b, b.driver.status)).draws == count
            await run_command(b, b.driver.clear)
            assert b.machine.display.lit == m.BLANK
            await check_reported_number(b)
        assert len(set(drawn.values())) > 2
        for command, number in drawn.items():
            assert (await ask_until_answered(b, lambda command=command: b.driver.drawn(command))).number == number  # type: ignore[misc]
        for event in b.events_of(m.Drawn):
            assert (drawn[event.command], event.segments) == (event.number, m.SEGMENTS[event.number])
        assert rung == "lossy" or [event.command for event in b.events_of(m.Drawn)] == list(drawn)
        assert b.service.state == "in_service"


@over_the_ladder
async def test_a_shown_number_is_not_replaced_before_it_is_cleared(seed: int, rung: str) -> None:
    async with rng_bench(seed, rung) as b:
        command, number = await draw(b)
        for method in (b.driver.draw, b.driver.self_test):
            with pytest.raises(CommandRefused) as refused:
                await run_command(b, method)
            assert refused.value.reason == R.NUMBER_SHOWN
        assert b.machine.shown_number() == number
        assert (await ask_until_answered(b, b.driver.status)).draw == command
        await run_command(b, b.driver.clear)
        await draw(b)


@over_the_ladder
async def test_health_reports_how_much_was_tested_and_how_far_it_is_from_failing(seed: int, rung: str) -> None:
    async with rng_bench(seed, rung) as b:
        before = await ask_until_answered(b, b.driver.health)
        assert before.samples == STARTUP_SAMPLES
        await draw(b)
        health = await ask_until_answered(b, b.driver.health)
        assert health.samples == STARTUP_SAMPLES + 80
        assert (health.repetition_cutoff, health.proportion_cutoff) == (REPETITION_CUTOFF, PROPORTION_CUTOFF)
        assert 1 <= health.longest < health.repetition_cutoff
        assert 1 <= health.highest < health.proportion_cutoff


async def test_the_same_seed_draws_the_same_numbers_and_live_entropy_does_not(seed: int) -> None:
    async def numbers(*, live_entropy: bool) -> list[int]:
        drawn = []
        async with device_bench(SimulatedRng(seed=seed, live_entropy=live_entropy), RNG) as b:
            for _ in range(30):
                drawn.append((await draw(b))[1])
                await b.driver.clear(b.next_id())
        return drawn

    seeded = await numbers(live_entropy=False)
    assert await numbers(live_entropy=False) == seeded
    assert await numbers(live_entropy=True) != seeded  # they agree once in 7^30


async def test_sixteen_draws_are_remembered_and_the_oldest_is_forgotten_first(seed: int) -> None:
    async with rng_bench(seed) as b:
        drawn = []
        for _ in range(17):
            drawn.append(await draw(b))
            await b.driver.clear(b.next_id())
        assert (await b.driver.drawn(drawn[0][0])).number is None
        for command, number in drawn[1:]:
            assert (await b.driver.drawn(command)).number == number
        assert (await b.driver.drawn(4711)).number is None


# --- failed noise ----------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize(("fault", "reason"), [("noise_stuck", R.NOISE_STUCK), ("noise_dead", R.NOISE_DEAD)])
async def test_failed_noise_gives_no_number_and_the_failure_stays_latched(
    seed: int, rung: str, fault: str, reason: m.Reason
) -> None:
    async with rng_bench(seed, rung) as b:
        await draw(b)
        await run_command(b, b.driver.clear)
        b.inject(fault)
        await fails(b, reason)
        assert b.view.failed is reason
        with pytest.raises(CommandRefused) as refused:
            await run_command(b, b.driver.draw)
        assert refused.value.reason == R.NOT_HEALTHY
        b.inject("reboot")
        await b.until_reported()
        assert (await check_reported_number(b)).state is m.State.FAILED, "the start-up tests failed too"
        with pytest.raises(CommandFailed):
            await run_command(b, b.driver.self_test)
        b.inject("mend")
        b.inject("power_cut")
        await b.until_reported()
        status = await check_reported_number(b)
        assert (status.state, status.reason) == (m.State.FAILED, reason), "power heals nothing"
        with pytest.raises(CommandRefused):
            await run_command(b, b.driver.draw)
        await run_command(b, b.driver.self_test)
        assert (await check_reported_number(b)).state is m.State.IDLE
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "faulted", "a person must still acknowledge"
        b.service.fire("clear")
        b.service.fire("acknowledge")
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        await draw(b)


@over_the_ladder
async def test_biased_noise_is_detected_after_a_few_draws(seed: int, rung: str) -> None:
    async with rng_bench(seed, rung) as b:
        b.inject("noise_biased:sample=9,percent=35")

        async def many_draws() -> None:
            for _ in range(150):  # a window is 6 draws, and every third one begins with the biased sample
                await run_command(b, b.driver.draw)
                await run_command(b, b.driver.clear)

        with pytest.raises(CommandFailed) as failed:
            await many_draws()
        assert failed.value.reason == R.NOISE_BIASED
        assert b.view.failed is R.NOISE_BIASED
        assert {event.count for event in b.events_of(m.HealthFailed)} <= {PROPORTION_CUTOFF}
        assert b.machine.shown_number() is None
        assert b.service.state == "faulted"
        await check_reported_number(b)


@pytest.mark.parametrize("fault", ["noise_stuck:sample=0", "noise_dead"])
async def test_a_generator_whose_noise_fails_at_start_never_serves(seed: int, fault: str) -> None:
    async with rng_bench(seed) as b:
        b.inject(fault)
        b.inject("reboot")
        await b.until_reported()
        assert b.service.state == "faulted"
        with pytest.raises(CommandRefused) as refused:
            await b.driver.draw(b.next_id())
        assert refused.value.reason == R.NOT_HEALTHY


# --- the display -----------------------------------------------------------------------------------------------------


@each_segment
async def test_a_dead_segment_never_makes_people_read_another_number(seed: int, rung: str, segment: str) -> None:
    async with rng_bench(seed, rung) as b:
        b.inject(f"segment_dead:segment={segment}")
        bit = 1 << "abcdefg".index(segment)

        async def many_draws() -> None:
            for _ in range(60):
                _, number = await draw(b)
                assert not m.SEGMENTS[number] & bit
                await run_command(b, b.driver.clear)

        with pytest.raises(CommandFailed) as failed:
            await many_draws()
        assert failed.value.reason == R.DISPLAY_FAULT
        assert b.machine.shown_number() is None
        assert b.service.state == "faulted"
        assert (await check_reported_number(b)).reason is R.DISPLAY_FAULT


@each_segment
async def test_a_segment_that_stays_lit_is_found_as_soon_as_it_should_be_dark(
    seed: int, rung: str, segment: str
) -> None:
    async with rng_bench(seed, rung) as b:
        _, number = await draw(b)
        b.inject(f"segment_stuck:segment={segment}")
        await asyncio.sleep(1)
        if m.SEGMENTS[number] >> "abcdefg".index(segment) & 1:
            assert b.machine.shown_number() == number, "it is lit anyway"
            with pytest.raises(CommandFailed) as failed:
                await run_command(b, b.driver.clear)
            assert failed.value.reason == R.DISPLAY_FAULT
        status = await check_reported_number(b)
        assert (status.state, status.number, status.reason) == (m.State.FAILED, None, R.DISPLAY_FAULT)
        assert b.service.state == "faulted"
        with pytest.raises(CommandRefused):
            await run_command(b, b.driver.draw)


@pytest.mark.parametrize("asked", [False, True], ids=["by itself", "asked at once"])
async def test_a_seven_that_loses_its_top_segment_is_not_shown_as_a_one(seed: int, asked: bool) -> None:
    async with rng_bench(seed) as b:
        assert m.SEGMENTS[7] & ~1 == m.SEGMENTS[1]
        command, number = await draw(b)
        while number != 7:
            await b.driver.clear(b.next_id())
            command, number = await draw(b)
        b.inject("segment_dead:segment=a")
        assert b.machine.shown_number() == 1, "this is what people would see"
        if asked:
            assert (await b.driver.status()).reason is R.DISPLAY_FAULT
        else:
            await b.until(lambda event: isinstance(event, m.HealthFailed))
        assert b.machine.shown_number() is None
        assert b.service.state == "faulted"
        assert (await b.driver.drawn(command)).number == 7, "what was drawn was drawn"
        await check_reported_number(b)


async def test_a_display_that_lights_up_by_itself_is_a_fault(seed: int) -> None:
    async with rng_bench(seed) as b:
        b.inject("segment_stuck:segment=b")
        await b.until(lambda event: isinstance(event, m.HealthFailed))
        assert b.view.failed is R.DISPLAY_FAULT
        assert b.service.state == "faulted"


async def test_the_self_test_lights_every_segment(seed: int) -> None:
    for segment in "abcdefg":
        for fault in ("segment_dead", "segment_stuck"):
            async with rng_bench(seed) as b:
                b.inject(f"{fault}:segment={segment}")
                with pytest.raises(CommandFailed) as failed:
                    await b.driver.self_test(b.next_id())
                assert failed.value.reason == R.DISPLAY_FAULT
                assert b.events_of(m.SelfTested)[-1].reason is R.DISPLAY_FAULT


# --- after a restart -------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=3", "unplug:seconds=3", "hang:seconds=6"])
async def test_the_number_that_was_shown_is_shown_again_and_is_the_same(seed: int, rung: str, fault: str) -> None:
    async with rng_bench(seed, rung) as b:
        command, number = await draw(b)
        b.inject(fault)
        await b.until_reported()
        await reported(b)
        assert b.machine.shown_number() == number
        assert (b.view.draw, b.view.number, b.view.shown) == (command, number, True)
        for _ in range(3):
            assert (await ask_until_answered(b, lambda: b.driver.drawn(command))).number == number
        assert b.service.state == "in_service"
        await check_reported_number(b)


async def test_a_display_that_broke_while_the_power_was_off_is_not_lit_again(seed: int) -> None:
    async with rng_bench(seed) as b:
        _, number = await draw(b)
        lit = next(i for i in range(7) if m.SEGMENTS[number] >> i & 1)
        b.inject("power_cut:seconds=2")
        b.inject(f"segment_dead:segment={'abcdefg'[lit]}")
        await b.until_reported()
        assert b.machine.shown_number() is None
        assert (await check_reported_number(b)).reason is R.DISPLAY_FAULT
        assert b.service.state == "faulted"


# --- impossible events -----------------------------------------------------------------------------------------------


@clauses("575.5(g)(2)", "688a.5(i)(2)")
@over_the_ladder
@pytest.mark.parametrize("how", ["zero", "eight", "display", "second"])
async def test_an_impossible_number_ends_the_session_and_is_not_taken(seed: int, rung: str, how: str) -> None:
    async with rng_bench(seed, rung) as b:
        command, number = await draw(b)
        b.inject(f"lie:how={how}")
        await expect_false_report(b)
        assert (b.view.draw, b.view.number) == (command, number)
        assert (await ask_until_answered(b, lambda: b.driver.drawn(command))).number == number


async def test_a_remembered_draw_that_changes_is_detected_in_report_and_reply(seed: int) -> None:
    for by_report in (True, False):
        async with rng_bench(seed) as b:
            command, number = await draw(b)
            other = number % 7 + 1
            b.machine.firmware._draws[command] = other
            if by_report:
                b.machine.firmware._shown = other
                b.inject("reboot")
                await b.until(lambda _, b=b: isinstance(b.slot.cause, BadMessage))  # type: ignore[misc]
            else:
                with pytest.raises(BadMessage, match=f"gave {number}, and now {other}"):
                    await b.driver.drawn(command)
            assert b.service.state == "faulted"
            assert b.view.number == number


@pytest.mark.parametrize("wrong", ["lie", "noise_stuck:sample=256", "segment_dead:segment=h", "jam", "shake"])
async def test_an_impossible_action_is_refused_and_changes_nothing(seed: int, wrong: str) -> None:
    async with rng_bench(seed) as b:
        with pytest.raises(BadFault):
            b.inject(wrong)
        await asyncio.sleep(1)
        await draw(b)
