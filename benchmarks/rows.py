"""Rows of a benchmark: interleaved measurement, percentiles, the printed table, verdicts, and the log of all of them.

The log is the file that BENCH_LOG names, as JSON Lines: one line for each ratio and each verdict, with the commit that
was measured and the direction that is good. `python -m tools.benchmark_figures --record` reads it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.budgets import Budget

_MICRO = 1e6
# Our code; the least that any program must do; a well-known program that does the same.
Role = Literal["ours", "floor", "peer"]
LOG: Final = "BENCH_LOG"


class BenchmarkRow:
    """One implementation that is measured. `batch` runs it several times and returns the seconds of each run."""

    def __init__(self, name: str, batch: Callable[[], Sequence[float]], role: Role = "ours") -> None:
        self.name = name
        self.role = role
        self._batch = batch
        self.samples: list[float] = []
        self.medians: list[float] = []  # one per round

    def measure(self) -> None:
        """Run one batch and keep its times."""
        self.keep(self._batch())

    def keep(self, took: Sequence[float]) -> None:
        """Keep the times of one batch."""
        self.samples += took
        self.medians.append(median(took))

    def percentile(self, share: float) -> float:
        """Return the time (s) below which this share of the samples is."""
        return sorted(self.samples)[min(len(self.samples) - 1, int(share * len(self.samples)))]

    def ratio(self, base: BenchmarkRow) -> float:
        """Return this row's time as a multiple of `base`: the median over rounds, to ignore a noisy round."""
        return median(own / other for own, other in zip(self.medians, base.medians, strict=True))

    def better(self, base: BenchmarkRow) -> str:
        """Return which ratio to `base` is good for us; "-" if the ratio is only for comparison."""
        if self is base or "ours" not in (self.role, base.role):
            return "-"
        return "lower" if self.role == "ours" else "higher"


def arguments(description: str, example: str, rounds: int) -> int:
    """Read the command line; return how many rounds to run."""
    parser = argparse.ArgumentParser(
        description=description, epilog=f"example: {example}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds, metavar="N", help=f"batches per row (default {rounds})")
    chosen: int = parser.parse_args().rounds
    if chosen < 1:
        parser.error("--rounds: at least 1")
    return chosen


def interleave(rows: Sequence[BenchmarkRow], rounds: int) -> None:
    """Measure all rows in turn for some rounds, each round starting with another row; a first round warms up."""
    for row in rows:
        row.measure()
        row.samples.clear()
        row.medians.clear()
    for number in range(rounds):
        first = number % len(rows)
        for row in (*rows[first:], *rows[:first]):
            row.measure()


def print_table(title: str, rows: Sequence[BenchmarkRow], bases: Sequence[BenchmarkRow]) -> None:
    """Print role, median and p99 of every row (µs), its multiple of each base, and which multiple is good for us."""
    names = ["", "is", "median", "p99", *(f"x {base.name}" for base in bases), "good"]
    lines = [
        [
            row.name,
            row.role,
            f"{row.percentile(0.5) * _MICRO:.2f} us",
            f"{row.percentile(0.99) * _MICRO:.2f} us",
            *(f"{row.ratio(base):.2f}" for base in bases),
            row.better(bases[0]),
        ]
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (names, *lines)) for column in range(len(names))]
    print(title)
    for line in (names, *lines):
        first, *others = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  " + "   ".join([first, *(cell.rstrip().rjust(len(cell)) for cell in others)]))
    for row in rows:
        for base in bases:
            log_ratio(title, row, base)


def log_ratio(title: str, row: BenchmarkRow, base: BenchmarkRow) -> None:
    """Log the ratio of a row to its floor or peer."""
    _log(
        table=title, row=row.name, role=row.role, base=base.name, base_role=base.role, better=row.better(base),
        ratio=round(row.ratio(base), 3), median_us=round(row.percentile(0.5) * _MICRO, 2),
    )  # fmt: skip


def print_verdict(budget: Budget, what: str, measured: float) -> None:
    """Print and log whether a measured value is within its budget."""
    verdict = "held" if budget.is_met(measured) else "NOT held"
    print(f"{what}: budget {budget.text()}: measured {measured:.2f} {budget.unit}: {verdict}")
    _log(
        verdict=what, budget=budget.what, limit=budget.limit, unit=budget.unit, better=budget.better,
        reference=budget.reference, measured=round(measured, 3), held=budget.is_met(measured),
    )  # fmt: skip


def _log(**line: object) -> None:
    if LOG in os.environ:
        main = sys.modules["__main__"].__spec__
        name = "" if main is None else main.name.rpartition(".")[2]
        with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
            log.write(json.dumps({"benchmark": name, "commit": measured_commit(), **line}) + "\n")


@cache
def measured_commit() -> str:
    """Return the commit that is measured, with a plus if files have changed since; "unknown" outside of git."""
    described = subprocess.run(
        ["git", "describe", "--always", "--abbrev=8", "--dirty=+", "--exclude=*"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return described.stdout.strip() or "unknown"
