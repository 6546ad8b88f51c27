"""The order of the cards never leaves the machine: decks that differ only in order give the same bytes and times."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed
from simulators.casino.device_bench import DeviceBench, ShufflerBench
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.kinds.shuffler.mechanics import ShufflerMechanics
from tests.support.wire.byte_log import ByteLog, LoggedBytes
from tests.support.wire.seeded_host import seed_the_host

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from firmware_bridge.wire import Transport


def arrange(machine: SimulatedShuffler, order: int, *, swapped: bool) -> list[int]:
    """Put the deck in one of many orders, with one card duplicated if `swapped`; return its faces."""
    world, intake = machine.world, machine.mechanics.intake
    cards = world.at(intake)
    if swapped:
        world.move(cards[10], "pocket")
        cards[10] = world.make(cards[40].face, "blue", "sleeve")
    Random(order).shuffle(cards)
    for card in cards:
        world.move(card, "table")
    world.move_all("table", intake)
    return [card.face for card in world.at(intake)]


async def session(seed: int, order: int, *faults: str, swapped: bool = False, **options: Any) -> tuple[Any, ...]:
    """Run a session with every query of a host; return the wire's bytes and the card orders."""
    machine = SimulatedShuffler(seed=seed, **options)
    before = arrange(machine, order, swapped=swapped)

    async def cycle(bench: ShufflerBench) -> list[int]:
        try:
            await bench.driver.shuffle(bench.next_id())
            after = [card.face for card in machine.world.at(machine.mechanics.gate)]
        except CommandFailed:
            after = []
        await ask_everything(bench)
        if after:
            await bench.driver.eject(bench.next_id())
        else:
            bench.inject("clear_path")
            await bench.driver.clear_jam(bench.next_id())
        return after

    received, after, completed = await record_bytes(machine, cycle, *faults)
    return received, before, after, completed


async def record_bytes(
    machine: SimulatedShuffler, play: Callable[[ShufflerBench], Awaitable[list[int]]], *faults: str
) -> tuple[list[LoggedBytes], list[int], list[m.Completed]]:
    """Run `play` on a recorded line; return the bytes, the result of `play`, and the completed cycles."""
    host, received = MemoryPort(machine), list[LoggedBytes]()

    async def opened() -> Transport:
        return ByteLog(await host.open(), received)

    bench = DeviceBench(machine, SHUFFLER, opened)
    for fault in faults:
        bench.inject(fault)
    bench.supervisor.start()
    try:
        await bench.driver.ready()
        faces = await play(bench)
        await bench.driver.report()
    finally:
        await bench.close()
    return received, faces, bench.events_of(m.Completed)


async def ask_everything(bench: ShufflerBench) -> None:
    driver = bench.driver
    for question in (driver.status, driver.sensors, driver.transits, driver.edge_log, driver.findings):
        await question()


@pytest.fixture(autouse=True)
def _same_challenges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's challenges are the only bytes that no seed decides."""
    seed_the_host(monkeypatch)


@pytest.mark.parametrize("batch", [False, True], ids=["deck", "batch"])
@pytest.mark.parametrize("identifies", [False, True], ids=["counting", "identifying"])
@pytest.mark.parametrize("faults", [(), ("sort_mode",), ("jam:segment=stack,card=30",)], ids=["shuffle", "sort", "jam"])
async def test_no_byte_depends_on_the_order_of_a_whole_deck_or_batch(
    seed: int, batch: bool, identifies: bool, faults: tuple[str, ...]
) -> None:
    received, before, after, _ = await session(seed, 1, *faults, identifies=identifies, batch=batch)
    assert {direction for direction, _, _ in received} == {"to the machine", "from the machine"}
    for order in range(2, 4 if batch else 6):
        again, other_before, other_after, _ = await session(seed, order, *faults, identifies=identifies, batch=batch)
        assert other_before != before
        assert other_after != after or not after
        assert again == received


@pytest.mark.parametrize("batch", [False, True], ids=["deck", "batch"])
async def test_what_is_found_wrong_with_a_deck_or_batch_does_not_depend_on_its_order_either(
    seed: int, batch: bool
) -> None:
    received, _, _, (completed,) = await session(seed, 1, swapped=True, identifies=True, batch=batch)
    assert completed.rejected
    for order in range(2, 4 if batch else 6):
        assert (await session(seed, order, swapped=True, identifies=True, batch=batch))[0] == received


# --- a machine without cycles --------------------------------------------------------------------------------


async def in_use(seed: int, order: int, *, choices: int | None = None, broken: bool = False) -> tuple[Any, ...]:
    """Use every function of a continuous machine; return the recorded bytes and the dealt cards.

    `choices` reseeds its shuffling once the set was counted.
    """
    machine = SimulatedContinuousShuffler(seed=seed)
    arrange(machine, order, swapped=False)

    async def play(bench: ShufflerBench) -> list[int]:
        driver, dealt = bench.driver, []
        await driver.count_all(bench.next_id())
        if choices is not None:
            machine.firmware._rng.seed(choices)
        for cards in (30, 1, 17):
            await driver.deliver(bench.next_id(), cards)
            dealt += [card.face for card in machine.world.at(machine.mechanics.chute)]
            bench.inject(f"draw:cards={cards}")
            bench.inject("discard")
            await driver.take_in(bench.next_id())
            await ask_everything(bench)
        if broken:
            bench.inject("jam:segment=stack,card=4")
            with pytest.raises(CommandFailed):
                await driver.deliver(bench.next_id(), 20)
            bench.inject("clear_path")
        if choices is None:  # emptied compartment by compartment, whose sizes are no secret
            await driver.clear_jam(bench.next_id())
            await driver.eject(bench.next_id())
        return dealt

    received, dealt, _ = await record_bytes(machine, play)
    return received, dealt


@pytest.mark.parametrize("broken", [False, True], ids=["good", "jam"])
async def test_no_byte_of_a_machine_without_cycles_depends_on_the_order_of_its_set(seed: int, broken: bool) -> None:
    received, dealt = await in_use(seed, 1, broken=broken)
    assert {direction for direction, _, _ in received} == {"to the machine", "from the machine"}
    for order in (2, 3):
        again, other_dealt = await in_use(seed, order, broken=broken)
        assert other_dealt != dealt
        assert again == received


@pytest.mark.parametrize("broken", [False, True], ids=["good", "jam"])
async def test_no_byte_reveals_where_discards_were_put_or_dealt_cards_came_from(seed: int, broken: bool) -> None:
    """The discards' order is visible at the table: their compartments and times must not be on the wire."""
    received, dealt = await in_use(seed, 1, choices=1, broken=broken)
    for choices in (2, 3, 4):
        again, other_dealt = await in_use(seed, 1, choices=choices, broken=broken)
        assert other_dealt != dealt
        assert again == received


async def test_a_machine_that_waits_for_its_elevator_would_be_caught(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = ShufflerMechanics.feed

    def once_it_stands(mechanics: ShufflerMechanics) -> None:
        mechanics._after(mechanics._shelf[0] * 0.001, lambda: feed(mechanics))

    monkeypatch.setattr(ShufflerMechanics, "feed", once_it_stands)
    assert (await in_use(seed, 1, choices=1))[0] != (await in_use(seed, 1, choices=2))[0]


async def test_the_comparison_would_see_a_difference(seed: int) -> None:
    received = (await session(seed, 1))[0]
    assert (await session(seed, 1))[0] == received
    assert (await session(seed, 1, "missing_card"))[0] != received
    assert (await session(seed + 1, 1))[0] != received
