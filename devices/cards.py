"""Card numbers, their names for people, and how messages carry them."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from firmware_bridge.messages import U16

_RANKS: Final = "A23456789TJQK"
_SUITS: Final = "shdc"
JOKER: Final = 52
CARD_NUMBERS: Final = range(JOKER + 1)

# A list of cards, one byte each: long enough for every error in one deck.
CardBytes = Annotated[bytes, msgspec.Meta(max_length=64)]
# How many of each card, by card number: holds every error in any number of decks.
Tally = Annotated[list[U16], msgspec.Meta(min_length=len(CARD_NUMBERS), max_length=len(CARD_NUMBERS))]


def card_name(card: int) -> str:
    """Return the name of a card number (0-51 by suit and rank, 52 the joker): As, Td, Jk."""
    return "Jk" if card == JOKER else _RANKS[card % 13] + _SUITS[card // 13]
