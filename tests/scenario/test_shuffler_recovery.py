"""Recovery after a jam: hands, clearing, ejecting. Every card comes out, and uncertain counts stay uncertain."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import pytest

from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandFailed, CommandRefused
from simulators.world.table import TRAY
from tests.support.machines.bench import ShufflerTestBench, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    behind_gate,
    check_reported_cards,
    get_all_cards_out,
    run_command,
    until_moving,
    until_true,
)

each_segment = pytest.mark.parametrize("segment", list(m.Segment), ids=lambda segment: segment.name.lower())
# Where a card can stick while the compartments are being emptied.
ON_THE_WAY_OUT: Final = [m.Segment.UNLOAD, m.Segment.STACK, m.Segment.DROP]


async def jam(b: ShufflerTestBench, segment: m.Segment, card: int = 27) -> m.Jam:
    b.inject(f"jam:segment={segment.name.lower()},card={card}")
    with pytest.raises(CommandFailed) as failed:
        await run_command(b, b.driver.shuffle)
    assert failed.value.reason == m.Reason.JAM
    return b.events_of(m.Jam)[-1]


@over_the_ladder
@each_segment
async def test_after_a_jam_every_card_comes_out_and_an_inspection_makes_the_count_certain(
    seed: int, rung: str, segment: m.Segment
) -> None:
    async with shuffler_bench(seed, rung) as b:
        jammed = await jam(b, segment)
        inside = b.machine.mechanics.inside()
        assert jammed.inside == inside
        text = b.inject("clear_path")
        assert text.endswith("1 card taken off the path by hand")
        assert (await check_reported_cards(b)).inside is b.view.inside is None, "hands were in the machine"
        await run_command(b, b.driver.clear_jam)
        (cleared,) = b.events_of(m.Cleared)
        assert cleared.emptied == inside - 1
        assert cleared.behind_gate == behind_gate(b) == jammed.left + cleared.emptied
        assert (await check_reported_cards(b)).inside is None, "what hands took from the path, nobody counted"
        b.inject("clear_path")  # opened, inspected, closed
        await run_command(b, b.driver.self_test)
        assert (await check_reported_cards(b)).inside == 0
        if behind_gate(b):
            await run_command(b, b.driver.eject)
        b.inject("take_deck")
        intake = b.machine.mechanics.intake
        assert b.machine.true_counts() == {TRAY: 53 - b.machine.world.count(intake)} | (
            {intake: b.machine.world.count(intake)} if b.machine.world.count(intake) else {}
        )
        assert b.service.state == "faulted"


@over_the_ladder
@each_segment
async def test_a_cleared_machine_serves_again_only_after_acknowledgment_and_report(
    seed: int, rung: str, segment: m.Segment
) -> None:
    async with shuffler_bench(seed, rung) as b:
        await jam(b, segment, card=3)
        await get_all_cards_out(b)
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "faulted"
        b.service.fire("clear")
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "cleared"
        b.service.fire("acknowledge")
        assert b.service.state == "unverified"
        await ask_until_answered(b, b.driver.report)
        assert b.service.state == "in_service"
        b.inject("take_deck")
        b.inject("load")
        await run_command(b, b.driver.shuffle)
        assert verdict(b.events_of(m.Completed)[-1], 53) == []
        assert behind_gate(b) == 53


@over_the_ladder
@each_segment
async def test_clearing_is_refused_while_a_sensor_is_dark_or_the_door_is_open(
    seed: int, rung: str, segment: m.Segment
) -> None:
    async with shuffler_bench(seed, rung) as b:
        jammed = await jam(b, segment)
        truth = b.machine.true_counts()
        dark = [sensor for sensor, level in zip(m.Sensor, jammed.levels, strict=True) if level.blocked]
        on_path = set(dark) - {m.Sensor.INTAKE, m.Sensor.GATE}
        if on_path:
            with pytest.raises(CommandRefused) as refused:
                await run_command(b, b.driver.clear_jam)
            assert refused.value.reason == m.Reason.PATH_BLOCKED
        b.inject("door")
        with pytest.raises(CommandRefused) as refused:
            await run_command(b, b.driver.clear_jam)
        assert refused.value.reason == m.Reason.DOOR_OPEN
        assert b.machine.true_counts() == truth
        assert not b.events_of(m.Cleared)
        b.inject("door:to=closed")
        await get_all_cards_out(b)


@over_the_ladder
async def test_a_card_that_no_sensor_sees_and_no_hand_took_leaves_the_count_unknown(seed: int, rung: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        await jam(b, m.Segment.FEED, card=9)
        await run_command(b, b.driver.clear_jam)
        assert b.events_of(m.Cleared)[-1].emptied == 8
        assert b.machine.mechanics.inside() == 1
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        await ask_until_answered(b, b.driver.report)
        assert not b.service.is_in_service


@over_the_ladder
@pytest.mark.parametrize("second", ON_THE_WAY_OUT, ids=lambda segment: segment.name.lower())
@pytest.mark.parametrize("first", [m.Segment.BRIDGE, m.Segment.STACK], ids=lambda segment: segment.name.lower())
async def test_a_second_jam_while_the_machine_empties_itself_is_reported_and_cleared_in_turn(
    seed: int, rung: str, first: m.Segment, second: m.Segment
) -> None:
    async with shuffler_bench(seed, rung) as b:
        await jam(b, first, card=20)
        b.inject("clear_path")
        b.inject(f"jam:segment={second.name.lower()},card=5")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.clear_jam)
        assert failed.value.reason == m.Reason.JAM
        _, again = b.events_of(m.Jam)
        assert (again.segment, again.card) == (second, 5)
        assert again.inside is None, "nobody counted these cards in"
        assert "unknown number" in verdict(again, 53)[0]
        assert (await check_reported_cards(b)).inside is b.view.inside is None
        await get_all_cards_out(b)
        assert len(b.events_of(m.Cleared)) == 1


@over_the_ladder
@pytest.mark.parametrize("what", ["stop", "door", "power_cut:seconds=2", "unplug:seconds=60"])
async def test_clearing_that_is_broken_off_can_be_begun_again(seed: int, rung: str, what: str) -> None:
    async with shuffler_bench(seed, rung) as b:
        await jam(b, m.Segment.LIFT, card=40)
        b.inject("clear_path")
        command = b.next_id()
        clearing = b.driver.clear_jam(command)
        await until_moving(b)
        await asyncio.sleep(2)
        if what == "stop":
            await run_command(b, b.driver.stop)
        else:
            b.inject(what)
        await asyncio.wait({clearing})
        assert clearing.exception() is not None
        if b.driver.reported is None:
            await b.until_reported()
        ended = await ask_until_answered(b, lambda: b.driver.outcome(command))
        assert ended.outcome is (Outcome.DONE if what.startswith("unplug") else Outcome.FAILED)
        assert b.service.state == "faulted"
        if what == "door":
            b.inject("door:to=closed")
        await check_reported_cards(b)
        if what.startswith("unplug"):
            assert b.machine.mechanics.inside() == 0, "it went on alone and finished"
        else:
            assert b.machine.mechanics.inside() > 0
        await get_all_cards_out(b)


@over_the_ladder
@pytest.mark.parametrize("method", ["eject", "self_test"])
@pytest.mark.parametrize("by_door", [False, True], ids=["by stop", "by door"])
async def test_a_gate_or_a_test_that_is_stopped_fails_alone_and_touches_no_other_command(
    seed: int, rung: str, method: str, by_door: bool
) -> None:
    async with shuffler_bench(seed, rung) as b:
        cycle = (await run_command(b, b.driver.shuffle)).command
        command = b.next_id()
        doing = asyncio.ensure_future(getattr(b.driver, method)(command))
        await until_true(lambda: b.machine.board.memory.recall(command).outcome is Outcome.RUNNING)
        if by_door:
            b.inject("door")
        else:
            b.machine.firmware.handle(m.Stop(b.next_id()))  # at once: no line is as quick as a gate
        with pytest.raises(CommandFailed) as failed:
            await doing
        assert failed.value.reason == (m.Reason.DOOR_OPEN if by_door else m.Reason.STOPPED)
        assert (await ask_until_answered(b, lambda: b.driver.outcome(cycle))).outcome is Outcome.DONE
        assert b.machine.true_counts() == {"shuffler.1/gate": 53}
        status = await check_reported_cards(b)
        assert (status.state, status.inside, status.behind_gate) == (m.State.READY, 0, 53)
        assert not b.events_of(m.Stopped)
        b.inject("door:to=closed")
        await run_command(b, b.driver.eject)
        assert b.machine.true_counts() == {"shuffler.1/presented": 53}


@pytest.mark.parametrize("segment", [m.Segment.BRIDGE, m.Segment.LIFT, m.Segment.STACK])
async def test_a_door_that_was_opened_is_no_proof_that_hands_took_the_card(seed: int, segment: m.Segment) -> None:
    async with shuffler_bench(seed) as b:
        await jam(b, segment)
        b.inject("door:to=open")
        b.inject("door:to=closed")
        with suppress(CommandRefused):  # the card may be under a sensor and be detected
            await run_command(b, b.driver.clear_jam)
        assert b.machine.mechanics.inside() > 0
        assert (await check_reported_cards(b)).inside is None
