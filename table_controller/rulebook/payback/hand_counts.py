"""Exact tallies of features over all five-card and all seven-card hands of the 53-card deck."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.rulebook.cards import JOKER, RANKS
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.hand_encoding import Memo, ranks_key, suited_key
from table_controller.rulebook.payback.hand_classes import Pattern, hand_classes, patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tick = Callable[[int], None]

# The number of classes of each tally; the ticks add up to it.
FIVE_STEPS: Final = 150_891
SEVEN_STEPS: Final = 292_253
FIVE_METHOD: Final = "exact, all 2,869,685 hands"
SEVEN_METHOD: Final = "exact, all 154,143,080 hands"
# Classes per tick: smooth progress at little cost.
_EVERY: Final = 1000

_ROYAL: Final = sum(1 << RANKS.index(rank) for rank in "AKQJT")
_MATCH: Final = frozenset(map(RANKS.index, "KQ"))
_MATCH_BIT: Final = hand_features.feature_bits("royal_flush_plus_royal_match")
# An extra bit: whether the hand has the joker. No paytable uses it.
JOKER_BIT: Final = 1 << len(hand_features.FEATURES)


class SevenCards(msgspec.Struct, frozen=True, kw_only=True):
    """Tallies of seven-card hands by features."""

    limited: Counter[int]
    fully_wild: Counter[int]


# The seven cards, once they are tallied: more than one game needs them.
_tallied: list[SevenCards] = []


def five_card_classes(tick: Tick) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield every class of five-card hands with its number of hands, with FIVE_STEPS ticks."""
    for number, each in enumerate(hand_classes(5, joker=True)):
        if number % _EVERY == 0:
            tick(min(_EVERY, FIVE_STEPS - number))
        yield each


def five_cards(tick: Tick) -> Counter[int]:
    """Tally all 2,869,685 five-card hands by features, with the limited joker."""
    tally: Counter[int] = Counter()
    for cards, multiplicity in five_card_classes(tick):
        held = hand_features.with_limited_joker(cards)
        tally[held | JOKER_BIT if JOKER in cards else held] += multiplicity
    return tally


def seven_cards(tick: Tick) -> SevenCards:
    """Tally all 154,143,080 seven-card hands, once."""
    if _tallied:
        tick(SEVEN_STEPS)
    else:
        _tallied.append(_seven_cards(tick))
    return _tallied[0]


def _seven_cards(tick: Tick) -> SevenCards:
    tallies = SevenCards(limited=Counter(), fully_wild=Counter())
    limited, wild, suited = (
        Memo(hand_features.by_rank_limited),
        Memo(hand_features.by_rank_wild),
        Memo(hand_features.by_suit),
    )
    number = 0
    for joker in (0, 1):
        mark = JOKER_BIT * joker
        for pattern in patterns(7 - joker, 5 - joker):
            key = ranks_key(pattern.held, joker)
            by_suit = mark | (suited[suited_key(pattern.long, joker)] if pattern.long else 0)
            multiplicity = pattern.multiplicity
            if pattern.long and _may_match(pattern, joker):
                # The extra king and queen have three suits each: of nine combinations, three share a suit.
                tallies.limited[limited[key] | by_suit | _MATCH_BIT] += multiplicity // 3
                tallies.fully_wild[wild[key] | by_suit | _MATCH_BIT] += multiplicity // 3
                multiplicity -= multiplicity // 3
            tallies.limited[limited[key] | by_suit | hand_features.special_features(pattern.held, joker)] += (
                multiplicity
            )
            tallies.fully_wild[wild[key] | by_suit] += multiplicity
            if number % _EVERY == 0:
                tick(min(_EVERY, SEVEN_STEPS - number))
            number += 1
    return tallies


def _may_match(pattern: Pattern, joker: int) -> bool:
    """Whether the long suit is a royal and the other two cards are a king and a queen."""
    if pattern.long & ~_ROYAL or pattern.long.bit_count() + joker != 5:
        return False
    other_cards = [number - (pattern.long >> rank & 1) for rank, number in enumerate(pattern.held)]
    return all(number == (rank in _MATCH) for rank, number in enumerate(other_cards))
