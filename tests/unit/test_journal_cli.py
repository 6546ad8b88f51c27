"""`pitbox journal`: the output matches the records, and bad input is one clear sentence with its code."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import ConfigurationError
from table_controller.access import people_file as people
from table_controller.access.people_file import Cost
from table_controller.cli import FAULT, INTERRUPTED, OK, TRUST, USAGE, main
from table_controller.cli.commands import journal as command
from table_controller.journal import export, reader, record_text, records
from table_controller.journal.accounts import last_round_before_begin, read_money_book
from table_controller.journal.chain import RESTORED, Record
from table_controller.journal.copy import Copy, begin_copy
from table_controller.journal.records import VERSION
from table_controller.journal.round_report import read_round
from table_controller.journal.store import Policy
from table_controller.table import events as ev
from table_controller.table.decisions import BetAccepted, HoldOpened, Prompt, StateChanged
from tests.support.box.journals import entries, open_journal, quick_folder
from tests.support.box.recorded_table import GAMES, RecordedTable
from tests.support.core.ideal_table import decisions_of
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pai_gow() -> Iterator[RecordedTable]:
    with quick_folder() as folder:
        yield RecordedTable(folder / "j", "face_up_pai_gow").play_everything()


@pytest.fixture
def quick() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def run_journal(capsys: pytest.CaptureFixture[str], *words: str, expect: int = OK) -> str:
    assert main(["journal", *words]) == expect
    out = capsys.readouterr()
    assert "Traceback" not in out.err
    if expect != OK:
        assert re.match(r"pitbox: PB-\d{3} ", out.err), out.err
    return out.err if expect != OK else out.out


# --- reading ----------------------------------------------------------------------------------------------------------


def test_every_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for what in ("tail", "verify", "export", "show", "begin-copy", "restore"):
        with pytest.raises(SystemExit) as left:
            main(["journal", what, "--help"])
        assert left.value.code == 0
        assert f"example: pitbox journal {what} " in capsys.readouterr().out


def test_tail_prints_the_newest_records_with_decisions_and_clauses(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    shown = run_journal(capsys, "tail", "-n", "3", str(pai_gow.folder)).splitlines()
    last = reader.bounds(pai_gow.folder)[1]
    assert [int(line.split()[2]) for line in shown] == [last - 2, last - 1, last]
    whole = run_journal(capsys, "tail", "-n", "100000", str(pai_gow.folder)).splitlines()
    assert len(whole) == last
    assert shown == whole[-3:]
    (shoe,) = [line for line in whole if "shoe fault: slot shoe.1, reason PB-430" in line]
    assert "IRREGULARITY" in shoe
    assert "round is void" in shoe
    assert "688a.13(l)" in shoe


def test_tail_follows_what_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_journal(tmp_path / "j")
    turns: list[float] = []

    def meanwhile(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 3:
            raise KeyboardInterrupt
        store.append(entries(store, 2))

    monkeypatch.setattr(time, "sleep", meanwhile)
    assert main(["journal", "tail", "-n", "1", "--follow", str(tmp_path / "j")]) == INTERRUPTED
    store.close()
    numbers = [int(line.split()[2]) for line in capsys.readouterr().out.splitlines()]
    assert numbers == [2, 3, 4, 5, 6]


def test_verify_prints_the_head_and_accepts_one(capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable) -> None:
    shown = run_journal(capsys, "verify", str(pai_gow.folder))
    first, last = reader.bounds(pai_gow.folder)
    assert f"records {first} to {last} are intact" in shown
    (results,) = re.findall(r"head ([0-9a-f]{64})", shown)
    assert "are intact" in run_journal(capsys, "verify", str(pai_gow.folder), "--against", results)
    middle = next(iter(reader.read(pai_gow.folder, last // 2))).head.hex()
    assert "are intact" in run_journal(capsys, "verify", str(pai_gow.folder), "--against", middle)
    other = run_journal(capsys, "verify", str(pai_gow.folder), "--against", "ab" * 32, expect=FAULT)
    assert "PB-714" in other
    assert "64 hexadecimal digits" in run_journal(
        capsys, "verify", str(pai_gow.folder), "--against", "ab", expect=USAGE
    )


def test_verify_names_the_first_bad_record(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable, tmp_path: Path
) -> None:
    bad = _damaged(pai_gow.folder, tmp_path / "j", 77)
    assert "PB-713" in (output := run_journal(capsys, "verify", str(bad), expect=FAULT))
    assert "record 77:" in output
    assert "record 77:" in run_journal(capsys, "show", str(bad), "99", expect=FAULT)
    assert "record 77:" in run_journal(capsys, "export", str(bad), "--to", str(tmp_path / "e"), expect=FAULT)
    assert not (tmp_path / "e" / export.MANIFEST).exists()


def _damaged(source: Path, target: Path, seq: int) -> Path:
    shutil.copytree(source, target)
    with sqlite3.connect(target / "journal-000001.db") as connection:
        connection.execute("UPDATE records SET body = replace(body, 'dealer', 'auditor') WHERE seq = ?", (seq,))
        connection.execute("UPDATE records SET wall_ns = wall_ns + 1 WHERE seq = ?", (seq,))
    connection.close()
    return target


@pytest.mark.parametrize("words", [["tail"], ["verify"], ["export", "--to", "e"], ["show"]])
def test_a_folder_that_is_no_journal_is_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]
) -> None:
    more = ["1"] if words == ["show"] else []
    assert "is not a folder" in run_journal(capsys, *words, str(tmp_path / "nowhere"), *more, expect=USAGE)
    assert "contains no journal" in run_journal(capsys, *words, str(tmp_path), *more, expect=USAGE)
    (tmp_path / "journal-000001.db").write_bytes(b"not a database, and long enough to look like one" * 100)
    assert "PB-713" in run_journal(capsys, *words, str(tmp_path), *more, expect=FAULT)


def test_a_journal_of_newer_software_is_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    open_journal(tmp_path / "body", version=VERSION + 1).close()
    open_journal(tmp_path / "format").close()
    with sqlite3.connect(tmp_path / "format" / "journal-000001.db") as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    for what in (["tail"], ["verify"], ["export", "--to", str(tmp_path / "e")]):
        assert "PB-712" in run_journal(capsys, *what, str(tmp_path / "format"), expect=FAULT)
    for name in ("format", "body"):
        assert "PB-712" in run_journal(capsys, "show", str(tmp_path / name), "1", expect=FAULT)


# --- export -----------------------------------------------------------------------------------------------------------


def test_an_export_holds_every_record_as_its_manifest_states(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable, tmp_path: Path
) -> None:
    run_journal(capsys, "export", str(pai_gow.folder), "--to", str(tmp_path / "e"))
    manifest = json.loads((tmp_path / "e" / export.MANIFEST).read_bytes())
    lines = [json.loads(line) for line in (tmp_path / "e" / export.RECORDS).read_bytes().splitlines()]
    records = list(reader.read(pai_gow.folder, 1))
    assert [(each["seq"], each["head"]) for each in lines] == [(each.seq, each.head.hex()) for each in records]
    assert [each["content"] for each in lines] == [msgspec.json.decode(each.body) for each in records]
    assert (manifest["first"], manifest["last"], manifest["count"]) == (1, len(records), len(records))
    assert (manifest["head_before"], manifest["head_after"]) == ("00" * 32, records[-1].head.hex())
    assert manifest["digests"] == [pai_gow.digests]
    assert (manifest["game"], manifest["boots"]) == ("face_up_pai_gow", [0, 1, 2, 3])
    assert "already contains an export" in run_journal(
        capsys, "export", str(pai_gow.folder), "--to", str(tmp_path / "e"), expect=USAGE
    )


def test_a_part_of_a_journal_joins_the_rest_by_its_heads(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable, tmp_path: Path
) -> None:
    last = reader.bounds(pai_gow.folder)[1]
    run_journal(capsys, "export", str(pai_gow.folder), "--to", str(tmp_path / "a"), "--until", "100")
    run_journal(capsys, "export", str(pai_gow.folder), "--to", str(tmp_path / "b"), "--from", "101")
    a, b = (json.loads((tmp_path / name / export.MANIFEST).read_bytes()) for name in "ab")
    assert (a["last"], b["first"], b["last"]) == (100, 101, last)
    assert a["head_after"] == b["head_before"]
    assert b["game"] == "face_up_pai_gow"
    assert b["journal"] == a["journal"]
    for words in (["--from", "0"], ["--until", str(last + 1)], ["--from", "9", "--until", "8"]):
        folder = str(tmp_path / "c")
        assert "are not among them" in run_journal(
            capsys, "export", str(pai_gow.folder), "--to", folder, *words, expect=USAGE
        )


# --- show -------------------------------------------------------------------------------------------------------------


def test_a_round_with_a_hit_is_shown_with_bets_counts_questions_and_payment(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    shown = run_journal(capsys, "show", str(pai_gow.folder), "2")
    for part in (
        "Round 2 of Face Up Pai Gow Poker (688a)",
        "seats with a wager: 1, 3, 6, entered by dealer D1",
        "seat 3: progressive bet of $1.00 accepted: $0.28 to the meter, $0.72 to the house",
        "seat 6 locked by its sensor: no chip is on the spot",
        "dice 2, 3, 5, total 10: position 3, seat 5",
        "7 cards to the dealer, counted by shoe.1",
        "4 cards left as the stub",
        "dealer asked: chips: done, 2 (dealer D1)",
        "floorperson asked: hit validate (seat 1): hand pay (floorperson F1)  [688a.11(h)(4)(i)(B)(3)]",
        "of the meter, which goes from $10,001.12 to $10,000.00",
        "slip 1",
        "played to its end",
    ):
        assert part in shown, part


@clauses("688a.13(l)")
def test_a_void_round_is_shown_with_the_clause_that_voids_it(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    shown = run_journal(capsys, "show", str(pai_gow.folder), "5")
    for part in (
        "the automated shoe jams, stops, or does not deal all cards (slot shoe.1, deck",
        "[688a.13(l)]",
        "ordered: all hands of the round are void",
        "all wagers are returned  [688a.13(l)]",
        "seat 1: progressive bet of $1.00 is returned",
        "shoe fault: carried out and acknowledged by floorperson F1",
        "void: the round does not count",
    ):
        assert part in shown, part


@pytest.mark.parametrize("game", list(GAMES))
def test_every_bet_and_every_irregularity_of_a_round_is_shown(quick: Path, game: str) -> None:
    recorded = RecordedTable(quick / "j", game, quick=True).open_table()
    recorded.round()
    before = len(recorded.floor.log)
    recorded.void_round()
    reported = recorded.floor.log[before:]
    recorded.store.close()
    story = read_round(quick / "j", 2)
    text = "\n".join(story.lines())
    decisions = [decision for _, decided in reported for decision in decided]
    assert decisions_of(HoldOpened, decisions)
    for irregularity in decisions_of(HoldOpened, decisions):
        assert all(clause in text for clause in irregularity.clauses)
    for bet in decisions_of(BetAccepted, decisions):
        assert f"seat {bet.seat}: progressive bet of $" in text
    assert "void: the round does not count" in text
    # Every answer of the round, also to what its end left open, with role and credential, and no other.
    over = next(n for n, (_, decided) in enumerate(reported) if StateChanged("round", "idle") in decided)
    asked = {
        prompt.id for _, decided in recorded.floor.log[: before + over + 1] for prompt in decisions_of(Prompt, decided)
    }
    answers = [event for event, _ in reported if isinstance(event, ev.Answer)]
    people = [event.who for event in answers if event.prompt in asked]
    lines = [line for line in story.questions if "no answer is needed" not in line]
    assert [re.findall(r"\((\w+) (\w+)\)", line)[-1] for line in lines] == [(p.role, p.credential) for p in people]


def test_the_documented_example_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    page = (ROOT / "docs" / "journal.md").read_text("utf-8")
    (example,) = re.findall(r"<!-- pitbox journal show -->\n\n```\n(.*?)```", page, re.DOTALL)
    assert example == run_journal(capsys, "show", str(pai_gow.folder), "5")


def test_a_question_that_was_answered_after_the_rounds_end_is_not_shown_as_open(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    for number in range(1, 8):
        shown = run_journal(capsys, "show", str(pai_gow.folder), str(number))
        assert "Open questions" not in shown
        assert re.search(r"dealer asked: rack clear \(deck \w+\): done \(dealer D1\)", shown), number


def test_the_rounds_of_a_bad_deck_are_shown_in_the_tail_and_at_each_of_them(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    whole = run_journal(capsys, "tail", "-n", "100000", str(pai_gow.folder))
    assert re.search(r"noted: dealt since deck red was last found complete.* \(deck red\): rounds 4", whole)
    for number in range(1, 9):
        shown = run_journal(capsys, "show", str(pai_gow.folder), str(number))
        later = "Later findings that name this round" in shown
        assert later == (number == 4), number
    assert re.search(
        r"record 347: noted: .* \(deck red\): rounds 4", run_journal(capsys, "show", str(pai_gow.folder), "4")
    )


def test_the_first_start_follows_none_and_an_orderly_stop_reads_as_one() -> None:
    def text(kind: str, boot: int, body: bytes) -> str:
        return record_text.record_line(Record(1, kind, 0, 0, boot, body, b""))

    clean = b'{"format":1,"version":1,"digests":{},"clean":true}'
    assert "start 1 of the box; the first one" in text("start", 1, clean)
    assert "start 2 of the box; the one before it ended in order" in text("start", 2, clean)
    assert "ended without a stop" in text("start", 2, clean.replace(b"true", b"false"))
    halted = records.encode_step(ev.BoxHalted(0), [])
    assert "the box is stopped in order" in text("step", 1, halted)
    assert "code 0" not in text("step", 1, halted)
    assert "the box halts: PB-716" in text("step", 1, records.encode_step(ev.BoxHalted(716), []))


def test_an_unknown_round_is_reported_with_the_known_ones(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable
) -> None:
    for number in ("0", "99"):
        assert "it contains rounds 1 to 8" in run_journal(capsys, "show", str(pai_gow.folder), number, expect=USAGE)


def test_rounds_keep_their_numbers_when_the_beginning_was_retired(quick: Path) -> None:
    recorded = RecordedTable(quick / "j", "dj_wild", every=20)
    (quick / "archive").mkdir()
    recorded.store.policy = Policy(segment_bytes=20_000, ballast_bytes=0, keep_bytes=1, archive=quick / "archive")
    recorded.open_table()
    for _ in range(12):
        recorded.round()
    money = recorded.floor.state.money.book
    recorded.store.close()
    assert reader.first_place(quick / "j").first > 1
    begun = last_round_before_begin(quick / "j")
    assert begun > 0
    assert read_round(quick / "j", 12).ended
    assert read_money_book(quick / "j").held == money.held
    with pytest.raises(ConfigurationError, match=f"contains rounds {begun + 1} to 12; .*show {quick / 'archive'} 1"):
        read_round(quick / "j", 1)
    with pytest.raises(ConfigurationError, match=r"contains rounds [0-9]+ to 12$"):
        read_round(quick / "j", 13)
    assert "Round 1 of" in read_round(quick / "archive", 1).lines()[0]
    assert read_round(quick / "archive", begun).end.endswith("played to its end")


# --- restore ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(pai_gow: RecordedTable, tmp_path: Path) -> Path:
    (tmp_path / "copy").mkdir()
    begin_copy(tmp_path / "copy")
    shipped = Copy(pai_gow.folder, tmp_path / "copy")
    shipped.ship()
    shipped.close()
    return tmp_path / "copy"


def test_a_copy_begins_in_an_empty_folder_and_nowhere_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    assert "is not a folder" in run_journal(capsys, "begin-copy", str(folder), expect=USAGE)
    folder.mkdir()
    assert "is ready for the second copy" in run_journal(capsys, "begin-copy", str(folder))
    assert [path.name for path in folder.iterdir()] == ["copy"]
    assert "is not empty" in run_journal(capsys, "begin-copy", str(folder), expect=FAULT)


@pytest.fixture
def known(tmp_path: Path) -> list[str]:
    """Return the arguments that name a people file and all its PINs; 4711 has two credentials."""
    file, pins, cheap = tmp_path / "people.json", tmp_path / "pins", Cost(n=2, r=1, p=1)
    for id_, role, person in (
        ("F1", "floorperson", "4711"), ("A1", "auditor", "4712"), ("A2", "auditor", "4711"), ("A3", "auditor", "4713"),
    ):  # fmt: skip
        people.add_credential(file, id_, role, "739164", person=person, cost=cheap)
    people.revoke_credential(file, "A3")
    pins.write_text("F1 739164\nA1 739164\nA2 739164\nA3 739164\nA4 739164\n")
    pins.chmod(0o600)
    return ["--people", str(file), "--pin-file", str(pins)]


def test_a_restore_brings_the_meters_over_under_two_credentials(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable, copy: Path, tmp_path: Path, known: list[str]
) -> None:
    who = ["--floorperson", "f1", "--auditor", "A1", *known]
    shown = run_journal(capsys, "restore", "--from", str(copy), "--to", str(tmp_path / "new"), *who)
    last = list(reader.read(tmp_path / "new", 1))[-1]
    assert last.kind == RESTORED
    assert msgspec.json.decode(last.body)["by"] == {"floorperson": "F1", "auditor": "A1"}
    assert f"record {last.seq} with the names of floorperson F1 and auditor A1" in shown
    meters = pai_gow.floor.state.money.book.meters
    amount = f"${meters.current // 1_000_000:,}.{meters.current % 1_000_000 // 10_000:02d}"
    assert re.search(rf"current value +{re.escape(amount)}", shown), shown
    assert "cumulative payout" in shown
    assert "restored up to record" in run_journal(capsys, "tail", "-n", "1", str(tmp_path / "new"))
    again = run_journal(capsys, "restore", "--from", str(copy), "--to", str(tmp_path / "new"), *who, expect=FAULT)
    assert "is not empty" in again


@pytest.mark.parametrize(
    "who",
    [[], ["--floorperson", "F1"], ["--auditor", "A1"], ["--floorperson", "F1", "--auditor", " f1"],
     ["--floorperson", " ", "--auditor", "A1"], ["--floorperson", "F1", "--auditor", "A2"]],
)  # fmt: skip
def test_a_restore_requires_two_people(
    capsys: pytest.CaptureFixture[str], copy: Path, tmp_path: Path, who: list[str], known: list[str]
) -> None:
    output = run_journal(
        capsys, "restore", "--from", str(copy), "--to", str(tmp_path / "new"), *who, *known, expect=FAULT
    )
    assert "PB-722" in output
    assert "two people" in output
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("floorperson", "auditor", "pin", "code", "expect"),
    [
        ("F1", "A1", "739165", "PB-320", TRUST),
        ("F1", "A3", "739164", "PB-320", TRUST),
        ("F1", "A4", "739164", "PB-320", TRUST),
        ("F1", "A9", "739164", "PB-610", USAGE),
        ("A1", "F1", "739164", "PB-722", FAULT),
    ],
)
def test_a_restore_requires_credentials_that_are_proved_valid_and_of_the_right_role(
    capsys: pytest.CaptureFixture[str], copy: Path, tmp_path: Path, known: list[str],
    floorperson: str, auditor: str, pin: str, code: str, expect: int,
) -> None:  # fmt: skip
    pins = tmp_path / "pins"
    pins.write_text(pins.read_text().replace("A1 739164", f"A1 {pin}"))
    who = ["--floorperson", floorperson, "--auditor", auditor, *known]
    output = run_journal(capsys, "restore", "--from", str(copy), "--to", str(tmp_path / "new"), *who, expect=expect)
    assert code in output
    assert not (tmp_path / "new").exists()


def test_a_restore_asks_nobody_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], copy: Path, tmp_path: Path, known: list[str]
) -> None:
    words = ["--from", str(copy), "--to", str(tmp_path / "new"), "--floorperson", "F1", "--auditor", "A1"]
    output = run_journal(capsys, "restore", *words, *known[:2], expect=USAGE)
    assert "no terminal to ask for the PIN" in output
    assert not (tmp_path / "new").exists()


def test_a_damaged_copy_is_restored_only_with_the_loss_accepted(
    capsys: pytest.CaptureFixture[str], pai_gow: RecordedTable, tmp_path: Path, known: list[str]
) -> None:
    bad = str(_damaged(pai_gow.folder, tmp_path / "bad", 200))
    words = ["--from", bad, "--to", str(tmp_path / "new"), "--floorperson", "F1", "--auditor", "A1", *known]
    output = run_journal(capsys, "restore", *words, expect=FAULT)
    assert "record 200" in output
    assert not (tmp_path / "new").exists()
    assert "records up to 199" in run_journal(capsys, "restore", *words, "--accept-loss")
    assert "lost:" in run_journal(capsys, "tail", "-n", "1", str(tmp_path / "new"))


def test_a_bar_counts_records(pai_gow: RecordedTable) -> None:
    seen: list[int] = []
    assert reader.verify(pai_gow.folder, on_record=seen.append).ok
    assert seen == list(range(1, reader.bounds(pai_gow.folder)[1] + 1))
    with command._progress("verifying", 1, 10) as on_record:
        on_record(10)


def test_nothing_that_is_shown_is_an_order_of_cards(pai_gow: RecordedTable) -> None:
    """No rank or suit is in any line, except a hand that lay face up and that the dealer entered to claim a hit."""
    lines: list[str] = []
    for number in range(1, 9):
        lines += read_round(pai_gow.folder, number).lines()
    bodies = [record.body.decode() for record in reader.read(pai_gow.folder, 1)]
    entered = [cards for body in bodies for cards in re.findall(r'"type":"HandEntered".*?"cards":"([^"]*)"', body)]
    cards = r"[♠♥♦♣]|\b(?:[2-9TJQKA]|10)[shdc]\b|\bJk\b"
    shown = [line for line in lines if re.search(cards, line)]
    assert len(shown) == 2, "one line for each hit"
    for line in shown:
        (hand,) = [hand for hand in entered if hand in line]
        assert not re.search(cards, line.replace(hand, "")), line


def test_an_amount_of_a_correction_is_shown_in_dollars() -> None:
    event = {"type": "MeterCorrected", "amount": -12_500_000, "document": "memo 7"}
    assert record_text.event_text(event) == "meter corrected: amount -$12.50, document memo 7"
