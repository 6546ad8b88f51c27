"""Keeps the mean ratio of each benchmark to its floor, so that the table of figures before and after can show it.

python -m tools.benchmark_figures             print the stored figures
python -m tools.benchmark_figures --record    read bench/output.txt, which `make bench` writes, and store its figures

A mean ratio is the geometric mean of the last column of a benchmark's rows: each row divided by its floor or peer.
Microseconds differ between computers, so they are not kept.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from math import exp, log
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
OUTPUT: Final = ROOT / "bench" / "output.txt"
FIGURES: Final = ROOT / "tests" / "benchmark_figures.json"
# The line with which `make bench` begins the output of a benchmark.
_HEADING: Final = re.compile(r"^== (\w+)$", re.MULTILINE)
_ROW: Final = re.compile(r" us +[\d.,]+ us +(?:[\d.]+ +)*([\d.]+)\s*$")
# The name of the figure over all rows.
ALL: Final = "mean"


def _geometric_mean(ratios: list[float]) -> float:
    return round(exp(sum(map(log, ratios)) / len(ratios)), 3)


def mean_ratios(output: str) -> dict[str, float]:
    """Return the mean ratio of each benchmark in the output of `make bench`, and of all rows together."""
    parts = _HEADING.split(output)[1:]
    ratios = {
        name: [float(match[1]) for line in text.splitlines() if (match := _ROW.search(line))]
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
    figures = {name: _geometric_mean(rows) for name, rows in ratios.items() if rows}
    every = [ratio for rows in ratios.values() for ratio in rows]
    return figures | {ALL: _geometric_mean(every)} if every else figures


def stored() -> dict[str, float]:
    """Return the stored figures; empty if none were recorded."""
    return dict(json.loads(FIGURES.read_text("utf-8"))) if FIGURES.exists() else {}


def main(arguments: list[str] | None = None) -> int:
    """Print the stored figures, or record new ones."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmark_figures", description="mean ratios of benchmarks")
    parser.add_argument("--record", action="store_true", help="store the figures of bench/output.txt")
    if parser.parse_args(arguments).record:
        if not OUTPUT.exists():
            print(f"{OUTPUT.relative_to(ROOT)} is missing; run `make bench` first", file=sys.stderr)
            return 1
        figures = mean_ratios(OUTPUT.read_text("utf-8"))
        if ALL not in figures:
            print(f"{OUTPUT.relative_to(ROOT)} has no rows of a benchmark; run `make bench` again", file=sys.stderr)
            return 1
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    for name, ratio in stored().items():
        print(f"{name:8} {ratio:.2f} x its floor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
