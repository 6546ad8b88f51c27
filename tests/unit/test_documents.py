"""Documents from journals of every version: text, forms and errors; equal journals print alike."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest

from table_controller.cli import OK, USAGE, main
from table_controller.documents.archive import read_document
from table_controller.documents.document import Document, texts
from table_controller.documents.entries import Entry
from table_controller.documents.html_page import render_file, render_page
from table_controller.documents.kinds.incident import INCIDENT
from table_controller.documents.moments import Moments
from table_controller.documents.pdf_file import render_pdf, text_width, wrap
from table_controller.documents.plain_text import render_text
from table_controller.documents.registry import DOCUMENTS
from table_controller.documents.search import Selection, Trace
from table_controller.journal import records as rec
from table_controller.ledger.money import MoneyBook
from table_controller.table import events as ev
from tests.support.box import first_edition as first
from tests.support.box.documents import html_words, pdf_pages, pdf_words
from tests.support.core.ideal_table import IdealTable

GOLDEN = Path(__file__).parent / "golden_documents"
FIXTURES = Path(__file__).parent.parent / "fixtures"
# Each kind that the journal of the first version has, and how it is chosen there.
PLAYED = {
    "hand-pay": Selection("1"), "deck-receipt": Selection("red"), "deck-check": Selection(), "dice": Selection(),
    "incident": Selection(), "hits": Selection(),
}  # fmt: skip


def document_of(name: str, tmp_path: Path) -> Document:
    return read_document(first.copied("played", tmp_path), DOCUMENTS[name], PLAYED[name])


def unpacked(archive: str, tmp_path: Path) -> Path:
    folder = tmp_path / archive.replace("/", "-")
    with tarfile.open(FIXTURES / f"{archive}.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    return next(path.parent for path in folder.rglob("*") if path.name in ("journal-000001.db", "records.jsonl"))


# --- what they print --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAYED)
def test_a_document_of_the_first_version_prints_as_it_always_did(name: str, tmp_path: Path) -> None:
    assert render_text(document_of(name, tmp_path)) == (GOLDEN / f"{name}.txt").read_text("utf-8")


def test_a_service_log_of_record_version_2_prints_as_it_always_did(tmp_path: Path) -> None:
    folder = unpacked("third_edition/box_journal", tmp_path)
    document = read_document(folder, DOCUMENTS["service-log"], Selection())
    assert render_text(document) == (GOLDEN / "service-log.txt").read_text("utf-8")
    earlier = read_document(folder, DOCUMENTS["service-log"], Selection(record=63))
    assert earlier.sections[0].table is not None
    assert [row[1] for row in earlier.sections[0].table.rows] == ["50", "53", "60", "63"]


@pytest.mark.parametrize("name", ["hand-pay", "deck-receipt", "deck-check", "dice", "incident", "hits"])
@pytest.mark.parametrize("archive", ["second_edition/several", "second_edition/pai_gow"])
def test_journals_of_the_second_version_print_or_name_what_they_lack(
    archive: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["document", name, "--data", str(unpacked(archive, tmp_path))])
    output = capsys.readouterr()
    if code == OK:
        assert "Verify with: pitbox journal verify" in output.out
    else:
        assert code == USAGE
        assert f"PB-623 no such document: the journal has no {DOCUMENTS[name].title.lower()}" in output.err


def test_two_hand_pays_under_one_number_of_the_first_version_are_chosen_by_record(tmp_path: Path) -> None:
    folder = first.copied("played", tmp_path)
    newest, older = (
        read_document(folder, DOCUMENTS["hand-pay"], Selection("1", record)) for record in (None, 187)
    )  # fmt: skip
    assert (amount_of(newest), amount_of(older)) == ("$1,000.11", "$10,000.84")
    assert any("did not refuse a number that was used before" in note for note in newest.notes)


def amount_of(document: Document) -> str:
    return document.sections[0].facts[0].text


def test_a_copy_and_an_export_print_the_same_document_as_the_journal(tmp_path: Path) -> None:
    journal = unpacked("third_edition/box_journal", tmp_path)
    export = unpacked("third_edition/box_journal_export", tmp_path)
    kind = DOCUMENTS["service-log"]
    assert read_document(journal, kind, Selection()) == read_document(export, kind, Selection())


# --- their forms ------------------------------------------------------------------------------------------------------


@pytest.mark.realtime
@pytest.mark.parametrize("name", PLAYED)
def test_page_and_pdf_have_the_same_sentences_on_one_sheet(name: str, tmp_path: Path) -> None:
    document = document_of(name, tmp_path)
    words = Counter(" ".join(texts(document)).split())
    for page in (render_page(document, "/document/x?format=pdf"), render_file(document)):
        assert Counter(html_words(page)) == words
    content = render_pdf(document)
    assert "".join(sorted("".join(pdf_words(content, tmp_path)))) == "".join(sorted("".join(words.elements())))
    assert pdf_pages(content, tmp_path) == 1


@pytest.mark.realtime
@pytest.mark.parametrize(("name", "rows", "at"), [("hits", 25, 0), ("incident", 27, 3), ("hand-pay", 12, 2)])
def test_the_longest_document_of_a_kind_fits_one_sheet(name: str, rows: int, at: int, tmp_path: Path) -> None:
    document = document_of(name, tmp_path)
    section = document.sections[at]
    assert section.table is not None
    longest = max(section.table.rows, key=lambda row: sum(map(len, row)))
    table = msgspec.structs.replace(section.table, rows=(longest,) * rows)
    sections = [*document.sections[:at], msgspec.structs.replace(section, table=table), *document.sections[at + 1 :]]
    long = msgspec.structs.replace(document, sections=tuple(sections))
    assert pdf_pages(render_pdf(long), tmp_path) == 1


def test_the_same_journal_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in PLAYED:
        one, two = (render_pdf(document_of(name, tmp_path / name / each)) for each in ("a", "b"))
        assert one == two
        assert b"/CreationDate" not in one


def test_a_file_that_needs_no_panel_has_its_style_and_no_link(tmp_path: Path) -> None:
    page = render_file(document_of("dice", tmp_path))
    assert "@media print" in page
    assert "href" not in page
    assert "<script" not in page


def test_text_from_people_is_escaped_and_strange_characters_keep_their_number(tmp_path: Path) -> None:
    document = msgspec.structs.replace(document_of("dice", tmp_path), subject="<b>Łukasz</b> & (100%)\\")
    assert "&lt;b&gt;Łukasz&lt;/b&gt; &amp;" in render_page(document, "")
    content = render_pdf(document)
    assert rb"<b>\\u0141ukasz</b> & \(100%\)\\" in content


def test_lines_are_never_wider_than_their_column(seed: int) -> None:
    rng = Random(seed)
    for _ in range(200):
        words = ["".join(rng.choices("iWm-9é ", k=rng.randint(0, 60))) for _ in range(rng.randint(0, 8))]
        text, width = " ".join(words), rng.uniform(20, 200)
        lines = wrap(text, width, 9.0)
        assert all(text_width(line, 9.0) <= width or len(line) == 1 for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_long_document_goes_on_on_another_sheet_with_its_number(tmp_path: Path) -> None:
    document = document_of("dice", tmp_path)
    content = render_pdf(msgspec.structs.replace(document, notes=("A note.",) * 90))
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page/") == 2
    assert b"(1 of 2)" in content


# --- times ------------------------------------------------------------------------------------------------------------

_NOON = 1_931_515_267 * 1_000_000_000  # 2031-03-17 20:01:07 UTC


def test_times_are_local_and_utc() -> None:
    moments = Moments("America/New_York")
    assert moments.full(_NOON).startswith("Mar ")
    assert moments.full(_NOON).endswith(" UTC)")
    assert " EDT (" in moments.full(_NOON)
    assert " EST (" in moments.full(_NOON - 60 * 86_400 * 1_000_000_000), "summer time ends"
    assert moments.columns == ("Local time", "UTC")


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../etc/passwd"])
def test_an_unknown_time_zone_is_named_and_utc_is_printed(zone: str) -> None:
    moments = Moments(zone)
    assert moments.note.endswith("all times are UTC.")
    assert moments.columns == ("UTC",)
    assert moments.full(_NOON).endswith(" UTC")


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("hand-pay", "--slip", "99"), "PB-623"), (("hand-pay", "--slip", "0"), "PB-624"),
        (("hand-pay", "--slip", "seventeen"), "PB-624"), (("hand-pay", "--slip", "9999999999"), "PB-624"),
        (("hand-pay", "--slip", "1", "--record", "188"), "PB-623"), (("hand-pay", "--record", "999999"), "PB-623"),
        (("incident", "--hold", "12"), "PB-623"), (("incident", "--hold", "-"), "PB-624"),
        (("deck-receipt", "--deck", "green"), "PB-623"), (("deck-check", "--record", "1"), "PB-623"),
        (("dice", "--record", "2"), "PB-623"), (("service-log",), "PB-623"), (("hits", "--record", "1"), "PB-623"),
        (("dice", "--out", "dice.doc"), "PB-856"), (("dice", "--out", "no/such/folder/dice.pdf"), "PB-610"),
    ],
)  # fmt: skip
def test_a_document_that_is_not_there_is_an_error_with_exit_code_2(
    words: tuple[str, ...], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(first.copied("played", tmp_path))
    assert main(["document", *words, "--data", folder]) == USAGE
    assert code in capsys.readouterr().err


def test_the_error_names_the_numbers_that_the_journal_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["document", "hand-pay", "--slip", "99", "--data", str(first.copied("played", tmp_path))])
    assert "no hand-pay slip for slip 99 in records 1 to 477; the newest ones are slip 1" in capsys.readouterr().err


def test_a_folder_without_a_journal_and_a_changed_export_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["document", "hits", "--data", str(tmp_path)]) == USAGE
    assert "contains no journal and no export" in capsys.readouterr().err
    export = unpacked("third_edition/box_journal_export", tmp_path)
    lines = (export / "records.jsonl").read_bytes().splitlines(keepends=True)
    lines[60] = lines[60].replace(b'"wall_ns":', b'"wall_ns":1')
    (export / "records.jsonl").write_bytes(b"".join(lines))
    assert main(["document", "service-log", "--data", str(export)]) != OK
    assert "PB-713" in capsys.readouterr().err
    (export / "records.jsonl").write_bytes(b"".join(lines[:40]))
    assert main(["document", "service-log", "--data", str(export)]) != OK
    assert "is missing" in capsys.readouterr().err


def test_the_next_slip_follows_the_highest_used_one() -> None:
    for slips, following in (
        ([], 1), ([(1, 3)], 4), ([(2, 2), (17, 19)], 20), ([(1, 4), (999_999_999, 999_999_999)], 5),
        ([(999_999_999, 999_999_999)], 1),
    ):  # fmt: skip
        assert MoneyBook(slips=list(slips)).next_slip() == following


@pytest.mark.parametrize("at", [0, 1])
def test_each_of_two_holds_of_one_step_has_its_own_report(at: int) -> None:
    """A start opens one for the round that it interrupted, and one for a clock that was set back."""
    table = IdealTable("asia_poker").start("blue", "red").play_to("playing")
    opened = {"event": {"type": "BoxStarted"}, "decisions": table.step(ev.BoxStarted(1, clock_back=True))}
    entry = Entry(7, 0, rec.STEP, msgspec.to_builtins(opened))
    holds = [each["hold"] for each in entry.decisions("HoldOpened")]
    trace = Trace(INCIDENT.visit, Selection(str(holds[at])))
    trace.visit(entry)
    assert trace.anchor is not None
    for hold in holds:
        cleared = {"event": {}, "decisions": [{"type": "HoldCleared", "hold": hold, "credential": "F1"}]}
        assert INCIDENT.is_over(Entry(8, 0, rec.STEP, cleared), trace.anchor) == (hold == holds[at])
    assert len(holds) == 2
