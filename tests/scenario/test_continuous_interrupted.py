"""A shuffler without cycles, interrupted: jams, doors, power cuts and restarts leave exact or unknown numbers."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandFailed
from simulators.world.table import IN_PLAY, TRAY
from tests.support.machines.bench import in_turn_over_the_ladder, over_the_ladder, shuffler_bench
from tests.support.machines.card_checks import (
    ask_until_answered,
    behind_gate,
    check_reported_cards,
    in_chute,
    run_command,
    until_moving,
    until_true,
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
)

S: Final = m.Segment
COMMANDS: Final = ["take_in", "deliver", "count_all early", "count_all out", "count_all in again"]
BROKEN_OFF: Final = ["stop", "door", "power_cut:seconds=2", "unplug:seconds=60"]


# --- ends in mid-command -------------------------------------------------------------------------------------


@in_turn_over_the_ladder("segment", list(S))
async def test_a_jam_in_a_count_is_located_and_every_card_comes_back(seed: int, rung: str, segment: m.Segment) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        b.inject(f"jam:segment={segment.name.lower()},card=200")
        await expect_failure(b, m.Reason.JAM)
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card) == (segment, 200)
        assert jam.inside == b.view.inside == b.machine.mechanics.inside() > 100
        assert b.view.behind_gate == behind_gate(b)
        await return_to_work(b, SET)


@in_turn_over_the_ladder("segment", list(S))
async def test_a_jam_on_the_way_in_or_out_leaves_exact_numbers(seed: int, rung: str, segment: m.Segment) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        await deliver_cards(b, 3)
        b.inject("discard")
        b.inject(f"jam:segment={segment.name.lower()},card=9")
        out = segment >= S.UNLOAD
        await expect_failure(b, m.Reason.JAM, *(("deliver", 12) if out else ("take_in",)))
        (jam,) = b.events_of(m.Jam)
        assert (jam.segment, jam.card) == (segment, 9)
        assert jam.phase is (m.Phase.DELIVERING if out else m.Phase.FEEDING)
        status = await check_reported_cards(b)
        assert status.inside == jam.inside == b.view.inside == b.machine.mechanics.inside()
        assert status.inside == FEW - 23 + (-8 if out else 9)
        assert b.view.in_chute == in_chute(b) == (11 if out else 3)
        assert b.view.behind_gate == 0
        assert isinstance(status, m.Inventory)
        assert (status.outside, status.counted) == (None, None), "a halt breaks the set up"
        await return_to_work(b)


async def test_a_tray_that_does_not_rise_is_a_jam_with_everything_behind_the_gate(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        keep_cards(b, FEW)
        counting = asyncio.create_task(run_command(b, b.driver.count_all))
        await until_true(lambda: behind_gate(b) == FEW)
        b.inject("jam:segment=drop")
        with pytest.raises(CommandFailed) as failed:
            await counting
        assert failed.value.reason == m.Reason.JAM
        assert (await check_reported_cards(b)).inside == b.view.inside == b.machine.mechanics.inside() == 0
        assert b.view.behind_gate == behind_gate(b) == FEW
        await return_to_work(b)


@in_turn_over_the_ladder("command what", [(command, what) for what in BROKEN_OFF for command in COMMANDS])
async def test_after_any_interruption_no_wrong_count_is_accepted_and_every_card_comes_back(
    seed: int, rung: str, command: str, what: str
) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 30)
        b.inject("discard:cards=25")
        method, _, when = command.partition(" ")
        extra = (20,) if method == "deliver" else ()
        ident = b.next_id()
        doing = asyncio.ensure_future(getattr(b.driver, method)(ident, *extra))
        await until_moving(b)
        await asyncio.sleep({"": 1.3, "early": 1.3, "out": 11.0, "in again": 45.0}[when])
        if what == "stop":
            await run_command(b, b.driver.stop)
        else:
            b.inject(what)
        await asyncio.wait({doing})
        assert doing.exception() is not None
        if b.driver.reported is None:
            await b.until_reported()
        went_on = what.startswith("unplug")
        while (ended := await ask_until_answered(b, lambda: b.driver.outcome(ident))).outcome is Outcome.RUNNING:
            assert went_on
            await asyncio.sleep(5)
        assert ended.outcome is (Outcome.DONE if went_on else Outcome.FAILED)
        status = await check_reported_cards(b)
        if went_on:
            assert status.inside == b.machine.mechanics.inside()
        elif what == "stop":
            assert status.inside == b.view.inside == b.machine.mechanics.inside()
        else:
            assert status.inside is b.view.inside is None
            assert b.service.state == "faulted"
        if b.service.state != "faulted":
            b.service.fire("fault")  # the recovery is the same for all
        await return_to_work(b)


# --- idle with cards inside ----------------------------------------------------------------------------------


@over_the_ladder
@pytest.mark.parametrize("taken", [0, 1])
async def test_a_door_opened_while_idle_makes_the_store_unknown_until_it_is_counted(
    seed: int, rung: str, taken: int
) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        b.inject("door")
        world, mechanics = b.machine.world, b.machine.mechanics
        shelf = next(place for place in b.machine.true_counts() if "compartment" in place)
        for card in world.at(shelf)[:taken]:
            world.move(card, "sleeve")
        b.inject("door:to=closed")
        await b.until(lambda event: isinstance(event, m.Door) and not event.open)
        assert b.events_of(m.StoreChanged)[-1] == m.StoreChanged(None, 0, m.Reason.DOOR_OPEN)
        assert b.service.state == "faulted"
        status = await check_reported_cards(b)
        assert isinstance(status, m.Inventory)
        assert (status.inside, b.view.inside, status.counted) == (None, None, None)
        await expect_refusal(b, m.Reason.NOT_COUNTED, "deliver", 1)
        b.inject("reboot")
        await b.until_reported()
        assert (await check_reported_cards(b)).inside is None
        if taken:
            await expect_failure(b, m.Reason.COUNTS_DISAGREE)
            assert (await check_reported_cards(b)).inside is None
        else:
            assert (await count_set(b)).count == mechanics.inside() == FEW - 20
            await ask_until_answered(b, b.driver.report)
            await check_inventory(b, outside=20)


async def test_a_door_opened_while_the_store_is_empty_disturbs_nothing(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        b.inject("clear_path")
        await asyncio.sleep(1)
        assert b.events_of(m.StoreChanged) == []
        assert b.service.state == "in_service"
        assert (await ask_until_answered(b, b.driver.status)).inside == 0


@in_turn_over_the_ladder("drawn", [0, 3, 7, 8])
async def test_a_restart_while_idle_forgets_no_card_and_guesses_none_in_the_chute(
    seed: int, rung: str, drawn: int
) -> None:
    async with shuffler_bench(seed, rung, continuous=True) as b:
        await bring_into_use(b, 20)
        await deliver_cards(b, 8)
        b.inject("power_cut:seconds=3")
        b.inject(f"draw:cards={drawn}")  # the dealer draws while power is off
        await b.until_reported()
        status = await check_inventory(b, outside=28)
        empty = drawn == 8
        assert status.in_chute == b.view.in_chute == (0 if empty else None)
        assert status.counted == FEW
        assert b.service.state == ("in_service" if empty else "unverified")
        if not empty:
            await expect_refusal(b, m.Reason.CHUTE_OCCUPIED, "deliver", 1)
            b.inject("draw:cards=8")
            await b.until(lambda event: isinstance(event, m.StoreChanged) and event.in_chute == 0)
            await ask_until_answered(b, b.driver.report)
            assert b.service.state == "in_service"
        await deliver_cards(b, 1)
        await check_inventory(b, outside=29)


async def test_cards_behind_the_gate_must_go_before_anything_else_moves(seed: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        await count_set(b)
        await run_command(b, b.driver.clear_jam)
        b.machine.world.make(3, "red", b.machine.mechanics.intake)
        for method in ("take_in", "count_all"):
            await expect_refusal(b, m.Reason.GATE_OCCUPIED, method)
        await expect_refusal(b, m.Reason.GATE_OCCUPIED, "deliver", 1)
        await run_command(b, b.driver.eject)
        b.inject("take_deck")
        assert b.machine.world.count(TRAY) == SET
        assert b.machine.world.count(IN_PLAY) == 0
