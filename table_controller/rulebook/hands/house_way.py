"""Shared parts of the house ways: the named policies by which the dealer sets hands.

Each game's policy is a list of rules by the cards, as dealers learn it; docs/hands.md prints them. Where a rule depends
on a rank, the certificate holder may choose another one. A joker counts as an ace unless it completes a straight or a
flush. A house way never sets a foul hand.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.hands.hand_encoding import JOKER_KEYS, rank_counts, wild_count
from table_controller.rulebook.hands.ranking import HandClass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    HandSetting = tuple[tuple[int, ...], ...]

# The ranks that the rules depend on, with their default values, by policy.
_RANKS: Final[dict[str, dict[str, str]]] = {
    "standard_5_2": {
        "fours_kept_to": "6",
        "fours_kept_with_ace_to": "T",
        "two_pair_kept_with_ace_to": "T",
        "high_two_pair_kept_to": "K",
        "with_second_pair_to": "6",
    },
    "standard_4_2_1": {"fours_kept_to": "6"},
    "highest_point_count": {},
}
AS_PRINTED: Final[Mapping[str, str]] = MappingProxyType({})
# Straights and flushes of every kind: hands that no pair helps to make.
COMPLETE: Final = (HandClass.STRAIGHT, HandClass.FLUSH, HandClass.STRAIGHT_FLUSH, HandClass.ROYAL_FLUSH)


class HouseWay(Protocol):
    """A policy that sets cards into hands, with the ranks that a certificate holder chose."""

    def __call__(self, cards: Sequence[int], chosen: Mapping[str, str] = ..., /) -> HandSetting:
        """Return the hands, highest first."""


def turning_ranks(policy: str) -> dict[str, str]:
    """Return the ranks that a certificate holder may choose in a policy, by name, with their defaults."""
    return dict(_RANKS[policy])


def chosen_ranks(policy: str, chosen: Mapping[str, str]) -> dict[str, int]:
    """Return the rank numbers that a policy uses: the chosen ones, else the defaults."""
    return {name: RANKS.index(chosen.get(name, rank)) for name, rank in _RANKS[policy].items()}


def equal_groups(cards: Sequence[int]) -> tuple[tuple[int, ...], list[int]]:
    """Return the sizes of the groups of equal cards, largest first, and their ranks; the joker is an ace."""
    key = sum(JOKER_KEYS[card] for card in cards)
    held = rank_counts(key)
    held[ACE] += wild_count(key)
    groups = sorted(((number, rank) for rank, number in enumerate(held) if number), reverse=True)
    return tuple(number for number, _ in groups), [rank for _, rank in groups]
