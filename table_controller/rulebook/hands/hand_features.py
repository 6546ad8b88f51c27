"""Features of a hand as bits: a paytable pays the first line, from the top, whose feature the hand has.

A hand has several features at once: a full house is also three of a kind. The printed order of a paytable decides
which one is paid, so this module ranks nothing. The words are those of the paytables.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.hands.hand_encoding import (
    JOKER_KEYS,
    TWOS_KEYS,
    make_evaluator,
    rank_counts,
    ranks_key,
    suited_parts,
    wild_count,
)
from table_controller.rulebook.hands.ranking import Straights, rank_mask

if TYPE_CHECKING:
    from collections.abc import Sequence

FEATURES: Final = (
    "pair", "two_pair", "three_pair", "three_of_a_kind", "straight", "flush", "full_house", "four_of_a_kind",
    "straight_flush", "natural_straight_flush", "straight_flush_with_joker",
    "royal_flush", "royal_flush_natural", "royal_flush_with_joker", "five_of_a_kind", "five_aces", "five_wilds",
    "seven_card_straight_flush_any", "seven_card_natural_straight_flush", "seven_card_straight_flush_with_joker",
    "royal_flush_plus_royal_match", "nine_high", "four_8s_plus_three_of_a_kind",
    "three_of_a_kind_or_less", "win", "both_ace_high", "dealer_ace_high_with_joker", "dealer_ace_high_no_joker",
    "point_count_5", "point_count_not_5", "point_total",
)  # fmt: skip
FEATURE_BIT: Final = {word: 1 << place for place, word in enumerate(FEATURES)}

# Groups of equal cards: a hand has the feature if its largest groups, with wild cards, are as large.
_GROUPS: Final = {
    "pair": (2,), "two_pair": (2, 2), "three_pair": (2, 2, 2), "three_of_a_kind": (3,), "full_house": (3, 2),
    "four_of_a_kind": (4,), "five_of_a_kind": (5,),
}  # fmt: skip
_EIGHT: Final = RANKS.index("8")
# The only two 9-high hands (575.6(d)(7)): seven ranks without pair, straight or joker.
_NINE_HIGH: Final = frozenset(
    ranks_key([1 if rank in ranks else 0 for rank in RANKS]) for ranks in ("9876432", "9875432")
)
_FIVE: Final = Straights(5, wheel_second=True)
_SEVEN: Final = Straights(7, wheel_second=True)


def feature_bits(*words: str) -> int:
    """Return the bits of several features."""
    return sum(FEATURE_BIT[word] for word in words)


def feature_names(features: int) -> tuple[str, ...]:
    """Return the names of the features in a bit mask."""
    return tuple(word for word in FEATURES if features & FEATURE_BIT[word])


def group_features(held: Sequence[int], wild: int) -> int:
    """Return the features of groups of equal rank."""
    largest = sorted(held, reverse=True)
    return sum(FEATURE_BIT[word] for word, group in _GROUPS.items() if _lacking(group, largest) <= wild)


def _lacking(group: tuple[int, ...], largest: Sequence[int]) -> int:
    return sum(max(0, needed - had) for needed, had in zip(group, largest, strict=False))


def by_rank_limited(key: int) -> int:
    """Return the features of ranks alone, with the limited joker: an ace, or the missing card of a straight."""
    held, jokers = rank_counts(key), wild_count(key)
    run = FEATURE_BIT["straight"] if _FIVE.best(rank_mask(held), jokers) else 0
    held[ACE] += jokers
    aces = FEATURE_BIT["five_aces"] if held[ACE] == 5 else 0
    return group_features(held, 0) | run | aces


def by_rank_wild(key: int) -> int:
    """Return the features of ranks alone, with fully wild cards."""
    held, wild = rank_counts(key), wild_count(key)
    run = FEATURE_BIT["straight"] if _FIVE.best(rank_mask(held), wild) else 0
    aces = FEATURE_BIT["five_aces"] if held[ACE] + wild >= 5 else 0
    return group_features(held, wild) | run | aces


def by_suit(key: int) -> int:
    """Return the features of five or more cards of one suit, wild cards included."""
    mask, wild = suited_parts(key)
    features = FEATURE_BIT["flush"]
    if _FIVE.best(mask, wild):
        features |= FEATURE_BIT["straight_flush"]
        features |= FEATURE_BIT["straight_flush_with_joker"] if wild else 0
    if _FIVE.best(mask, 0):
        features |= FEATURE_BIT["natural_straight_flush"]
    if _lacks_of_royal(mask) <= wild:
        features |= FEATURE_BIT["royal_flush"]
        features |= FEATURE_BIT["royal_flush_with_joker" if wild else "royal_flush_natural"]
    if _SEVEN.best(mask, wild):
        features |= FEATURE_BIT["seven_card_straight_flush_any"]
        features |= FEATURE_BIT["seven_card_straight_flush_with_joker" if wild else "seven_card_natural_straight_flush"]
    return features


def special_features(number: Sequence[int], jokers: int) -> int:
    """Return the two features that only seven cards of 575 pay, from the number of cards of each rank."""
    features = FEATURE_BIT["nine_high"] if ranks_key(number, jokers) in _NINE_HIGH else 0
    if number[_EIGHT] == 4 and (3 in number or number[ACE] + jokers == 3):  # the joker counts as an ace here too (A4)
        features |= FEATURE_BIT["four_8s_plus_three_of_a_kind"]
    return features


def _lacks_of_royal(mask: int) -> int:
    royal, _ = _FIVE.all[0]
    return (royal & ~mask).bit_count()


# Which cards are wild: the limited joker, the fully wild joker, or 2s and joker fully wild.
with_limited_joker: Final = make_evaluator(JOKER_KEYS, by_rank_limited, by_suit, _FIVE.length, operator.or_)
with_wild_joker: Final = make_evaluator(JOKER_KEYS, by_rank_wild, by_suit, _FIVE.length, operator.or_)
with_wild_twos: Final = make_evaluator(TWOS_KEYS, by_rank_wild, by_suit, _FIVE.length, operator.or_)
