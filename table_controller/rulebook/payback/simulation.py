"""Paybacks of wagers that cannot be counted: rounds dealt with a seeded generator, the mean with its interval."""

from __future__ import annotations

import random
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.payback.hand_classes import DECK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tick = Callable[[int], None]

SEATS: Final = 6
HAND: Final = 7
# Two-sided, 95 of 100 intervals contain the true value.
_DEVIATIONS: Final = 1.96


class SimulatedPayback(NamedTuple):
    """A mean with half of its 95 % interval; both are shares of the wager."""

    payback: float
    half_width: float
    rounds: int


def deals(rounds: int, seed: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield the hands of each round: the dealer's first, then one per seat."""
    rng = random.Random(seed)
    for _ in range(rounds):
        cards = rng.sample(range(DECK), HAND * (SEATS + 1))
        yield [tuple(cards[at : at + HAND]) for at in range(0, len(cards), HAND)]


def mean_payback(results: Iterator[float], rounds: int, tick: Tick) -> SimulatedPayback:
    """Return the mean. Players of one round share the dealer, so a round is one sample: the mean of its six."""
    total = squares = 0.0
    for result in results:
        total += result
        squares += result * result
        tick(1)
    mean = total / rounds
    variance = max(0.0, squares / rounds - mean * mean)
    return SimulatedPayback(1 + mean, _DEVIATIONS * sqrt(variance / rounds), rounds)
