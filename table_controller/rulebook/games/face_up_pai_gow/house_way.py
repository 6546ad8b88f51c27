"""House way of Face Up Pai Gow Poker: seven cards set into five and two."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import ACE, RANKS
from table_controller.rulebook.games.face_up_pai_gow import hands as pai_gow
from table_controller.rulebook.hands.house_way import AS_PRINTED, COMPLETE, chosen_ranks, equal_groups
from table_controller.rulebook.hands.ranking import HandClass, class_of, is_led_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from table_controller.rulebook.hands.house_way import HandSetting

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
