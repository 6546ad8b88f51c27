"""Random rounds with a continuous shuffler and random faults: every count is right or unknown."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.shuffler import messages as m
from simulators.kinds.shuffler.continuous_firmware import ContinuousFirmware
from simulators.kinds.shuffler.counts import CountedSet, ShufflerCounts
from tests.support.machines.bench import shuffler_bench
from tests.support.machines.continuous_soak import ContinuousSoak
from tests.support.machines.continuous_store import FEW, SET
from tests.support.machines.machine_soak import RUNGS, play_soak, seeded_soak  # noqa: F401 - a fixture
from tests.support.suite.case_counts import count_cases

if TYPE_CHECKING:
    from collections import Counter

pytestmark = pytest.mark.usefixtures("seeded_soak")
# Every rung twice; about two minutes in all.
RUNS: Final = 8
ROUNDS: Final = count_cases(150)


async def soak(seed: int, run: int, rounds: int) -> Counter[str]:
    """The runs with a small set see more rounds go wrong in the same time; every fourth has the whole one."""
    bench = shuffler_bench(seed * 100 + run, RUNGS[run % 4], continuous=True)
    cards = SET if run % 4 == 3 else FEW
    return await play_soak(bench, lambda b: ContinuousSoak(b, Random(f"{seed} {run}"), cards), rounds)


@pytest.mark.parametrize("run", [0, 2])
async def test_a_few_random_rounds_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, 30)
    assert figures["rounds"] == 30
    assert figures["looks"] > 300
    assert figures["looks at a ledger that was right"] > 20
    assert figures["sets found whole"] > 3
    assert figures["recoveries"] > 3


async def test_the_same_seed_plays_the_same_rounds_again(seed: int) -> None:
    assert await soak(seed, 2, 8) == await soak(seed, 2, 8) != await soak(seed + 1, 2, 8)


@pytest.mark.proof
@pytest.mark.parametrize("run", range(RUNS))
async def test_many_random_rounds_never_leave_a_wrong_count(seed: int, run: int) -> None:
    figures = await soak(seed, run, ROUNDS)
    assert figures["rounds"] == ROUNDS
    print(f"{RUNGS[run % 4]}: {dict(sorted(figures.items()))}")


def _never(*_: Any, **__: Any) -> bool:
    return False


_BEGIN: Final = ShufflerCounts.begin


def _without_a_store(counts: ShufflerCounts) -> None:
    counts.stored = [0] * len(counts.stored)
    _BEGIN(counts)


def _only_a_look(counts: ShufflerCounts, *, at_rest: bool) -> None:
    counts._touched |= not at_rest
    if at_rest:
        counts.note_inspection()


def _one_less(twin: ContinuousFirmware) -> None:
    if not twin.board.alive:
        return
    if twin._in_chute is not None:
        twin._in_chute -= 1
    elif not twin._mechanics.chute_dark():
        twin._in_chute = 0
    twin.board.emit(m.StoreChanged(twin._counts.inside, twin._in_chute, m.Reason.NONE))


def _as_many_as_come(ledger: CountedSet, cards: int) -> bool:
    if ledger.outside is not None:
        ledger.outside = max(0, ledger.outside - cards)
    return True


def _as_it_was(twin: ContinuousFirmware) -> None:
    twin._in_chute = getattr(twin, "_in_chute", 0)


# Mistakes that firmware could make: where, and what it would do instead.
MISTAKES: Final[dict[str, tuple[type[Any], str, Any]]] = {
    "doubt never arises": (ShufflerCounts, "lose_certainty", _never),
    "a new command forgets the store": (ShufflerCounts, "begin", _without_a_store),
    "a door at rest is not thought of": (ShufflerCounts, "door_opened", _only_a_look),
    "what is delivered is not noted": (CountedSet, "give", _never),
    "what is taken in is not noted": (CountedSet, "take_back", lambda *_: True),
    "what is taken in is not compared with it": (CountedSet, "take_back", _as_many_as_come),
    "draws are not counted": (ContinuousFirmware, "_drawn", _never),
    "draws are counted and not compared with the chute's sensor": (ContinuousFirmware, "_drawn", _one_less),
    "a restart knows how many cards are in the chute": (ContinuousFirmware, "_look_at_chute", _as_it_was),
}


# Rarely made: the run in which it shows soonest.
SHOWS_IN: Final = {"draws are counted and not compared with the chute's sensor": 2}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_planted_mistake_does_not_survive_the_soak(
    seed: int, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    owner, name, instead = MISTAKES[mistake]
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(AssertionError, match="reported"):
        await _four_soaks(seed, SHOWS_IN.get(mistake, 0))


async def _four_soaks(seed: int, first: int) -> None:
    """Run four soaks; the first shows most mistakes."""
    for run in sorted(range(4), key=lambda run: run != first):
        await soak(seed, run, 3 * ROUNDS)
