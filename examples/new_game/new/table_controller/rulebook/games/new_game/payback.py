"""Payback of High Card, exact: one card against another of the same deck."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from table_controller.rulebook.games.new_game.hands import value
from table_controller.rulebook.payback.hand_classes import DECK
from table_controller.rulebook.payback.study import Figure, Study, return_per_unit, steps, tables_of
from table_controller.rulebook.settlement.terms import first_line, line_pay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.payback.study import Effort, Tick

_GAME: Final = "new_game"
_METHOD: Final = "exact, 53 cards"
# How many cards have each value.
_CARDS: Final = Counter(value((card,)) for card in range(DECK))


def _one_card(_: Effort, tick: Tick) -> Iterator[Figure]:
    pairs = {(own, other): _CARDS[own] * (_CARDS[other] - (own == other)) for own in _CARDS for other in _CARDS}
    back = sum(number * (2 * (own > other) + (own == other)) for (own, other), number in pairs.items())
    computed = Fraction(back, sum(pairs.values()))
    yield Figure(game=_GAME, wager="ante", table="999a-ante", computed=computed, method=_METHOD)
    for table in tables_of(_GAME, "lucky_card"):
        lines = {number: first_line(table, 0, total=number) for number in _CARDS}
        paid = sum(
            (_CARDS[number] * return_per_unit(line_pay(line)) for number, line in lines.items() if line), Fraction(0)
        )
        yield Figure(game=_GAME, wager="lucky_card", table=table.id, computed=paid / DECK, method=_METHOD)
    tick(1)


STUDIES: Final = (Study("one card", ("ante", "lucky_card"), steps(1), _one_card),)
