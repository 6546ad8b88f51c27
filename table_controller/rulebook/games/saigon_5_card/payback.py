"""Payback of Saigon 5 Card: the Ante counted over every pair of hands, by values alone; the bonus over all hands."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.cards import ACE, JOKER
from table_controller.rulebook.games.saigon_5_card import hands as saigon
from table_controller.rulebook.payback.hand_counts import FIVE_METHOD, FIVE_STEPS, five_cards
from table_controller.rulebook.payback.study import (
    PAIRS_METHOD,
    Figure,
    Study,
    at_odds,
    return_per_unit,
    steps,
    tables_of,
)
from table_controller.rulebook.settlement.terms import line_pay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.payback.study import Effort, Tick

    _Vector = tuple[int, ...]  # how many cards of each kind

# Cards by value: ace, 2 to 9, then ten and court cards, then the joker; and the first card of each kind.
_KINDS: Final = (4,) * 9 + (16, 1)
_FIRST: Final = (ACE << 2, *(rank << 2 for rank in range(9)), JOKER)


class AnteResults(NamedTuple):
    """Chances of the Ante when both hands are set for the highest Point Count."""

    wins: Fraction
    wins_half: Fraction  # on a Point Count of 5
    pushes: Fraction
    loses: Fraction


def ante_chances() -> AnteResults:
    """Return the chances, over every pair of hands; the dealer's by inclusion and exclusion of the player's cards."""
    hands = [(number, saigon.best_set(_representative(number))) for number in _vectors(5)]
    holding: dict[_Vector, Counter[int]] = defaultdict(
        Counter
    )  # some cards -> Point Counts of the hands that hold them
    for number, dealer in hands:
        for part in product(*(range(times + 1) for times in number)):
            others = prod(comb(have - of, times - of) for have, times, of in zip(_KINDS, number, part, strict=True))
            holding[part][dealer.point_count if dealer.qualifies else 0] += others
    results: Counter[str] = Counter()
    for number, player in hands:
        multiplicity = prod(map(comb, _KINDS, number))
        for part in product(*(range(times + 1) for times in number)):
            sign = multiplicity * prod(map(comb, number, part)) * (-1) ** sum(part)
            for count, times in holding[part].items():
                results[_ante(player, count)] += sign * times
    total = sum(results.values())
    return AnteResults(*(Fraction(results[name], total) for name in AnteResults._fields))


def _ante(player: saigon.SaigonSetting, dealer: int) -> str:
    """Return how the Ante ends against a dealer's Point Count; 0: the dealer does not qualify."""
    if not player.qualifies:
        return "loses" if dealer else "pushes"
    if dealer and dealer >= player.point_count:
        return "loses" if dealer > player.point_count else "pushes"
    return "wins_half" if player.point_count == saigon.HALF_PAID else "wins"


def _vectors(size: int) -> Iterator[_Vector]:
    for kinds in combinations_with_replacement(range(len(_KINDS)), size):
        number = Counter(kinds)
        if all(times <= _KINDS[kind] for kind, times in number.items()):
            yield tuple(number[kind] for kind in range(len(_KINDS)))


def _representative(number: _Vector) -> list[int]:
    """Return a hand of these values."""
    return [_FIRST[kind] + at for kind, times in enumerate(number) for at in range(times)]


def _ante_figure(_: Effort, tick: Tick) -> Iterator[Figure]:
    chances = ante_chances()
    whole, half = (return_per_unit(line_pay(line)) for line in next(tables_of("saigon_5_card", "ante")).lines)
    yield Figure(
        game="saigon_5_card", wager="ante", table="680a-ante",
        computed=chances.wins * whole + chances.wins_half * half + chances.pushes,
        method=PAIRS_METHOD, assuming="both take the highest Point Count",
    )  # fmt: skip
    tick(1)


def _bonus(_: Effort, tick: Tick) -> Iterator[Figure]:
    yield from at_odds("saigon_5_card", "bonus", five_cards(tick), FIVE_METHOD)


STUDIES: Final = (
    Study("five cards", ("bonus",), steps(FIVE_STEPS), _bonus),
    Study("Saigon's Ante", ("ante",), steps(1), _ante_figure),
)
