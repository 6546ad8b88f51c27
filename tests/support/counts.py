"""How much a long proof tries, and with which seeds: the same count in every lap of `make marathon`, no seed twice.

`make proof` is the first lap. A marathon runs laps one after the other (`tools/marathon.py`) and adds up the cases that
each proof reports here. No tests here.
"""

from __future__ import annotations

import os
from typing import Final

# Which lap this is, counted from one; set by `tools/marathon.py`.
LAP: Final = int(os.environ.get("PITBOX_LAP", "1"))
# The run's seed, unless one is named: far enough apart that no two laps draw a case twice.
SEED: Final = 1 + 100_000 * (LAP - 1)


class Count(int):
    """How many cases a proof tries; a test that uses one reports it."""


class _Tally:
    """Cases of the test that runs."""

    cases = 0


def many(count: int) -> Count:
    """Return how many cases to try, of a proof that tries so many in a lap."""
    _Tally.cases += count
    return Count(count)


def draw(first: int, count: int) -> range:
    """Return so many seeds: from `first` on in `make proof`, and others in every further lap."""
    number = many(count)
    return range(first + number * (LAP - 1), first + number * LAP)


def begin_test() -> None:
    """Count anew."""
    _Tally.cases = 0


def cases_of(test: object) -> int:
    """Return how many cases the test that just ran has tried: what it drew, or else the counts of its module."""
    code, names = getattr(test, "__code__", None), getattr(test, "__globals__", {})
    used = [names[name] for name in (code.co_names if code is not None else ()) if isinstance(names.get(name), Count)]
    return _Tally.cases or sum(used) or 1
