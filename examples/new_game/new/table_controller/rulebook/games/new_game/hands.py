"""High Card (999a.1): the value of one card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import JOKER, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

_JOKER_VALUE: Final = 15


def value(cards: Sequence[int]) -> int:
    """Return the value of the one card of a hand: 2 to 14 by rank, the ace last; 15 for the joker."""
    (card,) = cards
    return _JOKER_VALUE if card == JOKER else rank(card) + 2
