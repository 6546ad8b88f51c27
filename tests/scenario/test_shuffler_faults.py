"""Every mechanical fault: the driver's counts against the simulator's truth. Unknown is allowed, wrong is not."""

from __future__ import annotations

import asyncio

import pytest

from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.errors import BadFault, CommandFailed
from tests.support.machines.bench import ShufflerTestBench, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    check_reported_cards,
    faces_behind_gate,
    run_command,
    until_moving,
)

WITH_A_SENSOR = [m.Segment.FEED, m.Segment.BRIDGE, m.Segment.LIFT, m.Segment.UNLOAD, m.Segment.STACK]


async def fails(b: ShufflerTestBench, reason: m.Reason) -> None:
    """Run a cycle that must fail for this reason and latch the slot."""
    with pytest.raises(CommandFailed) as failed:
        await run_command(b, b.driver.shuffle)
    assert failed.value.reason == reason
    assert b.service.state == "faulted"


async def completes(b: ShufflerTestBench) -> m.Completed:
    await run_command(b, b.driver.shuffle)
    return b.events_of(m.Completed)[-1]


# --- cards that go wrong on their way ----------------------------------------------------------------------


@over_the_ladder
async def test_two_cards_that_go_in_as_one_are_seen_and_the_count_becomes_unknown(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("double_feed:card=20,offset=60")
        await fails(b, m.Reason.DOUBLE_FEED)
        (fault,) = b.events_of(m.Fault)
        assert (fault.reason, fault.segment, fault.entered) == (m.Reason.DOUBLE_FEED, m.Segment.FEED, 20)
        assert b.machine.mechanics.inside() == 21
        assert verdict(fault, 53) == ["double feed in segment feed"]
        status = await check_reported_cards(b)
        assert b.view.inside is status.inside is None


@over_the_ladder
async def test_two_cards_that_lie_exactly_on_each_other_are_found_when_they_come_out(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("double_feed:card=20,offset=0")
        await fails(b, m.Reason.COUNTS_DISAGREE)
        (ended,) = b.events_of(m.Incomplete)
        assert (ended.cards_in, ended.cards_out) == (52, 53)
        assert verdict(ended, 53) == ["52 cards went in and 53 came out"]
        assert (await check_reported_cards(b)).inside is b.view.inside is None


@over_the_ladder
async def test_a_pair_counted_as_one_does_not_hide_a_card_left_inside(seed: int, rung: str) -> None:
    """52 in and 52 out agree; only the compartments gave the wrong numbers."""
    async with shuffler_bench(seed, rung) as b:
        b.inject("double_feed:card=20,offset=0")
        b.inject("card_left_inside:card=40")
        await fails(b, m.Reason.COUNTS_DISAGREE)
        (ended,) = b.events_of(m.Incomplete)
        assert verdict(ended, 53) == ["52 cards were counted in and out, but not from the expected compartments"]
        assert b.machine.mechanics.inside() == 1
        assert (await check_reported_cards(b)).inside is b.view.inside is None


async def test_more_cards_out_than_in_is_unknown_at_once_and_never_a_negative_number(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        b.inject("double_feed:card=20,offset=0")
        cycle = asyncio.create_task(fails(b, m.Reason.COUNTS_DISAGREE))
        while not cycle.done():
            await asyncio.sleep(0.1)
            inside = (await b.driver.status()).inside
            assert inside is None or inside >= 0
            assert b.view.inside is None or b.view.inside >= 0
        await cycle


@over_the_ladder
@pytest.mark.parametrize("segment", WITH_A_SENSOR)
async def test_a_torn_card_is_located_and_still_counted(seed: int, rung: str, segment: m.Segment) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject(f"torn_card:segment={segment.name.lower()},card=31")
        await fails(b, m.Reason.SHORT_CARD)
        (fault,) = b.events_of(m.Fault)
        assert (fault.segment, fault.card) == (segment, 31)
        (torn,) = b.machine.world.torn
        there = b.machine.world.at(b.machine.mechanics.segment_place(segment))
        assert [card.id for card in there] == [torn]
        status = await check_reported_cards(b)
        assert status.inside == b.view.inside == b.machine.mechanics.inside() > 0


@pytest.mark.parametrize("segment", ["shelf", "drop"])
async def test_a_card_cannot_tear_where_no_sensor_would_see_it(seed: int, segment: str) -> None:
    async with shuffler_bench(seed) as b:
        with pytest.raises(BadFault):
            b.inject(f"torn_card:segment={segment}")


@over_the_ladder
async def test_a_card_left_behind_is_reported_missing_and_never_forgotten(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("card_left_inside:card=40")
        await fails(b, m.Reason.COUNTS_DISAGREE)
        (ended,) = b.events_of(m.Incomplete)
        assert (ended.cards_in, ended.cards_out) == (53, 52)
        assert (await check_reported_cards(b)).inside is None
        await run_command(b, b.driver.clear_jam)
        assert b.machine.mechanics.inside() == 1
        await run_command(b, b.driver.eject)
        b.inject("take_deck")
        b.inject("load")
        completed = await completes(b)
        assert verdict(completed, 53) == ["52 cards counted, 53 expected"]
        assert (await check_reported_cards(b)).inside is b.view.inside is None


@over_the_ladder
async def test_a_power_cycle_does_not_restore_the_count_but_an_inspection_and_a_self_test_do(
    seed: int, rung: str
) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("card_left_inside:card=7")
        await fails(b, m.Reason.COUNTS_DISAGREE)
        await run_command(b, b.driver.clear_jam)
        b.inject("reboot")
        await b.until_reported()
        assert (await check_reported_cards(b)).inside is None
        await run_command(b, b.driver.self_test)
        assert (await check_reported_cards(b)).inside is None, "nobody has looked"
        b.inject("door")
        mechanics = b.machine.mechanics
        assert b.machine.world.move_all(mechanics.behind_shelves, mechanics.intake) == 1
        b.inject("door:to=closed")
        await run_command(b, b.driver.self_test)
        assert (await check_reported_cards(b)).inside == 0


# --- decks that are wrong from the start -------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize(("fault", "count"), [("missing_card", 52), ("foreign_card", 54)])
async def test_a_deck_of_the_wrong_size_is_counted_as_it_is(seed: int, rung: str, fault: str, count: int) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject(fault)
        completed = await completes(b)
        assert completed.count == count == len(faces_behind_gate(b))
        assert verdict(completed, 53) == [f"{count} cards counted, 53 expected"]
        assert (await check_reported_cards(b)).inside == 0


@over_the_ladder
async def test_a_counting_machine_cannot_detect_a_swapped_card_and_reports_no_faces(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("swapped_card")
        completed = await completes(b)
        assert faces_behind_gate(b) != list(range(53))
        assert verdict(completed, 53) == []  # the stated limit of a machine that only counts
        assert m.IDENTIFIES not in b.driver.reported.hello.capabilities  # type: ignore[union-attr]
        assert await ask_until_answered(b, b.driver.findings) == m.NoFindings(m.Reason.NOT_A_FINDING)


@over_the_ladder
@pytest.mark.parametrize("fault", ["swapped_card", "missing_card", "foreign_card"])
async def test_an_identifying_machine_reports_exactly_what_is_missing_and_extra(
    seed: int, rung: str, fault: str
) -> None:
    async with shuffler_bench(seed, rung, identifies=True) as b:
        b.inject(fault)
        completed = await completes(b)
        assert completed.rejected
        assert "the machine identified the cards, and they are not a complete deck" in verdict(completed, 53)
        finding, there = await ask_until_answered(b, b.driver.findings), faces_behind_gate(b)
        assert isinstance(finding, m.Findings)
        assert list(finding.missing) == sorted(set(range(53)) - set(there))
        assert sorted([*set(there), *finding.extra]) == there
        assert (len(finding.missing), len(finding.extra)) == {
            "swapped_card": (1, 1),
            "missing_card": (1, 0),
            "foreign_card": (0, 1),
        }[fault]
        await run_command(b, b.driver.eject)
        assert isinstance(await ask_until_answered(b, b.driver.findings), m.NoFindings), (
            "the deck is gone, and what was found with it"
        )


@over_the_ladder
async def test_an_identifying_machine_reports_no_cards_of_a_good_deck(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung, identifies=True) as b:
        completed = await completes(b)
        assert not completed.rejected
        assert verdict(completed, 53) == []
        assert await ask_until_answered(b, b.driver.findings) == m.NoFindings(m.Reason.NOT_A_FINDING)


@over_the_ladder
@pytest.mark.parametrize("by_command", [False, True])
async def test_a_sorted_deck_is_complete_but_not_shuffled(seed: int, rung: str, by_command: bool) -> None:
    async with shuffler_bench(seed, rung) as b:
        if by_command:
            await run_command(b, lambda command: b.driver.set_mode(command, m.Mode.SORT))
        else:
            b.inject("sort_mode")
        completed = await completes(b)
        assert verdict(completed, 53) == ["the cycle was SORT, which is not a shuffle"]
        suits = [card.face // 13 for card in b.machine.world.at(b.machine.mechanics.gate)]
        assert suits in (sorted(suits), sorted(suits, reverse=True))
        assert (await check_reported_cards(b)).mode is b.view.mode is m.Mode.SORT


# --- motion that ends early --------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("after", [0.01, 2.0, 9.0, 14.5, 21.0])
async def test_an_open_door_stops_all_motion_and_hands_make_the_count_unknown(
    seed: int, rung: str, after: float
) -> None:
    async with shuffler_bench(seed, rung) as b:
        cycle = asyncio.create_task(run_command(b, b.driver.shuffle))
        await until_moving(b)
        await asyncio.sleep(after)
        b.inject("door")
        truth = b.machine.true_counts()
        with pytest.raises(CommandFailed) as failed:
            await cycle
        assert failed.value.reason == m.Reason.DOOR_OPEN
        (stopped,) = b.events_of(m.Stopped)
        assert stopped.entered - stopped.left == b.machine.mechanics.inside() > 0
        assert b.machine.true_counts() == truth, "nothing moved after the door was opened"
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        b.inject("clear_path")
        await check_reported_cards(b)


@pytest.mark.parametrize(("batch", "every"), [(False, 0.387), (True, 2.287)], ids=["deck", "batch"])
async def test_a_stop_at_any_instant_leaves_an_exact_count(seed: int, batch: bool, every: float) -> None:
    halted: set[str] = set()
    for step in range(64):
        async with shuffler_bench(seed, batch=batch) as b:
            cycle = asyncio.create_task(run_command(b, b.driver.shuffle))
            await asyncio.sleep(0.5 + step * every)
            await b.driver.stop(b.next_id())
            with pytest.raises(CommandFailed) as failed:
                await cycle
            assert failed.value.reason == m.Reason.STOPPED
            (stopped,) = b.events_of(m.Stopped)
            status = await check_reported_cards(b)
            assert stopped.entered - stopped.left == status.inside == b.view.inside == b.machine.mechanics.inside()
            halted.update(place.partition("/")[2] for place in b.machine.true_counts())
    assert halted >= {"feed", "bridge", "lift", "unload", "stack", "drop"}, "the instants met too few segments"


@pytest.mark.parametrize(("batch", "every"), [(False, 0.003), (True, 0.02)], ids=["deck", "batch"])
async def test_the_firmware_knows_at_every_instant_of_a_good_cycle_how_many_cards_are_inside(
    seed: int, batch: bool, every: float
) -> None:
    async with shuffler_bench(seed, batch=batch) as b:
        cycle = asyncio.create_task(run_command(b, b.driver.shuffle))
        looked = 0
        while not cycle.done():
            await asyncio.sleep(every)
            looked += 1
            assert b.machine.firmware.handle(m.GetStatus()).inside == b.machine.mechanics.inside()  # type: ignore[attr-defined]
        await cycle
        assert looked > 5000


# --- slow decay --------------------------------------------------------------------------------------------


@over_the_ladder
async def test_wear_shows_in_the_transit_times_of_its_segment_alone(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b, shuffler_bench(seed, rung) as worn:
        worn.inject("wear:segment=lift,percent=20")
        for each in (b, worn):
            assert verdict(await completes(each), 53) == []
        fresh, tired = (
            await ask_until_answered(b, b.driver.transits),
            await ask_until_answered(worn, worn.driver.transits),
        )
        for segment in WITH_A_SENSOR:
            ratio = tired.segments[segment].mean / fresh.segments[segment].mean
            assert ratio == pytest.approx(1.2 if segment is m.Segment.LIFT else 1.0, rel=0.02)
            assert tired.segments[segment].cards == 53


@over_the_ladder
async def test_a_segment_worn_out_is_a_jam_in_that_segment(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject("wear:segment=bridge,percent=300")
        await fails(b, m.Reason.JAM)
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card, jam.inside) == (m.Segment.BRIDGE, 1, 1)
        await check_reported_cards(b)


@over_the_ladder
@pytest.mark.parametrize("sensor", [m.Sensor.FEED, m.Sensor.BRIDGE, m.Sensor.LIFT, m.Sensor.EXIT, m.Sensor.STACK])
async def test_dust_shows_in_the_margin_before_the_self_test_fails(seed: int, rung: str, sensor: m.Sensor) -> None:
    async with shuffler_bench(seed, rung) as b:
        b.inject(f"dust:sensor={sensor.name.lower()},percent=20")
        await run_command(b, b.driver.self_test)
        margins = [level.margin for level in (await ask_until_answered(b, b.driver.sensors)).levels]
        assert margins[sensor] < min(margin for s, margin in enumerate(margins) if s not in (sensor, m.Sensor.INTAKE))
        assert b.service.state == "in_service"
        b.inject(f"dust:sensor={sensor.name.lower()},percent=40")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.self_test)
        assert failed.value.reason == m.Reason.SELF_TEST_FAILED
        assert b.events_of(m.SelfTested)[-1].bad_sensors == 1 << sensor
        assert b.service.state == "faulted"


# --- where the machine must trust a person -----------------------------------------------------------------


async def test_opening_the_door_without_looking_counts_as_an_inspection_after_a_self_test(seed: int) -> None:
    """The stated limit: no sensor detects a card between two sensors; ordering a self-test confirms the inspection."""
    async with shuffler_bench(seed) as b:
        b.inject("jam:segment=feed,card=5")
        await fails(b, m.Reason.JAM)
        b.inject("door")
        b.inject("door:to=closed")
        await run_command(b, b.driver.clear_jam)
        assert (await b.driver.status()).inside is None
        b.inject("door")
        b.inject("door:to=closed")
        await run_command(b, b.driver.self_test)
        assert (await b.driver.status()).inside == 0
        assert b.machine.mechanics.inside() == 1
        assert b.service.state == "faulted", "a person must still acknowledge"


async def test_a_repaired_machine_drops_the_injected_faults_that_wait_for_their_card(seed: int) -> None:
    async with shuffler_bench(seed) as b:
        assert b.inject("jam:card=9").startswith("shuffler.1: jam:segment=lift,card=9 (")
        b.inject("dust:percent=60")
        b.inject("mend")
        await run_command(b, b.driver.shuffle)
        assert [completed.count for completed in b.events_of(m.Completed)] == [53]
