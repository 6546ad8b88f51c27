"""House way of Asia Poker: seven cards set into four, two and one."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import ACE
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.hands.house_way import AS_PRINTED, COMPLETE, chosen_ranks, equal_groups
from table_controller.rulebook.hands.ranking import HandClass, class_of, is_led_by, ranks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from table_controller.rulebook.hands.house_way import HandSetting

# The rank that the rules depend on, with its default.
RANKS_4_2_1: Final = {"fours_kept_to": "6"}
_FOURS: Final = (HandClass.FOUR_OF_A_KIND, HandClass.FOUR_ACES)


class _FourTwoOne(NamedTuple):
    high: int  # strengths
    medium: int
    low: int
    hands: HandSetting


def standard_4_2_1(cards: Sequence[int], chosen: Mapping[str, str] = AS_PRINTED) -> HandSetting:
    """Set seven cards into four, two and one by the rules in docs/hands.md, with the default rank of the wheel."""
    strength = asia.strength()
    mediums: dict[tuple[int, ...], int] = {pair: strength(pair) for pair in combinations(cards, 2)}
    lows = {card: strength((card,)) for card in cards}
    lawful = []
    for high in combinations(cards, 4):
        whole = strength(high)
        others = [card for card in cards if card not in high]
        for low in others:
            medium = tuple(card for card in others if card != low)
            split = _FourTwoOne(whole, mediums[medium], lows[low], (high, medium, (low,)))
            if split.high > split.medium > split.low:
                lawful.append(split)
    candidates = _high_of(*equal_groups(cards), lawful, chosen_ranks(RANKS_4_2_1, chosen))
    return max(candidates, key=_preference).hands


def _preference(split: _FourTwoOne) -> tuple[int, ...]:
    """Return the sort key: a pair in the medium hand, its higher card, the low card, then the others."""
    return class_of(split.medium), ranks_of(split.medium)[0], split.low, split.medium, split.high


def _high_of(
    sizes: tuple[int, ...], ranks: list[int], lawful: list[_FourTwoOne], to: dict[str, int]
) -> list[_FourTwoOne]:
    """Return the splits that the rules allow; the preference decides among them."""

    def medium_pair(rank: int) -> list[_FourTwoOne]:
        return [split for split in lawful if is_led_by(split.medium, HandClass.PAIR, rank)]

    def high(hand_class: HandClass, lead: int) -> list[_FourTwoOne]:
        return [split for split in lawful if is_led_by(split.high, hand_class, lead)]

    lead, second = ranks[0], ranks[1]
    complete = [split for split in lawful if class_of(split.high) in COMPLETE]
    with_pair = [split for split in complete if class_of(split.medium) is HandClass.PAIR]
    match sizes:
        case (5, *_):
            return high(HandClass.THREE_OF_A_KIND, ACE)
        case (4, 1, *_):
            return high(HandClass.FOUR_OF_A_KIND, lead) if lead <= to["fours_kept_to"] else medium_pair(lead)
        case (4, *_):
            return [split for split in medium_pair(second) if class_of(split.high) in _FOURS]
        case (3, 3, *_):
            return medium_pair(lead)
        case (3, 2, *_):
            return [split for split in medium_pair(second) if is_led_by(split.high, HandClass.THREE_OF_A_KIND, lead)]
        case (3, *_):
            return with_pair or high(HandClass.PAIR if lead == ACE else HandClass.THREE_OF_A_KIND, lead)
        case (2, 2, *_):
            return with_pair or [split for split in medium_pair(second) if ranks_of(split.high)[0] == lead]
        case (2, *_):
            return complete or high(HandClass.PAIR, lead)
        case _:
            return complete or high(HandClass.HIGH_CARD, lead)
