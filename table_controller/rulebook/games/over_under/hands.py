"""Over/Under (686a.3(d)): the total of three cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE, JOKER, rank

if TYPE_CHECKING:
    from collections.abc import Iterable

# By rank: 2 to 10, then the face cards (10), then the ace (always 11).
VALUES: Final = tuple(11 if number == ACE else min(number + 2, 10) for number in range(ACE + 1))
OVER_23: Final = range(24, 34)
UNDER_18: Final = range(6, 18)
HOUSE: Final = range(18, 24)


def value(card: int) -> int:
    """Return a card's value; these decks have no joker."""
    assert card != JOKER, "a joker in Over/Under"
    return VALUES[rank(card)]


def total(cards: Iterable[int]) -> int:
    """Return the total point count."""
    return sum(map(value, cards))
