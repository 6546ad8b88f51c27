"""Shared parts of the house ways: the named policies by which the dealer sets hands.

Each game's policy is a list of rules by the cards, as dealers learn it; docs/hands.md prints them. Where a rule depends
on a rank, the certificate holder may choose another one. A joker counts as an ace unless it completes a straight or a
flush. A house way never sets a foul hand.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.hands.hand_encoding import JOKER_KEYS, rank_counts, wild_count
from table_controller.rulebook.hands.ranking import HandClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    HandSetting = tuple[tuple[int, ...], ...]

AS_PRINTED: Final[Mapping[str, str]] = MappingProxyType({})
# Straights and flushes of every kind: hands that no pair helps to make.
COMPLETE: Final = (HandClass.STRAIGHT, HandClass.FLUSH, HandClass.STRAIGHT_FLUSH, HandClass.ROYAL_FLUSH)


class HouseWay(NamedTuple):
    """A policy by which the dealer sets hands, and the ranks that a certificate holder may choose in it."""

    set_hands: Callable[[Sequence[int], Mapping[str, str]], HandSetting]  # cards, chosen ranks -> hands, highest first
    ranks: Mapping[str, str] = MappingProxyType({})  # by name, with their defaults


def chosen_ranks(ranks: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, int]:
    """Return the rank numbers that a policy uses: the chosen ones, else the defaults."""
    return {name: RANKS.index(chosen.get(name, rank)) for name, rank in ranks.items()}


def equal_groups(cards: Sequence[int]) -> tuple[tuple[int, ...], list[int]]:
    """Return the sizes of the groups of equal cards, largest first, and their ranks; the joker is an ace."""
    key = sum(JOKER_KEYS[card] for card in cards)
    held = rank_counts(key)
    held[ACE] += wild_count(key)
    groups = sorted(((number, rank) for rank, number in enumerate(held) if number), reverse=True)
    return tuple(number for number, _ in groups), [rank for _, rank in groups]
