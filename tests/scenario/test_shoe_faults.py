"""Jams, torn cards, wear and stops in an automated shoe, against the simulator's truth. Unknown is allowed."""

from __future__ import annotations

import asyncio

import pytest

from devices.shoe import messages as m
from devices.shoe.state import verdict
from firmware_bridge.errors import BadFault, CommandFailed, CommandRefused
from simulators.kinds.shuffler.card_mover import STRAINED
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command, until_moving
from tests.support.machines.shoes import (
    Shoe,
    back_in_service,
    check_reported_cards,
    dispensed,
    get_all_cards_out,
    in_slot,
    search,
    shoe_bench,
)

each_segment = pytest.mark.parametrize("segment", list(m.Segment), ids=lambda segment: segment.name.lower())
WITH_A_SENSOR = [m.Segment.FEED, m.Segment.DRAW, m.Segment.EXIT]
INWARD = (m.Segment.FEED, m.Segment.STORE)


async def fails(b: Shoe, segment: m.Segment, reason: m.Reason) -> None:
    """Load or dispense through the segment; it must fail for this reason."""
    with pytest.raises(CommandFailed) as failed:
        await (run_command(b, b.driver.load) if segment in INWARD else dispensed(b, 7))
    assert failed.value.reason == reason
    assert b.service.state == "faulted"


# --- cards that stick and tear --------------------------------------------------------------------------------


@over_the_ladder
@each_segment
@pytest.mark.parametrize("card", [1, 5])
async def test_a_jam_is_located_and_the_cards_in_the_path_are_counted(
    seed: int, rung: str, segment: m.Segment, card: int
) -> None:
    async with shoe_bench(seed, rung, loaded=segment not in INWARD) as b:
        b.inject(f"jam:segment={segment.name.lower()},card={card}")
        await fails(b, segment, m.Reason.JAM)
        (jam,) = b.events_of(m.Jam)
        mechanics = b.machine.mechanics
        assert (jam.segment, jam.card) == (segment, card)
        assert b.machine.world.count(mechanics.segment_place(segment)) == 1
        assert jam.in_path == b.view.in_path == mechanics.in_path() == 1
        assert jam.left == b.view.left == mechanics.left()
        assert f"jammed in segment {segment.name.lower()} at card {card}, 1 on the path" in verdict(jam, 7)[0]
        assert max(jam.currents) > STRAINED
        status = await check_reported_cards(b)
        assert (status.state, status.in_path, status.left) == (m.State.HALTED, 1, mechanics.left())
        assert in_slot(b) == (0 if segment in INWARD else card - 1)
        with pytest.raises(CommandRefused) as refusal:
            await dispensed(b, 7)
        assert refusal.value.reason == m.Reason.NEEDS_CLEARING


@over_the_ladder
@each_segment
async def test_after_a_jam_every_card_comes_out_and_an_inspection_makes_the_count_certain(
    seed: int, rung: str, segment: m.Segment
) -> None:
    async with shoe_bench(seed, rung, loaded=segment not in INWARD) as b:
        b.inject(f"jam:segment={segment.name.lower()},card=5")
        await fails(b, segment, m.Reason.JAM)
        left = b.machine.mechanics.left()
        b.inject("clear_path")
        assert not (await check_reported_cards(b)).counts_certain, "hands were in the machine"
        await run_command(b, b.driver.clear_jam)
        (cleared,) = b.events_of(m.Cleared)
        assert cleared.emptied == left
        assert cleared.delivered == in_slot(b)
        assert not (await check_reported_cards(b)).counts_certain
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "faulted"
        await get_all_cards_out(b)
        await back_in_service(b)
        world = b.machine.world
        world.move_all(b.machine.mechanics.intake, "tray")
        b.inject("load")
        await run_command(b, b.driver.load)
        await dispensed(b, 7)
        assert verdict(b.events_of(m.Dispensed)[-1], 7) == []
        assert in_slot(b) == 7


@over_the_ladder
@each_segment
async def test_a_jam_while_the_well_is_emptied_is_reported_and_cleared_in_turn(
    seed: int, rung: str, segment: m.Segment
) -> None:
    if segment in INWARD:
        return  # nothing goes in while the machine is emptied
    async with shoe_bench(seed, rung) as b:
        b.inject("jam:segment=draw,card=3")
        await fails(b, segment, m.Reason.JAM)
        b.inject("clear_path")
        b.inject(f"jam:segment={segment.name.lower()},card=8")
        with pytest.raises(CommandFailed):
            await run_command(b, b.driver.clear_jam)
        _, again = b.events_of(m.Jam)
        assert (again.phase, again.segment, again.card) == (m.Phase.CLEARING, segment, 8)
        assert again.in_path is again.left is None
        assert "an unknown number on the path" in verdict(again, 7)[0]
        await check_reported_cards(b)
        await get_all_cards_out(b)


@over_the_ladder
@pytest.mark.parametrize("segment", WITH_A_SENSOR)
async def test_a_torn_card_is_located_and_still_counted(seed: int, rung: str, segment: m.Segment) -> None:
    async with shoe_bench(seed, rung, loaded=segment not in INWARD) as b:
        b.inject(f"torn_card:segment={segment.name.lower()},card=4")
        await fails(b, segment, m.Reason.SHORT_CARD)
        (fault,) = b.events_of(m.Fault)
        assert (fault.segment, fault.card, fault.in_path) == (segment, 4, 1)
        (torn,) = b.machine.world.torn
        there = b.machine.world.at(b.machine.mechanics.segment_place(segment))
        assert [card.id for card in there] == [torn]
        assert verdict(fault, 7) == [f"short card in segment {segment.name.lower()}"]
        status = await check_reported_cards(b)
        assert status.in_path == b.view.in_path == 1
        assert status.left == b.view.left == b.machine.mechanics.left()


@pytest.mark.parametrize("fault", ["torn_card:segment=store", "torn_card:segment=drop", "double_feed:segment=exit"])
async def test_an_impossible_fault_is_refused(seed: int, fault: str) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        with pytest.raises(BadFault):
            b.inject(fault)


@over_the_ladder
async def test_more_cards_than_any_deck_are_not_taken_in(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        b.machine.world.make_deck(b.machine.mechanics.intake, "red")
        await fails(b, m.Segment.FEED, m.Reason.TOO_MANY_CARDS)
        assert b.machine.mechanics.left() == 60
        assert (await check_reported_cards(b)).left == 60


# --- motion that ends early ----------------------------------------------------------------------------------


async def test_a_stop_at_any_instant_of_a_deal_leaves_exact_counts(seed: int) -> None:
    halted: set[str] = set()
    for step in range(40):
        async with shoe_bench(seed) as b:
            stack = asyncio.create_task(dispensed(b, 7))
            await asyncio.sleep(0.03 + step * 0.031)
            await b.driver.stop(b.next_id())
            with pytest.raises(CommandFailed) as failed:
                await stack
            assert failed.value.reason == m.Reason.STOPPED
            (stopped,) = b.events_of(m.Stopped)
            assert stopped.moved == in_slot(b)
            status = await check_reported_cards(b)
            assert stopped.in_path == status.in_path == b.view.in_path == b.machine.mechanics.in_path() == 1
            assert stopped.left == status.left == b.view.left == b.machine.mechanics.left()
            assert status.delivered == in_slot(b)
            assert verdict(stopped, 7) == [f"stopped after {stopped.moved} cards (stopped), 1 on the path"]
            assert b.service.state == "faulted"
            halted.update(place.partition("/")[2] for place in b.machine.true_counts())
    assert halted >= {"draw", "exit", "drop"}, "the instants met too few segments"


@over_the_ladder
@pytest.mark.parametrize("what", ["load", "dispense", "count_stub", "clear_jam"])
@pytest.mark.parametrize("by_door", [False, True], ids=["by stop", "by door"])
async def test_a_stop_or_an_open_door_ends_every_motion(seed: int, rung: str, what: str, by_door: bool) -> None:
    async with shoe_bench(seed, rung, loaded=what != "load") as b:
        arguments = (7,) if what == "dispense" else ()
        doing = asyncio.create_task(run_command(b, lambda command: getattr(b.driver, what)(command, *arguments)))
        await until_moving(b)
        await asyncio.sleep(0.3)
        if by_door:
            b.inject("door")
        else:
            await run_command(b, b.driver.stop)
        truth = b.machine.true_counts()
        (ended,) = await asyncio.gather(doing, return_exceptions=True)
        if what != "dispense" or isinstance(ended, CommandFailed):  # a stack may be out before a stop gets through
            assert isinstance(ended, CommandFailed)
            assert ended.reason == (m.Reason.DOOR_OPEN if by_door else m.Reason.STOPPED)
            assert len(b.events_of(m.Stopped)) == 1
            assert b.service.state == "faulted"
        await asyncio.sleep(5)
        assert b.machine.true_counts() == truth, "nothing moved afterwards"
        assert not any(b.machine.mechanics.currents())
        status = await check_reported_cards(b)
        assert not by_door or not status.counts_certain
        b.inject("door:to=closed")
        await get_all_cards_out(b)


async def test_a_stop_while_a_test_runs_fails_the_test_alone(seed: int) -> None:
    async with shoe_bench(seed) as b:
        command = b.next_id()
        testing = b.driver.self_test(command)
        await asyncio.sleep(0.2)
        await b.driver.stop(b.next_id())
        with pytest.raises(CommandFailed) as failed:
            await testing
        assert failed.value.reason == m.Reason.STOPPED
        assert not b.events_of(m.Stopped)
        status = await check_reported_cards(b)
        assert (status.state, status.left) == (m.State.READY, 53)
        await b.driver.dispense(b.next_id(), 7)


@over_the_ladder
async def test_a_door_opened_over_loaded_cards_makes_their_number_unknown_until_they_are_out_and_somebody_looked(
    seed: int, rung: str
) -> None:
    async with shoe_bench(seed, rung) as b:
        b.inject("door")
        b.machine.world.move(b.machine.world.at(b.machine.mechanics.well)[20], "pocket")
        b.inject("door:to=closed")
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "unverified"
        status = await check_reported_cards(b)
        assert (status.state, status.counts_certain, status.left) == (m.State.READY, False, None)
        await run_command(b, b.driver.self_test)
        assert not (await check_reported_cards(b)).counts_certain, "a test with cards inside proves nothing"
        await run_command(b, b.driver.count_stub)
        stub = b.events_of(m.Stub)[-1]
        assert (stub.count, stub.drawn) == (52, None)
        assert verdict(stub, 53) == ["the total of cards that came out is unknown"]
        b.inject("take")
        await search(b)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"


async def test_a_door_opened_over_an_empty_machine_is_a_look_and_a_report_is_enough(seed: int) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        b.inject("door")
        b.inject("door:to=closed")
        await asyncio.sleep(0.1)
        assert b.service.state == "unverified"
        await b.driver.report()
        assert b.service.state == "in_service"
        await b.driver.load(b.next_id())
        assert b.events_of(m.Loaded)[-1].left == 53


@pytest.mark.parametrize("while_off", [False, True], ids=["powered", "without power"])
async def test_cards_laid_into_the_well_by_hand_are_cards_nobody_counted(seed: int, while_off: bool) -> None:
    async with shoe_bench(seed, loaded=False) as b:
        b.inject("door")
        if while_off:
            b.inject("power_cut:seconds=3")
        b.machine.world.make(3, "red", b.machine.mechanics.well)
        b.machine.firmware.hands_moved()
        b.inject("door:to=closed")
        if while_off:
            await b.until_reported()
        status = await check_reported_cards(b)
        assert (status.state, status.counts_certain) == (m.State.READY, False)
        with pytest.raises(CommandRefused) as refusal:
            await b.driver.load(b.next_id())
        assert refusal.value.reason == m.Reason.ALREADY_LOADED
        await b.driver.count_stub(b.next_id())
        assert b.events_of(m.Stub)[-1].count == 1


# --- slow decay ----------------------------------------------------------------------------------------------


@over_the_ladder
async def test_wear_shows_in_the_transit_times_of_its_segment_alone(seed: int, rung: str) -> None:
    async with shoe_bench(seed, rung) as b, shoe_bench(seed, rung) as worn:
        worn.inject("wear:segment=exit,percent=20")
        for each in (b, worn):
            await run_command(each, each.driver.count_stub)
        fresh, tired = (
            await ask_until_answered(b, b.driver.transits),
            await ask_until_answered(worn, worn.driver.transits),
        )
        for segment in WITH_A_SENSOR:
            ratio = tired.segments[segment].mean / fresh.segments[segment].mean
            assert ratio == pytest.approx(1.2 if segment is m.Segment.EXIT else 1.0, rel=0.02)
            assert tired.segments[segment].cards == 53


@over_the_ladder
@pytest.mark.parametrize("segment", WITH_A_SENSOR)
async def test_a_segment_worn_out_is_a_jam_in_that_segment(seed: int, rung: str, segment: m.Segment) -> None:
    async with shoe_bench(seed, rung, loaded=segment not in INWARD) as b:
        b.inject(f"wear:segment={segment.name.lower()},percent=300")
        await fails(b, segment, m.Reason.JAM)
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card, jam.in_path) == (segment, 1, 1)
        await check_reported_cards(b)
        b.inject("mend")
        await get_all_cards_out(b)


@over_the_ladder
@pytest.mark.parametrize("sensor", [m.Sensor.FEED, m.Sensor.DRAW, m.Sensor.EXIT])
async def test_dust_shows_in_the_margin_before_the_self_test_fails_and_a_dark_path_moves_nothing(
    seed: int, rung: str, sensor: m.Sensor
) -> None:
    async with shoe_bench(seed, rung, loaded=False) as b:
        name = sensor.name.lower()
        b.inject(f"dust:sensor={name},percent=20")
        await run_command(b, b.driver.self_test)
        margins = [level.margin for level in (await ask_until_answered(b, b.driver.sensors)).levels]
        assert 160 < margins[sensor] < 280, "a fifth of its light is gone, and noise"
        assert b.service.state == "in_service"
        b.inject(f"dust:sensor={name},percent=40")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.self_test)
        assert failed.value.reason == m.Reason.SELF_TEST_FAILED
        assert b.events_of(m.SelfTested)[-1].bad_sensors == 1 << sensor
        assert b.service.state == "faulted"
        b.inject(f"dust:sensor={name},percent=60")
        for method in (b.driver.load, b.driver.clear_jam):
            with pytest.raises(CommandRefused) as refusal:
                await run_command(b, method)
            assert refusal.value.reason == m.Reason.PATH_BLOCKED


async def test_a_repaired_machine_drops_the_injected_faults_that_wait_for_their_card(seed: int) -> None:
    async with shoe_bench(seed) as b:
        assert b.inject("jam:card=3").startswith("shoe.1: jam:segment=exit,card=3 (")
        b.inject("dust:percent=60")
        b.inject("mend")
        await dispensed(b, 7)
        assert in_slot(b) == 7
