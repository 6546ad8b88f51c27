"""The order of the cards never leaves the machine: worlds that differ only in it send the same bytes."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandFailed
from simulators.hosts.memory import MemoryHost
from simulators.house.stand import Stand
from simulators.machines.shuffler import SimulatedShuffler
from tests.support.entropy import seed_the_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError
    from firmware_bridge.wire import Transport

Heard = tuple[str, bytes, int]  # which way, what, and when (microseconds)


class Tap:
    """A transport that writes down every byte of both directions, and when it passed."""

    def __init__(self, inner: Transport, heard: list[Heard]) -> None:
        self.on_bytes: Callable[[bytes], None]
        self.on_lost: Callable[[LinkError], None]
        self._inner = inner
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        inner.on_bytes = self._take
        inner.on_lost = self._lose

    @property
    def backlog(self) -> int:
        return self._inner.backlog

    def write(self, data: bytes) -> None:
        self._note("to the machine", data)
        self._inner.write(data)

    def close(self) -> None:
        self._inner.close()

    def _take(self, data: bytes) -> None:
        self._note("from the machine", data)
        self.on_bytes(data)

    def _lose(self, cause: LinkError) -> None:
        self.on_lost(cause)

    def _note(self, way: str, data: bytes) -> None:
        self._heard.append((way, data, round((self._loop.time() - self._start) * 1e6)))


def arrange(machine: SimulatedShuffler, order: int, *, swapped: bool) -> list[int]:
    """Lay the deck in one of many orders, with a card replaced by a copy of another if so asked; return its faces."""
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
    """Run a whole session with everything that a host can ask; return the wire's bytes and where the cards lay."""
    machine = SimulatedShuffler(seed=seed, **options)
    before = arrange(machine, order, swapped=swapped)
    host, heard = MemoryHost(machine), list[Heard]()

    async def opened() -> Transport:
        return Tap(await host.open(), heard)

    stand = Stand(machine, SHUFFLER, opened)
    for fault in faults:
        stand.inject(fault)
    stand.supervisor.start()
    try:
        await stand.driver.ready()
        try:
            await stand.driver.shuffle(stand.next_id())
            after = [card.face for card in machine.world.at(machine.mechanics.gate)]
        except CommandFailed:
            after = []
        for question in (stand.driver.status, stand.driver.sensors, stand.driver.transits, stand.driver.findings):
            await question()
        if after:
            await stand.driver.eject(stand.next_id())
        else:
            stand.inject("clear_path")
            await stand.driver.clear_jam(stand.next_id())
        await stand.driver.report()
    finally:
        await stand.close()
    return heard, before, after, stand.told(m.Completed)


@pytest.fixture(autouse=True)
def _same_challenges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's challenges are the only bytes that no seed decides."""
    seed_the_host(monkeypatch)


@pytest.mark.parametrize("identifies", [False, True], ids=["counting", "identifying"])
@pytest.mark.parametrize("faults", [(), ("sort_mode",), ("jam:segment=stack,card=30",)], ids=["shuffle", "sort", "jam"])
async def test_no_byte_depends_on_the_order_of_a_whole_deck(
    seed: int, identifies: bool, faults: tuple[str, ...]
) -> None:
    heard, before, after, _ = await session(seed, 1, *faults, identifies=identifies)
    assert {way for way, _, _ in heard} == {"to the machine", "from the machine"}
    for order in range(2, 6):
        again, other_before, other_after, _ = await session(seed, order, *faults, identifies=identifies)
        assert other_before != before
        assert other_after != after or not after
        assert again == heard


async def test_what_is_found_wrong_with_a_deck_does_not_depend_on_its_order_either(seed: int) -> None:
    heard, _, _, (completed,) = await session(seed, 1, swapped=True, identifies=True)
    assert completed.rejected
    for order in range(2, 6):
        assert (await session(seed, order, swapped=True, identifies=True))[0] == heard


async def test_the_comparison_would_see_a_difference(seed: int) -> None:
    heard = (await session(seed, 1))[0]
    assert (await session(seed, 1))[0] == heard
    assert (await session(seed, 1, "missing_card"))[0] != heard
    assert (await session(seed + 1, 1))[0] != heard
