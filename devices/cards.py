"""Card numbers, how people write them, and how messages carry them. Which cards a game needs is not known here."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from firmware_bridge.messages import U16

_RANKS: Final = "A23456789TJQK"
_SUITS: Final = "shdc"
JOKER: Final = 52
CARD_NUMBERS: Final = range(JOKER + 1)

# A list of cards, a byte each: enough for whatever is wrong with one deck.
CardBytes = Annotated[bytes, msgspec.Meta(max_length=64)]
# How many of each card, by card number: whatever is wrong with any number of decks fits, and none is left out.
Tally = Annotated[list[U16], msgspec.Meta(min_length=len(CARD_NUMBERS), max_length=len(CARD_NUMBERS))]


def card_name(card: int) -> str:
    """Return a card number (0-51 by suit and rank, 52 the joker) as people write it: As, Td, Jk."""
    return "Jk" if card == JOKER else _RANKS[card % 13] + _SUITS[card // 13]
