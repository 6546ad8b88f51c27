"""A study: what computes some expected paybacks of a game, and how each line of a paytable counts in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.rulebook.payback.published import Published
from table_controller.rulebook.settlement.terms import first_line, line_pay
from table_controller.rulebook.texts import paytables

if TYPE_CHECKING:
    from table_controller.rulebook.payback.simulation import SimulatedPayback
    from table_controller.rulebook.texts import Pay, Paytable, PaytableLine

Tick = Callable[[int], None]
PAIRS_METHOD: Final = "exact, all pairs of hands"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One expected payback: the returned share of the wagered amount."""

    game: str
    wager: str
    table: str
    computed: Fraction
    half_width: Fraction | None = None  # of the 95 % interval, where it was simulated
    method: str  # what was counted or dealt
    assuming: str = ""
    published: Published | None = None

    @property
    def difference(self) -> Fraction | None:
        """Computed less published."""
        return None if self.published is None else self.computed - self.published.value


class Effort(msgspec.Struct, frozen=True):
    """How many rounds to simulate where exact counting is not possible."""

    rounds: int
    seed: int


class Study(NamedTuple):
    """Figures of one game that one computation yields together."""

    title: str
    wagers: tuple[str, ...]
    steps: Callable[[Effort], int]
    run: Callable[[Effort, Tick], Iterator[Figure]]
    shares: Mapping[str, str] = {}  # wagers that are settled together with another one, whose figure they share


def steps(number: int) -> Callable[[Effort], int]:
    """Return a number of steps that does not depend on the effort."""
    return lambda _: number


def return_per_unit(pay: Pay) -> Fraction:
    """Return how much of one unit is returned at odds, the wager included."""
    if pay.push:
        return Fraction(1)
    assert pay.odds is not None
    return 1 + Fraction(*pay.odds)


def line_chances(table: Paytable, tally: Mapping[int, int]) -> list[tuple[PaytableLine, Fraction]]:
    """Return every line with its chance; a hand counts for the first line that fits."""
    lines: Counter[str] = Counter()
    for held, multiplicity in tally.items():
        line = first_line(table, held)
        if line is not None:
            lines[line.label] += multiplicity
    total = sum(tally.values())
    return [(line, Fraction(lines[line.label], total)) for line in table.lines]


def tables_of(game: str, wager: str) -> Iterator[Paytable]:
    """Yield the paytables of a wager."""
    yield from (table for table in paytables(game) if wager in table.wagers)


def at_odds(game: str, wager: str, tally: Mapping[int, int], method: str) -> Iterator[Figure]:
    """Yield the figures of a wager at odds on one hand."""
    for table in tables_of(game, wager):
        back = sum(
            (chance * return_per_unit(line_pay(line)) for line, chance in line_chances(table, tally)), Fraction(0)
        )
        yield Figure(game=game, wager=wager, table=table.id, computed=back, method=method)


def of_progressive(table: Paytable, tally: Mapping[int, int], *, rate: Fraction, stake: bool) -> Fraction:
    """Return a progressive's payback: fixed pays, the contribution to the meter, and the seed when it is won (F25)."""
    assert table.unit_cents is not None
    assert table.seed_cents is not None
    back = rate
    for line, chance in line_chances(table, tally):
        pay = line_pay(line)
        won = Fraction(pay.fixed_cents or 0, table.unit_cents) + (Fraction(*pay.odds) if pay.odds else 0)
        seed = Fraction(table.seed_cents, table.unit_cents) if pay.meter_percent == 100 else 0
        back += chance * (won + seed + stake)
    return back


def simulated_figure(
    mean: SimulatedPayback, effort: Effort, game: str, wager: str, table: str, assuming: str
) -> Figure:
    """Return the figure of a wager that cannot be counted."""
    return Figure(
        game=game, wager=wager, table=table, computed=Fraction(mean.payback), half_width=Fraction(mean.half_width),
        method=f"simulated, {mean.rounds:,} rounds of six players, seed {effort.seed}", assuming=assuming,
    )  # fmt: skip
