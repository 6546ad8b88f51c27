"""Hundreds of blocks with random faults: counts are right or unknown, and no wrong stack or deck is called right."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, Final

import pytest

from simulators.kinds.shoe.counts import ShoeCounts
from simulators.kinds.shoe.firmware import ShoeFirmware
from tests.support.machines.machine_soak import RUNGS, play_soak, seeded_soak  # noqa: F401 - a fixture
from tests.support.machines.manual_shoe_soak import ManualShoeSoak
from tests.support.machines.shoe_soak import ShoeSoak
from tests.support.machines.shoes import manual_shoe_bench, shoe_bench
from tests.support.suite.case_counts import count_cases

pytestmark = pytest.mark.usefixtures("seeded_soak")
RUNS: Final = 4
BLOCKS: Final = count_cases(400)
ALL: Final[Counter[str]] = Counter()


async def soak(seed: int, run: int, blocks: int) -> Counter[str]:
    bench = shoe_bench(seed * 100 + run, RUNGS[run % 4], loaded=False)
    return await play_soak(bench, lambda b: ShoeSoak(b, Random(f"{seed} {run}")), blocks)


@pytest.mark.parametrize("run", range(RUNS))
async def test_a_few_random_blocks_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, 10)
    assert figures["blocks"] == 10
    assert figures["looks"] > 500
    assert figures["looks that found it unknown"] < figures["looks"] / 2, "to know nothing is no art"
    assert figures["stacks found right"] > 10
    assert figures["times back in service"] > 5


async def soak_by_hand(seed: int, run: int, blocks: int) -> Counter[str]:
    bench = manual_shoe_bench(seed * 100 + run, RUNGS[run % 4], loaded=False)
    return await play_soak(bench, lambda b: ManualShoeSoak(b, Random(f"{seed} {run}")), blocks)


@pytest.mark.parametrize("run", range(RUNS))
async def test_a_few_blocks_dealt_by_clumsy_hands_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak_by_hand(seed, run, 20)
    assert figures["blocks"] == 20
    assert figures["looks"] > 100
    assert figures["looks that found it unknown"] < figures["looks"] / 2
    assert figures["decks found complete"] > 0


async def test_the_same_seed_plays_the_same_soak_again(seed: int) -> None:
    assert await soak(seed, 2, 4) == await soak(seed, 2, 4) != await soak(seed + 1, 2, 4)


@pytest.mark.proof
@pytest.mark.parametrize("run", range(RUNS))
async def test_many_random_blocks_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, BLOCKS)
    assert figures["blocks"] == BLOCKS
    assert figures["looks that found it unknown"] < figures["looks"] / 2
    ALL.update(figures)
    print(f"{RUNGS[run % 4]}: {dict(sorted(figures.items()))}")
    if run == RUNS - 1:
        print(f"all runs: {dict(sorted(ALL.items()))}; wrong beliefs: 0; incomplete decks called complete: 0;")
        print(
            "wrong stacks called right: 0, but for pairs that no sensor can see (the count above; the stub finds them)"
        )


@pytest.mark.proof
@pytest.mark.parametrize("run", range(RUNS))
async def test_many_blocks_dealt_by_clumsy_hands_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak_by_hand(seed, run, BLOCKS)
    assert figures["blocks"] == BLOCKS
    print(f"by hand, {RUNGS[run % 4]}: {dict(sorted(figures.items()))}; wrong beliefs: 0")


def _never(*_: Any, **__: Any) -> bool:
    return False


def _always(*_: Any, **__: Any) -> bool:
    return True


def _assume_all_came_out(counts: ShoeCounts, _: int) -> None:
    counts.begin_load()


# Mistakes that firmware could make: where, what it would do instead, and a run in which it must show.
MISTAKES: Final[dict[str, tuple[type[Any], str, Any, int]]] = {
    "a card being drawn is not counted": (ShoeCounts, "draw", _never, 0),
    "counts and well are not compared": (ShoeCounts, "agree", _always, 3),
    "doubt never arises": (ShoeCounts, "lose_certainty", _never, 0),
    "emptying is not compared with what was stored": (ShoeCounts, "emptied", _assume_all_came_out, 1),
    "what hands draw is not counted": (ShoeFirmware, "_hand_ended", _never, 0),
    "an empty slot is not noticed": (ShoeFirmware, "hands_moved", _never, 0),
    "cards in the well after a restart are thought to be all there": (ShoeFirmware, "boot", None, 0),
}


def _boot_without_doubt(twin: ShoeFirmware) -> None:
    """Start as if no card could have been drawn meanwhile."""
    doubt, twin._counts.lose_certainty = twin._counts.lose_certainty, lambda: None  # type: ignore[method-assign]
    _BOOT(twin)
    twin._counts.lose_certainty = doubt  # type: ignore[method-assign]


_BOOT: Final = ShoeFirmware.boot


@pytest.mark.proof
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_planted_mistake_does_not_survive_the_soak(
    seed: int, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    owner, name, instead, run = MISTAKES[mistake]
    monkeypatch.setattr(owner, name, instead or _boot_without_doubt)
    with pytest.raises(AssertionError):
        await soak(seed, run, BLOCKS)
