"""Payback of DJ Wild: for every hand, exactly how many of the dealer's hands are lower, equal and higher.

The dealer's hands without the player's five cards are counted by inclusion and exclusion: all hands, minus those with
one of the five, plus those with two, and so on. It is enough to know, for every set of up to four cards, the strengths
of the hands that contain it; sets that differ only by the names of suits are equivalent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from itertools import combinations
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import JOKER, rank, suit
from table_controller.rulebook.games.dj_wild import hands
from table_controller.rulebook.hands.hand_encoding import Memo
from table_controller.rulebook.payback.hand_classes import DECK, hand_classes
from table_controller.rulebook.payback.hand_counts import FIVE_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Both passes over the classes.
STEPS: Final = 2 * FIVE_STEPS
DEALER_HANDS: Final = comb(DECK - 5, 5)
_EVERY: Final = 1000

# A set of cards as bits: sixteen for each suit, so that suits can be put into order; the joker above them.
_FIELD: Final = 16
_BITS: Final = (*(1 << _FIELD * suit(card) + rank(card) for card in range(JOKER)), 1 << _FIELD * 4)


class DealerComparison(NamedTuple):
    """A class of player hands and how the dealer's hands compare to each of them."""

    cards: tuple[int, ...]
    multiplicity: int
    strength: int
    lower: int  # dealer hands
    equal: int
    higher: int


def compare_with_dealer(tick: Callable[[int], None]) -> Iterator[DealerComparison]:
    """Return every class of player hands with its dealer hands."""
    classes = [(cards, multiplicity, hands.strength(cards)) for cards, multiplicity in hand_classes(5, joker=True)]
    alike = Memo(_alike)
    holding: dict[int, Counter[int]] = defaultdict(Counter)  # a set of cards -> strengths of the hands that hold it
    for number, (cards, multiplicity, strength) in enumerate(classes):
        for _, chosen in _subsets(cards):
            holding[alike[chosen]][strength] += multiplicity
        if number % _EVERY == 0:
            tick(min(_EVERY, FIVE_STEPS - number))
    upto = {chosen: _cumulated(tally, _orbit(chosen)) for chosen, tally in holding.items()}
    for number, (cards, multiplicity, strength) in enumerate(classes):
        lower, not_higher = 0, -1  # a hand is equal to itself, and the dealer cannot have it
        for sign, chosen in _subsets(cards):
            strengths, counts = upto[alike[chosen]]
            lower += sign * counts[bisect_left(strengths, strength)]
            not_higher += sign * counts[bisect_right(strengths, strength)]
        if number % _EVERY == 0:
            tick(min(_EVERY, FIVE_STEPS - number))
        yield DealerComparison(cards, multiplicity, strength, lower, not_higher - lower, DEALER_HANDS - not_higher)


def _subsets(cards: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Return every set of up to four of five cards, with its sign."""
    bits = [_BITS[card] for card in cards]
    for size in range(5):
        sign = -1 if size % 2 else 1
        for chosen in combinations(bits, size):
            yield sign, sum(chosen)


def _suits(chosen: int) -> list[int]:
    return [chosen >> _FIELD * number & (1 << _FIELD) - 1 for number in range(4)]


def _alike(chosen: int) -> int:
    """Return the set among those alike whose suits are in order."""
    ordered = sum(mask << _FIELD * number for number, mask in enumerate(sorted(_suits(chosen))))
    return ordered | chosen >> _FIELD * 4 << _FIELD * 4


def _orbit(chosen: int) -> int:
    """Return how many sets are alike."""
    return factorial(4) // prod(factorial(number) for number in Counter(_suits(chosen)).values())


def _cumulated(tally: Counter[int], orbit: int) -> tuple[list[int], list[int]]:
    """Return the strengths in order, and how many hands rank below each, for one of the equivalent sets of `tally`."""
    strengths = sorted(tally)
    counts = [0]
    for strength in strengths:
        counts.append(counts[-1] + tally[strength] // orbit)
    return strengths, counts
