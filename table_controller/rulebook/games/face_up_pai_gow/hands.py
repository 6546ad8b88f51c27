"""Face Up Pai Gow Poker (688a.6): the five-card high hand, the two-card low hand, and the seven cards as one.

This module checks how hands are set; the house way sets them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE, JOKER, RANKS, rank, suit
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import HandClass, class_of, ranks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES: Final = (5, 2)
HIGH_FOUL: Final = "688a.11(f)(1)(iii)"
OTHER_FOUL: Final = "688a.11(f)(1)(iv)"
# The duties (`duties.toml`) that define each of the two hands, highest first.
NAMES: Final = ("high_hand", "low_hand")

# High and low hands are ranked alike; a joker in the low hand is an ace.
strength: Final = poker5.best_strength

_MATCH: Final = frozenset(map(RANKS.index, "KQ"))
_MATCH_BIT: Final = hand_features.feature_bits("royal_flush_plus_royal_match")
_ROYAL_BIT: Final = hand_features.feature_bits("royal_flush")


def foul_clause(hands: Sequence[Sequence[int]]) -> str | None:
    """Return the clause by which a setting is foul; None if the high hand ranks at least as high as the low hand."""
    if tuple(map(len, hands)) != SIZES:
        return OTHER_FOUL
    high, low = hands
    return None if strength(high) >= strength(low) else HIGH_FOUL


def foul_duties(hands: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return the duties that a foul setting violates: the setting itself, or the order of its hands."""
    return ("set_sizes" if tuple(map(len, hands)) != SIZES else "set_ranks", *NAMES)


def is_ace_high(cards: Sequence[int]) -> bool:
    """Whether seven cards are an Ace High Pai Gow: an ace or the joker, and no pair, straight or flush (F12)."""
    best = strength(cards)
    return class_of(best) is HandClass.HIGH_CARD and ranks_of(best)[0] == ACE


def seven_card_features(cards: Sequence[int], *, fully_wild: bool = False) -> int:
    """Return the features of seven cards for Fortune and Progressive; some paytables make the joker fully wild (F6)."""
    features = hand_features.with_wild_joker(cards) if fully_wild else hand_features.with_limited_joker(cards)
    return features | _MATCH_BIT if features & _ROYAL_BIT and _royal_match(cards) else features


def _royal_match(cards: Sequence[int]) -> bool:
    """Whether seven cards with a royal have king and queen alone in another suit, neither of them the joker (F21)."""
    naturals = [card for card in cards if card != JOKER]
    return any({rank(card) for card in naturals if suit(card) == other} == _MATCH for other in range(4))
