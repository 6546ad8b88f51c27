"""One simulated machine on a stand in virtual time, over any rung of the transport ladder. No tests here."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.kinds import SHUFFLER, D, Kind, V
from simulators.hosts.memory import MemoryHost
from simulators.house.stand import M, ShufflerStand, Stand
from simulators.machines.shuffler import SimulatedShuffler

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

Bench = ShufflerStand


@asynccontextmanager
async def stand(
    machine: M,
    kind: Kind[D, V],
    rung: str = "clean",
    *,
    trust: Trust | None = None,
    capture: Capture | None = None,
) -> AsyncIterator[Stand[M, D, V]]:
    """Any machine's stand on a pipe in memory, whose driver has its first report; closed and checked at the end."""
    s = Stand(machine, kind, MemoryHost(machine).open, trust=trust, capture=capture)
    for fault in LADDER[rung]:
        s.inject(fault)
    s.supervisor.start()
    try:
        if trust is None:
            await s.until_reported()
        yield s
    finally:
        await s.close()


@asynccontextmanager
async def bench(
    seed: int, rung: str = "clean", *, trust: Trust | None = None, capture: Capture | None = None, **options: Any
) -> AsyncIterator[Bench]:
    """A shuffler's stand in virtual time."""
    async with stand(SimulatedShuffler(seed=seed, **options), SHUFFLER, rung, trust=trust, capture=capture) as b:
        yield b
