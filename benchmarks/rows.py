"""Rows of a benchmark: interleaved measurement, percentiles, the printed table and its verdicts."""

from __future__ import annotations

import argparse
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MICRO = 1e6


class BenchmarkRow:
    """One implementation that is measured. `batch` runs it several times and returns the seconds of each run."""

    def __init__(self, name: str, batch: Callable[[], Sequence[float]]) -> None:
        self.name = name
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
    """Print median and p99 of every row (µs) and its multiple of each base."""
    names = ["", "median", "p99", *(f"x {base.name}" for base in bases)]
    lines = [
        [
            row.name,
            f"{row.percentile(0.5) * _MICRO:.2f} us",
            f"{row.percentile(0.99) * _MICRO:.2f} us",
            *(f"{row.ratio(base):.2f}" for base in bases),
        ]
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (names, *lines)) for column in range(len(names))]
    print(title)
    for line in (names, *lines):
        first, *others = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  " + "   ".join([first, *(cell.rstrip().rjust(len(cell)) for cell in others)]))


def print_at_most(what: str, limit: float, measured: float) -> None:
    """Print whether a ratio is within its budget."""
    print(f"{what}: budget <= {limit:g} x: measured {measured:.2f} x: {'held' if measured <= limit else 'NOT held'}")


def print_at_least(what: str, limit: float, measured: float) -> None:
    """Print whether a ratio reaches its budget."""
    print(f"{what}: budget >= {limit:g} x: measured {measured:.2f} x: {'held' if measured >= limit else 'NOT held'}")
