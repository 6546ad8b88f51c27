"""Six decks at a time: cycles, two incidents of migrating cards, and identification, against the simulator's truth."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.errors import BadFault, CommandFailed
from simulators.world.cards import SIX_DECKS
from simulators.world.table import IN_PLAY, TRAY
from tests.support.machines.bench import ShufflerTestBench, in_turn_over_the_ladder, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    behind_gate,
    check_reported_cards,
    faces_behind_gate,
    get_all_cards_out,
    run_command,
    until_moving,
)

if TYPE_CHECKING:
    from simulators.world.cards import Card

BATCH: Final = len(SIX_DECKS)


async def completes(b: ShufflerTestBench) -> m.Completed:
    await run_command(b, b.driver.shuffle)
    return b.events_of(m.Completed)[-1]


async def disagrees(b: ShufflerTestBench) -> m.Incomplete:
    """Run a cycle whose counts must disagree, so that the slot is latched."""
    with pytest.raises(CommandFailed) as failed:
        await run_command(b, b.driver.shuffle)
    assert failed.value.reason == m.Reason.COUNTS_DISAGREE
    assert b.service.state == "faulted"
    return b.events_of(m.Incomplete)[-1]


async def given_out(b: ShufflerTestBench) -> None:
    """Clear the machine and take the cards behind the gate, even if they are rejected."""
    await run_command(b, b.driver.clear_jam)
    await run_command(b, b.driver.eject)


async def searched(b: ShufflerTestBench) -> list[Card]:
    """Take the cards behind the shelves as a technician does, run a self-test; return the cards."""
    b.inject("door")
    cards = b.machine.world.at(b.machine.mechanics.behind_shelves)
    b.machine.world.move_all(b.machine.mechanics.behind_shelves, TRAY)
    b.inject("door:to=closed")
    await run_command(b, b.driver.self_test)
    return cards


def backs(b: ShufflerTestBench, place: str) -> Counter[str]:
    return Counter(card.back for card in b.machine.world.at(place))


# --- cycles ------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_good_batch_is_counted_and_given_out(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, batch=True) as b:
        completed = await completes(b)
        assert (completed.count, completed.mode, completed.rejected) == (BATCH, m.Mode.SHUFFLE, False)
        assert verdict(completed, BATCH) == []
        assert verdict(completed, 53) == ["312 cards counted, 53 expected"]
        assert 90_000 < completed.duration_ms < 240_000, "a couple of minutes of the machine's own time"
        assert b.machine.true_counts() == {IN_PLAY: BATCH, "shuffler.1/gate": BATCH}
        assert (await check_reported_cards(b)).inside == b.view.inside == 0
        await run_command(b, b.driver.eject)
        assert b.machine.true_counts() == {IN_PLAY: BATCH, "shuffler.1/presented": BATCH}


async def test_one_batch_waits_behind_the_gate_while_the_other_is_put_into_the_intake(seed: int) -> None:
    async with shuffler_bench(seed, batch=True) as b:
        for back in ("blue", "red", "blue", "red"):
            completed = await completes(b)
            assert verdict(completed, BATCH) == []
            assert backs(b, b.machine.mechanics.gate) == {back: BATCH}
            await run_command(b, b.driver.eject)
            b.inject("swap_batches")
            assert backs(b, IN_PLAY) == {back: BATCH}
            assert b.machine.world.count(b.machine.mechanics.intake) == BATCH
        with pytest.raises(BadFault, match="would mix"):
            b.inject("swap_batches")


async def test_hands_cannot_swap_what_a_machine_for_one_deck_does_not_have(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        for word in ("swap_batches", "draw", "draw_pair", "discard"):
            with pytest.raises(BadFault, match="not for this model"):
                b.inject(word)


@in_turn_over_the_ladder("segment", list(m.Segment))
async def test_a_jam_among_six_decks_is_located_and_every_card_comes_back(
    seed: int, rung: str, segment: m.Segment
) -> None:
    async with shuffler_bench(seed, rung, batch=True) as b:
        b.inject(f"jam:segment={segment.name.lower()},card=200")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.shuffle)
        assert failed.value.reason == m.Reason.JAM
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card) == (segment, 200)
        assert jam.inside == b.view.inside == b.machine.mechanics.inside() > 100
        assert b.service.state == "faulted"
        await get_all_cards_out(b, BATCH)


@in_turn_over_the_ladder("after", [20.0, 60.0, 100.0, 140.0])
async def test_power_lost_in_mid_cycle_leaves_the_count_unknown_until_a_person_looks(
    seed: int, rung: str, after: float
) -> None:
    async with shuffler_bench(seed, rung, batch=True) as b:
        cycle = asyncio.create_task(run_command(b, b.driver.shuffle))
        await until_moving(b)
        await asyncio.sleep(after)
        b.inject("power_cut:seconds=2")
        await asyncio.wait({cycle})
        assert cycle.exception() is not None
        if b.driver.reported is None:
            await b.until_reported()
        status = await check_reported_cards(b)
        assert (status.state, status.inside, b.view.inside) == (m.State.DOUBTFUL, None, None)
        assert b.service.state == "faulted"
        await get_all_cards_out(b, BATCH)


@over_the_ladder
async def test_a_seventh_deck_does_not_fit(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, batch=True) as b:
        b.machine.world.make_deck(b.machine.mechanics.intake, "blue", SIX_DECKS[:52])
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.shuffle)
        assert failed.value.reason == m.Reason.TOO_MANY_CARDS
        assert b.events_of(m.Fault)[-1].entered == b.machine.mechanics.inside() == b.machine.size.max_cards
        await get_all_cards_out(b, BATCH + 52)


async def test_a_sorted_batch_is_complete_but_not_shuffled(seed: int) -> None:
    async with shuffler_bench(seed, batch=True) as b:
        b.inject("sort_mode")
        assert verdict(await completes(b), BATCH) == ["the cycle was SORT, which is not a shuffle"]
        suits = [card.face // 13 for card in b.machine.world.at(b.machine.mechanics.gate)]
        assert suits in (sorted(suits), sorted(suits, reverse=True))


# --- cards that stay inside or migrate -----------------------------------------------------------------------


@in_turn_over_the_ladder("card", [1, 100, 200, 290])
async def test_sixteen_cards_left_inside_are_reported_missing_until_they_are_removed(
    seed: int, rung: str, card: int
) -> None:
    async with shuffler_bench(seed, rung, batch=True) as b:
        b.inject(f"cards_left_inside:count=16,card={card}")
        ended = await disagrees(b)
        assert (ended.cards_in, ended.cards_out) == (BATCH, BATCH - 16)
        assert verdict(ended, BATCH) == ["312 cards went in and 296 came out"]
        assert b.machine.mechanics.inside() == 16
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        await given_out(b)
        b.inject("reboot")
        await b.until_reported()
        b.inject("take_deck")
        b.inject("load")
        again = await completes(b)
        assert verdict(again, BATCH) == ["296 cards counted, 312 expected"]
        assert (await check_reported_cards(b)).inside is b.view.inside is None, (
            "no count and no restart finds a card that hides"
        )
        await run_command(b, b.driver.eject)
        b.inject("take_deck")
        assert len(await searched(b)) == 16
        b.inject("load")
        assert verdict(await completes(b), BATCH) == []
        assert (await check_reported_cards(b)).inside == 0


@over_the_ladder
async def test_a_card_that_migrates_is_caught_in_both_batches_and_neither_is_called_good(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, batch=True) as b:
        b.inject("card_migrates:card=77")
        short = await disagrees(b)
        assert (short.cards_in, short.cards_out) == (312, 311)
        assert backs(b, b.machine.mechanics.behind_shelves) == {"blue": 1}
        await given_out(b)
        b.inject("swap_batches")  # people who ignore a light go on with the other batch
        over = await disagrees(b)
        assert (over.cards_in, over.cards_out) == (312, 313)
        assert backs(b, b.machine.mechanics.gate) == {"red": 312, "blue": 1}
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        for count in (311, 313):  # each at its next count, and again at every later one
            await given_out(b)
            b.inject("swap_batches")
            completed = await completes(b)
            assert verdict(completed, 312) == [f"{count} cards counted, 312 expected"]
            assert completed.count == behind_gate(b)
            assert (await check_reported_cards(b)).inside is b.view.inside is None
        assert all(verdict(completed, 312) for completed in b.events_of(m.Completed))


async def test_a_card_that_migrated_and_was_put_back_leaves_two_good_batches(seed: int) -> None:
    async with shuffler_bench(seed, batch=True) as b:
        b.inject("card_migrates:card=5")
        await disagrees(b)
        await given_out(b)
        b.inject("swap_batches")
        await disagrees(b)
        await given_out(b)
        b.inject("take_deck")
        (stray,) = [card for card in b.machine.world.at(TRAY) if card.back == "blue"]
        b.machine.world.move(stray, IN_PLAY)
        b.inject("load")
        assert await searched(b) == []
        for _ in range(2):
            assert verdict(await completes(b), BATCH) == []
            assert (await check_reported_cards(b)).inside == 0
            await run_command(b, b.driver.eject)
            b.inject("swap_batches")


async def _exchanged(b: ShufflerTestBench, *, equal: bool) -> m.Completed:
    """Exchange a card of the next batch with one of the first; people confirm an inspection that they skipped.

    Both batches are new, so their first cards have `equal` faces unless one batch is cut.
    """
    b.inject("card_migrates:card=1")
    await disagrees(b)
    await given_out(b)
    await searched_badly(b)
    b.inject("swap_batches")
    if not equal:
        intake = b.machine.mechanics.intake
        b.machine.world.move(b.machine.world.at(intake)[-1], intake, bottom=True)
    b.inject("card_migrates:card=1")
    completed = await completes(b)
    assert backs(b, b.machine.mechanics.gate) == {"red": 311, "blue": 1}
    return completed


async def searched_badly(b: ShufflerTestBench) -> None:
    b.inject("door")
    b.inject("door:to=closed")
    await run_command(b, b.driver.self_test)


async def test_a_machine_that_only_counts_cannot_detect_two_exchanged_cards(seed: int) -> None:
    async with shuffler_bench(seed, batch=True) as b:
        assert verdict(await _exchanged(b, equal=False), BATCH) == []
        assert b.service.state == "faulted", "what the machine cannot see any more, the latch still knows"


@pytest.mark.parametrize("equal", [False, True])
async def test_a_machine_that_reads_faces_detects_the_exchange_when_the_batch_comes_back(
    seed: int, equal: bool
) -> None:
    """It reads faces on the way in and no backs: an exchange shows at the next cycle, one of equal faces never."""
    async with shuffler_bench(seed, batch=True, identifies=True) as b:
        assert not (await _exchanged(b, equal=equal)).rejected
        await run_command(b, b.driver.eject)
        b.inject("take_deck")
        b.inject("load")
        b.machine.world.move_all(b.machine.mechanics.behind_shelves, "pocket")
        assert (await completes(b)).rejected is not equal
        if not equal:
            missing, extra = await ask_wrong_cards(b)
            assert (+missing, +extra) == wrong(b)
            assert (missing.total(), extra.total()) == (1, 1)


# --- reading faces -------------------------------------------------------------------------------------------


async def ask_wrong_cards(b: ShufflerTestBench) -> tuple[Counter[int], Counter[int]]:
    findings = await ask_until_answered(b, b.driver.findings)
    assert isinstance(findings, m.BatchFindings)
    return Counter(dict(enumerate(findings.missing))), Counter(dict(enumerate(findings.extra)))


def wrong(b: ShufflerTestBench) -> tuple[Counter[int], Counter[int]]:
    """Return what is really missing from and extra in the batch behind the gate."""
    whole, there = Counter(SIX_DECKS), Counter(faces_behind_gate(b))
    return whole - there, there - whole


@over_the_ladder
@pytest.mark.parametrize("fault", ["swapped_card", "missing_card", "foreign_card"])
async def test_an_identifying_machine_reports_exactly_what_is_wrong_with_a_batch(
    seed: int, rung: str, fault: str
) -> None:
    async with shuffler_bench(seed, rung, batch=True, identifies=True) as b:
        b.inject(fault)
        completed = await completes(b)
        assert completed.rejected
        assert verdict(completed, BATCH)
        missing, extra = await ask_wrong_cards(b)
        assert (+missing, +extra) == wrong(b)
        await run_command(b, b.driver.eject)
        assert isinstance(await ask_until_answered(b, b.driver.findings), m.NoFindings)


@in_turn_over_the_ladder("many", [65, 130, 200, BATCH])
async def test_no_number_of_wrong_cards_is_too_many_to_report(seed: int, rung: str, many: int) -> None:
    async with shuffler_bench(seed, rung, batch=True, identifies=True) as b:
        world, intake = b.machine.world, b.machine.mechanics.intake
        for card in world.at(intake)[:many]:
            world.move(card, "pocket")
            world.make(40, "blue", intake)
        completed = await completes(b)
        assert (completed.count, completed.rejected) == (BATCH, True)
        missing, extra = await ask_wrong_cards(b)
        assert (+missing, +extra) == wrong(b)
        assert missing.total() == extra.total() >= many - 6


async def test_an_identifying_machine_reports_no_cards_of_a_good_batch(seed: int) -> None:
    async with shuffler_bench(seed, batch=True, identifies=True) as b:
        completed = await completes(b)
        assert not completed.rejected
        assert await ask_until_answered(b, b.driver.findings) == m.NoFindings(m.Reason.NOT_A_FINDING)
