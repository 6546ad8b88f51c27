"""One simulated machine on a stand in virtual time, over any rung of the transport ladder. No tests here."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.kinds import SHUFFLER, D, Kind, V
from simulators.hosts.memory import MemoryHost
from simulators.house.stand import M, ShufflerStand, Stand
from simulators.machines.continuous import SimulatedContinuous
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


def in_turn_over_the_ladder(names: str, cases: list[Any]) -> pytest.MarkDecorator:
    """Each case on one rung, in turn; on the others too in `make proof`. For tables of cases that are long."""
    return pytest.mark.parametrize(
        (*names.split(), "rung"),
        [
            pytest.param(*(case if isinstance(case, tuple) else (case,)), rung, marks=[pytest.mark.proof] * (turn != 0))
            for number, case in enumerate(cases)
            for turn, rung in enumerate([*LADDER, *LADDER][number % len(LADDER) :][: len(LADDER)])
        ],
    )


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
    seed: int,
    rung: str = "clean",
    *,
    trust: Trust | None = None,
    capture: Capture | None = None,
    continuous: bool = False,
    **options: Any,
) -> AsyncIterator[Bench]:
    """A shuffler's stand in virtual time; `options` say which model, and so does `continuous`."""
    model = SimulatedContinuous if continuous else SimulatedShuffler
    async with stand(model(seed=seed, **options), SHUFFLER, rung, trust=trust, capture=capture) as b:
        yield b
