"""Encoding of a hand as one sum: how many cards of each rank, of each suit, and how many wild cards.

Evaluating a hand adds one number per card and looks up the sum. Every sum is evaluated once and cached: seven cards
have 67,600 different sums of ranks, so the cache is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import JOKER, RANKS, SUITS, rank, suit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# A count of cards fits three bits: no rank appears more than five times, no suit more than seven.
BITS: Final = 3
_FIELD: Final = (1 << BITS) - 1
_WILD: Final = BITS * len(RANKS)  # place of the wild cards' count, above the ranks and below the suits
_SUITS: Final = _WILD + BITS
_RANKS_AND_WILD: Final = (1 << _SUITS) - 1


def natural_key(card: int) -> int:
    """Return the number that a natural card adds."""
    return 1 << BITS * rank(card) | 1 << _SUITS + BITS * suit(card)


WILD_KEY: Final = 1 << _WILD
# Only the joker is wild.
JOKER_KEYS: Final = (*map(natural_key, range(JOKER)), WILD_KEY)
# The joker and the 2s are wild.
TWOS_KEYS: Final = (*(WILD_KEY if rank(card) == 0 else natural_key(card) for card in range(JOKER)), WILD_KEY)


def rank_counts(key: int) -> list[int]:
    """Return how many cards of each rank a sum has, without wild cards."""
    return [key >> BITS * number & _FIELD for number in range(len(RANKS))]


def wild_count(key: int) -> int:
    """Return how many wild cards a sum has."""
    return key >> _WILD & _FIELD


def ranks_key(held: Iterable[int], wild: int = 0) -> int:
    """Return the sum of so many cards of each rank, without suits."""
    return sum(number << BITS * place for place, number in enumerate(held)) + wild * WILD_KEY


def suited_key(mask: int, wild: int) -> int:
    """Return the key of one suit: a bit for each of its ranks, then the number of wild cards."""
    return mask | wild << len(RANKS)


def suited_parts(key: int) -> tuple[int, int]:
    """Return the ranks of one suit and the number of wild cards."""
    return key & (1 << len(RANKS)) - 1, key >> len(RANKS)


class Memo(dict[int, int]):
    """A cache of a function; it has at most as many keys as there are different hands."""

    def __init__(self, work: Callable[[int], int]) -> None:
        super().__init__()
        self._work = work

    def __missing__(self, key: int) -> int:
        """Compute and cache a value."""
        value = self[key] = self._work(key)
        return value


def make_evaluator(
    keys: Sequence[int],
    by_rank: Callable[[int], int],
    by_suit: Callable[[int], int],
    least: int,
    join: Callable[[int, int], int],
) -> Callable[[Iterable[int]], int]:
    """Return a function that evaluates cards: the result for ranks, joined with the result for one long suit.

    `by_rank` gets the sum of ranks and wild cards, `by_suit` the key of a suit that has, with the wild cards, at least
    `least` cards. The games must not use hands where two suits can be that long.
    """
    ranked = Memo(by_rank)
    suited = Memo(by_suit)
    suit_of = Memo(lambda tail: _long_suit(tail, least))  # -1: no suit is long enough

    def worth(cards: Iterable[int]) -> int:
        total = 0
        for card in cards:
            total += keys[card]
        value = ranked[total & _RANKS_AND_WILD]
        long = suit_of[total >> _WILD]
        if long < 0:
            return value
        mask = 0
        wild = 0
        for card in cards:
            if keys[card] == WILD_KEY:
                wild += 1
            elif card & 3 == long:
                mask |= 1 << (card >> 2)
        return join(value, suited[suited_key(mask, wild)])

    return worth


def _long_suit(tail: int, least: int) -> int:
    """Return the suit that can make `least` cards, or -1. With wild cards only, the first."""
    wild = tail & _FIELD
    held = [tail >> BITS * (number + 1) & _FIELD for number in range(len(SUITS))]
    longest = max(range(len(SUITS)), key=held.__getitem__)
    return longest if held[longest] + wild >= least else -1
