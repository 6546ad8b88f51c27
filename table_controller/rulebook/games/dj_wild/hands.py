"""DJ Wild Stud Poker (687a.6): five cards with the 2s and the joker wild, the same cards at face value, the columns.

Five of a kind ranks between royal and straight flush (W5); ace-2-3-4-5 is the lowest straight (W27).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.hand_encoding import (
    JOKER_KEYS,
    TWOS_KEYS,
    WILD_KEY,
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
    class_of,
    rank_mask,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Column = Literal["natural", "with_wild"]

# The joker and the 2s (687a.6(b)).
WILD: Final = frozenset((*(card for card in range(JOKER) if TWOS_KEYS[card] == WILD_KEY), JOKER))
_RUNS: Final = Straights(5, wheel_second=False)


def by_rank(key: int) -> int:
    """Return the best strength from ranks alone; wild cards stand for any card."""
    held, wild = rank_counts(key), wild_count(key)
    return max(
        best_of_equal_ranks(held, wild, top=HandClass.FIVE_OF_A_KIND), best_straight(_RUNS, rank_mask(held), wild)
    )


def by_suit(key: int) -> int:
    """Return the best strength of five cards of one suit."""
    mask, wild = suited_parts(key)
    return best_of_one_suit(_RUNS, mask, wild) if mask else 0  # five wilds rank above a royal flush


# The best hand with 2s and joker wild, and with the 2s at face value; the latter accepts no joker.
strength: Final = make_evaluator(TWOS_KEYS, by_rank, by_suit, _RUNS.length, max)
at_face_value: Final = make_evaluator(JOKER_KEYS, by_rank, by_suit, _RUNS.length, max)


def paid_class(cards: Sequence[int]) -> tuple[HandClass, Column]:
    """Return the paid class and its column: natural if face values alone reach it (W7)."""
    wild = class_of(strength(cards))
    natural = JOKER not in cards and class_of(at_face_value(cards)) is wild
    return wild, "natural" if natural else "with_wild"


def class_features(hand_class: HandClass) -> int:
    """Return the paytable features of a class: itself, and whether it is three of a kind or less."""
    class_bit = hand_features.FEATURE_BIT.get(hand_class.name.lower(), 0)
    low = hand_features.FEATURE_BIT["three_of_a_kind_or_less"] if hand_class <= HandClass.THREE_OF_A_KIND else 0
    return class_bit | low


def progressive_hand(cards: Sequence[int], replacement: int | None) -> tuple[int, ...]:
    """Return the five cards for the progressive: the replacement card replaces a joker (687a.11(f)(1))."""
    if JOKER not in cards:
        return tuple(cards)
    assert replacement is not None, "a joker without its replacement card"
    return tuple(replacement if card == JOKER else card for card in cards)


def progressive_features(cards: Sequence[int], *, twos_wild: bool) -> int:
    """Return the features of those five cards; the 2s are wild only if the Rules Submission makes them (W8)."""
    return hand_features.with_wild_twos(cards) if twos_wild else hand_features.with_limited_joker(cards)
