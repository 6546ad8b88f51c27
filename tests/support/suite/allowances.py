"""A pytest plugin: the time of each subject of `make proof`, and its allowance in tests/allowances.toml.

A subject over its allowance is printed but does not fail: a slow computer is not an error of the code. A long proof
without an allowance fails the run, so that its author states its cost. No test asserts a time.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path
from time import monotonic
from typing import Any, Final

import pytest

import tests

FILE: Final = Path(tests.__file__).resolve().parent / "allowances.toml"


def subject_of(nodeid: str) -> str:
    """Return a test's subject: tests/scenario/test_shuffler_soak.py::test_x is scenario/shuffler_soak."""
    path = Path(nodeid.partition("::")[0])
    return f"{path.parent.name}/{path.stem.removeprefix('test_')}"


def minutes() -> dict[str, float]:
    """Return the allowance of each subject: minutes of all its tests together, over all workers."""
    table: dict[str, float] = tomllib.loads(FILE.read_text())["minutes"]
    return table


def lines(took: dict[str, float], allowed: dict[str, float]) -> list[str]:
    """Return a line per subject, the longest first, with a mark if it is over its allowance."""
    printed = []
    for subject, seconds in sorted(took.items(), key=lambda each: -each[1]):
        limit = allowed.get(subject)
        over = limit is not None and seconds > limit * 60
        allowance = "NO ALLOWANCE: add one to tests/allowances.toml" if limit is None else f"of {limit:g} min"
        printed.append(f"{subject:36s}{seconds / 60:6.1f} {allowance}{'   OVER ITS ALLOWANCE' if over else ''}")
    return printed


class AllowanceClock:
    """Adds up the time of every subject over all workers."""

    def __init__(self) -> None:
        self.began = monotonic()
        self.took: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of every part of every test."""
        self.took[subject_of(report.nodeid)] += report.duration

    def unknown(self) -> list[str]:
        """Subjects without an allowance."""
        return sorted(self.took.keys() - minutes().keys())

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run if a subject has no allowance."""
        if self.unknown() and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table and its total."""
        terminalreporter.section("time by subject")
        for line in lines(self.took, minutes()):
            terminalreporter.write_line(line, red="OVER" in line or "NO ALLOWANCE" in line)
        total, limit = (monotonic() - self.began) / 60, tomllib.loads(FILE.read_text())["total"]
        over = "   OVER ITS ALLOWANCE" if total > limit else ""
        line = f"{'altogether':36s}{total:6.1f} of {limit:g} min on two quiet cores{over}"
        terminalreporter.write_line(line, red=bool(over))


def pytest_configure(config: pytest.Config) -> None:
    """Register the clock in the main process, where all reports arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(AllowanceClock(), "allowances")
