"""Payback of Over/Under, exact: three cards of a batch of six decks, with the best decision after the first."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from table_controller.rulebook.games.over_under.hands import OVER_23, UNDER_18, VALUES
from table_controller.rulebook.payback.study import Figure, Study, return_per_unit, steps, tables_of
from table_controller.rulebook.settlement.terms import first_line, line_pay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from table_controller.rulebook.payback.study import Effort, Tick

_DECKS: Final = 6
_BATCH: Final = Counter({value: 4 * _DECKS * VALUES.count(value) for value in VALUES})


def totals() -> dict[int, Fraction]:
    """Return the chance of every total of three cards."""
    chances: dict[int, Fraction] = dict.fromkeys(range(6, 34), Fraction(0))
    for first, chance in _next(_BATCH).items():
        for total, then in _after(first).items():
            chances[total] += chance * then
    return chances


class Required(NamedTuple):
    """The required wagers under best play, in units of the Ante."""

    wagered: Fraction  # Ante and second wager together
    returned: Fraction
    decisions: dict[int, str]  # value of the first card -> over_23, under_18 or surrender


def required_wagers() -> Required:
    """Return the wagered and the returned amount when every decision is the best one."""
    wagered, returned = Fraction(0), Fraction(0)
    decisions = {}
    for first, chance in _next(_BATCH).items():
        after = _after(first)
        over = 4 * sum((after[total] for total in OVER_23), Fraction(0))
        under = 4 * sum((after[total] for total in UNDER_18), Fraction(0))
        # Two units win four, or the player surrenders one.
        result, back, name = max((over - 2, over, "over_23"), (under - 2, under, "under_18"))
        if result < -1:
            back, name = Fraction(0), "surrender"
        decisions[first] = name
        wagered += chance * (1 if name == "surrender" else 2)
        returned += chance * back
    return Required(wagered, returned, decisions)


def bonus(pays: Callable[[int], Fraction]) -> Fraction:
    """Return the payback of one unit; `pays` returns what a total pays, the wager included."""
    return sum((chance * pays(total) for total, chance in totals().items()), Fraction(0))


def _next(left: Counter[int]) -> dict[int, Fraction]:
    """Return the chance of every value of the next card."""
    return {value: Fraction(number, left.total()) for value, number in left.items() if number}


def _after(first: int) -> dict[int, Fraction]:
    """Return the chance of every total, given the first card's value."""
    chances: dict[int, Fraction] = defaultdict(Fraction)
    left = _BATCH - Counter([first])
    for second, chance in _next(left).items():
        for third, then in _next(left - Counter([second])).items():
            chances[first + second + third] += chance * then
    return chances


_METHOD: Final = "exact, 312 cards"


def _three_cards(_: Effort, tick: Tick) -> Iterator[Figure]:
    required = required_wagers()
    yield Figure(
        game="over_under", wager="ante", table="686a-main", computed=required.returned / required.wagered,
        method=_METHOD, assuming="best play; both wagers together",
    )  # fmt: skip
    (table,) = tables_of("over_under", "bonus")

    def pays(total: int) -> Fraction:
        line = first_line(table, 0, total=total)
        return Fraction(0) if line is None else return_per_unit(line_pay(line))

    yield Figure(game="over_under", wager="bonus", table=table.id, computed=bonus(pays), method=_METHOD)
    tick(1)


STUDIES: Final = (
    Study(
        "three cards", ("ante", "over_23", "under_18", "bonus"), steps(1), _three_cards,
        shares={"over_23": "ante", "under_18": "ante"},
    ),
)  # fmt: skip
