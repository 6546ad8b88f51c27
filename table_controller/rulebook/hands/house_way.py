"""House ways: how the dealer sets his hands. Named policies, so that a Rules Submission can say which one holds.

Each is a list of rules by what the cards hold, as a dealer learns it; docs/hands.md prints them. Where a rule turns on
a rank, a certificate holder's own may name another one. A joker counts as an ace unless it completes a straight or a
flush. A house way never sets a foul hand.
"""

from __future__ import annotations

from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.hands import asia, pai_gow, saigon
from table_controller.rulebook.hands.keys import JOKER_KEYS, counts, wilds
from table_controller.rulebook.hands.ranking import Class, class_of, led_by, ranks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Setting = tuple[tuple[int, ...], ...]

_KING: Final = RANKS.index("K")
# The ranks on which the rules turn, as the default has them.
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
_AS_PRINTED: Final[Mapping[str, str]] = MappingProxyType({})


class HouseWay(Protocol):
    """A policy: cards, and the ranks that a certificate holder chose, to hands."""

    def __call__(self, cards: Sequence[int], chosen: Mapping[str, str] = ..., /) -> Setting:
        """Return the hands, highest first."""


def turning_ranks(way: str) -> dict[str, str]:
    """Return the ranks that a certificate holder may choose in a house way, by name, as the default has them."""
    return dict(_RANKS[way])


def _numbers(way: str, chosen: Mapping[str, str]) -> dict[str, int]:
    return {name: RANKS.index(chosen.get(name, rank)) for name, rank in _RANKS[way].items()}


# Straights and flushes of every kind: hands that no pair helps to make.
_COMPLETE: Final = (Class.STRAIGHT, Class.FLUSH, Class.STRAIGHT_FLUSH, Class.ROYAL_FLUSH)
_FOURS: Final = (Class.FOUR_OF_A_KIND, Class.FOUR_ACES)


def _groups(cards: Sequence[int]) -> tuple[tuple[int, ...], list[int]]:
    """Return the sizes of the groups of equal cards, largest first, and their ranks; the joker is an ace."""
    key = sum(JOKER_KEYS[card] for card in cards)
    held = counts(key)
    held[ACE] += wilds(key)
    groups = sorted(((number, rank) for rank, number in enumerate(held) if number), reverse=True)
    return tuple(number for number, _ in groups), [rank for _, rank in groups]


# --- Face Up Pai Gow Poker: five and two ------------------------------------------------------------------------------


class _FiveTwo(NamedTuple):
    high: int  # strengths
    low: int
    hands: Setting


def standard_5_2(cards: Sequence[int], chosen: Mapping[str, str] = _AS_PRINTED) -> Setting:
    """Set seven cards into five and two by the rules in docs/hands.md; `chosen`: other ranks than the default's."""
    lawful = []
    for low in combinations(cards, 2):
        high = tuple(card for card in cards if card not in low)
        split = _FiveTwo(pai_gow.strength(high), pai_gow.strength(low), (high, low))
        if split.high >= split.low:
            lawful.append(split)
    wanted = _low_of(*_groups(cards), lawful, _numbers("standard_5_2", chosen))
    return max(wanted, key=lambda split: (split.low, split.high)).hands


def _low_of(sizes: tuple[int, ...], ranks: list[int], lawful: list[_FiveTwo], to: dict[str, int]) -> list[_FiveTwo]:
    """Return the splits among which the strongest low hand, then the strongest high hand, is played."""

    def low_pair(rank: int) -> list[_FiveTwo]:
        pairs = [split for split in lawful if led_by(split.low, Class.PAIR, rank)]
        best = max(split.high for split in pairs)
        return [split for split in pairs if split.high == best]

    def high(found: Class, lead: int) -> list[_FiveTwo]:
        return [split for split in lawful if led_by(split.high, found, lead)]

    lead, second = ranks[0], ranks[1]
    complete = [split for split in lawful if class_of(split.high) in _COMPLETE]
    with_pair = [split for split in complete if class_of(split.low) is Class.PAIR]
    match sizes:
        case (5, *_):
            return low_pair(_KING if (sizes[1], second) == (2, _KING) else ACE)
        case (4, 1, *_):
            keep = lead <= to["fours_kept_to"] or (lead <= to["fours_kept_with_ace_to"] and ACE in ranks)
            return high(Class.FOUR_OF_A_KIND, lead) if keep else low_pair(lead)
        case (3, 3, *_):
            return low_pair(lead)
        case (4 | 3, 2 | 3, *_):
            return low_pair(second)
        case (3, *_):
            return with_pair or high(Class.PAIR if lead == ACE else Class.THREE_OF_A_KIND, lead)
        case (2, 2, 2, _):
            return low_pair(lead)
        case (2, 2, *_):
            higher = lead <= to["high_two_pair_kept_to"] and second <= to["with_second_pair_to"]
            together = ACE in ranks[2:] and (lead <= to["two_pair_kept_with_ace_to"] or higher)
            return with_pair or (high(Class.TWO_PAIR, lead) if together else low_pair(second))
        case (2, *_):
            return complete or high(Class.PAIR, lead)
        case _:
            return complete or high(Class.HIGH_CARD, lead)


# --- Asia Poker: four, two and one ------------------------------------------------------------------------------------


class _FourTwoOne(NamedTuple):
    high: int  # strengths
    medium: int
    low: int
    hands: Setting


def standard_4_2_1(cards: Sequence[int], chosen: Mapping[str, str] = _AS_PRINTED) -> Setting:
    """Set seven cards into four, two and one by the rules in docs/hands.md; the usual place of the wheel is assumed."""
    strength = asia.strength()
    mediums: dict[tuple[int, ...], int] = {pair: strength(pair) for pair in combinations(cards, 2)}
    lows = {card: strength((card,)) for card in cards}
    lawful = []
    for high in combinations(cards, 4):
        whole = strength(high)
        rest = [card for card in cards if card not in high]
        for low in rest:
            medium = tuple(card for card in rest if card != low)
            split = _FourTwoOne(whole, mediums[medium], lows[low], (high, medium, (low,)))
            if split.high > split.medium > split.low:
                lawful.append(split)
    wanted = _high_of(*_groups(cards), lawful, _numbers("standard_4_2_1", chosen))
    return max(wanted, key=_preference).hands


def _preference(split: _FourTwoOne) -> tuple[int, ...]:
    """A pair in the medium hand, then its higher card, then the low card, then the rest."""
    return class_of(split.medium), ranks_of(split.medium)[0], split.low, split.medium, split.high


def _high_of(
    sizes: tuple[int, ...], ranks: list[int], lawful: list[_FourTwoOne], to: dict[str, int]
) -> list[_FourTwoOne]:
    """Return the splits among which the preference decides."""

    def medium_pair(rank: int) -> list[_FourTwoOne]:
        return [split for split in lawful if led_by(split.medium, Class.PAIR, rank)]

    def high(found: Class, lead: int) -> list[_FourTwoOne]:
        return [split for split in lawful if led_by(split.high, found, lead)]

    lead, second = ranks[0], ranks[1]
    complete = [split for split in lawful if class_of(split.high) in _COMPLETE]
    with_pair = [split for split in complete if class_of(split.medium) is Class.PAIR]
    match sizes:
        case (5, *_):
            return high(Class.THREE_OF_A_KIND, ACE)
        case (4, 1, *_):
            return high(Class.FOUR_OF_A_KIND, lead) if lead <= to["fours_kept_to"] else medium_pair(lead)
        case (4, *_):
            return [split for split in medium_pair(second) if class_of(split.high) in _FOURS]
        case (3, 3, *_):
            return medium_pair(lead)
        case (3, 2, *_):
            return [split for split in medium_pair(second) if led_by(split.high, Class.THREE_OF_A_KIND, lead)]
        case (3, *_):
            return with_pair or high(Class.PAIR if lead == ACE else Class.THREE_OF_A_KIND, lead)
        case (2, 2, *_):
            return with_pair or [split for split in medium_pair(second) if ranks_of(split.high)[0] == lead]
        case (2, *_):
            return complete or high(Class.PAIR, lead)
        case _:
            return complete or high(Class.HIGH_CARD, lead)


# --- Saigon 5 Card: three and two -------------------------------------------------------------------------------------


def highest_point_count(cards: Sequence[int], _chosen: Mapping[str, str] = _AS_PRINTED) -> Setting:
    """Set five cards into three and two: qualify if possible, with the highest Point Count that this leaves (S4)."""
    found = saigon.best_set(cards)
    return found.three, found.showdown


# By game: the policies by name, the default first.
HOUSE_WAYS: Final[dict[str, dict[str, HouseWay]]] = {
    "asia_poker": {"standard_4_2_1": standard_4_2_1},
    "saigon_5_card": {"highest_point_count": highest_point_count},
    "face_up_pai_gow": {"standard_5_2": standard_5_2},
}
