"""The meter sign against the real display: never an old value, never a wrong one unnoticed."""

from __future__ import annotations

import asyncio

import pytest

from devices.meter_sign import messages as m
from devices.meter_sign.driver import MeterSignDriver
from devices.meter_sign.state import MeterSignView, verdict
from firmware_bridge.errors import BadFault, CommandFailed, CommandRefused
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.meter_sign.machine import SimulatedMeterSign
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command, until_true
from tests.support.machines.progressive_kinds import SIGN

Sign = DeviceBench[SimulatedMeterSign, MeterSignDriver, MeterSignView]


async def show(s: Sign, sequence: int, value: int, pending: int = 0, won: int = 0) -> None:
    await run_command(s, lambda command: s.driver.show(command, sequence, value, pending, won))


async def readback_is_true(s: Sign) -> m.Shown:
    """Fail unless the sign's readback equals the simulated display."""
    shown = await ask_until_answered(s, s.driver.shown)
    for row in m.Row:
        seen = s.machine.glass.read(row).lstrip()
        text = getattr(shown, row.name.lower())
        assert text == (int(seen) if seen.isdecimal() and len(seen) >= 3 else None)
    assert shown.stale is s.machine.glass.stale
    return shown


async def back(s: Sign) -> None:
    await until_true(lambda: s.driver.reported is None)
    await until_true(lambda: s.driver.reported is not None)


@over_the_ladder
@pytest.mark.parametrize(
    "amounts", [(0, 0, 0), (1, 2, 3), (12_345_678, 500, 0), (m.MAX_CENTS, m.MAX_CENTS, m.MAX_CENTS)]
)
async def test_the_sent_amount_is_read_back_to_the_cent(seed: int, rung: str, amounts: tuple[int, int, int]) -> None:
    async with SIGN.bench(seed, rung) as s:
        await show(s, 1, *amounts)
        shown = await readback_is_true(s)
        assert (shown.value, shown.pending, shown.won) == amounts
        assert (shown.sequence, shown.stale) == (1, False)
        assert verdict(s.view) == []


@over_the_ladder
async def test_a_value_that_falls_is_shown_and_an_old_one_is_not(seed: int, rung: str) -> None:
    async with SIGN.bench(seed, rung) as s:
        await show(s, 5, 1_000_000)
        await show(s, 6, 10_000, won=990_000)
        assert (await readback_is_true(s)).value == 10_000, "whether a meter may fall is the ledger's business"
        for sequence in (6, 5, 0):
            with pytest.raises(CommandRefused) as refused:
                await show(s, sequence, 2_000_000)
            assert refused.value.reason == m.Reason.OLD_SEQUENCE
        assert (await readback_is_true(s)).value == 10_000
        assert verdict(s.view), "an amount that was sent but not shown is a finding"


# --- stale ---------------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("how", ["silence", "unplug:seconds=30", "a mute host"])
async def test_a_sign_that_receives_nothing_shows_that_by_itself(seed: int, rung: str, how: str) -> None:
    async with SIGN.bench(seed, rung) as s:
        await run_command(s, lambda command: s.driver.set_limit(command, 20_000))
        await show(s, 1, 777)
        await asyncio.sleep(1)
        assert not s.machine.glass.stale
        if how.startswith("unplug"):
            s.inject(how)
        await until_true(lambda: s.machine.glass.stale, 25)
        assert s.machine.glass.read(m.Row.VALUE).strip() == "777", "the amount stays, marked"
        await until_true(lambda: s.driver.reported is not None)
        assert (await readback_is_true(s)).state is m.State.STALE
        assert m.Reason.STALE in [reason for reason, _ in verdict(s.view)]
        if how == "silence" and rung != "lossy":
            assert [stale.sequence for stale in s.events_of(m.Stale)] == [1]
        await show(s, 2, 777)
        assert not s.machine.glass.stale
        await readback_is_true(s)
        assert verdict(s.view) == []


async def test_the_limit_is_the_hosts_and_counts_from_the_last_show(seed: int) -> None:
    async with SIGN.bench(seed) as s:
        await show(s, 1, 100)
        await asyncio.sleep(4.5)
        assert not s.machine.glass.stale
        await show(s, 2, 100)
        await asyncio.sleep(4.5)
        assert not s.machine.glass.stale
        await run_command(s, lambda command: s.driver.set_limit(command, 100))
        await asyncio.sleep(0.1)
        assert s.machine.glass.stale
        (event,) = s.events_of(m.Stale)
        assert event.age_ms >= 4500


async def test_other_messages_do_not_keep_an_amount_fresh(seed: int) -> None:
    async with SIGN.bench(seed) as s:
        await show(s, 1, 100)
        for _ in range(60):
            await asyncio.sleep(0.1)
            await s.driver.status()
        assert s.machine.glass.stale


# --- restarts --------------------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=2", "hang:seconds=6"])
async def test_after_a_restart_it_shows_dashes_and_never_an_old_value(seed: int, rung: str, fault: str) -> None:
    async with SIGN.bench(seed, rung) as s:
        await show(s, 41, 9_900)
        s.inject(fault)
        assert s.machine.glass.read(m.Row.VALUE).strip() == "", "dark without power"
        await back(s)
        shown = await readback_is_true(s)
        assert (shown.state, shown.sequence, shown.value, shown.pending, shown.won) == (
            m.State.BLANK,
            0,
            None,
            None,
            None,
        )
        assert s.machine.glass.read(m.Row.VALUE) == "-" * m.DIGITS
        assert verdict(s.view), "it does not show the sent amount"
        await show(s, 42, 9_900)
        await readback_is_true(s)
        assert verdict(s.view) == []


# --- a display that shows a wrong amount ---------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("digit", range(5))
@pytest.mark.parametrize("row", list(m.Row))
async def test_a_dead_digit_is_found_by_the_sign_and_by_the_host(seed: int, rung: str, row: m.Row, digit: int) -> None:
    async with SIGN.bench(seed, rung) as s:
        await show(s, 1, 12345, 12345, 12345)
        s.inject(f"dead_digit:row={row.name.lower()},digit={digit}")
        assert getattr(await readback_is_true(s), row.name.lower()) != 12345
        assert [reason for reason, _ in verdict(s.view)] == [m.Reason.WRONG_GLASS]
        with pytest.raises(CommandFailed) as failed:
            await show(s, 2, 12346, 12346, 12346)
        assert failed.value.reason == m.Reason.WRONG_GLASS
        await until_true(lambda: s.events_of(m.Fault))
        assert s.events_of(m.Fault)[-1].digits == [1 << digit if r is row else 0 for r in m.Row]
        assert s.service.state == "faulted"
        with pytest.raises(CommandFailed):
            await run_command(s, s.driver.self_test)
        assert s.events_of(m.SelfTested)[-1].digits[row] == 1 << digit
        s.inject("mend")
        await run_command(s, s.driver.self_test)
        assert (await readback_is_true(s)).value == 12346
        assert s.service.state == "faulted", "a person must still acknowledge"


@over_the_ladder
async def test_a_frozen_glass_is_found_at_the_next_amount(seed: int, rung: str) -> None:
    async with SIGN.bench(seed, rung) as s:
        await show(s, 1, 500)
        s.inject("stall")
        with pytest.raises(CommandFailed) as failed:
            await show(s, 2, 600)
        assert failed.value.reason == m.Reason.WRONG_GLASS
        shown = await readback_is_true(s)
        assert (shown.value, shown.sequence) == (500, 2)
        assert [reason for reason, _ in verdict(s.view)] == [m.Reason.WRONG_GLASS]


@over_the_ladder
async def test_the_test_pattern_is_shown_and_what_was_shown_before_comes_back(seed: int, rung: str) -> None:
    async with SIGN.bench(seed, rung) as s:
        await show(s, 1, 4242)
        testing = asyncio.create_task(run_command(s, s.driver.self_test))
        await until_true(lambda: s.machine.glass.read(m.Row.WON) == "8" * m.DIGITS)
        await testing
        assert (await readback_is_true(s)).value == 4242
        assert not any(s.events_of(m.SelfTested)[-1].digits)


async def test_an_amount_grows_stale_behind_the_test_pattern_too(seed: int) -> None:
    async with SIGN.bench(seed) as s:
        await show(s, 1, 4242)
        await asyncio.sleep(4.6)
        await run_command(s, s.driver.self_test)
        assert (await readback_is_true(s)).stale
        assert s.machine.glass.read(m.Row.VALUE).strip() == "4242"


async def test_impossible_display_faults_are_refused(seed: int) -> None:
    async with SIGN.bench(seed) as s:
        for words in ("dead_digit:row=top", "dead_digit:digit=10", "place_bet"):
            with pytest.raises(BadFault):
                s.inject(words)
