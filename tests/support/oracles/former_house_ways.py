"""The house ways as code, as they were before they became tables: what the tables must do with every hand."""

from __future__ import annotations

from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.games.asia_poker import hands as asia
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.hands.hand_encoding import JOKER_KEYS, rank_counts, wild_count
from table_controller.rulebook.hands.ranking import HandClass, class_of, lead_of, ranks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    HandSetting = tuple[tuple[int, ...], ...]

AS_PRINTED: Final[Mapping[str, str]] = MappingProxyType({})
COMPLETE: Final = (HandClass.STRAIGHT, HandClass.FLUSH, HandClass.STRAIGHT_FLUSH, HandClass.ROYAL_FLUSH)


def is_led_by(strength: int, hand_class: HandClass, lead: int) -> bool:
    """Return whether a strength is of this class, with this rank first."""
    return class_of(strength) is hand_class and lead_of(strength) == lead


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


# --- Face Up Pai Gow Poker --------------------------------------------------------------------------------------------

# The ranks that the rules depend on, with their defaults.
RANKS_5_2: Final = {
    "fours_kept_to": "6",
    "fours_kept_with_ace_to": "T",
    "two_pair_kept_with_ace_to": "T",
    "high_two_pair_kept_to": "K",
    "with_second_pair_to": "6",
}
_KING: Final = RANKS.index("K")


class _FiveTwo(NamedTuple):
    high: int  # strengths
    low: int
    hands: HandSetting


def standard_5_2(cards: Sequence[int], chosen: Mapping[str, str] = AS_PRINTED) -> HandSetting:
    """Set seven cards into five and two by the rules in docs/hands.md; `chosen`: ranks that differ from the default."""
    lawful = []
    for low in combinations(cards, 2):
        high = tuple(card for card in cards if card not in low)
        split = _FiveTwo(pai_gow.strength(high), pai_gow.strength(low), (high, low))
        if split.high >= split.low:
            lawful.append(split)
    candidates = _low_of(*equal_groups(cards), lawful, chosen_ranks(RANKS_5_2, chosen))
    return max(candidates, key=lambda split: (split.low, split.high)).hands


def _low_of(sizes: tuple[int, ...], ranks: list[int], lawful: list[_FiveTwo], to: dict[str, int]) -> list[_FiveTwo]:
    """Return the splits that the rules allow; the strongest low hand, then high hand, is played."""

    def low_pair(rank: int) -> list[_FiveTwo]:
        pairs = [split for split in lawful if is_led_by(split.low, HandClass.PAIR, rank)]
        best = max(split.high for split in pairs)
        return [split for split in pairs if split.high == best]

    def high(hand_class: HandClass, lead: int) -> list[_FiveTwo]:
        return [split for split in lawful if is_led_by(split.high, hand_class, lead)]

    lead, second = ranks[0], ranks[1]
    complete = [split for split in lawful if class_of(split.high) in COMPLETE]
    with_pair = [split for split in complete if class_of(split.low) is HandClass.PAIR]
    match sizes:
        case (5, *_):
            return low_pair(_KING if (sizes[1], second) == (2, _KING) else ACE)
        case (4, 1, *_):
            keep = lead <= to["fours_kept_to"] or (lead <= to["fours_kept_with_ace_to"] and ACE in ranks)
            return high(HandClass.FOUR_OF_A_KIND, lead) if keep else low_pair(lead)
        case (3, 3, *_):
            return low_pair(lead)
        case (4 | 3, 2 | 3, *_):
            return low_pair(second)
        case (3, *_):
            return with_pair or high(HandClass.PAIR if lead == ACE else HandClass.THREE_OF_A_KIND, lead)
        case (2, 2, 2, _):
            return low_pair(lead)
        case (2, 2, *_):
            higher = lead <= to["high_two_pair_kept_to"] and second <= to["with_second_pair_to"]
            together = ACE in ranks[2:] and (lead <= to["two_pair_kept_with_ace_to"] or higher)
            return with_pair or (high(HandClass.TWO_PAIR, lead) if together else low_pair(second))
        case (2, *_):
            return complete or high(HandClass.PAIR, lead)
        case _:
            return complete or high(HandClass.HIGH_CARD, lead)


# --- Asia Poker ------------------------------------------------------------------------------------------------------

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


# --- Saigon 5 Card ----------------------------------------------------------------------------------------------------


def highest_point_count(cards: Sequence[int], _chosen: Mapping[str, str] = AS_PRINTED) -> HandSetting:
    """Set five cards into three and two: qualify if possible, with the highest remaining Point Count (S4)."""
    best = saigon.best_set(cards)
    return best.three, best.showdown
