"""Hundreds of random cycles with random faults: counts are right or unknown, and no bad deck is called good."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, Final

import pytest

from simulators.kinds.shuffler.counts import ShufflerCounts
from simulators.kinds.shuffler.firmware import ShufflerFirmware
from tests.support.machines.bench import shuffler_bench
from tests.support.machines.machine_soak import RUNGS, play_soak, seeded_soak  # noqa: F401 - a fixture
from tests.support.machines.shuffler_soak import ShufflerSoak
from tests.support.suite.case_counts import count_cases

pytestmark = pytest.mark.usefixtures("seeded_soak")
# Every rung, first with a machine that counts, then with one that identifies; about three minutes in all.
RUNS: Final = 8
CYCLES: Final = count_cases(400)
# Six decks take six times as long.
BATCHES: Final = count_cases(60)
ALL: Final[Counter[str]] = Counter()


async def soak(seed: int, run: int, cycles: int, *, batch: bool = False) -> Counter[str]:
    identifies = run % 8 >= 4
    bench = shuffler_bench(seed * 100 + run, RUNGS[run % 4], identifies=identifies, batch=batch)
    return await play_soak(bench, lambda b: ShufflerSoak(b, Random(f"{seed} {run}"), identifies=identifies), cycles)


@pytest.mark.parametrize("run", [0, 6])
async def test_a_few_random_cycles_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, 25)
    assert figures["cycles"] == 25
    assert figures["looks"] > 500
    assert figures["looks that found it unknown"] < figures["looks"] / 2, "to know nothing is no art"
    assert figures["times back in service"] > 10


@pytest.mark.parametrize("run", [3, 6])
async def test_a_few_random_batches_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, 6, batch=True)
    assert figures["cycles"] == 6
    assert figures["looks"] > 500
    assert figures["batches swapped"] > 0
    assert figures["times back in service"] > 2


async def test_the_same_seed_plays_the_same_soak_again(seed: int) -> None:
    assert await soak(seed, 2, 8) == await soak(seed, 2, 8) != await soak(seed + 1, 2, 8)


@pytest.mark.proof
@pytest.mark.parametrize("run", range(RUNS))
async def test_many_random_cycles_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, CYCLES)
    assert figures["cycles"] == CYCLES
    assert figures["looks that found it unknown"] < figures["looks"] / 2
    ALL.update(figures)
    print(f"{RUNGS[run % 4]}, {'identifying' if run % 8 >= 4 else 'counting'}: {dict(sorted(figures.items()))}")
    if run == RUNS - 1:
        print(f"all runs: {dict(sorted(ALL.items()))}; wrong beliefs: 0; bad decks called good: 0,")
        print("but for swapped cards that a machine which only counts cannot see (the count above)")


@pytest.mark.proof
@pytest.mark.parametrize("run", range(RUNS))
async def test_many_random_batches_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, BATCHES, batch=True)
    assert figures["cycles"] == BATCHES
    print(
        f"batches, {RUNGS[run % 4]}, {'identifying' if run % 8 >= 4 else 'counting'}: {dict(sorted(figures.items()))}"
    )


def _never(*_: Any, **__: Any) -> bool:
    return False


def _assume_all_came_out(counts: ShufflerCounts) -> int:
    brought = counts.left
    counts.forget()
    return brought


# Mistakes that firmware could make: where, what it would do instead, and a run in which it must show.
MISTAKES: Final[dict[str, tuple[type[Any], str, Any, int]]] = {
    "a card being drawn is not counted": (ShufflerCounts, "draw", _never, 0),
    "hands are not thought of": (ShufflerCounts, "door_opened", _never, 0),
    "doubt never arises": (ShufflerCounts, "lose_certainty", _never, 0),
    "emptying is not compared with what was stored": (ShufflerCounts, "emptied", _assume_all_came_out, 1),
    "faces are read and not judged": (ShufflerFirmware, "_judge_faces", _never, 4),
}


@pytest.mark.proof
@pytest.mark.parametrize("batch", [False, True], ids=["deck", "batch"])
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_planted_mistake_does_not_survive_the_soak(
    seed: int, monkeypatch: pytest.MonkeyPatch, mistake: str, batch: bool
) -> None:
    owner, name, instead, run = MISTAKES[mistake]
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(AssertionError):
        await _soaks(seed, run, 3 * (BATCHES if batch else CYCLES), batch=batch)


async def _soaks(seed: int, run: int, cycles: int, *, batch: bool) -> None:
    """Run the first soak, and the one where a rare mistake shows."""
    for each in dict.fromkeys((0, run)):
        await soak(seed, each, cycles, batch=batch)
