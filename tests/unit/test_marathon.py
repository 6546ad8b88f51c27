"""A marathon runs laps with other seeds, stops when its time is up, and prints what was tried by subject."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.suite.marathon import Figures
from tools import marathon

ROOT = Path(__file__).parents[2]
PROOFS = """
import pytest
from pathlib import Path
from tests.support.suite.case_counts import LAP, count_cases, draw_seeds

ROUNDS = count_cases(30)
SEEN = Path(__file__).with_name("seen")

@pytest.mark.proof
def test_drawn(seed):
    with SEEN.open("a") as seen:
        seen.writelines(f"{each}\\n" for each in draw_seeds(100, 4))

@pytest.mark.proof
@pytest.mark.parametrize("run", range(2))
def test_counted(run):
    assert ROUNDS == 30
"""
EXHAUSTED = """
import pytest

@pytest.mark.proof
def test_every_state():
    assert True
"""
FAILS = """
import pytest
from tests.support.suite.case_counts import LAP, count_cases

@pytest.mark.proof
def test_of_the_second_lap():
    assert count_cases(3) == 3 and LAP == 1
"""


@pytest.fixture
def proofs(tmp_path: Path) -> Path:
    folder = tmp_path / "unit"
    folder.mkdir()
    (folder / "test_some.py").write_text(PROOFS)
    (folder / "test_all.py").write_text(EXHAUSTED)
    return folder


def selected(folder: Path) -> list[str]:
    return ["-p", "tests.conftest", "-p", "no:cacheprovider", f"--rootdir={folder.parent}", "-n", "0", str(folder)]


def run(folder: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tools.marathon", "--state", str(folder / "state.json"), *words]
    done = subprocess.run([*command, *selected(folder)], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_every_lap_draws_other_seeds_and_the_next_marathon_goes_on(proofs: Path) -> None:
    code, output = run(proofs, "--times", "2")
    assert code == 0, output
    code, again = run(proofs, "--times", "1")
    assert code == 0, again
    assert (proofs / "seen").read_text().split() == [str(each) for each in range(100, 112)]
    assert "laps 1 to 2:" in output
    assert "laps 3 to 3:" in again


def test_what_draws_nothing_runs_once_and_cases_are_added_up_by_subject(proofs: Path) -> None:
    code, output = run(proofs, "--times", "2")
    assert code == 0, output
    table = output[output.index("laps 1 to 2:") :].splitlines()[1:]
    results = {line.split()[0]: [word.replace(",", "") for word in line.split()[1:4:2]] for line in table if line}
    assert results == {"unit/some": ["6", "128"], "unit/all": ["1", "1"], "altogether": ["7", "129"]}


def test_a_line_is_printed_when_a_subject_is_done(proofs: Path) -> None:
    _, output = run(proofs, "--times", "1")
    (line,) = [line for line in output.splitlines() if line.startswith("unit/some") and "of 2 subjects" in line]
    assert "64 cases" in line
    assert "lap 1" in line


def test_no_test_begins_when_the_time_is_up(proofs: Path) -> None:
    figures = proofs / "figures.json"
    more = {"PITBOX_UNTIL": "1", "PITBOX_LAP_FIGURES": str(figures)}
    command = [sys.executable, "-m", "pytest", "-p", "tests.support.suite.marathon", *selected(proofs)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | more, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (proofs / "seen").exists()
    parsed: dict[str, Any] = json.loads(figures.read_text())
    assert {name: (each["tests"], each["left"]) for name, each in parsed.items()} == {
        "unit/some": (0, 3),
        "unit/all": (0, 1),
    }


def test_a_bounded_marathon_ends_by_itself(proofs: Path) -> None:
    code, output = run(proofs, "--minutes", "0.05")
    assert code == 0, output
    assert "altogether" in output


def test_a_failure_in_any_lap_fails_the_marathon(proofs: Path) -> None:
    (proofs / "test_late.py").write_text(FAILS)
    code, output = run(proofs, "--times", "2")
    assert code == 1
    assert "1 FAILED" in output


def test_figures_of_laps_are_added() -> None:
    one = Figures(tests=1, cases=20, failed=0, seconds=30.0, left=2)
    total: dict[str, Figures] = {}
    marathon.add(total, {"unit/a": one})
    marathon.add(total, {"unit/a": one, "unit/b": one})
    first, _, last = marathon.lines(total)
    assert "unit/a" in first
    assert "40 cases" in first
    assert "60 cases" in last
    assert "6 not begun" in last
