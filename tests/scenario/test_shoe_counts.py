"""Hidden, stuck or extra cards in an automated shoe are found when the well is empty at the latest."""

from __future__ import annotations

import pytest

from devices.shoe import messages as m
from devices.shoe.state import verdict
from firmware_bridge.errors import CommandFailed
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import run_command
from tests.support.machines.shoes import (
    Shoe,
    back_in_service,
    check_reported_cards,
    dispensed,
    expect_refusal,
    in_slot,
    search,
    shoe_bench,
)


async def deal(b: Shoe, *stacks: int) -> None:
    """Dispense stacks of these sizes, each taken before the next."""
    for cards in stacks:
        await dispensed(b, cards)
        b.inject("take")


async def stub_disagrees(b: Shoe) -> None:
    """Count the stub; fewer cards come out than went in."""
    with pytest.raises(CommandFailed) as failed:
        await run_command(b, b.driver.count_stub)
    assert failed.value.reason == m.Reason.COUNTS_DISAGREE


def unbalanced(b: Shoe) -> list[tuple[int, int]]:
    """Return the machine's reported counts of cards in and out."""
    return [(event.loaded, event.drawn) for event in b.events_of(m.Unbalanced)]


@over_the_ladder
async def test_a_card_that_slips_behind_the_well_is_missed_at_the_stub_and_never_forgotten(
    seed: int, rung: str
) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("card_left_inside:card=40")
        await run_command(b, b.driver.load)
        assert b.events_of(m.Loaded)[-1].count == 53
        await deal(b, *[7] * 7)
        await stub_disagrees(b)
        assert unbalanced(b) == [(53, 52)]
        assert b.events_of(m.Stub)[-1].count == 3 == in_slot(b)
        assert verdict(b.events_of(m.Stub)[-1], 53) == ["52 cards came out in all, 53 expected"]
        assert b.service.state == "faulted"
        status = await check_reported_cards(b)
        assert (status.counts_certain, status.left, b.view.left) == (False, None, None)
        b.inject("reboot")
        await b.until_reported()
        assert not (await check_reported_cards(b)).counts_certain, "power does not wash the doubt away"
        b.inject("take")
        await run_command(b, b.driver.clear_jam)
        assert not (await check_reported_cards(b)).counts_certain, "neither does clearing"
        await run_command(b, b.driver.self_test)
        assert not (await check_reported_cards(b)).counts_certain, "nobody has looked"
        await search(b)
        status = await check_reported_cards(b)
        assert (status.left, status.reason) == (0, m.Reason.NONE)
        assert b.machine.mechanics.left() == 0
        await back_in_service(b)


@over_the_ladder
async def test_a_hidden_card_is_also_missed_when_the_well_runs_empty_in_a_stack(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("card_left_inside:card=10")
        await run_command(b, b.driver.load)
        await deal(b, *[10] * 5)
        with pytest.raises(CommandFailed) as failed:
            await dispensed(b, 3)
        assert failed.value.reason == m.Reason.SHORT_STACK
        (short,) = b.events_of(m.ShortStack)
        assert (short.ordered, short.dispensed) == (3, 2)
        assert in_slot(b) == 2
        assert verdict(short, 3) == ["2 of 3 cards dispensed, then the well was empty"]
        assert unbalanced(b) == [(53, 52)]
        assert b.service.state == "faulted"
        assert not (await check_reported_cards(b)).counts_certain


@over_the_ladder
async def test_a_right_stack_that_empties_the_well_too_early_stays_right_and_the_shoe_is_at_fault(
    seed: int, rung: str
) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("card_left_inside:card=10")
        await run_command(b, b.driver.load)
        await deal(b, *[10] * 5)
        await dispensed(b, 2)
        assert verdict(b.events_of(m.Dispensed)[-1], 2) == []
        assert in_slot(b) == 2
        assert unbalanced(b) == [(53, 52)]
        assert b.service.state == "faulted"
        b.inject("take")
        await expect_refusal(b, m.Reason.NEEDS_CLEARING, 1)


@over_the_ladder
@pytest.mark.parametrize("segment", ["feed", "draw"])
@pytest.mark.parametrize("offset", [30, 60])
async def test_two_cards_as_one_are_noticed_by_how_long_they_take(
    seed: int, rung: str, segment: str, offset: int
) -> None:
    async with shoe_bench(seed, rung, loaded=segment == "draw") as b:
        b.inject(f"double_feed:segment={segment},card=4,offset={offset}")
        with pytest.raises(CommandFailed) as failed:
            await (dispensed(b, 7) if segment == "draw" else run_command(b, b.driver.load))
        assert failed.value.reason == m.Reason.DOUBLE_FEED
        (fault,) = b.events_of(m.Fault)
        assert (fault.segment.name.lower(), fault.card, fault.in_path, fault.left) == (segment, 4, None, None)
        assert b.machine.mechanics.in_path() == (2 if segment == "draw" else 0)
        assert verdict(fault, 7) == [f"double feed in segment {segment}"]
        assert b.service.state == "faulted"
        assert not (await check_reported_cards(b)).counts_certain


@over_the_ladder
async def test_two_cards_exactly_on_each_other_are_found_by_the_stub_at_the_latest(seed: int, rung: str) -> None:
    """The stated limit: the stack has eight cards and no sensor detects it; the stub is one short."""
    async with shoe_bench(seed, rung) as b:
        b.inject("double_feed:segment=draw,card=4,offset=0")
        await dispensed(b, 7)
        assert in_slot(b) == 8
        b.inject("take")
        await deal(b, *[7] * 6)
        await stub_disagrees(b)
        assert b.events_of(m.Stub)[-1].count == 3
        assert unbalanced(b) == [(53, 52)]


@over_the_ladder
async def test_two_cards_loaded_as_one_are_found_when_the_well_is_not_empty_in_time(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("double_feed:segment=feed,card=20,offset=0")
        await run_command(b, b.driver.load)
        assert verdict(b.events_of(m.Loaded)[-1], 53) == ["52 cards counted, 53 expected"]
        await deal(b, *[10] * 5)
        await dispensed(b, 2)
        assert b.events_of(m.Dispensed)[-1].left is None
        assert unbalanced(b) == [(52, 52)]
        assert b.service.state == "faulted"
        assert not (await check_reported_cards(b)).counts_certain


@over_the_ladder
async def test_a_stub_that_is_larger_than_it_should_be_is_unknown_at_once_and_never_a_negative_number(
    seed: int, rung: str
) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("double_feed:segment=feed,card=20,offset=0")
        await run_command(b, b.driver.load)
        await stub_disagrees(b)
        assert b.events_of(m.Stub)[-1].count == 53 == in_slot(b)
        assert unbalanced(b) == [(52, 53)]
        assert not (await check_reported_cards(b)).counts_certain
