"""Keeps the figures of the benchmarks: each ratio and each budget, with the good direction and the measured commit.

python -m tools.benchmark_figures             print the stored figures; exit 1 if a budget is not held
python -m tools.benchmark_figures --record    read bench/log.jsonl, which `make bench` writes, and store its figures

The file is tests/benchmark_figures.json. Its `means` are for the table of figures before and after the renames: the
geometric mean of the last column of a benchmark's tables. Microseconds differ between computers; only ratios compare.
"""

from __future__ import annotations

import argparse
import json
import sys
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from benchmarks.budgets import BUDGETS
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
LOG: Final = ROOT / "bench" / "log.jsonl"
FIGURES: Final = ROOT / "tests" / "benchmark_figures.json"
# The name of the figure over all rows.
ALL: Final = "mean"
# In a mean over the rows of `codec` our code is the base. These means mix rows of both directions and show nothing.
HIGHER_MEANS: Final = ("codec",)
MIXED_MEANS: Final = ("hands", "journal", ALL)


class Ratio(msgspec.Struct, frozen=True):
    """One row of a benchmark as a multiple of another, and which multiple is good for us."""

    benchmark: str
    table: str
    row: str
    role: Literal["ours", "floor", "peer"]
    base: str
    base_role: Literal["ours", "floor", "peer"]
    better: Literal["lower", "higher", "-"]
    ratio: float
    median_us: float
    commit: str


class Verdict(msgspec.Struct, frozen=True):
    """One measured value with its budget."""

    benchmark: str
    verdict: str
    budget: str
    limit: float
    unit: str
    better: Literal["lower", "higher"]
    reference: str
    measured: float
    held: bool
    commit: str


class Figures(msgspec.Struct, frozen=True):
    """The file. `commit` is that of the means."""

    commit: str
    means: dict[str, float]
    ratios: tuple[Ratio, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


def read_log(lines: Sequence[str]) -> Figures:
    """Return the figures of a log. ValueError if it has no ratio, or mixes commits."""
    raw = [json.loads(line) for line in lines]
    ratios = tuple(msgspec.convert(line, Ratio) for line in raw if "ratio" in line)
    verdicts = tuple(msgspec.convert(line, Verdict) for line in raw if "verdict" in line)
    commits = {each.commit for each in ratios} | {each.commit for each in verdicts}
    if not ratios:
        raise ValueError("the log has no rows of a benchmark")
    if len(commits) > 1:
        raise ValueError(f"the log mixes commits: {', '.join(sorted(commits))}")
    return Figures(commits.pop(), _means(ratios), ratios, verdicts)


def _means(ratios: Sequence[Ratio]) -> dict[str, float]:
    """Return the mean of each benchmark's last column, and of all together."""
    last: dict[str, dict[tuple[str, str], float]] = {}
    for each in ratios:
        last.setdefault(each.benchmark, {})[each.table, each.row] = each.ratio
    columns = {name: list(rows.values()) for name, rows in last.items() if name != "rounds"}
    every = [ratio for rows in columns.values() for ratio in rows]
    return {name: _geometric_mean(rows) for name, rows in columns.items()} | {ALL: _geometric_mean(every)}


def _geometric_mean(ratios: list[float]) -> float:
    return round(exp(sum(map(log, ratios)) / len(ratios)), 3)


def stored() -> Figures:
    """Return the stored figures."""
    return msgspec.json.decode(FIGURES.read_bytes(), type=Figures)


def budget_table() -> str:
    """Return every budget with the value nearest to it or beyond it, as a table for the page of the benchmarks."""
    figures = stored()
    rows = []
    for budget in BUDGETS.values():
        own = [each for each in figures.verdicts if (each.benchmark, each.budget) == (budget.benchmark, budget.what)]
        worst = (max if budget.better == "lower" else min)(own, key=lambda each: each.measured, default=None)
        measured = "not measured yet" if worst is None else f"{worst.measured:.2f} {budget.unit}"
        commit = "" if worst is None else worst.commit
        rows.append((f"`{budget.benchmark}`", budget.what, budget.reference, budget.text(), measured, commit))
    return table(("benchmark", "what", "against", "budget", "measured, worst row", "commit"), *rows)


def main(arguments: list[str] | None = None) -> int:
    """Print the stored figures, or record new ones."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark_figures", description="figures of the benchmarks")
    parser.add_argument("--record", action="store_true", help="store the figures of bench/log.jsonl")
    if parser.parse_args(arguments).record:
        if not LOG.exists():
            print(f"{LOG.relative_to(ROOT)} is missing; run `make bench` first", file=sys.stderr)
            return 1
        try:
            figures = read_log(LOG.read_text("utf-8").splitlines())
        except ValueError as error:
            print(f"{LOG.relative_to(ROOT)}: {error}; run `make bench` again", file=sys.stderr)
            return 1
        FIGURES.write_text(json.dumps(msgspec.to_builtins(figures), indent=1, ensure_ascii=False) + "\n", "utf-8")
    figures = stored()
    for each in figures.ratios:
        if each.better != "-":
            print(
                f"{each.commit}  {each.benchmark:8} {each.ratio:7.2f} x  {each.better:6} is good  "
                f"{each.row} ({each.role}) / {each.base} ({each.base_role})"
            )
    for one in figures.verdicts:
        limit = f"{'<=' if one.better == 'lower' else '>='} {one.limit:g}"
        print(f"{one.commit}  {one.benchmark:8} {one.measured:7.2f} {one.unit}, budget {limit}: "
              f"{'held' if one.held else 'NOT held'}: {one.verdict}")  # fmt: skip
    if not figures.verdicts:
        print(f"no budget is measured yet; the means of {figures.commit} alone are stored. Run: make bench")
    return int(any(not one.held for one in figures.verdicts))


if __name__ == "__main__":
    sys.exit(main())
