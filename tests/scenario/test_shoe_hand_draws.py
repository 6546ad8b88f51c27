"""Cards drawn by hand from an automated shoe without a command: reported, measured, counted, never wrongly."""

from __future__ import annotations

import asyncio

import pytest

from devices.shoe import messages as m
from firmware_bridge.errors import BadFault
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import run_command, until_moving
from tests.support.machines.shoes import check_reported_cards, dispensed, expect_refusal, get_all_cards_out, shoe_bench


@over_the_ladder
async def test_a_card_drawn_without_a_command_is_reported_and_counted(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b:
        await dispensed(b, 7)
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Drawn))
        assert b.events_of(m.Drawn) == [m.Drawn(ordered=False, moved=0, drawn=8, left=45)]
        assert (await check_reported_cards(b)).left == b.view.left == 45 == b.machine.mechanics.left()
        assert b.service.state == "in_service"
        b.inject("take")
        await dispensed(b, 7)
        b.inject("take")
        await run_command(b, b.driver.count_stub)
        assert (b.events_of(m.Stub)[-1].count, b.events_of(m.Stub)[-1].drawn) == (38, 53)


async def test_a_hand_that_draws_every_card_leaves_an_empty_shoe(seed: int) -> None:
    async with shoe_bench(seed) as b:
        b.inject("draw:cards=60")
        await asyncio.sleep(60)
        assert [event.drawn for event in b.events_of(m.Drawn)] == list(range(1, 54))
        assert (await check_reported_cards(b)).state is b.view.state is m.State.IDLE
        assert not b.events_of(m.Unbalanced)


async def test_hands_are_measured_however_slow_or_quick_they_are(seed: int) -> None:
    """A hundred draws of single cards: none is read as two cards or as a part of one."""
    for other in range(2):
        async with shoe_bench(seed + other) as b:
            b.inject("draw:cards=53")
            await asyncio.sleep(60)
            assert not b.events_of(m.Fault)
            assert len(b.events_of(m.Drawn)) == 53


@over_the_ladder
@pytest.mark.parametrize(
    ("fault", "reason"), [("double_feed:offset=45", m.Reason.DOUBLE_FEED), ("torn_card", m.Reason.SHORT_CARD)]
)
async def test_what_a_hand_draws_is_measured_too(seed: int, rung: str, fault: str, reason: m.Reason) -> None:
    async with shoe_bench(seed, rung) as b:
        b.inject(fault)
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Fault))
        (reported,) = b.events_of(m.Fault)
        assert (reported.command, reported.phase, reported.reason) == (None, m.Phase.DRAWING, reason)
        assert b.service.state == "faulted"
        status = await check_reported_cards(b)
        assert status.state is m.State.HALTED
        assert status.counts_certain is (reason is m.Reason.SHORT_CARD)
        await get_all_cards_out(b)


@over_the_ladder
@pytest.mark.parametrize("segment", ["exit", "drop"])
async def test_a_card_that_a_hand_leaves_in_the_throat_is_a_jam(seed: int, rung: str, segment: str) -> None:
    async with shoe_bench(seed, rung) as b:
        b.inject(f"jam:segment={segment}")
        b.inject("draw")
        await asyncio.sleep(1)
        await expect_refusal(b, m.Reason.PATH_BLOCKED)
        if not b.events_of(m.Jam):
            await b.until(lambda event: isinstance(event, m.Jam))
        (jam,) = b.events_of(m.Jam)
        assert (jam.command, jam.phase, jam.segment.name.lower()) == (None, m.Phase.DRAWING, segment)
        assert (jam.in_path, jam.left) == (1, 52) == (b.machine.mechanics.in_path(), b.machine.mechanics.left())
        assert (await check_reported_cards(b)).in_path == 1
        with pytest.raises(BadFault):
            b.inject("draw")
        await get_all_cards_out(b)


@over_the_ladder
async def test_a_hand_may_draw_while_the_rest_is_still_being_loaded(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        loading = asyncio.create_task(run_command(b, b.driver.load))
        await until_moving(b)
        await asyncio.sleep(2)
        b.inject("draw:cards=2")
        await loading
        loaded = b.events_of(m.Loaded)[-1]
        assert (loaded.count, loaded.left) == (53, 51)
        status = await check_reported_cards(b)
        assert (status.left, status.drawn, b.view.drawn) == (51, 2, 2)


@pytest.mark.parametrize("seconds", [0.02, 0.1, 3.0])
async def test_cards_drawn_while_power_is_off_make_the_count_unknown(seed: int, seconds: float) -> None:
    async with shoe_bench(seed) as b:
        b.inject("draw")
        await asyncio.sleep(seconds)
        b.inject("power_cut:seconds=2")
        if seconds == 3.0:
            b.inject("draw")
        await b.until_reported()
        status = await check_reported_cards(b)
        assert (status.state, status.counts_certain, status.left) == (m.State.READY, False, None)
        assert b.machine.mechanics.left() == (51 if seconds == 3.0 else 52)
        assert b.service.state == "unverified"
