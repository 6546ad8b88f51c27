"""Paybacks of DJ Wild: for every hand, exactly how many of the dealer's hands are lower, equal and higher.

The dealer's hands without the player's five cards are counted by inclusion and exclusion: all hands, minus those with
one of the five, plus those with two, and so on. It is enough to know, for every set of up to four cards, the strengths
of the hands that contain it; sets that differ only by the names of suits are equivalent.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.rulebook.cards import JOKER, rank, suit
from table_controller.rulebook.games.dj_wild import hands
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.hand_encoding import Memo
from table_controller.rulebook.hands.ranking import HandClass, class_of
from table_controller.rulebook.payback.hand_classes import DECK, hand_classes
from table_controller.rulebook.payback.hand_counts import FIVE_METHOD, FIVE_STEPS, five_card_classes
from table_controller.rulebook.payback.study import (
    PAIRS_METHOD,
    Figure,
    Study,
    of_progressive,
    return_per_unit,
    steps,
    tables_of,
)
from table_controller.rulebook.settlement.terms import first_line, line_pay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from table_controller.rulebook.payback.study import Effort, Tick

# Both passes over the classes.
STEPS: Final = 2 * FIVE_STEPS
DEALER_HANDS: Final = comb(DECK - 5, 5)
_EVERY: Final = 1000

# A set of cards as bits: sixteen for each suit, so that suits can be put into order; the joker above them.
_FIELD: Final = 16
_BITS: Final = (*(1 << _FIELD * suit(card) + rank(card) for card in range(JOKER)), 1 << _FIELD * 4)


class DealerComparison(NamedTuple):
    """A class of player hands and how the dealer's hands compare to each of them."""

    cards: tuple[int, ...]
    multiplicity: int
    strength: int
    lower: int  # dealer hands
    equal: int
    higher: int


def compare_with_dealer(tick: Callable[[int], None]) -> Iterator[DealerComparison]:
    """Return every class of player hands with its dealer hands."""
    classes = [(cards, multiplicity, hands.strength(cards)) for cards, multiplicity in hand_classes(5, joker=True)]
    alike = Memo(_alike)
    holding: dict[int, Counter[int]] = defaultdict(Counter)  # a set of cards -> strengths of the hands that hold it
    for number, (cards, multiplicity, strength) in enumerate(classes):
        for _, chosen in _subsets(cards):
            holding[alike[chosen]][strength] += multiplicity
        if number % _EVERY == 0:
            tick(min(_EVERY, FIVE_STEPS - number))
    upto = {chosen: _cumulated(tally, _orbit(chosen)) for chosen, tally in holding.items()}
    for number, (cards, multiplicity, strength) in enumerate(classes):
        lower, not_higher = 0, -1  # a hand is equal to itself, and the dealer cannot have it
        for sign, chosen in _subsets(cards):
            strengths, counts = upto[alike[chosen]]
            lower += sign * counts[bisect_left(strengths, strength)]
            not_higher += sign * counts[bisect_right(strengths, strength)]
        if number % _EVERY == 0:
            tick(min(_EVERY, FIVE_STEPS - number))
        yield DealerComparison(cards, multiplicity, strength, lower, not_higher - lower, DEALER_HANDS - not_higher)


def _subsets(cards: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Return every set of up to four of five cards, with its sign."""
    bits = [_BITS[card] for card in cards]
    for size in range(5):
        sign = -1 if size % 2 else 1
        for chosen in combinations(bits, size):
            yield sign, sum(chosen)


def _suits(chosen: int) -> list[int]:
    return [chosen >> _FIELD * number & (1 << _FIELD) - 1 for number in range(4)]


def _alike(chosen: int) -> int:
    """Return the set among those alike whose suits are in order."""
    ordered = sum(mask << _FIELD * number for number, mask in enumerate(sorted(_suits(chosen))))
    return ordered | chosen >> _FIELD * 4 << _FIELD * 4


def _orbit(chosen: int) -> int:
    """Return how many sets are alike."""
    return factorial(4) // prod(factorial(number) for number in Counter(_suits(chosen)).values())


def _cumulated(tally: Counter[int], orbit: int) -> tuple[list[int], list[int]]:
    """Return the strengths in order, and how many hands rank below each, for one of the equivalent sets of `tally`."""
    strengths = sorted(tally)
    counts = [0]
    for strength in strengths:
        counts.append(counts[-1] + tally[strength] // orbit)
    return strengths, counts


# --- the figures ------------------------------------------------------------------------------------------------------


class FiveCards(NamedTuple):
    """Tallies of five-card hands."""

    by_column: Counter[tuple[HandClass, hands.Column]]  # with 2s and joker wild, by class and column
    natural: Counter[int]  # of the 52 natural cards alone, by features


def five_cards(tick: Tick) -> FiveCards:
    """Tally all 2,869,685 five-card hands."""
    tallies = FiveCards(Counter(), Counter())
    for cards, multiplicity in five_card_classes(tick):
        tallies.by_column[hands.paid_class(cards)] += multiplicity
        if JOKER not in cards:
            tallies.natural[hand_features.with_limited_joker(cards)] += multiplicity
    return tallies


def _own_cards(_: Effort, tick: Tick) -> Iterator[Figure]:
    """Yield the wagers that depend on the player's cards alone."""
    tallies = five_cards(tick)
    total = tallies.by_column.total()
    for table in tables_of("dj_wild", "trips"):
        back = Fraction(0)
        for (reached, column), multiplicity in tallies.by_column.items():
            line = first_line(table, hands.class_features(reached))
            back += Fraction(multiplicity, total) * return_per_unit(line_pay(line, column)) if line else 0
        yield Figure(game="dj_wild", wager="trips", table=table.id, computed=back, method=FIVE_METHOD)
    for table in tables_of("dj_wild", "progressive"):
        yield Figure(
            game="dj_wild", wager="progressive", table=table.id,
            computed=of_progressive(table, tallies.natural, rate=Fraction(0), stake=False),
            method="exact, all 2,598,960 natural hands", assuming="no rate, stake or envy",
        )  # fmt: skip


def _two_hands(_: Effort, tick: Tick) -> Iterator[Figure]:
    """Yield the main wagers with the best decision for every hand, and Bad Beat by the wording and two-way."""
    (blind,) = tables_of("dj_wild", "blind")
    net = wagered = dealt = 0
    beaten: Counter[HandClass] = Counter()
    for facing in compare_with_dealer(tick):
        reached = class_of(facing.strength)
        line = first_line(blind, hands.class_features(reached))
        assert line is not None
        odds = line_pay(line).odds or (0, 1)
        raised = facing.lower * (3 + odds[0]) - facing.higher * 4  # Ante 1, Raise 2, Blind 1
        folded = -2 * DEALER_HANDS
        net += facing.multiplicity * max(raised, folded)
        wagered += facing.multiplicity * DEALER_HANDS * (4 if raised > folded else 2)
        dealt += facing.multiplicity
        beaten[reached] += facing.multiplicity * facing.higher
    yield Figure(
        game="dj_wild", wager="ante", table="687a-main", computed=1 + Fraction(net, wagered),
        method=PAIRS_METHOD, assuming="best play, Blind equal to Ante; all three together",
    )  # fmt: skip
    for table in tables_of("dj_wild", "bad_beat"):
        back = Fraction(0)
        for reached, multiplicity in beaten.items():
            paid = first_line(table, hands.class_features(reached))
            back += Fraction(multiplicity, dealt * DEALER_HANDS) * return_per_unit(line_pay(paid)) if paid else 0
        figure = Figure(game="dj_wild", wager="bad_beat", table=table.id, computed=back, method=PAIRS_METHOD)
        yield msgspec.structs.replace(figure, assuming="the player's hand")
        yield msgspec.structs.replace(figure, computed=2 * back, assuming="either hand")


STUDIES: Final = (
    Study("five cards", ("trips", "progressive"), steps(FIVE_STEPS), _own_cards),
    Study(
        "two hands of DJ Wild", ("ante", "blind", "raise", "bad_beat"), steps(STEPS), _two_hands,
        shares={"blind": "ante", "raise": "ante"},
    ),
)  # fmt: skip
