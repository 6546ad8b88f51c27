"""Physical cards, each in exactly one place at every moment. A place is only a name."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import msgspec

DECK_53: Final = tuple(range(53))
DECK_52: Final = DECK_53[:52]
SIX_DECKS: Final = DECK_52 * 6
# The "face" of a cover card: plastic of one color, not a playing card.
COVER: Final = -1


class Card(msgspec.Struct, frozen=True):
    """One piece of printed plastic. `face` is its card number; `id` distinguishes two equal cards."""

    id: int
    face: int
    back: str


class World:
    """The place of every card. Cards are made and moved, never copied or lost."""

    def __init__(self) -> None:
        self._cards: dict[int, Card] = {}
        self._where: dict[int, str] = {}
        self._lying: defaultdict[str, list[int]] = defaultdict(list)
        self.torn: set[int] = set()
        self.face_up: set[int] = set()  # cards that are face up in their pile

    def make_deck(self, place: str, back: str, faces: tuple[int, ...] = DECK_53) -> list[Card]:
        """Make a deck at a place, first card at the bottom."""
        return [self.make(face, back, place) for face in faces]

    def make(self, face: int, back: str, place: str) -> Card:
        """Make one card on top of a place."""
        card = Card(len(self._cards) + 1, face, back)
        self._cards[card.id] = card
        self._where[card.id] = place
        self._lying[place].append(card.id)
        return card

    def insert(self, card: Card, below: int) -> None:
        """Move a card deeper into its pile, under so many others."""
        pile = self._lying[self._where[card.id]]
        pile.remove(card.id)
        pile.insert(max(0, len(pile) - below), card.id)

    def move(self, card: Card, to: str, *, bottom: bool = False) -> None:
        """Move a card to the top (or the bottom) of another place."""
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
        """Move a whole pile in its order; return how many cards it had."""
        pile = self.at(source)
        for card in pile:
            self.move(card, to)
        return len(pile)

    def at(self, place: str) -> list[Card]:
        """Return the cards at a place, from the bottom."""
        return [self._cards[id_] for id_ in self._lying.get(place, [])]

    def top(self, place: str, cards: int) -> list[Card]:
        """Return at most so many cards from the top of a place, the topmost last."""
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
        """Return how many cards are at each place, without empty places."""
        return {place: len(ids) for place, ids in sorted(self._lying.items()) if ids}

    def check(self) -> None:
        """Raise AssertionError unless every card is in exactly one place, the recorded one."""
        lying = [(id_, place) for place, ids in self._lying.items() for id_ in ids]
        assert len(lying) == len(self._cards), "a card is in two places or in none"
        assert dict(lying) == self._where, "a card lies elsewhere than recorded"
