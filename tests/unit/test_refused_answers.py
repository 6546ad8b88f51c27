"""An answer that was refused is shown as refused, with its reason, wherever a journal is read: never as accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.cli import OK, main
from table_controller.journal import reader
from table_controller.journal.round_report import read_round
from table_controller.journal.round_review import RoundReview
from table_controller.table import events as ev
from table_controller.table.decisions import Prompt
from tests.support.box.journals import quick_folder
from tests.support.box.recorded_table import RecordedTable
from tests.support.core.ideal_table import DEALER, FLOOR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.table.decisions import Decision

REFUSED_LINE = "dealer asked: progressive (seat 1)"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Record a round in which a floorperson claims a hand for the dealer, and the dealer enters unknown seats."""

    def claims(decision: Decision) -> list[ev.Event] | None:
        if isinstance(decision, Prompt) and decision.kind == "progressive" and decision.seat == 1:
            return [ev.Answer(decision.id, "full_house", FLOOR), ev.Answer(decision.id, "no_win", DEALER)]
        if isinstance(decision, Prompt) and decision.kind == "seats":
            return [
                ev.Answer(decision.id, "done", DEALER, None, (1, 9)),
                ev.Answer(decision.id, "done", DEALER, None, (1, 3, 6)),
            ]
        return None

    with quick_folder() as folder:
        table = RecordedTable(folder / "journal", "face_up_pai_gow").open_table()
        table.floor.override = claims
        table.round()
        table.floor.step(ev.OpenRound(FLOOR))
        table.store.close()
        yield folder / "journal"


def test_show_marks_it_with_the_reason_and_lists_the_answer_that_counted(folder: Path) -> None:
    lines = read_round(folder, 1).lines()
    (first, second) = [line for line in lines if REFUSED_LINE in line]
    assert first.partition(REFUSED_LINE)[2].startswith(": REFUSED ")
    assert "(floorperson F1): " in first
    assert first.endswith("the dealer must answer this")
    assert second.partition(REFUSED_LINE)[2].startswith(": no win (dealer D1)")


def test_seats_that_were_refused_are_no_seats_of_the_round(folder: Path) -> None:
    lines = read_round(folder, 1).lines()
    assert [line.partition("wager: ")[2] for line in lines if "seats with a wager" in line] == [
        "1, 3, 6, entered by dealer D1"
    ]
    assert len([line for line in lines if "asked: seats: REFUSED done, seats 1, 9" in line]) == 1


def test_tail_marks_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["journal", "tail", "-n", "9999", str(folder)]) == OK
    lines = capsys.readouterr().out.splitlines()
    refused = [line for line in lines if "-> REFUSED" in line]
    assert len(refused) == 3
    assert all("  REFUSED: " in line.partition(" -> ")[0] for line in refused), refused
    assert not [line for line in lines if "REFUSED: " in line and line not in refused]


def test_a_refused_opening_is_not_shown_as_an_opened_round(folder: Path) -> None:
    assert read_round(folder, 1).opened.endswith("by dealer D1")


def test_the_panels_round_review_marks_it_too(folder: Path) -> None:
    records = list(reader.read(folder, 1))
    opened = next(r.seq for r in records if b'"state":"betting"' in r.body)
    dispute = RoundReview(1, opened, None)
    dispute.add_records(records)
    events = dispute.to_dict()
    assert events is not None
    (asked,) = [part["lines"] for part in events["parts"] if part["title"] == "Questions and answers"]
    assert len([line for line in asked if "REFUSED" in line]) == 2
