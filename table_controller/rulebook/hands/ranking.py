"""Poker classes in one order for all games, and the strength of hands as one number.

A strength has the class in its high bits, then up to five ranks of four bits each, so that hands compare as numbers. A
shorter hand has zeros where its cards end, so of two hands that are equal so far the longer is higher (A12).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import ACE, RANKS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class HandClass(IntEnum):
    """Poker classes from lowest to highest. Each game has some of them, in this order."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    FIVE_OF_A_KIND = 9  # DJ Wild only; between royal and straight flush (W5)
    ROYAL_FLUSH = 10
    FOUR_ACES = 11  # Asia Poker's high hand
    FIVE_ACES = 12
    FIVE_WILDS = 13


# Bits below the class: five ranks of four bits.
_NIBBLE: Final = 4
_PLACES: Final = 5
_BELOW: Final = _NIBBLE * _PLACES
# A rank is stored as 2 to 14, so that 0 means no card. 15 is the straight to the ace; a second-best wheel is stored as
# 14, which no other straight has.
_LIFT: Final = 2
_TO_THE_ACE: Final = 15
_SECOND_BEST: Final = 14


def strength(hand_class: HandClass, ranks: Sequence[int]) -> int:
    """Return the strength of a class with these ranks."""
    packed = 0
    for rank in ranks:
        packed = packed << _NIBBLE | rank + _LIFT
    return hand_class << _BELOW | packed << _NIBBLE * (_PLACES - len(ranks))


def class_of(worth: int) -> HandClass:
    """Return the class of a strength."""
    return HandClass(worth >> _BELOW)


def class_number(worth: int) -> int:
    """Return the class of a strength as a number, which is faster where many are compared."""
    return worth >> _BELOW


def lead_of(worth: int) -> int | None:
    """Return the rank that leads a strength; None if its class alone ranks it."""
    nibble = worth >> _BELOW - _NIBBLE & 15
    return nibble - _LIFT if nibble else None


def ranks_of(worth: int) -> list[int]:
    """Return the ranks of a strength, lead first. Those of a straight are not ranks; see `describe`."""
    packed = [worth >> _NIBBLE * place & 15 for place in reversed(range(_PLACES))]
    return [nibble - _LIFT for nibble in packed if nibble]


# --- cards alike ------------------------------------------------------------------------------------------------------


def best_of_equal_ranks(held: Sequence[int], wild: int = 0, top: HandClass = HandClass.FIVE_ACES) -> int:
    """Return the best strength from cards of equal rank; wild cards join the largest group, which is always best.

    `top` is the class of four or five aces in games where they rank above everything.
    """
    groups = sorted(((number, rank) for rank, number in enumerate(held) if number), reverse=True)
    if not groups:
        return strength(HandClass.FIVE_WILDS, ())
    (most, lead), *others = groups
    most += wild
    if most >= 5:
        return strength(top if lead == ACE and top is HandClass.FIVE_ACES else HandClass.FIVE_OF_A_KIND, (lead,))
    singles = sorted((rank for _, rank in others), reverse=True)
    if most == 4:
        aces = lead == ACE and top is HandClass.FOUR_ACES
        return strength(HandClass.FOUR_ACES if aces else HandClass.FOUR_OF_A_KIND, (lead, *singles[:1]))
    second = others[0] if others else (0, 0)
    if most == 3:
        if second[0] >= 2:
            return strength(HandClass.FULL_HOUSE, (lead, second[1]))
        return strength(HandClass.THREE_OF_A_KIND, (lead, *singles[:2]))
    if most == 2 and second[0] == 2:
        remaining = [rank for rank in singles if rank != second[1]]
        return strength(HandClass.TWO_PAIR, (lead, second[1], *remaining[:1]))
    if most == 2:
        return strength(HandClass.PAIR, (lead, *singles[:3]))
    return strength(HandClass.HIGH_CARD, (lead, *singles[:4]))


# --- cards in sequence and of one suit --------------------------------------------------------------------------------


class Straights:
    """Straights of one length, best first; `wheel_second` puts the ace-low one right after the ace-high one."""

    def __init__(self, length: int, *, wheel_second: bool) -> None:
        self.length = length
        down = [(_window(top, length), top + _LIFT) for top in range(ACE - 1, length - 2, -1)]
        wheel = (1 << ACE | _window(length - 2, length - 1), _SECOND_BEST if wheel_second else length)
        remaining = [wheel, *down] if wheel_second else [*down, wheel]
        self.all: Final = ((_window(ACE, length), _TO_THE_ACE), *remaining)

    def best(self, mask: int, wild: int) -> int | None:
        """Return the mark of the best straight from these ranks, wild cards filling gaps; None: there is none."""
        for window, mark in self.all:
            if (window & ~mask).bit_count() <= wild:
                return mark
        return None


def _window(top: int, length: int) -> int:
    """Return the bits of so many ranks from `top` down."""
    return (1 << length) - 1 << top - length + 1


def best_straight(runs: Straights, mask: int, wild: int) -> int:
    """Return the best straight's strength, 0 if there is none."""
    mark = runs.best(mask, wild)
    return 0 if mark is None else strength(HandClass.STRAIGHT, (mark - _LIFT,))


def best_of_one_suit(runs: Straights, mask: int, wild: int) -> int:
    """Return the strength of cards of one suit, at least a flush; a wild card is the highest missing rank (X17)."""
    mark = runs.best(mask, wild)
    if mark == _TO_THE_ACE:
        return strength(HandClass.ROYAL_FLUSH, ())
    if mark is not None:
        return strength(HandClass.STRAIGHT_FLUSH, (mark - _LIFT,))
    for rank in range(ACE, -1, -1):
        if wild and not mask >> rank & 1:
            mask |= 1 << rank
            wild -= 1
    held = [rank for rank in range(ACE, -1, -1) if mask >> rank & 1]
    return strength(HandClass.FLUSH, held[: runs.length])


def rank_mask(held: Sequence[int]) -> int:
    """Return a bit for every rank that appears."""
    return sum(1 << rank for rank, number in enumerate(held) if number)


# --- words ------------------------------------------------------------------------------------------------------------

_SINGULAR: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace")
_PLURAL: Final = ("2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "10s", "jacks", "queens", "kings", "aces")


def describe(worth: int, length: int = 5) -> str:
    """Return a strength in words; `length` is the length of its straights."""
    hand_class, ranks = class_of(worth), ranks_of(worth)
    words = _WORDS.get(hand_class)
    if words is not None:
        return words(ranks)
    name = hand_class.name.lower().replace("_", " ")
    if hand_class in (HandClass.STRAIGHT, HandClass.STRAIGHT_FLUSH):
        return f"{name}, {_sequence(ranks[0] + _LIFT, length)}"
    if hand_class is HandClass.FLUSH:
        return f"flush, {'-'.join(RANKS[rank] for rank in ranks)}"
    return name


def _sequence(mark: int, length: int) -> str:
    if mark in (_SECOND_BEST, length):
        ranks = [ACE, *range(length - 1)]
    else:
        top = ACE if mark == _TO_THE_ACE else mark - _LIFT
        ranks = list(range(top - length + 1, top + 1))
    return "-".join(RANKS[rank] for rank in reversed(ranks))


def _with(ranks: Sequence[int]) -> str:
    return f" with {'-'.join(RANKS[rank] for rank in ranks)}" if ranks else ""


_WORDS: Final[dict[HandClass, Callable[[list[int]], str]]] = {
    HandClass.HIGH_CARD: lambda ranks: f"{_SINGULAR[ranks[0]]} high{_with(ranks[1:])}",
    HandClass.PAIR: lambda ranks: f"pair of {_PLURAL[ranks[0]]}{_with(ranks[1:])}",
    HandClass.TWO_PAIR: lambda ranks: f"two pair, {_PLURAL[ranks[0]]} and {_PLURAL[ranks[1]]}{_with(ranks[2:])}",
    HandClass.THREE_OF_A_KIND: lambda ranks: f"three {_PLURAL[ranks[0]]}{_with(ranks[1:])}",
    HandClass.FULL_HOUSE: lambda ranks: f"full house, {_PLURAL[ranks[0]]} over {_PLURAL[ranks[1]]}",
    HandClass.FOUR_OF_A_KIND: lambda ranks: f"four {_PLURAL[ranks[0]]}{_with(ranks[1:])}",
    HandClass.FIVE_OF_A_KIND: lambda ranks: f"five {_PLURAL[ranks[0]]}",
    HandClass.FOUR_ACES: lambda _: "four aces",
    HandClass.FIVE_ACES: lambda _: "five aces",
}
