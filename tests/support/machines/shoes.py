"""Shoes on device benches, the comparison of their reported cards with the simulated world, and their repair."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from devices.kinds import SHOE
from devices.shoe.driver import ShoeDriver
from devices.shoe.state import ShoeView
from firmware_bridge.errors import CommandRefused
from simulators.casino.device_bench import DeviceBench
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from simulators.world.table import TRAY
from tests.support.machines.bench import device_bench
from tests.support.machines.card_checks import ask_until_answered, run_command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from devices.shoe import messages as m
    from firmware_bridge.commands import Settled

Shoe = DeviceBench[SimulatedShoe, ShoeDriver, ShoeView]
ManualShoe = DeviceBench[SimulatedManualShoe, ShoeDriver, ShoeView]


@asynccontextmanager
async def shoe_bench(seed: int, rung: str = "clean", *, loaded: bool = True, **options: Any) -> AsyncIterator[Shoe]:
    """An automated shoe's device bench in virtual time, by default with its 53 cards in the well."""
    async with device_bench(SimulatedShoe(seed=seed, **options), SHOE, rung) as b:
        if loaded:
            await run_command(b, b.driver.load)
        yield b


@asynccontextmanager
async def manual_shoe_bench(
    seed: int, rung: str = "clean", *, loaded: bool = True, **options: Any
) -> AsyncIterator[ManualShoe]:
    """A manual shoe's device bench in virtual time, by default with a counted block."""
    async with device_bench(SimulatedManualShoe(seed=seed, **options), SHOE, rung) as b:
        if loaded:
            await run_command(b, b.driver.load)
        yield b


async def dispensed(b: Shoe, cards: int) -> Settled:
    """Have a stack dispensed."""
    return await run_command(b, lambda command: b.driver.dispense(command, cards))


async def expect_refusal(b: Shoe, reason: m.Reason, cards: int = 7) -> None:
    """Order a stack that must be refused for this reason; nothing may move."""
    truth = b.machine.true_counts()
    with pytest.raises(CommandRefused) as refusal:
        await dispensed(b, cards)
    assert refusal.value.reason == reason
    assert b.machine.true_counts() == truth


def in_slot(b: Shoe) -> int:
    """How many cards really are in the slot."""
    return b.machine.world.playing_cards(b.machine.mechanics.delivery)


def true_or_unknown(what: str, reported: int | None, truth: int) -> None:
    """Fail if a reported number differs from the simulated world."""
    assert reported in (None, truth), f"{reported} cards are said to be {what}, the truth is {truth}"


async def check_reported_cards(b: Shoe | ManualShoe) -> m.Status:
    """Read the status of an idle shoe; fail if a number in view or firmware differs from the simulated world."""
    status = await ask_until_answered(b, b.driver.status)
    mechanics = b.machine.mechanics
    for reported in (status.left, b.view.left):
        true_or_unknown("left", reported, mechanics.left())
    for reported in (status.in_path, b.view.in_path):
        true_or_unknown("on the path", reported, mechanics.in_path())
    if isinstance(b.machine, SimulatedShoe):
        true_or_unknown("laid into the slot", status.delivered, b.machine.mechanics.delivered)
    assert b.view.door_open is status.door_open is mechanics.door_open
    assert status.counts_certain or status.left is status.in_path is status.drawn is None
    return status


async def search(b: Shoe) -> None:
    """A technician opens the resting, empty machine, takes out what hides behind the well, and has it test itself."""
    b.inject("door")
    b.machine.world.move_all(b.machine.mechanics.behind_well, TRAY)
    b.inject("door:to=closed")
    await run_command(b, b.driver.self_test)


async def get_all_cards_out(b: Shoe, expected: int = 53) -> None:
    """Clear by hand and by machine, take what came, look, test; fail unless every card is outside the machine."""
    b.inject("clear_path")
    await run_command(b, b.driver.clear_jam)
    await check_reported_cards(b)
    b.inject("take")
    await search(b)
    mechanics, world = b.machine.mechanics, b.machine.world
    assert mechanics.left() == mechanics.in_path() == in_slot(b) == 0
    b.inject("gather")
    assert world.playing_cards(TRAY) + world.playing_cards(mechanics.intake) == expected
    status = await check_reported_cards(b)
    assert (status.counts_certain, status.left, status.in_path) == (True, 0, 0)


async def back_in_service(b: Shoe | ManualShoe) -> None:
    """Somebody acknowledges what was cleared, and the machine reports again."""
    b.service.fire("clear")
    b.service.fire("acknowledge")
    await ask_until_answered(b, b.driver.report)
    assert b.service.state == "in_service"
