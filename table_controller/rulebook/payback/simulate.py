"""Main wagers that no count reaches: dealt out with a seeded generator, the result with its interval."""

from __future__ import annotations

import random
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.hands import asia, pai_gow
from table_controller.rulebook.hands.house_way import standard_4_2_1, standard_5_2
from table_controller.rulebook.payback.classes import DECK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Tick = Callable[[int], None]

SEATS: Final = 6
HAND: Final = 7
# Two-sided, 95 of 100 intervals hold the true value.
_DEVIATIONS: Final = 1.96


class Simulated(NamedTuple):
    """A mean with half of its 95 % interval; both are shares of the wager."""

    payback: float
    half_width: float
    rounds: int


def face_up_main(rounds: int, seed: int, tick: Tick) -> Simulated:
    """Deal Face Up Pai Gow: the dealer sets by the house way; players, who see his cards, as well as they can."""
    return _mean((_face_up(deal) for deal in _deals(rounds, seed)), rounds, tick)


def asia_main(rounds: int, seed: int, tick: Tick) -> Simulated:
    """Deal Asia Poker: dealer and players set by the house way."""
    return _mean((_asia(deal) for deal in _deals(rounds, seed)), rounds, tick)


def best_result(cards: Sequence[int], high: int, low: int) -> int:
    """Return the best that a player can get against two hands: 1 wins, 0 pushes, -1 loses."""
    pushes = pai_gow.strength(cards) > high  # his best five in the high hand
    for pair in combinations(cards, 2):
        own_low = pai_gow.strength(pair)
        if own_low > low:
            own_high = pai_gow.strength([card for card in cards if card not in pair])
            if own_high >= own_low:
                if own_high > high:
                    return 1
                pushes = True
    return 0 if pushes else -1


def _face_up(deal: list[tuple[int, ...]]) -> float:
    dealer, *players = deal
    if pai_gow.is_ace_high(dealer):
        return 0
    high, low = map(pai_gow.strength, standard_5_2(dealer))
    return sum(best_result(player, high, low) for player in players) / SEATS


def _asia(deal: list[tuple[int, ...]]) -> float:
    strength = asia.strength()
    dealer, *players = ([strength(hand) for hand in standard_4_2_1(cards)] for cards in deal)
    won = sum(sum(own > other for own, other in zip(player, dealer, strict=True)) >= 2 for player in players)
    return (2 * won - SEATS) / SEATS


def _deals(rounds: int, seed: int) -> Iterator[list[tuple[int, ...]]]:
    rng = random.Random(seed)
    for _ in range(rounds):
        cards = rng.sample(range(DECK), HAND * (SEATS + 1))
        yield [tuple(cards[at : at + HAND]) for at in range(0, len(cards), HAND)]


def _mean(results: Iterator[float], rounds: int, tick: Tick) -> Simulated:
    """Players of one round share the dealer, so a round is one sample: the mean of its six."""
    total = squares = 0.0
    for result in results:
        total += result
        squares += result * result
        tick(1)
    mean = total / rounds
    variance = max(0.0, squares / rounds - mean * mean)
    return Simulated(1 + mean, _DEVIATIONS * sqrt(variance / rounds), rounds)
