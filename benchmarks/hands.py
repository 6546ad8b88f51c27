"""Measures the ranking of the best five of seven cards against treys and phevaluator. Our deck has a joker.

Every library gets cards in its own form, prepared beforehand. Ours caches every sum of ranks; the budget is for a warm
cache, and one row shows a cold one. The classes of all hands are compared before the measurement.
"""

from __future__ import annotations

import random
from time import perf_counter
from typing import TYPE_CHECKING, Final

import treys
from phevaluator import evaluate_cards

from benchmarks.budgets import BUDGETS
from benchmarks.rows import BenchmarkRow, Role, arguments, interleave, print_table, print_verdict
from table_controller.rulebook.cards import NOTATION
from table_controller.rulebook.hands import poker5
from table_controller.rulebook.hands.hand_encoding import JOKER_KEYS, make_evaluator
from table_controller.rulebook.hands.ranking import class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Hands per sample; every sample has other hands, so that no result comes from a repeated hand.
BATCH: Final = 512
SAMPLES: Final = 64
ROUNDS: Final = 60
SEED: Final = 1

_RNG: Final = random.Random(SEED)
_JOKER_HANDS: Final = [[_RNG.sample(range(53), 7) for _ in range(BATCH)] for _ in range(SAMPLES)]
_HANDS: Final = [[_RNG.sample(range(52), 7) for _ in range(BATCH)] for _ in range(SAMPLES)]
_TREYS_CARDS: Final = [treys.Card.new(word) for word in NOTATION[:52]]
_TREYS_HANDS: Final = [[[_TREYS_CARDS[card] for card in hand] for hand in hands] for hands in _HANDS]
_TREYS: Final = treys.Evaluator()


def _check() -> None:
    """Compare classes; theirs count down from 9 to 1, and 0 for a royal flush."""
    ours_to_theirs = {0: 9, 1: 8, 2: 7, 3: 6, 4: 5, 5: 4, 6: 3, 7: 2, 8: 1, 10: 1}
    for ours, theirs in zip(_HANDS, _TREYS_HANDS, strict=True):
        for hand, other in zip(ours, theirs, strict=True):
            rank = _TREYS.evaluate(other[:2], other[2:])
            assert rank == evaluate_cards(*hand)
            assert ours_to_theirs[class_of(poker5.best_strength(hand))] == (_TREYS.get_rank_class(rank) or 1)
    assert all(poker5.best_strength(hand) for hands in _JOKER_HANDS for hand in hands)  # and fill the cache


def _row(
    name: str,
    samples: Sequence[Sequence[Sequence[int]]],
    best: Callable[[], Callable[[Sequence[int]], int]],
    role: Role = "ours",
) -> BenchmarkRow:
    """Return a row; `best` makes the evaluator of a batch, which is not measured."""
    number = 0

    def batch() -> Sequence[float]:
        nonlocal number
        hands = samples[number % len(samples)]
        number += 1
        evaluate = best()
        start = perf_counter()
        results = [evaluate(hand) for hand in hands]
        took = perf_counter() - start
        assert len(results) == BATCH
        return [took / BATCH]

    return BenchmarkRow(name, batch, role)


def main() -> None:
    """Measure, print, judge."""
    rounds = arguments(
        "Rank the best five of seven cards; peers: treys, phevaluator. Ratios count; absolute figures show the size.",
        "python -m benchmarks.hands --rounds 200",
        ROUNDS,
    )
    _check()

    def cold() -> Callable[[Sequence[int]], int]:
        return make_evaluator(JOKER_KEYS, poker5.by_rank, poker5.by_suit, poker5.RUNS.length, max)

    rows = [
        _row("pitbox, 53 cards", _JOKER_HANDS, lambda: poker5.best_strength),
        _row("pitbox, 52 cards", _HANDS, lambda: poker5.best_strength),
        _row("pitbox, 53 cards, nothing remembered", _JOKER_HANDS, cold),
        _row("phevaluator, 52 cards", _HANDS, lambda: lambda hand: evaluate_cards(*hand), "peer"),
        _row("treys, 52 cards", _TREYS_HANDS, lambda: lambda hand: _TREYS.evaluate(hand[:2], hand[2:]), "peer"),
    ]
    interleave(rows, rounds)
    print_table("best five of seven cards, per hand", rows, rows[:1])
    for row in rows[:3]:
        print(f"{row.name}: {1 / row.percentile(0.5):,.0f} hands/s")
    print_verdict(BUDGETS["hands"], "treys / pitbox with a joker", rows[4].ratio(rows[0]))


if __name__ == "__main__":
    main()
