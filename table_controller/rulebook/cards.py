"""Cards and their notation: `As Td 9h Jk`.

A card is a number: four times its rank (2 is 0, ace is 12) plus its suit; the joker comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadHand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Card = int

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
ACE: Final = RANKS.index("A")
JOKER: Final = len(RANKS) * len(SUITS)
# The notation of every card; a card's number is its index here.
NOTATION: Final = (*(rank + suit for rank in RANKS for suit in SUITS), "Jk")

_BY_WORD: Final = {word.lower(): card for card, word in enumerate(NOTATION)}


def rank(card: Card) -> int:
    """Return a card's rank, 0 for a 2 to 12 for an ace. The joker has none."""
    return card >> 2


def suit(card: Card) -> int:
    """Return a card's suit as its place in SUITS. The joker has none."""
    return card & 3


def format_cards(cards: Iterable[Card]) -> str:
    """Return cards in their notation."""
    return " ".join(NOTATION[card] for card in cards)


def parse_cards(text: str) -> tuple[Card, ...]:
    """Return the cards of a text; BadHand names every word that is not a card. Case does not matter."""
    words = text.split()
    unknown = [word for word in words if word.lower() not in _BY_WORD]
    if unknown:
        raise BadHand("; ".join(f"{word!r} is not a card{_hint(word)}" for word in unknown))
    return tuple(_BY_WORD[word.lower()] for word in words)


def parse_hand(text: str, size: int, *, jokers: int = 1, copies: int = 1) -> tuple[Card, ...]:
    """Return one whole hand of `size` cards; BadHand lists everything that is wrong with it."""
    cards = parse_cards(text)
    problems = [*excess_cards(cards, jokers=jokers, copies=copies)]
    if len(cards) != size:
        problems.append(f"{len(cards)} card{'s' * (len(cards) != 1)}; a hand has {size}")
    if problems:
        raise BadHand("; ".join(problems))
    return cards


def excess_cards(cards: Sequence[Card], *, jokers: int = 1, copies: int = 1) -> Iterator[str]:
    """Yield a sentence for each card that appears more often than in `copies` decks with `jokers` jokers."""
    for card in dict.fromkeys(cards):
        times = cards.count(card)
        has = jokers * copies if card == JOKER else copies
        if times > has:
            there = "this game has none" if has == 0 else f"the cards in use have {has}"
            yield f"{NOTATION[card]} appears {'once' if times == 1 else f'{times} times'}, {there}"


def _hint(word: str) -> str:
    if word[:2] == "10":
        return "; a ten is written T, as Ts"
    if (
        len(word) > 2
        and len(word) % 2 == 0
        and all(word[at : at + 2].lower() in _BY_WORD for at in range(0, len(word), 2))
    ):
        return "; leave a space between cards"
    return ""
