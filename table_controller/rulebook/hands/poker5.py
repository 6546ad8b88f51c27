"""Five-card poker with the limited joker: an ace, or any card that completes a straight or flush (688a.6, 680a.6(c)).

Ranks the best five of two to seven cards. Ace-2-3-4-5 is the second best straight (F22).
"""

from __future__ import annotations

from typing import Final

from table_controller.rulebook.cards import ACE
from table_controller.rulebook.hands.keys import JOKER_KEYS, counts, evaluator, suited_parts, wilds
from table_controller.rulebook.hands.ranking import Runs, kinds, mask_of, straight, suited

RUNS: Final = Runs(5, wheel_second=True)


def by_rank(key: int) -> int:
    """Return the best strength from ranks alone."""
    held, jokers = counts(key), wilds(key)
    run = straight(RUNS, mask_of(held), jokers)
    held[ACE] += jokers
    return max(kinds(held), run)


def by_suit(key: int) -> int:
    """Return the best strength of five or more cards of one suit."""
    return suited(RUNS, *suited_parts(key))


# The strength of the best five cards.
best: Final = evaluator(JOKER_KEYS, by_rank, by_suit, RUNS.length, max)
