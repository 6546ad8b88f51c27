"""Hands that deal from a manual shoe with a counter, over every rung of the ladder, compared with the truth."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from devices.driver_events import LinkDown
from devices.shoe import messages as m
from devices.shoe.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault, CommandFailed, CommandRefused
from simulators.world.table import ASIDE, LAYOUT, TRAY
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command
from tests.support.machines.shoes import ManualShoe, back_in_service, check_reported_cards, manual_shoe_bench


async def draw(b: ManualShoe, cards: int, until: type[Any] | None = None) -> None:
    """Draw that many pieces by hand and wait until the counter has reported them and the expected event."""

    def reported() -> int:
        return len(b.events_of(m.Drawn)) + len(b.events_of(m.CoverCard))

    last = reported() + cards
    b.inject(f"draw:cards={cards}")
    while reported() < last or (until is not None and not b.events_of(until)):
        await b.until(lambda _: True)


@over_the_ladder
async def test_seven_cards_to_seven_places_leave_a_stub_of_four(seed: int, rung: str) -> None:
    """575.8, 688a.8: dealt card by card; the stub is run through the counter."""
    async with manual_shoe_bench(seed, rung) as b:
        assert b.events_of(m.Loaded) == [m.Loaded(1, None, 0, None, None)]
        await run_command(b, b.driver.start_round)
        await draw(b, 49)
        assert [event.moved for event in b.events_of(m.Drawn)] == list(range(1, 50))
        assert all(event.ordered for event in b.events_of(m.Drawn))
        status = await check_reported_cards(b)
        assert (status.state, status.moved, status.drawn, status.left) == (m.State.DEALING, 49, 49, None)
        assert (b.view.state, b.view.moved, b.view.drawn) == (m.State.DEALING, 49, 49)
        settled = await run_command(b, b.driver.count_stub)
        assert settled.outcome is Outcome.DONE
        assert b.events_of(m.RoundEnded)[-1].count == 49
        assert not b.events_of(m.Stub), "nobody has run it through yet"
        await draw(b, 4, m.Stub)
        (stub,) = b.events_of(m.Stub)
        assert (stub.count, stub.drawn, stub.left) == (4, 53, 0)
        assert verdict(stub, 53) == []
        assert b.machine.true_counts() == {LAYOUT: 53}
        assert (await check_reported_cards(b)).state is b.view.state is m.State.IDLE
        assert b.service.state == "in_service"


@over_the_ladder
async def test_rounds_of_a_batch_are_counted_one_by_one_until_the_cover_card_comes(seed: int, rung: str) -> None:
    """686a.7, 686a.8: six decks, the first card burnt, the cover card reported when it is reached."""
    async with manual_shoe_bench(seed, rung, decks=6, loaded=False) as b:
        b.inject("cover_card:depth=30")
        await run_command(b, b.driver.load)
        await draw(b, 1)
        assert b.events_of(m.Drawn) == [m.Drawn(ordered=False, moved=0, drawn=1, left=None)], (
            "the burnt card is in no round"
        )
        for number in (1, 2):
            await run_command(b, b.driver.start_round)
            await draw(b, 12)
            assert b.events_of(m.Drawn)[-1] == m.Drawn(ordered=True, moved=12, drawn=1 + 12 * number, left=None)
        assert not b.events_of(m.CoverCard)
        await run_command(b, b.driver.start_round)
        await draw(b, 11)  # the cover card among them is one more piece that the hand draws
        (cover,) = b.events_of(m.CoverCard)
        assert (cover.phase, cover.after) == (m.Phase.DRAWING, 5)
        assert [event.count for event in b.events_of(m.RoundEnded)] == [12, 12]
        assert b.machine.world.count(ASIDE) == 1
        await check_reported_cards(b)
        assert b.service.state == "in_service"


@over_the_ladder
async def test_a_card_drawn_when_no_round_is_open_was_drawn_in_error(seed: int, rung: str) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 3)
        await run_command(b, b.driver.stop)
        assert b.events_of(m.RoundEnded)[-1].count == 3
        await draw(b, 1)
        assert b.events_of(m.Drawn)[-1] == m.Drawn(ordered=False, moved=0, drawn=4, left=None)
        status = await check_reported_cards(b)
        assert (status.state, status.drawn) == (m.State.READY, 4)
        assert b.view.state is m.State.READY
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize("sees_faces", [True, False])
async def test_a_card_face_up_is_reported_by_a_shoe_that_can_detect_it(seed: int, rung: str, sees_faces: bool) -> None:
    async with manual_shoe_bench(seed, rung, loaded=False, sees_faces=sees_faces) as b:
        b.inject("face_up:depth=2")
        await run_command(b, b.driver.load)
        await run_command(b, b.driver.start_round)
        await draw(b, 5)
        assert b.events_of(m.FaceUp) == [m.FaceUp(None, m.Phase.DRAWING, 3)] * sees_faces
        assert b.driver.reported is not None
        assert (m.SEES_FACES in b.driver.reported.hello.capabilities) is sees_faces
        assert (await check_reported_cards(b)).drawn == 5


@over_the_ladder
@pytest.mark.parametrize(("fault", "count"), [("missing_card", 52), ("foreign_card", 54)])
async def test_a_deck_of_the_wrong_size_shows_when_all_of_it_has_come_out(
    seed: int, rung: str, fault: str, count: int
) -> None:
    async with manual_shoe_bench(seed, rung, loaded=False) as b:
        b.inject(fault)
        await run_command(b, b.driver.load)
        await run_command(b, b.driver.start_round)
        await draw(b, 49)
        await run_command(b, b.driver.count_stub)
        await draw(b, count - 49, m.Stub)
        assert b.events_of(m.Stub)[-1].count == count - 49
        assert verdict(b.events_of(m.Stub)[-1], 53) == [f"{count} cards came out in all, 53 expected"]


@over_the_ladder
async def test_a_round_that_takes_every_card_empties_the_shoe(seed: int, rung: str) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 53, m.Pile)
        assert b.events_of(m.Pile)[-1] == m.Pile(m.Place.WELL, cards=False)
        assert b.events_of(m.RoundEnded)[-1].count == 53
        status = await check_reported_cards(b)
        assert (status.state, status.left, b.view.left) == (m.State.IDLE, 0, 0)
        with pytest.raises(CommandRefused) as refusal:
            await run_command(b, b.driver.count_stub)
        assert refusal.value.reason == m.Reason.NOTHING_TO_EJECT
        b.inject("gather")
        b.inject("load")
        await run_command(b, b.driver.load)
        assert (await check_reported_cards(b)).drawn == 0


# --- what goes wrong -----------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_stub_that_is_lifted_out_is_not_counted(seed: int, rung: str) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 49)
        await run_command(b, b.driver.count_stub)
        await draw(b, 2)
        b.inject("lift")
        await b.until(lambda event: isinstance(event, m.Pile))
        (fault,) = b.events_of(m.Fault)
        assert (fault.reason, fault.phase) == (m.Reason.LIFTED_OUT, m.Phase.STUB)
        assert not b.events_of(m.Stub)
        assert b.service.state == "faulted"
        assert (await check_reported_cards(b)).state is b.view.state is m.State.IDLE
        assert (await check_reported_cards(b)).drawn == 51, "what was drawn is known, what was lifted is not"


@over_the_ladder
async def test_a_stub_lifted_out_by_the_dealer_without_an_order_is_no_fault(seed: int, rung: str) -> None:
    """575.8(d): the dealer removes the stub and spreads it; the counter has no command for it."""
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 49)
        b.inject("lift")
        await b.until(lambda event: isinstance(event, m.Pile))
        assert b.events_of(m.RoundEnded)[-1].count == 49
        assert not b.events_of(m.Fault)
        assert b.machine.world.count(TRAY) == 4
        assert b.service.state == "in_service"
        assert (await check_reported_cards(b)).state is m.State.IDLE


@over_the_ladder
@pytest.mark.parametrize(
    ("fault", "reason"), [("double_feed:offset=45", m.Reason.DOUBLE_FEED), ("torn_card", m.Reason.SHORT_CARD)]
)
async def test_what_is_not_one_whole_card_ends_the_counting(seed: int, rung: str, fault: str, reason: m.Reason) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 4)
        b.inject(fault)
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Fault))
        (reported,) = b.events_of(m.Fault)
        assert (reported.command, reported.reason, reported.card) == (None, reason, 5)
        assert b.service.state == "faulted"
        status = await check_reported_cards(b)
        assert (status.state, status.counts_certain, status.drawn) == (m.State.HALTED, False, None)
        await cleared(b)


@over_the_ladder
@pytest.mark.parametrize("segment", ["exit", "drop"])
async def test_a_card_that_is_left_in_the_throat_is_a_jam(seed: int, rung: str, segment: str) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        b.inject(f"jam:segment={segment}")
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Jam))
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment.name.lower(), jam.in_path) == (segment, 1) == (segment, b.machine.mechanics.in_path())
        assert (await check_reported_cards(b)).in_path is None, "hands can take it at any moment"
        b.inject("clear_path")
        await check_reported_cards(b)
        await cleared(b)


async def cleared(b: ManualShoe) -> None:
    """Empty the shoe by hand, clear it, and return it to service."""
    b.inject("clear_path")
    with pytest.raises(CommandRefused) as refusal:
        await run_command(b, b.driver.clear_jam)
    assert refusal.value.reason == m.Reason.ALREADY_LOADED
    b.inject("lift")
    with pytest.raises(CommandRefused) as refusal:
        await run_command(b, b.driver.load)
    assert refusal.value.reason == m.Reason.NEEDS_CLEARING
    await run_command(b, b.driver.clear_jam)
    status = await check_reported_cards(b)
    assert (status.state, status.counts_certain, status.left, status.drawn) == (m.State.IDLE, True, 0, 0)
    await back_in_service(b)


async def test_two_cards_exactly_on_each_other_show_when_all_has_come_out(seed: int) -> None:
    """The stated limit: the counter sees one card; the stub shows that one is missing in its counts."""
    async with manual_shoe_bench(seed) as b:
        b.inject("double_feed:offset=0,card=5")
        await b.driver.start_round(b.next_id())
        await draw(b, 49)
        await b.driver.count_stub(b.next_id())
        await draw(b, 3, m.Stub)
        assert b.machine.world.count(LAYOUT) == 53
        assert verdict(b.events_of(m.Stub)[-1], 53) == ["52 cards came out in all, 53 expected"]


@over_the_ladder
@pytest.mark.parametrize("fault", ["reboot", "power_cut:seconds=2", "hang:seconds=6"])
async def test_cards_drawn_while_power_was_off_are_not_counted(seed: int, rung: str, fault: str) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 10)
        b.inject(fault)
        b.inject("draw:cards=2")
        await b.until(lambda event: isinstance(event, LinkDown))
        while b.driver.reported is None:
            await b.until_reported()
        status = await check_reported_cards(b)
        assert (status.state, status.counts_certain, status.drawn) == (m.State.READY, False, None)
        assert b.service.state == "unverified"
        assert b.events_of(m.Power)[-1] == m.Power(interrupted=True)
        await asyncio.sleep(5)
        b.inject("lift")
        await run_command(b, b.driver.clear_jam)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        assert (await check_reported_cards(b)).counts_certain


@over_the_ladder
async def test_a_cable_that_is_pulled_while_hands_deal_costs_no_count(seed: int, rung: str) -> None:
    async with manual_shoe_bench(seed, rung) as b:
        await run_command(b, b.driver.start_round)
        await draw(b, 10)
        b.inject("unplug:seconds=30")
        b.inject("draw:cards=6")
        await b.until(lambda event: isinstance(event, LinkDown))
        while b.driver.reported is None:
            await b.until_reported()
        status = await check_reported_cards(b)
        assert (status.state, status.moved, status.drawn) == (m.State.DEALING, 16, 16)
        assert (b.view.state, b.view.moved, b.view.drawn) == (m.State.DEALING, 16, 16)
        assert b.service.state == "in_service"


async def test_a_stub_whose_counting_is_stopped_is_not_counted(seed: int) -> None:
    async with manual_shoe_bench(seed) as b:
        await b.driver.count_stub(b.next_id())
        await draw(b, 10)
        await b.driver.stop(b.next_id())
        (stopped,) = b.events_of(m.Stopped)
        assert (stopped.phase, stopped.moved, stopped.in_path) == (m.Phase.STUB, 10, 0)
        assert b.service.state == "faulted"
        assert (await check_reported_cards(b)).state is m.State.READY


@over_the_ladder
async def test_a_counter_tests_its_own_sensors(seed: int, rung: str) -> None:
    async with manual_shoe_bench(seed, rung, loaded=False) as b:
        levels = (await ask_until_answered(b, b.driver.sensors)).levels
        assert [bool(level.threshold) for level in levels] == [False, False, True, True, True, False]
        b.inject("dust:sensor=exit,percent=40")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.self_test)
        assert failed.value.reason == m.Reason.SELF_TEST_FAILED
        assert b.events_of(m.SelfTested)[-1].bad_sensors == 1 << m.Sensor.EXIT
        b.inject("mend")
        await run_command(b, b.driver.self_test)


async def test_a_test_that_hands_draw_through_ends_as_it_should(seed: int) -> None:
    async with manual_shoe_bench(seed) as b:
        testing = b.driver.self_test(b.next_id())
        await asyncio.sleep(0.1)
        b.inject("draw:cards=53")
        await asyncio.gather(testing, return_exceptions=True)
        await asyncio.sleep(60)
        status = await check_reported_cards(b)
        assert (status.state, status.drawn, status.left) == (m.State.IDLE, 53, 0)


@pytest.mark.parametrize(
    "fault",
    ["door", "stall", "take", "wear", "card_left_inside", "jam:segment=feed", "torn_card:segment=draw", "draw:cards=0"],
)
async def test_what_a_manual_shoe_does_not_have_cannot_go_wrong(seed: int, fault: str) -> None:
    async with manual_shoe_bench(seed) as b:
        with pytest.raises(BadFault):
            b.inject(fault)


async def test_a_person_who_clears_without_looking_is_trusted(seed: int) -> None:
    """The stated limit: no sensor detects a card between two sensors; ordering the clearing confirms the inspection."""
    async with manual_shoe_bench(seed) as b:
        b.inject("jam:segment=exit")
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Jam))
        b.inject("lift")
        await b.driver.clear_jam(b.next_id())
        assert (await b.driver.status()).in_path == 0
        assert b.machine.mechanics.in_path() == 1
        assert b.service.state == "faulted", "a person must still acknowledge"
