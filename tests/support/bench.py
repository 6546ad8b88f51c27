"""One simulated shuffler with its driver and supervisor, over any rung of the transport ladder. No tests here."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

from devices.report import Reported
from devices.service import Service
from devices.shuffler import messages as m
from devices.shuffler.driver import DECODER, ShufflerDriver
from devices.shuffler.state import DriverEvent, ShufflerView, fold, service_trigger
from firmware_bridge.handshake import Trust
from firmware_bridge.supervisor import Supervisor
from simulators.bench import APPROVED, SimulatedShuffler
from simulators.faults import parse_fault
from simulators.hosts.memory import MemoryHost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from firmware_bridge.wire import Capture

# The rungs: what the line does to every scenario. The lossy one loses, doubles and corrupts in both directions.
LADDER: Final[dict[str, list[str]]] = {
    "clean": [],
    "byte-at-a-time": ["split"],
    "lossy": ["drop:rate=0.1", "duplicate:rate=0.1", "corrupt:rate=0.1", "junk:rate=0.1"],
    "slow": ["slow:baud=9600"],
}
over_the_ladder = pytest.mark.parametrize("rung", list(LADDER))

_E = TypeVar("_E")


class Bench:
    """A machine, its host, its driver, and everything that the driver told."""

    def __init__(
        self, machine: SimulatedShuffler, *, trust: Trust | None = None, capture: Capture | None = None
    ) -> None:
        self.machine = machine
        self.host = MemoryHost(machine)
        self.events: list[DriverEvent] = []
        self.view = ShufflerView()
        self.service = Service()
        self.driver = ShufflerDriver(self._take)
        self.trust = trust or Trust(m.KIND, {machine.key.serial: machine.key}, frozenset([APPROVED]))
        self.supervisor = Supervisor(
            machine.slot, self.host.open, self.trust, DECODER, self.driver, capture=capture, jitter=Random(1)
        )
        self._ids = count(1)
        self._watchers: list[tuple[Callable[[DriverEvent], bool], asyncio.Future[Any]]] = []

    def _take(self, event: DriverEvent) -> None:
        self.events.append(event)
        self.view = fold(self.view, event)
        trigger = service_trigger(event)
        if trigger is not None:
            getattr(self.service, trigger)()
        for fits, future in self._watchers:
            if not future.done() and fits(event):
                future.set_result(event)

    def next_id(self) -> int:
        """A fresh command id."""
        return next(self._ids)

    def inject(self, text: str) -> str:
        """Let a fault happen, in the words of the vocabulary."""
        return self.machine.inject(parse_fault(text))

    def told(self, kind: type[_E]) -> list[_E]:
        """Every event of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, fits: Callable[[DriverEvent], bool], seconds: float = 120.0) -> Any:
        """Wait for the next event that fits."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._watchers.append((fits, future))
        async with asyncio.timeout(seconds):
            return await future

    async def until_reported(self, seconds: float = 120.0) -> Reported:
        """Wait for the next report after a (re)connect."""
        reported: Reported = await self.until(lambda event: isinstance(event, Reported), seconds)
        return reported


@asynccontextmanager
async def bench(
    seed: int, rung: str = "clean", *, trust: Trust | None = None, capture: Capture | None = None, **options: Any
) -> AsyncIterator[Bench]:
    """A bench in virtual time whose driver has its first report; closed and checked at the end."""
    b = Bench(SimulatedShuffler(seed=seed, **options), trust=trust, capture=capture)
    for fault in LADDER[rung]:
        b.inject(fault)
    b.supervisor.start()
    try:
        if trust is None:
            await b.until_reported()
        yield b
    finally:
        await b.supervisor.close()
        b.machine.board.power_off()
        b.machine.world.check()
