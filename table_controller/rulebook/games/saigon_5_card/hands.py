"""Saigon 5 Card (680a.6): values, qualifying with three cards, the Point Count of the other two, and the bonus hand."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.rulebook.cards import ACE, JOKER, rank
from table_controller.rulebook.hands import hand_features

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SIZES: Final = (3, 2)
JOKER_VALUES: Final = (3, 6, 9)  # 680a.6(a)(4)
QUALIFYING: Final = (10, 20, 30)  # 680a.1
HALF_PAID: Final = 5  # the Point Count that pays 1 to 2 (680a.12(b))


class SaigonSetting(msgspec.Struct, frozen=True):
    """Five cards set into three and two."""

    three: tuple[int, ...]
    showdown: tuple[int, ...]
    qualifies: bool
    point_count: int


def values(card: int) -> tuple[int, ...]:
    """Return the possible values of a card."""
    if card == JOKER:
        return JOKER_VALUES
    number = rank(card)
    return (1,) if number == ACE else (min(number + 2, 10),)


def totals(cards: Iterable[int]) -> set[int]:
    """Return every possible total of the cards."""
    sums = {0}
    for card in cards:
        sums = {total + value for total in sums for value in values(card)}
    return sums


def qualifies(three: Sequence[int]) -> bool:
    """Whether a three-card hand makes 10, 20 or 30."""
    return any(total in QUALIFYING for total in totals(three))


def point_count(showdown: Sequence[int]) -> int:
    """Return the Point Count of two cards, 1 to 10; a joker takes the value that makes it highest (S3)."""
    return max(total - 10 if total > 10 else total for total in totals(showdown))


def as_set(three: Sequence[int], showdown: Sequence[int]) -> SaigonSetting:
    """Return a setting with its result. No setting is foul: hands are compared as set (S5)."""
    return SaigonSetting(tuple(three), tuple(showdown), qualifies(three), point_count(showdown))


def settings(cards: Sequence[int]) -> Iterator[SaigonSetting]:
    """Yield all ten settings of five cards."""
    for three in combinations(cards, SIZES[0]):
        yield as_set(three, [card for card in cards if card not in three])


def best_set(cards: Sequence[int]) -> SaigonSetting:
    """Return the setting with the highest Point Count, of the qualifying ones if there are any."""
    return max(settings(cards), key=lambda setting: (setting.qualifies, setting.point_count))


def bonus_features(cards: Sequence[int]) -> int:
    """Return the features of five cards for the Bonus Wager."""
    return hand_features.with_limited_joker(cards)
