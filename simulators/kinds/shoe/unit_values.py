"""The card values that the firmware of an identifying shoe keeps, by the unit in which they were dealt.

A unit is a stack, named by the id of its Dispense, or one card of a round, named by the id of its StartRound and its
number. Ids are never used twice, so host and shoe cannot mean different units. Values are volatile; ids are persistent.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

import msgspec

from devices.shoe.messages import MAX_STACK, Reason

# How many ids of forgotten units are distinguished from ids that dealt nothing: as many as a device remembers commands.
REMEMBERED_IDS: Final = 16


class Unit(msgspec.Struct):
    """What the reader identified of one unit, and how many cards the sensors counted in it."""

    values: list[int] = []
    cards: int = 0


class UnitValues:
    """`by_hand`: every card is a unit of its own, and the number of decks is unknown."""

    def __init__(self, *, by_hand: bool) -> None:
        self._by_hand = by_hand
        self._dealt: deque[int] = deque(maxlen=REMEMBERED_IDS)  # persistent: ids that dealt units
        self.erase()

    def erase(self) -> None:
        """Forget every value."""
        self._units: dict[tuple[int, int], Unit] = {}
        self._open: int | None = None  # the id of the stack or the round that is being dealt
        self._unit = Unit()
        self._in_slot: int | None = None  # the id of the stack that nobody has taken yet

    # --- while cards are dealt -------------------------------------------------------------------------------

    def begin(self, dealt_by: int) -> None:
        """A stack begins, or a round, which makes the shoe forget the round before."""
        if self._by_hand:
            self.erase()
            self._dealt.append(dealt_by)
        self._open, self._unit = dealt_by, Unit()

    def read(self, values: list[int]) -> None:
        """The reader reports the card that leaves the well: usually one value, none if it cannot be read."""
        if self._by_hand:
            self._unit = Unit()
        self._unit.values.extend(values)

    def count(self, card: int) -> None:
        """A card of the open stack or round was counted; `card` is its number in the round."""
        self._unit.cards += 1
        if self._by_hand and self._open is not None:
            self._units[self._open, card], self._unit = self._unit, Unit()

    def end_stack(self) -> None:
        """The stack is complete."""
        assert self._open is not None
        self._units[self._open, 0] = self._unit
        self._dealt.append(self._open)
        self._in_slot, self._open = self._open, None

    def slot_emptied(self) -> None:
        """A person took the stack."""
        self._in_slot = None

    # --- when the host orders them ----------------------------------------------------------------------------

    def refusal(self, dealt_by: int, card: int) -> Reason:
        """Return why the values of a unit are not released; NONE if they are."""
        unit = self._units.get((dealt_by, card))
        if unit is None:
            dealt = dealt_by in self._dealt and self._by_hand is bool(card)
            known = dealt_by == self._open or any(dealt_by == of for of, _ in self._units)
            return Reason.UNIT_FORGOTTEN if dealt and not known else Reason.NO_SUCH_UNIT
        if dealt_by == self._in_slot:  # nobody can have seen it
            return Reason.SLOT_OCCUPIED
        if len(unit.values) > unit.cards:
            return Reason.READS_DISAGREE
        return Reason.CARD_TWICE if self._has_duplicate(unit) else Reason.NONE

    def _has_duplicate(self, unit: Unit) -> bool:
        if self._by_hand:
            return False
        seen = Counter(value for other in self._units.values() for value in other.values)
        return any(seen[value] > 1 for value in unit.values)

    def release(self, dealt_by: int, card: int) -> tuple[bytes, int]:
        """Return the values of a unit in ascending order, and how many of its cards were not read."""
        unit = self._units[dealt_by, card]
        assert unit.cards <= MAX_STACK
        return bytes(sorted(unit.values)), unit.cards - len(unit.values)
