"""Time allowances of long proofs: overruns are printed and fail nothing; a proof without one fails the run."""

from __future__ import annotations

import tomllib
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.suite import allowances
from tests.support.suite.allowances import AllowanceClock, lines, minutes, subject_of

# The workers of `make proof` on two cores.
WORKERS = 3


def report(nodeid: str, seconds: float) -> Any:
    return SimpleNamespace(nodeid=nodeid, duration=seconds)


def test_a_subject_is_a_file_of_tests() -> None:
    assert subject_of("tests/scenario/test_shuffler_soak.py::test_x[1]") == "scenario/shuffler_soak"


def test_a_subject_over_its_allowance_is_marked_and_the_longest_comes_first() -> None:
    first, second, third = lines({"a": 59.0, "b": 130.0, "c": 1.0}, {"a": 1, "b": 2})
    assert first.startswith("b ")
    assert first.endswith("OVER ITS ALLOWANCE")
    assert second.startswith("a ")
    assert "OVER" not in second
    assert "NO ALLOWANCE" in third


@pytest.mark.parametrize(
    ("test", "code"), [("tests/scenario/test_shuffler_soak.py::test_x", 0), ("tests/scenario/test_new.py::test_x", 1)]
)
def test_only_a_subject_without_an_allowance_fails_the_run(test: str, code: int) -> None:
    clock, session = AllowanceClock(), SimpleNamespace(exitstatus=0)
    clock.pytest_runtest_logreport(report(test, 100_000.0))
    clock.pytest_sessionfinish(session)  # type: ignore[arg-type]
    assert session.exitstatus == code


def test_all_allowances_fit_into_the_time_of_make_proof() -> None:
    total = tomllib.loads(allowances.FILE.read_text())["total"]
    assert sum(minutes().values()) <= WORKERS * total
