"""Asia Poker (575.6): the four-card high hand, the two-card medium hand, the low card, and seven cards for the bonus.

This module checks how hands are set; the house way sets them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.hand_encoding import (
    JOKER_KEYS,
    make_evaluator,
    rank_counts,
    suited_parts,
    wild_count,
)
from table_controller.rulebook.hands.ranking import (
    HandClass,
    Straights,
    best_of_equal_ranks,
    best_of_one_suit,
    best_straight,
    rank_mask,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Strength = Callable[[Iterable[int]], int]

SIZES: Final = (4, 2, 1)
HIGH_FOUL: Final = "575.11(f)(1)(iii)"
MEDIUM_FOUL: Final = "575.11(f)(1)(iv)"
OTHER_FOUL: Final = "575.11(f)(1)(v)"
# The duties (`duties.toml`) that define each of the three hands, highest first.
NAMES: Final = ("high_hand", "medium_hand", "low_hand")


@cache
def strength(*, wheel_lowest_straight_flush: bool = False, wheel_lowest_straight: bool = False) -> Strength:
    """Return the function that ranks high, medium and low hands; the Rules Submission chooses both wheels (A5)."""
    flushes = Straights(4, wheel_second=not wheel_lowest_straight_flush)
    straights = Straights(4, wheel_second=not wheel_lowest_straight)

    def by_rank(key: int) -> int:
        held, jokers = rank_counts(key), wild_count(key)
        run = best_straight(straights, rank_mask(held), jokers)
        held[ACE] += jokers
        return max(best_of_equal_ranks(held, top=HandClass.FOUR_ACES), run)

    def by_suit(key: int) -> int:
        return best_of_one_suit(flushes, *suited_parts(key))

    return make_evaluator(JOKER_KEYS, by_rank, by_suit, flushes.length, max)


def foul_clause(hands: Sequence[Sequence[int]], rank_of: Strength) -> str | None:
    """Return the clause by which a setting is foul; None if high ranks above medium above low (A12)."""
    if tuple(map(len, hands)) != SIZES:
        return OTHER_FOUL
    high, medium, low = map(rank_of, hands)
    if high <= medium:
        return HIGH_FOUL
    return None if medium > low else MEDIUM_FOUL


def foul_duties(hands: Sequence[Sequence[int]], rank_of: Strength) -> tuple[str, ...]:
    """Return the duties that a foul setting violates: the setting itself, and each hand that is not what it must be."""
    wrong_size = [name for name, hand, size in zip(NAMES, hands, SIZES, strict=True) if len(hand) != size]
    if wrong_size:
        return ("set_sizes", *wrong_size)
    high, medium, _ = map(rank_of, hands)
    return ("set_ranks", *(NAMES[:2] if high <= medium else NAMES[1:]))


def bonus_features(cards: Sequence[int]) -> int:
    """Return the features of seven cards for the Bonus Wager."""
    key = sum(JOKER_KEYS[card] for card in cards)
    return hand_features.with_limited_joker(cards) | hand_features.special_features(rank_counts(key), wild_count(key))
