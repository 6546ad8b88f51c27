"""The number of cases of a long proof and their seeds: the same number in every lap of `make marathon`, no seed twice.

`make proof` is the first lap. A marathon (`tools/marathon.py`) runs laps one after the other and adds up the cases that
each proof counts here.
"""

from __future__ import annotations

import os
from typing import Final

# Which lap this is, counted from one; set by `tools/marathon.py`.
LAP: Final = int(os.environ.get("PITBOX_LAP", "1"))
# Default seed of the run: far enough apart that no case is drawn in two laps.
SEED: Final = 1 + 100_000 * (LAP - 1)


class CaseCount(int):
    """Number of cases of a proof; a test that uses one reports it."""


class _Tally:
    """Cases of the running test."""

    cases = 0


def count_cases(count: int) -> CaseCount:
    """Count and return the number of cases of a proof in a lap."""
    _Tally.cases += count
    return CaseCount(count)


def draw_seeds(first: int, count: int) -> range:
    """Return so many seeds: from `first` on in `make proof`, and others in every further lap."""
    number = count_cases(count)
    return range(first + number * (LAP - 1), first + number * LAP)


def begin_test() -> None:
    """Reset the count."""
    _Tally.cases = 0


def cases_of(test: object) -> int:
    """Return the number of cases of the last test: drawn ones, or else the counts of its module."""
    code, names = getattr(test, "__code__", None), getattr(test, "__globals__", {})
    used = [
        names[name] for name in (code.co_names if code is not None else ()) if isinstance(names.get(name), CaseCount)
    ]
    return _Tally.cases or sum(used) or 1
