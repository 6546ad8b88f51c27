"""How a game's hands are set, as a house way sees it: the names of the hands, their kinds, and every lawful setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from table_controller.rulebook.cards import ACE, JOKER
from table_controller.rulebook.hands.hand_encoding import JOKER_KEYS, rank_counts, wild_count
from table_controller.rulebook.hands.ranking import HandClass, Straights

HandSetting = tuple[tuple[int, ...], ...]

# Groups of equal cards, largest first, in words. Of seven cards every case is here, and of five.
_GROUPS: Final = {
    (5, 2): "five aces and a pair",
    (5, 1): "five aces",
    (5,): "five aces",
    (4, 3): "four and three of a kind",
    (4, 2): "four of a kind and a pair",
    (4, 1): "four of a kind",
    (3, 3): "two threes of a kind",
    (3, 2): "full house",
    (3, 1): "three of a kind",
    (2, 2, 2): "three pair",
    (2, 2, 1): "two pair",
    (2, 1): "one pair",
    (1,): "no pair",
}
GROUP_WORDS: Final = tuple(dict.fromkeys(_GROUPS.values()))
# Straights and flushes of every kind: hands that no pair helps to make.
COMPLETE: Final = frozenset({HandClass.STRAIGHT, HandClass.FLUSH, HandClass.STRAIGHT_FLUSH, HandClass.ROYAL_FLUSH})
# The words for a high hand of poker. A hand that is several of these is the highest of them.
POKER_KINDS: Final[Mapping[str, frozenset[int]]] = {
    "high card": frozenset({HandClass.HIGH_CARD}),
    "pair": frozenset({HandClass.PAIR}),
    "two pair": frozenset({HandClass.TWO_PAIR}),
    "three of a kind": frozenset({HandClass.THREE_OF_A_KIND}),
    "straight": frozenset({HandClass.STRAIGHT}),
    "flush": frozenset({HandClass.FLUSH}),
    "full house": frozenset({HandClass.FULL_HOUSE}),
    "four of a kind": frozenset({HandClass.FOUR_OF_A_KIND, HandClass.FOUR_ACES}),
    "straight flush": frozenset({HandClass.STRAIGHT_FLUSH, HandClass.ROYAL_FLUSH}),
    "five aces": frozenset({HandClass.FIVE_ACES}),
    "complete": frozenset(COMPLETE),
}
# The words for two cards.
TWO_CARD_KINDS: Final = {name: POKER_KINDS[name] for name in ("high card", "pair")}


class Split(NamedTuple):
    """One way to set the cards: the strength of each hand, and the hands, highest first."""

    strengths: tuple[int, ...]
    hands: HandSetting


class SettingForm(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How the hands of one game are set."""

    game: str
    hands: tuple[str, ...]  # names, highest first
    cards: int
    splits: Callable[
        [Sequence[int]], Iterator[Split]
    ]  # every way to set the cards, foul ones too if `is_lawful` refuses them
    is_lawful: Callable[[tuple[int, ...]], bool]  # by the strengths of the hands
    lawful: str  # that rule in words, with its clause
    kinds: tuple[Mapping[str, frozenset[int]], ...]  # the words for each hand
    kind_of: Callable[[int], int]  # the kind of a strength
    lead_of: Callable[[int], int | None]  # the rank that leads a strength
    strength_of: Callable[[int], int] = int  # a strength of a kind, with no ranks
    lead_of_kinds: bool = True  # whether kinds have a rank that leads them
    flush: int | None = None  # so many cards of one suit change the first hand; None: suits do not matter
    runs: Straights | None = None


class HandFacts(NamedTuple):
    """What the conditions of rules see of a hand; the joker is an ace."""

    groups: str
    ranks: tuple[int, ...]  # of the groups of equal cards: largest groups first, then highest ranks
    single: int | None  # the highest card that no other card equals
    joker: bool


def hand_facts(cards: Sequence[int]) -> HandFacts:
    """Return what the conditions of rules see of a hand."""
    key = sum(JOKER_KEYS[card] for card in cards)
    held = rank_counts(key)
    held[ACE] += wild_count(key)
    groups = sorted(((number, rank) for rank, number in enumerate(held) if number), reverse=True)
    ranks = tuple(rank for _, rank in groups)
    single = next((rank for number, rank in groups if number == 1), None)
    return HandFacts(_group_word([number for number, _ in groups]), ranks, single, JOKER in cards)


def _group_word(sizes: Sequence[int]) -> str:
    for length in (3, 2, 1):
        word = _GROUPS.get(tuple(sizes[:length]))
        if word is not None:
            return word
    raise AssertionError(f"no hand has groups of {sizes}")
