"""Five-card poker with the limited joker: an ace, or any card that completes a straight or flush (688a.6, 680a.6(c)).

Ranks the best five of two to seven cards. Ace-2-3-4-5 is the second best straight (F22).
"""

from __future__ import annotations

from typing import Final

from table_controller.rulebook.cards import ACE
from table_controller.rulebook.hands.hand_encoding import (
    JOKER_KEYS,
    make_evaluator,
    rank_counts,
    suited_parts,
    wild_count,
)
from table_controller.rulebook.hands.ranking import (
    Straights,
    best_of_equal_ranks,
    best_of_one_suit,
    best_straight,
    rank_mask,
)

RUNS: Final = Straights(5, wheel_second=True)


def by_rank(key: int) -> int:
    """Return the best strength from ranks alone."""
    held, jokers = rank_counts(key), wild_count(key)
    run = best_straight(RUNS, rank_mask(held), jokers)
    held[ACE] += jokers
    return max(best_of_equal_ranks(held), run)


def by_suit(key: int) -> int:
    """Return the best strength of five or more cards of one suit."""
    return best_of_one_suit(RUNS, *suited_parts(key))


# The strength of the best five cards.
best_strength: Final = make_evaluator(JOKER_KEYS, by_rank, by_suit, RUNS.length, max)
