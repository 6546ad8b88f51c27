"""A pytest plugin for one lap of `make marathon`: its tests, its end, and the figures of each subject.

When the time is up no further test starts; running tests end as usual.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypedDict

import pytest

from tests.support.suite import case_counts
from tests.support.suite.allowances import subject_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# When the marathon ends (seconds of the wall clock; 0: never), and where the lap's figures go; set by tools/marathon.
UNTIL: Final = float(os.environ.get("PITBOX_UNTIL", "0"))
FIGURES: Final = os.environ.get("PITBOX_LAP_FIGURES", "")


class Figures(TypedDict):
    """The figures of a subject in a lap."""

    tests: int
    cases: int
    failed: int
    seconds: float
    left: int  # not started when the time was up


def varies_by_lap(item: pytest.Item) -> bool:
    """Return whether a proof tries other cases in another lap: then its module counts cases."""
    names = vars(getattr(item, "module", case_counts))
    return "LAP" in names or any(
        each is known
        for each in names.values()
        for known in (case_counts, case_counts.count_cases, case_counts.draw_seeds)
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip exhaustive tests after the first lap; with a time limit, shuffle the tests."""
    if case_counts.LAP > 1:
        gone = [item for item in items if not varies_by_lap(item)]
        items[:] = [item for item in items if varies_by_lap(item)]
        config.hook.pytest_deselected(items=gone)
    if UNTIL:
        Random(case_counts.LAP).shuffle(items)  # the same order in every worker


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Start no test once the time is up; it neither passes nor fails."""
    return True if UNTIL and time.time() >= UNTIL else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Add the number of cases to the test's report."""
    case_counts.begin_test()
    yield
    item.user_properties.append(("cases", case_counts.cases_of(getattr(item, "function", None))))


class MarathonLap:
    """Adds up the reports of all workers; prints a line when a subject is done, and writes the lap's figures."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = time.monotonic()
        self._planned: dict[str, set[str]] = defaultdict(set)
        self.figures: dict[str, Figures] = {}

    def plan(self, ids: list[str]) -> None:
        """Record the tests of this lap."""
        for nodeid in ids:
            self._planned[subject_of(nodeid)].add(nodeid)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Without workers the tests are collected here."""
        self.plan([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """With workers, each one collects the same tests."""
        self.plan(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for every part of every test."""
        subject = subject_of(report.nodeid)
        mine = self.figures.setdefault(subject, Figures(tests=0, cases=0, failed=0, seconds=0.0, left=0))
        mine["seconds"] += report.duration
        mine["failed"] += report.failed
        if report.when == "call":
            mine["cases"] += dict(report.user_properties).get("cases", 0)  # type: ignore[operator]
        if report.when == "teardown":
            mine["tests"] += 1
            if mine["tests"] == len(self._planned[subject]):
                self._print(subject)

    def _print(self, subject: str) -> None:
        done = sum(mine["tests"] == len(self._planned[name]) for name, mine in self.figures.items())
        took = (time.monotonic() - self._began) / 60
        where = f"lap {case_counts.LAP}, {took:.0f} min, {done} of {len(self._planned)} subjects"
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"\n{line_of(subject, self.figures[subject])}   ({where})")

    def pytest_sessionfinish(self) -> None:
        """Write the figures for the marathon."""
        for subject, ids in self._planned.items():
            mine = self.figures.setdefault(subject, Figures(tests=0, cases=0, failed=0, seconds=0.0, left=0))
            mine["left"] = len(ids) - mine["tests"]
        if FIGURES:
            Path(FIGURES).write_text(json.dumps(self.figures), "utf-8")


def line_of(subject: str, figures: Figures) -> str:
    """Return a subject's figures as a line."""
    left = f", {figures['left']} not begun" if figures["left"] else ""
    failed = f", {figures['failed']} FAILED" if figures["failed"] else ""
    minutes = figures["seconds"] / 60
    return f"{subject:36s}{figures['tests']:5d} tests {figures['cases']:9,d} cases {minutes:7.1f} min{left}{failed}"


def pytest_configure(config: pytest.Config) -> None:
    """Register in the main process, where all reports arrive."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(MarathonLap(config), "marathon-lap")
