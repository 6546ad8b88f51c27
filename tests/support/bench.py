"""One simulated shuffler on a stand in virtual time, over any rung of the transport ladder. No tests here."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from simulators.bench import SimulatedShuffler
from simulators.hosts.memory import MemoryHost
from simulators.house.stand import Stand

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Capture

# The rungs: what the line does to every scenario. The lossy one loses, doubles and corrupts in both directions.
LADDER: Final[dict[str, list[str]]] = {
    "clean": [],
    "byte-at-a-time": ["split"],
    "lossy": ["drop:rate=0.1", "duplicate:rate=0.1", "corrupt:rate=0.1", "junk:rate=0.1"],
    "slow": ["slow:baud=9600"],
}
over_the_ladder = pytest.mark.parametrize("rung", list(LADDER))


class Bench(Stand):
    """A stand whose port is a pipe in memory."""

    def __init__(
        self, machine: SimulatedShuffler, *, trust: Trust | None = None, capture: Capture | None = None
    ) -> None:
        self.host = MemoryHost(machine)
        super().__init__(machine, self.host.open, trust=trust, capture=capture)


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
        await b.close()
