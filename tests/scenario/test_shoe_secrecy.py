"""No card's value leaves a shoe without an order: decks that differ in values give the same bytes.

A shoe that identifies cards sends the values of a unit when they are ordered, and never their order.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from devices.kinds import SHOE
from devices.shoe import messages as m
from firmware_bridge.errors import CommandFailed
from simulators.casino.device_bench import DeviceBench
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from tests.support.wire.byte_log import ByteLog, LoggedBytes
from tests.support.wire.seeded_host import seed_the_host

if TYPE_CHECKING:
    from firmware_bridge.wire import Transport


@pytest.fixture(autouse=True)
def _same_challenges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's challenges are the only bytes that no seed decides."""
    seed_the_host(monkeypatch)


def arrange(machine: SimulatedShoe | SimulatedManualShoe, order: int) -> list[int]:
    """Put the deck in one of many orders; return its faces."""
    world, entry = machine.world, machine.entry
    cards = world.at(entry)
    Random(order).shuffle(cards)
    for card in cards:
        world.move(card, "table")
    world.move_all("table", entry)
    return [card.face for card in world.at(entry)]


async def session(
    seed: int, order: int, *faults: str, by_hand: bool = False, identifies: bool = False
) -> tuple[list[LoggedBytes], list[int], Any]:
    """Run a session with every query of a host; return the wire's bytes and the card order."""
    machine: Any = (SimulatedManualShoe if by_hand else SimulatedShoe)(seed=seed, identifies=identifies)
    faces = arrange(machine, order)
    host, received = MemoryPort(machine), list[LoggedBytes]()

    async def opened() -> Transport:
        return ByteLog(await host.open(), received)

    bench = DeviceBench(machine, SHOE, opened)
    for fault in faults:
        bench.inject(fault)
    bench.supervisor.start()
    driver = bench.driver
    try:
        await driver.ready()
        await driver.load(bench.next_id())
        try:
            if by_hand:
                await driver.start_round(bench.next_id())
                bench.inject("draw:cards=20")
                await asyncio.sleep(30)
            else:
                for _ in range(3):
                    await driver.dispense(bench.next_id(), 7)
                    bench.inject("take")
                await driver.count_stub(bench.next_id())
        except CommandFailed:
            bench.inject("clear_path")
            await driver.clear_jam(bench.next_id())
        for question in (driver.status, driver.sensors, driver.transits, driver.report):
            await question()
    finally:
        await bench.close()
    return received, faces, bench


@pytest.mark.parametrize("identifies", [False, True], ids=["counting", "identifying"])
@pytest.mark.parametrize("by_hand", [False, True], ids=["automated", "manual"])
@pytest.mark.parametrize(
    "faults",
    [(), ("face_up:depth=3", "face_up:depth=9"), ("cover_card:depth=5",), ("jam:segment=exit,card=4",)],
    ids=["deal", "face up", "cover card", "jam"],
)
async def test_no_byte_depends_on_what_the_cards_are(
    seed: int, faults: tuple[str, ...], by_hand: bool, identifies: bool
) -> None:
    received, faces, bench = await session(seed, 1, *faults, by_hand=by_hand, identifies=identifies)
    assert {direction for direction, _, _ in received} == {"to the machine", "from the machine"}
    assert bool(bench.events_of(m.FaceUp)) is ("face_up:depth=3" in faults)
    for order in range(2, 5):
        again, others, _ = await session(seed, order, *faults, by_hand=by_hand, identifies=identifies)
        assert others != faces
        assert again == received


async def test_the_comparison_would_see_a_difference(seed: int) -> None:
    received = (await session(seed, 1))[0]
    assert (await session(seed, 1))[0] == received
    assert (await session(seed, 1, "missing_card"))[0] != received
    assert (await session(seed, 1, "face_up:depth=3"))[0] != received


def test_one_message_of_a_shoe_carries_cards_and_its_text_names_none() -> None:
    assert [message for message in SHOE.messages.ToHost.__args__ if message.carries_cards] == [m.CardsReleased]
    assert repr(m.CardsReleased(1, 2, 0, bytes([11, 12]), 0)) == "CardsReleased(...)"


async def released(seed: int, permute: Random | None) -> tuple[list[LoggedBytes], list[int]]:
    """Deal three stacks and release the second; return the wire's bytes and its cards as drawn."""
    machine = SimulatedShoe(seed=seed, identifies=True)
    arrange(machine, 1)
    if permute is not None:  # the same cards in the second stack, in another order
        pile = machine.world.at(machine.mechanics.intake)
        second = pile[-14:-7]
        permute.shuffle(second)
        for card in (*pile[:-14], *second, *pile[-7:]):
            machine.world.move(card, machine.mechanics.intake)
    drawn = [card.face for card in reversed(machine.world.at(machine.mechanics.intake))][7:14]
    host, received = MemoryPort(machine), list[LoggedBytes]()

    async def opened() -> Transport:
        return ByteLog(await host.open(), received)

    bench = DeviceBench(machine, SHOE, opened)
    bench.supervisor.start()
    try:
        await bench.driver.ready()
        await bench.driver.load(bench.next_id())
        stacks = [bench.next_id() for _ in range(3)]
        for stack in stacks:
            await bench.driver.dispense(stack, 7)
            bench.inject("take")
        await bench.driver.release_cards(bench.next_id(), stacks[1])
        (release,) = bench.events_of(m.CardsReleased)
        assert list(release.cards) == sorted(drawn)
    finally:
        await bench.close()
    return received, drawn


async def test_no_byte_of_a_release_depends_on_the_order_in_which_its_cards_were_drawn(seed: int) -> None:
    received, drawn = await released(seed, None)
    for other in range(4):
        again, others = await released(seed, Random(other))
        assert sorted(others) == sorted(drawn)
        assert others != drawn
        assert again == received
