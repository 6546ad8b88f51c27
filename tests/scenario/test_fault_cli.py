"""`pitbox fault` on fault reports of simulated machines: the rule first, then place, cards, causes and steps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from table_controller.cli import OK, USAGE, main
from table_controller.diagnosis import fault_report_store as files
from table_controller.table import return_progress as rp
from table_controller.table import return_steps as st
from table_controller.table.decisions import StepCompleted
from tools.studies.accuracy_cases import Case
from tools.studies.accuracy_runs import happen

if TYPE_CHECKING:
    from pathlib import Path

BOX = 6  # there is none
CASES = (Case("shuffler", "jam", "lift", 1), Case("shuffler", "dust", "stack", 2), Case("manual", "jam", "exit", 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kept = files.FaultReportStore(tmp_path)
    for case in CASES:
        report = happen(case).report
        assert report is not None
        kept.add(msgspec.structs.replace(report, orders=("reshuffle",), clauses=("688a.13(l)",)))
    return tmp_path


def jam(capsys: pytest.CaptureFixture[str], folder: Path, *words: str, code: int = OK) -> str:
    assert main(["fault", *words, "--folder", str(folder)]) == code
    output = capsys.readouterr()
    return output.out + output.err


def test_the_rule_comes_first_then_place_cards_causes_and_steps(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = jam(capsys, folder, "1")
    order = [
        "the dealer waits",
        "ordered: reshuffle [688a.13(l)]",
        "✖lift✖",
        "in segment lift",
        "16 inside",
        "a card sticks",
        "▶ clear",
    ]
    places = [output.index(words) for words in order]
    assert places == sorted(places)
    assert "last sensor passed: bridge; first not reached: lift" in output
    assert "37 in the intake + 15 at rest inside + 1 on the path + 0 out = 53 expected" in output
    assert "table staff may clear it" in output


def test_a_place_that_the_sensors_cannot_resolve_is_drawn_and_printed_as_a_range(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = jam(capsys, folder, "2")
    assert "?stack?●?drop?" in output
    assert "13 to 14 inside" in output
    assert "a technician must clear it" in output
    assert "full deck" in output


def test_without_a_number_the_newest_and_the_list_names_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "fault report 3" in jam(capsys, folder)
    apart = [line.rsplit(", ", 1)[1] for line in jam(capsys, folder, "--list").splitlines()]
    assert apart == ["for the table", "for a technician", "for the table"]
    files.file_of(folder, 2).write_text("{")
    listed = jam(capsys, folder, "--list").splitlines()
    assert [line.split("  ")[0] for line in listed] == ["fault report 3", "fault report 2", "fault report 1"]
    assert "unreadable" in listed[1]
    assert "PB-630" in jam(capsys, folder, "2", code=USAGE)


def test_completed_steps_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = files.FaultReportStore(folder)
    began = rp.began(1, "shuffler.1", "T1", st.Requirements(service=False, expected=53, has_door=True))
    for event in (began, StepCompleted(1, st.ReturnStep.CLEAR, "T1", st.Emptied())):
        kept.note(1, event)
    output = jam(capsys, folder, "1")
    assert "☑ clear" in output
    assert "▶ path empty" in output


def test_the_diagnosis_as_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = json.loads(jam(capsys, folder, "1", "--json"))
    assert output["diagnosis"]["where"]["segments"] == ["lift"]
    assert output["diagnosis"]["causes"][0]["why"] == "a card sticks"


def test_a_step_needs_somebody_and_a_box(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--as" in jam(capsys, folder, "1", "--step", "begin", code=USAGE)
    assert "--as" in jam(capsys, folder, "--slot", "shuffler.1", "--order", "begin_test", code=USAGE)
    assert "--order" in jam(capsys, folder, "--slot", "shuffler.1", "--as", "T1", code=USAGE)
    order = ("--slot", "shuffler.1", "--order", "begin_test", "--as", "T1", "--socket", str(folder / "none.sock"))
    assert jam(capsys, folder, *order, code=BOX)
    output = jam(capsys, folder, "1", "--step", "begin", "--as", "T1", "--socket", str(folder / "none.sock"), code=BOX)
    assert "PB-811" in output


def test_an_empty_folder_is_reported_as_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no fault report" in jam(capsys, tmp_path, "--list")
    assert "PB-630" in jam(capsys, tmp_path, code=USAGE)
