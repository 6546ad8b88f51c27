"""Features of a hand as bits: a paytable pays the first line, from the top, whose feature the hand has.

A hand has several features at once: a full house is also three of a kind. The printed order of a paytable decides
which one is paid, so this module ranks nothing. The words are those of the paytables.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE
from table_controller.rulebook.hands.keys import JOKER_KEYS, TWOS_KEYS, counts, evaluator, suited_parts, wilds
from table_controller.rulebook.hands.ranking import Runs, mask_of

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS: Final = (
    "pair", "two_pair", "three_pair", "three_of_a_kind", "straight", "flush", "full_house", "four_of_a_kind",
    "straight_flush", "natural_straight_flush", "straight_flush_with_joker",
    "royal_flush", "royal_flush_natural", "royal_flush_with_joker", "five_of_a_kind", "five_aces", "five_wilds",
    "seven_card_straight_flush_any", "seven_card_natural_straight_flush", "seven_card_straight_flush_with_joker",
    "royal_flush_plus_royal_match", "nine_high", "four_8s_plus_three_of_a_kind",
    "three_of_a_kind_or_less", "win", "both_ace_high", "dealer_ace_high_with_joker", "dealer_ace_high_no_joker",
    "point_count_5", "point_count_not_5", "point_total",
)  # fmt: skip
BIT: Final = {word: 1 << place for place, word in enumerate(WORDS)}

# Groups of equal cards: a hand has the feature if its largest groups, with wild cards, are as large.
_GROUPS: Final = {
    "pair": (2,), "two_pair": (2, 2), "three_pair": (2, 2, 2), "three_of_a_kind": (3,), "full_house": (3, 2),
    "four_of_a_kind": (4,), "five_of_a_kind": (5,),
}  # fmt: skip
_FIVE: Final = Runs(5, wheel_second=True)
_SEVEN: Final = Runs(7, wheel_second=True)


def bits(*words: str) -> int:
    """Return the bits of several features."""
    return sum(BIT[word] for word in words)


def words(features: int) -> tuple[str, ...]:
    """Return the names of the features in a bit mask."""
    return tuple(word for word in WORDS if features & BIT[word])


def of_groups(held: Sequence[int], wild: int) -> int:
    """Return the features of groups of equal rank."""
    largest = sorted(held, reverse=True)
    return sum(BIT[word] for word, group in _GROUPS.items() if _lacking(group, largest) <= wild)


def _lacking(group: tuple[int, ...], largest: Sequence[int]) -> int:
    return sum(max(0, needed - had) for needed, had in zip(group, largest, strict=False))


def by_rank_limited(key: int) -> int:
    """Return the features of ranks alone, with the limited joker: an ace, or the missing card of a straight."""
    held, jokers = counts(key), wilds(key)
    run = BIT["straight"] if _FIVE.best(mask_of(held), jokers) else 0
    held[ACE] += jokers
    aces = BIT["five_aces"] if held[ACE] == 5 else 0
    return of_groups(held, 0) | run | aces


def by_rank_wild(key: int) -> int:
    """Return the features of ranks alone, with fully wild cards."""
    held, wild = counts(key), wilds(key)
    run = BIT["straight"] if _FIVE.best(mask_of(held), wild) else 0
    aces = BIT["five_aces"] if held[ACE] + wild >= 5 else 0
    return of_groups(held, wild) | run | aces


def by_suit(key: int) -> int:
    """Return the features of five or more cards of one suit, wild cards included."""
    mask, wild = suited_parts(key)
    features = BIT["flush"]
    if _FIVE.best(mask, wild):
        features |= BIT["straight_flush"]
        features |= BIT["straight_flush_with_joker"] if wild else 0
    if _FIVE.best(mask, 0):
        features |= BIT["natural_straight_flush"]
    if _lacks_of_royal(mask) <= wild:
        features |= BIT["royal_flush"]
        features |= BIT["royal_flush_with_joker" if wild else "royal_flush_natural"]
    if _SEVEN.best(mask, wild):
        features |= BIT["seven_card_straight_flush_any"]
        features |= BIT["seven_card_straight_flush_with_joker" if wild else "seven_card_natural_straight_flush"]
    return features


def _lacks_of_royal(mask: int) -> int:
    royal, _ = _FIVE.all[0]
    return (royal & ~mask).bit_count()


# Which cards are wild: the limited joker, the fully wild joker, or 2s and joker fully wild.
limited: Final = evaluator(JOKER_KEYS, by_rank_limited, by_suit, _FIVE.length, operator.or_)
fully_wild: Final = evaluator(JOKER_KEYS, by_rank_wild, by_suit, _FIVE.length, operator.or_)
twos_wild: Final = evaluator(TWOS_KEYS, by_rank_wild, by_suit, _FIVE.length, operator.or_)
