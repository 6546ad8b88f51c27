"""Impossible events of a shaker are not accepted, and it reports nothing about dice under the lid."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.shaker import messages as m
from firmware_bridge.errors import BadMessage
from simulators.world.dice import Die
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.start_devices import (
    check_reported_dice,
    expect_false_report,
    good_roll,
    reported,
    shaker_bench,
)
from tests.support.wire.seeded_host import seed_the_host

if TYPE_CHECKING:
    from firmware_bridge.wire import Transport

R: Final = m.Reason


# --- impossible events -----------------------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("how", ["seven", "no_shake", "not_flat", "under_lid"])
async def test_an_impossible_reading_ends_the_session_and_is_not_taken(seed: int, rung: str, how: str) -> None:
    async with shaker_bench(seed, rung) as b:
        command = (await run_command(b, b.driver.arm)).command
        b.inject(f"lie:how={how}")
        await expect_false_report(b)
        assert (b.view.roll, b.view.values) == (command, None)
        assert not b.events_of(m.Reading)


@over_the_ladder
async def test_a_second_reading_for_one_roll_is_not_taken(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        roll = await good_roll(b)
        b.inject("lie:how=second")
        await expect_false_report(b)
        assert b.view.values == tuple(roll.values or ())


async def test_a_report_with_a_different_result_is_not_accepted_either(seed: int) -> None:
    async with shaker_bench(seed) as b:
        roll = await good_roll(b)
        twin = b.machine.firmware
        twin._rolls[roll.command] = m.Roll(roll.command, m.Ending.READ, 3, [1, 1, 7 - (roll.values or [1])[2]], R.NONE)
        b.inject("reboot")
        await b.until(lambda _: isinstance(b.slot.cause, BadMessage))
        assert b.service.state == "faulted"
        assert b.view.values == tuple(roll.values or ())


async def test_a_reply_with_a_different_result_raises_and_ends_the_session(seed: int) -> None:
    async with shaker_bench(seed) as b:
        roll = await good_roll(b)
        b.machine.firmware._rolls[roll.command] = m.Roll(roll.command, m.Ending.NO_ROLL, 3, None, R.DIE_NOT_FLAT)
        with pytest.raises(BadMessage):
            await b.driver.roll(roll.command)
        assert b.service.state == "faulted"


# --- under the lid ---------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_no_sensor_reports_dice_under_the_lid(seed: int, rung: str) -> None:
    async with shaker_bench(seed, rung) as b:
        await run_command(b, b.driver.arm)
        b.inject("shake")
        for _ in range(8):
            assert (await ask_until_answered(b, b.driver.sensors)).dice == []
            await asyncio.sleep(0.3)
        b.inject("lid")
        await asyncio.sleep(2)
        seen = (await ask_until_answered(b, b.driver.sensors)).dice
        assert tuple(die.face for die in seen) == b.machine.mechanics.shown_faces()


async def test_a_shaker_that_reports_dice_under_the_lid_is_not_trusted(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shaker_bench(seed) as b:
        mechanics = b.machine.mechanics
        seen = m.Sensors(mechanics.lid_sensor(), mechanics.motion_sensor(), 240, mechanics.look())
        monkeypatch.setattr(b.machine.board, "_handle", lambda _: seen)
        with pytest.raises(BadMessage):
            await b.driver.sensors()
        assert b.service.state == "faulted"


async def _bytes_until_the_lid_comes_off(seed: int) -> tuple[list[bytes], Any]:
    received: list[bytes] = []
    async with shaker_bench(seed) as b:
        transport: Transport = b.machine.board.line
        write = transport.write

        def noted(data: bytes) -> None:
            received.append(data)
            write(data)

        transport.write = noted  # type: ignore[method-assign]
        await b.driver.arm(b.next_id())
        b.inject("shake:times=4")
        for _ in range(6):
            await asyncio.sleep(0.5)
            await b.driver.status()
            await b.driver.sensors()
        await b.driver.report()
        lying = b.machine.mechanics.shown_faces()
    return received, lying


async def test_no_byte_depends_on_the_dice_until_the_lid_comes_off(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Different dice under the lid with the same noise: the device sends the same bytes."""
    seed_the_host(monkeypatch)
    received, lying = await _bytes_until_the_lid_comes_off(seed)
    tumble = Die.tumble

    def otherwise(die: Die, rng: Any) -> None:
        tumble(die, rng)
        die.face_up = 7 - die.face_up

    monkeypatch.setattr(Die, "tumble", otherwise)
    again, other = await _bytes_until_the_lid_comes_off(seed)
    assert other == tuple(7 - value for value in lying)
    assert again == received


async def test_the_state_after_a_session_is_read_anew(seed: int) -> None:
    async with shaker_bench(seed) as b:
        roll = await good_roll(b)
        b.inject("unplug:seconds=2")
        b.inject("lid:to=on")
        await b.until_reported()
        known = await reported(b)
        assert known.inventory.values == roll.values
        assert b.view.lid_on
        await check_reported_dice(b)
