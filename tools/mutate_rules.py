"""Rule mutation: changes one rule at a time and checks that a test of rows or permits fails.

python -m tools.mutate_rules                run every mutant; print the test that kills each one, and the score
python -m tools.mutate_rules --part 2/4     run the second quarter of the mutants
python -m tools.mutate_rules --only 688a.13 run the mutants whose name contains this

Tests run in this process until the first one fails; exit code 1 if a mutant survives all tests.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from table_controller.rulebook.registry import CHAPTERS
from tests.support.core import ideal_table, irregularities
from tools import rule_mutants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tools.rule_mutants import RuleMutant


class Killed(NamedTuple):
    """A mutant and the test that kills it; None: it survives."""

    mutant: RuleMutant
    test: str | None


class MutantCheck(NamedTuple):
    """One test case: its subject (triggers of a game, or acts), and the function that runs it."""

    name: str
    about: tuple[str, ...]
    keys: tuple[str, ...]  # the rows (by clause) or reasons that it covers: these run first
    run: Callable[[], None]


@cache
def of_game(game: str) -> tuple[MutantCheck, ...]:
    """Return the tests of a game's rows."""
    module = f"tests.unit.test_rows_{CHAPTERS[game]}"
    checks = []
    for case in import_module(module).CASES:
        for cell in irregularities.cells(case):
            name = f"{module.replace('.', '/')}.py::test_row[{case.id}] at {cell.kind}, {cell.phase} {cell.choice}"
            checks.append(MutantCheck(name.rstrip(), _about(case), case.cites, _row_check(cell)))
    together = import_module("tests.unit.test_rows_together")
    for name, about, run in together.checks(game):
        checks.append(MutantCheck(f"tests/unit/test_rows_together.py::{name}", about, ("precedence",), run))
    return tuple(checks)


def _about(case: irregularities.IrregularityCase) -> tuple[str, ...]:
    """Return the triggers of a case; a wrong stub may turn out to be a misdeal."""
    return (
        (case.trigger, "stub_wrong") if case.how in ("not_misdealt", "total_right", "total_wrong") else (case.trigger,)
    )


def _row_check(cell: irregularities.CaseCell) -> Callable[[], None]:
    return lambda: irregularities.check(cell, whole=False)


@cache
def of_permits() -> tuple[MutantCheck, ...]:
    """Return the tests of the permit reasons."""
    module = import_module("tests.unit.test_permits")
    return tuple(
        MutantCheck(f"tests/unit/test_permits.py::{name}", acts, keys, run) for name, acts, keys, run in module.checks()
    )


@contextmanager
def in_force(mutant: RuleMutant) -> Iterator[None]:
    """Use the changed rules in this block."""
    try:
        if mutant.game is None:
            ideal_table.PERMITS.append(mutant.rules)  # type: ignore[arg-type]
        else:
            ideal_table.EDITIONS[mutant.game] = mutant.rules  # type: ignore[assignment]
        yield
    finally:
        ideal_table.PERMITS.clear()
        ideal_table.EDITIONS.clear()


def killed(mutant: RuleMutant) -> Killed:
    """Run the tests that concern a mutant until one fails."""
    checks = of_permits() if mutant.game is None else of_game(mutant.game)
    concerned = [check for check in checks if set(check.about) & set(mutant.about)]
    concerned.sort(key=lambda check: mutant.key not in check.keys)
    with in_force(mutant):
        for check in concerned:
            try:
                check.run()
            except Exception:  # noqa: BLE001  # any exception is a failure
                return Killed(mutant, check.name)
    return Killed(mutant, None)


def unchanged() -> list[str]:
    """Return the tests that fail without a mutant; there must be none."""
    failing = []
    for check in (*(check for game in CHAPTERS for check in of_game(game)), *of_permits()):
        try:
            check.run()
        except Exception as error:  # noqa: BLE001
            failing.append(f"{check.name}: {error!r}")
    return failing


def part(chosen: Sequence[RuleMutant], which: int, of: int) -> Sequence[RuleMutant]:
    """Return every `of`th mutant, beginning with number `which`."""
    return chosen[which - 1 :: of]


def report(results: list[Killed]) -> str:
    """Return the score, the counts by kind, and the survivors."""
    left = [one.mutant for one in results if one.test is None]
    kinds = Counter(one.mutant.kind for one in results)
    score = 100 * (len(results) - len(left)) / max(1, len(results))
    lines = [f"  {kind}: {kinds[kind]}" for kind in sorted(kinds)]
    lines += [f"survived: {mutant.name}" for mutant in left]
    return "\n".join([f"{len(results) - len(left)} of {len(results)} mutants killed: {score:.2f} %", *lines])


def main(argv: list[str] | None = None) -> int:
    """Run mutants and print the score."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--part", default="1/1", help="K/N: the Kth of N parts")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--quiet", action="store_true", help="only the score and what survived")
    given = parser.parse_args(argv)
    which, _, of = given.part.partition("/")
    failing = unchanged()
    if failing:
        print("tests fail without any mutant:", *failing, sep="\n  ")
        return 1
    every, same = rule_mutants.every()
    results = []
    for mutant in part([one for one in every if given.only in one.name], int(which), int(of)):
        results.append(killed(mutant))
        if not given.quiet:
            print(f"{mutant.name}\n    {results[-1].test or 'SURVIVES'}")
    print(f"{len(every)} mutants; {same} changes left out that are the same rule at every table")
    print(report(results))
    return int(any(one.test is None for one in results))


if __name__ == "__main__":
    sys.exit(main())
