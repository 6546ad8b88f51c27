"""A shuffler without cycles: its set is counted, delivered, drawn and taken in again, and every number is right."""

from __future__ import annotations

import asyncio

import pytest

from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault, CommandFailed, CommandIdReused, CommandRefused
from simulators.kinds.shuffler.continuous_firmware import CHUTE_ROOM, LOW_STORE
from tests.support.machines.bench import ShufflerTestBench, in_turn_over_the_ladder, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    check_reported_cards,
    get_all_cards_out,
    in_chute,
    run_command,
)
from tests.support.machines.continuous import expect_failure, expect_refusal, return_to_work
from tests.support.machines.continuous_store import (
    FEW,
    SET,
    bring_into_use,
    check_inventory,
    count_set,
    deliver_cards,
    keep_cards,
    take_cards_in,
)

# --- as it should be -----------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_set_is_filled_counted_delivered_drawn_and_taken_in_again(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        assert (await take_cards_in(b)) == m.TakenIn(b.events_of(m.TakenIn)[-1].command, SET, SET, None)
        await expect_refusal(b, m.Reason.NOT_COUNTED, "deliver", 1)
        first = await count_set(b)
        assert (first.count, first.outside) == (SET, 0)
        assert verdict(first, SET) == []
        await check_inventory(b, outside=0, total=SET)
        for cards in (1, 20, CHUTE_ROOM):
            gave = await deliver_cards(b, cards)
            assert (gave.count, gave.in_chute, gave.low) == (cards, cards, False)
            status = await check_inventory(b, outside=cards, total=SET)
            assert (status.in_chute, status.counted) == (cards, SET)
            b.inject(f"draw:cards={cards}")
            await b.until(lambda event: isinstance(event, m.StoreChanged) and event.in_chute == 0)
            assert (await check_inventory(b, outside=cards, total=SET)).in_chute == b.view.in_chute == 0
            b.inject("discard")
            back = await take_cards_in(b)
            assert (back.count, back.inside, back.outside) == (cards, SET, 0)
            await check_inventory(b, outside=0, total=SET)
        assert verdict(await count_set(b), SET) == []
        assert b.service.state == "in_service"


@over_the_ladder
async def test_the_whole_set_can_be_taken_out(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await count_set(b)
        await run_command(b, b.driver.clear_jam)
        (cleared,) = b.events_of(m.Cleared)
        assert (cleared.emptied, cleared.behind_gate) == (SET, SET)
        assert b.machine.true_counts() == {"shuffler.1/gate": SET}
        status = await ask_until_answered(b, b.driver.status)
        assert isinstance(status, m.Inventory)
        assert (status.inside, status.behind_gate, status.counted, status.outside) == (0, SET, None, None)
        await run_command(b, b.driver.eject)
        await expect_refusal(b, m.Reason.NOT_COUNTED, "deliver", 1)
        assert b.machine.true_counts() == {"shuffler.1/presented": SET}


async def test_cards_may_be_drawn_while_others_are_delivered_and_discards_wait(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await bring_into_use(b, 20)
        giving = asyncio.create_task(deliver_cards(b, 30))
        for _ in range(12):
            await asyncio.sleep(0.4)
            b.inject("draw")
            b.inject("discard:cards=1")
        await giving
        await check_inventory(b, outside=50)
        waiting = b.machine.world.count(b.machine.mechanics.intake)
        assert (await take_cards_in(b)).count == waiting == 12
        await check_inventory(b, outside=38)


async def test_a_store_that_runs_low_reports_it_and_then_refuses(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await count_set(b)
        left, lows = SET, []
        while left >= CHUTE_ROOM:
            gave = await deliver_cards(b, CHUTE_ROOM)
            left -= CHUTE_ROOM
            lows.append(gave.low)
            assert gave.low is (left < LOW_STORE)
            assert (await check_inventory(b, outside=SET - left, total=SET)).low is gave.low
            b.inject(f"draw:cards={CHUTE_ROOM}")
        assert {*lows} == {False, True}
        await expect_refusal(b, m.Reason.TOO_FEW_CARDS, "deliver", left + 1)
        assert (await deliver_cards(b, left)).inside == 0
        b.inject(f"draw:cards={left}")
        b.inject("discard")
        await take_cards_in(b)
        assert not (await check_inventory(b, outside=0, total=SET)).low


async def test_the_chute_takes_what_fits_and_no_more(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await count_set(b)
        await expect_refusal(b, m.Reason.CHUTE_OCCUPIED, "deliver", CHUTE_ROOM + 1)
        await deliver_cards(b, CHUTE_ROOM - 1)
        await expect_refusal(b, m.Reason.CHUTE_OCCUPIED, "deliver", 2)
        await deliver_cards(b, 1)
        assert in_chute(b) == CHUTE_ROOM


async def test_what_comes_out_of_a_count_is_in_another_order(seed: int) -> None:
    def order(b: ShufflerTestBench) -> list[int]:
        return [card.id for card in b.machine.world.at(b.machine.mechanics.chute)]  # type: ignore[attr-defined]

    seen = []
    for times in (1, 2):
        async with shuffler_bench(seed, continuous=True) as b:
            for _ in range(times):
                await count_set(b)
            await deliver_cards(b, CHUTE_ROOM)
            seen.append(order(b))
    assert seen[0] != seen[1]
    assert all(ids != sorted(ids) and ids != sorted(ids, reverse=True) for ids in seen)


async def test_faults_of_other_models_cannot_be_injected(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        for word in ("sort_mode", "swap_batches"):
            with pytest.raises(BadFault):
                b.inject(word)


# --- numbers that do not agree -------------------------------------------------------------------------------


@over_the_ladder
async def test_more_cards_than_were_given_out_do_not_pass_as_discards(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("discard")
        b.inject("foreign_card")
        await expect_failure(b, m.Reason.COUNTS_DISAGREE, "take_in")
        ended = b.events_of(m.Incomplete)[-1]
        assert (ended.cards_in, ended.cards_out) == (21, 20)
        assert verdict(ended, SET) == ["21 cards went in and 20 came out"]
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        await expect_refusal(b, m.Reason.NEEDS_CLEARING, "deliver", 1)
        await get_all_cards_out(b, FEW + 1)


@over_the_ladder
async def test_a_discard_that_does_not_come_back_is_still_outside_and_missing_in_the_count(
    seed: int, rung: str
) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("discard")
        b.inject("missing_card")
        back = await take_cards_in(b)
        assert (back.count, back.outside) == (19, 1)
        await check_inventory(b, outside=1)
        again = await count_set(b)
        assert verdict(again, FEW) == ["77 cards counted, 1 outside, 78 expected"]
        await check_inventory(b, outside=1)


@in_turn_over_the_ladder("offset", [30, 40, 50, 60])
async def test_two_discards_that_go_in_as_one_are_a_fault(seed: int, rung: str, offset: int) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("discard")
        b.inject(f"double_feed:card=7,offset={offset}")
        await expect_failure(b, m.Reason.DOUBLE_FEED, "take_in")
        (fault,) = b.events_of(m.Fault)
        assert (fault.card, fault.entered, fault.left) == (7, FEW - 20 + 7, 0)
        assert b.machine.mechanics.inside() == FEW - 20 + 8
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        await return_to_work(b)


@over_the_ladder
async def test_a_pair_of_discards_that_no_sensor_sees_leaves_a_card_outside_and_the_count_finds_it(
    seed: int, rung: str
) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("discard")
        b.inject("double_feed:card=7,offset=0")
        back = await take_cards_in(b)
        assert (back.count, back.outside) == (19, 1), "the table is clear and yet a card is outside: somebody can ask"
        await expect_failure(b, m.Reason.COUNTS_DISAGREE)
        ended = b.events_of(m.Incomplete)[-1]
        assert (ended.cards_in, ended.cards_out) == (FEW - 1, FEW)
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        await return_to_work(b)


@over_the_ladder
async def test_sixteen_cards_left_inside_are_found_by_the_count(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        b.inject("cards_left_inside:count=16,card=100")
        await expect_failure(b, m.Reason.COUNTS_DISAGREE)
        ended = b.events_of(m.Incomplete)[-1]
        assert (ended.cards_in, ended.cards_out) == (SET, SET - 16)
        assert b.machine.mechanics.inside() == 16
        assert (await check_reported_cards(b)).inside is b.view.inside is None


@pytest.mark.parametrize("after", [3.0, 12.0, 25.0, 40.0])
async def test_discards_put_in_during_a_count_are_counted_or_end_it(seed: int, after: float) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("discard:cards=15")
        counting = asyncio.create_task(run_command(b, b.driver.count_all))
        await asyncio.sleep(after)
        b.inject("discard")
        await asyncio.wait({counting})
        if after == 3.0:
            assert counting.exception() is None, "the intake was still being emptied"
            assert b.events_of(m.Counted)[-1].count == FEW
            await check_inventory(b, outside=0)
        else:
            assert isinstance(counting.exception(), CommandFailed)
            ended = b.events_of(m.Incomplete)[-1]
            assert (ended.cards_in, ended.cards_out) == (FEW, FEW - 5)
            assert (await check_reported_cards(b)).inside is b.view.inside is None


async def test_a_card_that_is_not_where_it_was_put_ends_a_delivery(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await bring_into_use(b, 30)
        b.inject("discard")
        b.inject("cards_left_inside:count=30")
        await take_cards_in(b)
        await check_inventory(b, outside=0)
        await expect_failure(b, m.Reason.COUNTS_DISAGREE, "deliver", CHUTE_ROOM)
        fault = b.events_of(m.Fault)[-1]
        assert (fault.reason, fault.segment) == (m.Reason.COUNTS_DISAGREE, m.Segment.UNLOAD)
        assert verdict(fault, SET) == ["counts disagree in segment unload"]
        assert b.service.state == "faulted"
        status = await check_reported_cards(b)
        assert status.inside is b.view.inside is None
        assert b.view.in_chute == in_chute(b)


async def test_a_card_that_went_in_and_comes_back_with_later_discards_is_found_by_the_count(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await bring_into_use(b, 30)
        b.inject("discard:cards=15")
        b.inject("card_migrates:card=3")
        await take_cards_in(b)
        b.inject("discard")
        await take_cards_in(b)
        assert b.machine.world.count(b.machine.mechanics.behind_shelves) == 0
        await check_inventory(b, outside=0)
        await expect_failure(b, m.Reason.COUNTS_DISAGREE)
        ended = b.events_of(m.Incomplete)[-1]
        assert ended.cards_in == ended.cards_out == FEW
        assert verdict(ended, FEW) == ["78 cards were counted in and out, but not from the expected compartments"]


@in_turn_over_the_ladder("cards drawn", [(7, 5), (2, 0), (1, 0), (30, 28)])
async def test_two_cards_drawn_as_one_are_noticed_when_the_chute_is_empty_too_soon(
    seed: int, rung: str, cards: int, drawn: int
) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        keep_cards(b, FEW)
        await count_set(b)
        await deliver_cards(b, cards)
        b.inject("draw_pair")
        b.inject(f"draw:cards={drawn}")
        wrong = cards > 1
        await b.until(lambda event: isinstance(event, m.StoreChanged) and event.in_chute == 0)
        assert b.events_of(m.StoreChanged)[-1] == m.StoreChanged(
            FEW - cards, 0, m.Reason.COUNTS_DISAGREE if wrong else m.Reason.NONE
        )
        assert b.service.state == ("faulted" if wrong else "in_service")
        status = await check_inventory(b, outside=cards)
        assert status.reason is (m.Reason.COUNTS_DISAGREE if wrong else m.Reason.NONE)


# --- once, and never twice -----------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("method", ["take_in", "deliver", "count_all"])
async def test_the_same_id_again_is_answered_from_memory_and_moves_nothing(seed: int, rung: str, method: str) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("discard:cards=5")
        extra = (3,) if method == "deliver" else ()
        command = (await run_command(b, lambda command: getattr(b.driver, method)(command, *extra))).command
        b.inject("discard:cards=5")
        truth = b.machine.true_counts()
        assert (await getattr(b.driver, method)(command, *extra)).outcome is Outcome.DONE
        assert b.machine.true_counts() == truth
        other = b.driver.self_test if method != "deliver" else b.driver.take_in
        with pytest.raises(CommandRefused) as refusal:
            await other(command)
        assert refusal.value.reason == CommandIdReused.number
        assert b.machine.true_counts() == truth


async def test_more_cards_than_the_store_takes_are_a_fault(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        b.machine.world.make_deck(b.machine.mechanics.intake, "blue", tuple(range(52)))
        await expect_failure(b, m.Reason.TOO_MANY_CARDS, "take_in")
        assert (await check_reported_cards(b)).inside == b.machine.mechanics.inside() == b.machine.size.max_cards
