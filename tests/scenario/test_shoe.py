"""Stacks from an automated shoe, over every rung of the ladder, compared with the simulator's truth."""

from __future__ import annotations

import asyncio

import pytest

from devices.shoe import messages as m
from devices.shoe.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandRefused
from simulators.world.cards import World
from simulators.world.table import ASIDE, LAYOUT, TRAY
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.shoes import check_reported_cards, dispensed, expect_refusal, in_slot, shoe_bench

# --- good deals ----------------------------------------------------------------------------------------------


@over_the_ladder
async def test_seven_stacks_of_seven_leave_a_stub_of_four(seed: int, rung: str) -> None:
    """575.10, 688a.10: 7 x 7 + 4 = 53."""
    async with shoe_bench(seed, rung, loaded=False) as b:
        await run_command(b, b.driver.load)
        (loaded,) = b.events_of(m.Loaded)
        assert (loaded.count, loaded.left, verdict(loaded, 53)) == (53, 53, [])
        for stack in range(1, 8):
            assert (await dispensed(b, 7)).outcome is Outcome.DONE
            ended = b.events_of(m.Dispensed)[-1]
            assert (ended.count, ended.face_up, ended.left) == (7, 0, 53 - 7 * stack)
            assert verdict(ended, 7) == []
            assert in_slot(b) == 7
            status = await check_reported_cards(b)
            assert (status.left, status.delivered, status.stacks) == (53 - 7 * stack, 7, stack)
            b.inject("take")
        await run_command(b, b.driver.count_stub)
        (stub,) = b.events_of(m.Stub)
        assert (stub.count, stub.drawn, stub.left) == (4, 53, 0)
        assert verdict(stub, 53) == []
        assert b.machine.true_counts() == {LAYOUT: 49, "shoe.1/slot": 4}
        assert (await check_reported_cards(b)).state is b.view.state is m.State.IDLE
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize("players", [1, 6])
async def test_stacks_of_five_leave_what_was_not_dealt(seed: int, rung: str, players: int) -> None:
    """680a.10, 687a.10: five cards to each player and the dealer; the stub is what remains."""
    async with shoe_bench(seed, rung) as b:
        for _ in range(players + 1):
            await dispensed(b, 5)
            b.inject("take")
        await run_command(b, b.driver.count_stub)
        (stub,) = b.events_of(m.Stub)
        assert (stub.count, stub.drawn) == (53 - 5 * (players + 1), 53)
        assert [verdict(ended, 5) for ended in b.events_of(m.Dispensed)] == [[]] * (players + 1)
        assert in_slot(b) == stub.count


async def test_cards_are_dealt_in_the_order_in_which_they_lay(seed: int) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        world, mechanics = b.machine.world, b.machine.mechanics
        before = [card.face for card in reversed(world.at(mechanics.intake))]
        await b.driver.load(b.next_id())
        dealt = []
        for _ in range(5):
            await b.driver.dispense(b.next_id(), 10)
            dealt += [card.face for card in world.at(mechanics.delivery)]
            b.inject("take")
        assert dealt == before[:50]


async def test_the_firmware_knows_at_every_instant_of_a_good_deal_what_is_where(seed: int) -> None:
    async with shoe_bench(seed, loaded=False) as b:

        async def deal() -> None:
            await b.driver.load(b.next_id())
            for _ in range(3):
                await b.driver.dispense(b.next_id(), 7)
                b.inject("take")
            await b.driver.count_stub(b.next_id())

        dealing, looked = asyncio.create_task(deal()), 0
        mechanics = b.machine.mechanics
        while not dealing.done():
            await asyncio.sleep(0.003)
            looked += 1
            status = b.machine.firmware.handle(m.GetStatus())
            assert isinstance(status, m.Status)
            assert (status.left, status.in_path) == (mechanics.left(), mechanics.in_path())
            assert status.delivered == mechanics.delivered
        await dealing
        assert looked > 4000


@pytest.mark.parametrize("other_seed", range(100, 110))
async def test_a_lossy_line_slows_a_deal_but_never_spoils_it(other_seed: int) -> None:
    async with shoe_bench(other_seed, "lossy") as b:
        for _ in range(3):
            await dispensed(b, 7)
            assert in_slot(b) == 7
            b.inject("take")
        assert [ended.count for ended in b.events_of(m.Dispensed)] == [7, 7, 7]


async def test_a_deck_comes_from_the_table_and_two_shoes_share_a_world(seed: int) -> None:
    world = World()
    world.make_deck(TRAY, "blue")
    async with (
        shoe_bench(seed, loaded=False, world=world, slot="shoe.1") as b,
        shoe_bench(seed, loaded=False, world=world, slot="shoe.2") as other,
    ):
        assert b.machine.true_counts() == {TRAY: 53}
        assert b.inject("load") == "shoe.1: 53 cards put into the shoe"
        await b.driver.load(b.next_id())
        await b.driver.dispense(b.next_id(), 7)
        assert world.census() == {"shoe.1/slot": 7, "shoe.1/well": 46}
        with pytest.raises(CommandRefused) as refusal:
            await other.driver.load(other.next_id())
        assert refusal.value.reason == m.Reason.NOTHING_LOADED


# --- the slot ------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_no_stack_is_laid_upon_another(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b:
        await dispensed(b, 7)
        await expect_refusal(b, m.Reason.SLOT_OCCUPIED)
        with pytest.raises(CommandRefused) as refusal:
            await run_command(b, b.driver.count_stub)
        assert refusal.value.reason == m.Reason.SLOT_OCCUPIED
        b.inject("take:cards=6")
        await expect_refusal(b, m.Reason.SLOT_OCCUPIED)
        assert (await check_reported_cards(b)).delivered == 7, "what was laid there, not what hands left of it"
        b.inject("take")
        await dispensed(b, 7)
        piles = [event for event in b.events_of(m.Pile) if event.place is m.Place.SLOT]
        assert [event.cards for event in piles] == [True, False, True]
        assert b.view.in_slot


async def test_hands_that_take_cards_while_a_stack_comes_do_not_change_its_count(seed: int) -> None:
    async with shoe_bench(seed) as b:
        stack = b.driver.dispense(b.next_id(), 7)
        for _ in range(4):
            await asyncio.sleep(0.25)
            b.inject("take")
        await stack
        assert b.events_of(m.Dispensed)[-1].count == 7
        assert b.machine.world.count(LAYOUT) + in_slot(b) == 7
        assert (await check_reported_cards(b)).delivered == in_slot(b)


@over_the_ladder
async def test_a_shoe_that_cannot_complete_a_stack_does_not_begin_it(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b:
        for _ in range(5):
            await dispensed(b, 10)
            b.inject("take")
        await expect_refusal(b, m.Reason.TOO_FEW_CARDS, 4)
        await dispensed(b, 3)
        b.inject("take")
        await expect_refusal(b, m.Reason.SHOE_EMPTY, 1)
        with pytest.raises(CommandRefused) as refusal:
            await run_command(b, b.driver.count_stub)
        assert refusal.value.reason == m.Reason.NOTHING_TO_EJECT
        assert m.Pile(m.Place.WELL, cards=False) in b.events_of(m.Pile)
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize("cards", [0, 11, 255, 256, -1, 53])
async def test_a_stack_of_the_wrong_size_is_refused_before_anything_is_sent(seed: int, rung: str, cards: int) -> None:
    async with shoe_bench(seed, rung) as b:
        last = (await ask_until_answered(b, b.driver.report)).report.commands
        await expect_refusal(b, m.Reason.STACK_SIZE, cards)
        assert (await ask_until_answered(b, b.driver.report)).report.commands == last


@pytest.mark.parametrize("cards", [0, 11, 255])
async def test_the_device_itself_refuses_a_wrong_size_too(seed: int, cards: int) -> None:
    async with shoe_bench(seed) as b:
        with pytest.raises(CommandRefused) as refusal:
            await b.driver.actuate(m.Dispense(77, cards), 77)
        assert refusal.value.reason == m.Reason.STACK_SIZE
        assert in_slot(b) == 0


# --- cards that are not as they should be -------------------------------------------------------------------


@over_the_ladder
async def test_a_card_face_up_is_seen_when_loaded_and_when_dealt_and_spoils_its_stack_alone(
    seed: int, rung: str
) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("face_up:depth=9")
        await run_command(b, b.driver.load)
        assert b.events_of(m.FaceUp) == [m.FaceUp(1, m.Phase.LOADING, 10)]
        assert verdict(b.events_of(m.Loaded)[-1], 53) == ["1 of them is face up"]
        for number, wrong in ((1, []), (2, ["1 of them is face up"]), (3, [])):
            await dispensed(b, 7)
            assert verdict(b.events_of(m.Dispensed)[-1], 7) == wrong, f"stack {number}"
            b.inject("take")
        assert (b.events_of(m.FaceUp)[-1].phase, b.events_of(m.FaceUp)[-1].card) == (m.Phase.DISPENSING, 3)
        assert (await check_reported_cards(b)).left == 32


@over_the_ladder
async def test_two_cards_face_up_are_reported_as_two(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject("face_up:depth=1")
        b.inject("face_up:depth=4")
        await run_command(b, b.driver.load)
        await dispensed(b, 7)
        assert verdict(b.events_of(m.Dispensed)[-1], 7) == ["2 of them are face up"]
        assert [event.card for event in b.events_of(m.FaceUp)] == [2, 5, 2, 5]


@over_the_ladder
@pytest.mark.parametrize("depth", [0, 3, 10, 52, 53])
async def test_a_cover_card_is_reported_where_it_comes_out_and_never_counted(seed: int, rung: str, depth: int) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject(f"cover_card:depth={depth}")
        await run_command(b, b.driver.load)
        loaded = b.events_of(m.Loaded)[-1]
        assert (loaded.count, loaded.cover, loaded.left) == (53, depth, 53)
        for _ in range(7):
            await dispensed(b, 7)
            assert b.events_of(m.Dispensed)[-1].count == 7 == in_slot(b)
            await check_reported_cards(b)
            b.inject("take")
        await run_command(b, b.driver.count_stub)
        assert b.events_of(m.Stub)[-1].count == 4
        b.inject("take")
        (cover,) = b.events_of(m.CoverCard)
        before = 7 * len([e for e in b.events[: b.events.index(cover)] if isinstance(e, m.Dispensed)]) + cover.after
        assert before == depth
        assert b.machine.world.count(ASIDE) == 1
        assert not b.events_of(m.Unbalanced)
        assert b.service.state == "in_service"


async def test_a_cover_card_that_is_left_alone_is_a_stub_of_nothing(seed: int) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        b.inject("cover_card:depth=53")
        await b.driver.load(b.next_id())
        for cards in (10, 10, 10, 10, 10, 3):
            await b.driver.dispense(b.next_id(), cards)
            b.inject("take")
        assert (await check_reported_cards(b)).state is m.State.READY
        await expect_refusal(b, m.Reason.TOO_FEW_CARDS, 1)
        await b.driver.count_stub(b.next_id())
        assert b.events_of(m.Stub)[-1].count == 0
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize(("fault", "count"), [("missing_card", 52), ("foreign_card", 54)])
async def test_a_deck_of_the_wrong_size_is_counted_as_it_is(seed: int, rung: str, fault: str, count: int) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.inject(fault)
        await run_command(b, b.driver.load)
        loaded = b.events_of(m.Loaded)[-1]
        assert loaded.count == count == b.machine.mechanics.left()
        assert verdict(loaded, 53) == [f"{count} cards counted, 53 expected"]
        for _ in range(7):
            await dispensed(b, 7)
            b.inject("take")
        await run_command(b, b.driver.count_stub)
        assert b.events_of(m.Stub)[-1].count == count - 49
        assert verdict(b.events_of(m.Stub)[-1], 53) == [f"{count} cards came out in all, 53 expected"]
        assert not b.events_of(m.Unbalanced), "the deck is wrong, not the machine"
