"""One simulated machine on a bench in virtual time, over any line of the transport ladder."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.kinds import SHUFFLER, D, Kind, V
from simulators.casino.device_bench import DeviceBench, M, ShufflerBench
from simulators.engine.ports.memory import MemoryPort
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.kinds.shuffler.machine import SimulatedShuffler

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Capture

# The ladder: faults of the line for every scenario. The lossy line drops, duplicates and corrupts in both directions.
LADDER: Final[dict[str, list[str]]] = {
    "clean": [],
    "byte-at-a-time": ["split"],
    "lossy": ["drop:rate=0.1", "duplicate:rate=0.1", "corrupt:rate=0.1", "junk:rate=0.1"],
    "slow": ["slow:baud=9600"],
}
over_the_ladder = pytest.mark.parametrize("rung", list(LADDER))


def in_turn_over_the_ladder(names: str, cases: list[Any]) -> pytest.MarkDecorator:
    """Run each case on one line, in turn, and on all of them in `make proof`. For long tables of cases."""
    return pytest.mark.parametrize(
        (*names.split(), "rung"),
        [
            pytest.param(*(case if isinstance(case, tuple) else (case,)), rung, marks=[pytest.mark.proof] * (turn != 0))
            for number, case in enumerate(cases)
            for turn, rung in enumerate([*LADDER, *LADDER][number % len(LADDER) :][: len(LADDER)])
        ],
    )


ShufflerTestBench = ShufflerBench


@asynccontextmanager
async def device_bench(
    machine: M,
    kind: Kind[D, V],
    rung: str = "clean",
    *,
    trust: Trust | None = None,
    capture: Capture | None = None,
) -> AsyncIterator[DeviceBench[M, D, V]]:
    """A machine's bench on a pipe in memory, whose driver has its first report; closed and checked at the end."""
    s = DeviceBench(machine, kind, MemoryPort(machine).open, trust=trust, capture=capture)
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
async def shuffler_bench(
    seed: int,
    rung: str = "clean",
    *,
    trust: Trust | None = None,
    capture: Capture | None = None,
    continuous: bool = False,
    **options: Any,
) -> AsyncIterator[ShufflerTestBench]:
    """A shuffler's bench in virtual time; `options` and `continuous` choose the model."""
    model = SimulatedContinuousShuffler if continuous else SimulatedShuffler
    async with device_bench(model(seed=seed, **options), SHUFFLER, rung, trust=trust, capture=capture) as b:
        yield b
