"""Physical cards, each in exactly one place at every moment. Knows nothing of machines: a place is just a name."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import msgspec

DECK_53: Final = tuple(range(53))
DECK_52: Final = DECK_53[:52]
SIX_DECKS: Final = DECK_52 * 6
# The "face" of a cover card: plastic of one colour, no playing card.
COVER: Final = -1


class Card(msgspec.Struct, frozen=True):
    """One piece of printed plastic. `face` is its card number; `id` tells two equal cards apart."""

    id: int
    face: int
    back: str


class World:
    """Where every card is. Cards are made and moved, never copied or lost: what leaves one place is in another."""

    def __init__(self) -> None:
        self._cards: dict[int, Card] = {}
        self._where: dict[int, str] = {}
        self._lying: defaultdict[str, list[int]] = defaultdict(list)
        self.torn: set[int] = set()
        self.face_up: set[int] = set()  # cards that lie the wrong way round in their pile

    def make_deck(self, place: str, back: str, faces: tuple[int, ...] = DECK_53) -> list[Card]:
        """Print a deck and lay it down, first card at the bottom."""
        return [self.make(face, back, place) for face in faces]

    def make(self, face: int, back: str, place: str) -> Card:
        """Print one card and lay it on top."""
        card = Card(len(self._cards) + 1, face, back)
        self._cards[card.id] = card
        self._where[card.id] = place
        self._lying[place].append(card.id)
        return card

    def insert(self, card: Card, below: int) -> None:
        """Put a card deeper into the pile in which it lies, under so many others."""
        pile = self._lying[self._where[card.id]]
        pile.remove(card.id)
        pile.insert(max(0, len(pile) - below), card.id)

    def move(self, card: Card, to: str, *, bottom: bool = False) -> None:
        """Take a card from where it is and lay it on top of another place (or under it)."""
        id_ = card.id
        pile = self._lying[self._where[id_]]
        if pile[-1] == id_:  # most are taken from the top
            pile.pop()
        else:
            pile.remove(id_)
        self._where[id_] = to
        if bottom:
            self._lying[to].insert(0, id_)
        else:
            self._lying[to].append(id_)

    def move_all(self, source: str, to: str) -> int:
        """Move a whole pile as it lies; return how many cards it had."""
        pile = self.at(source)
        for card in pile:
            self.move(card, to)
        return len(pile)

    def at(self, place: str) -> list[Card]:
        """Return the cards at a place, from the bottom."""
        return [self._cards[id_] for id_ in self._lying.get(place, [])]

    def top(self, place: str, cards: int) -> list[Card]:
        """Return so many cards at a place, or as many as there are, the topmost last."""
        return [self._cards[id_] for id_ in self._lying.get(place, [])[-cards:]]

    def count(self, place: str) -> int:
        """Return how many cards are at a place."""
        return len(self._lying.get(place, ()))

    def playing_cards(self, place: str) -> int:
        """Return how many cards are at a place, cover cards left out."""
        return sum(card.face != COVER for card in self.at(place))

    def where(self, card: Card) -> str:
        """Return a card's only place."""
        return self._where[card.id]

    def census(self) -> dict[str, int]:
        """Return how many cards are where, empty places left out."""
        return {place: len(ids) for place, ids in sorted(self._lying.items()) if ids}

    def check(self) -> None:
        """Raise AssertionError unless every card is in exactly the one place where it is said to be."""
        lying = [(id_, place) for place, ids in self._lying.items() for id_ in ids]
        assert len(lying) == len(self._cards), "a card is in two places or in none"
        assert dict(lying) == self._where, "a card lies elsewhere than recorded"
