"""The history of faults: faults in a journal, whether they follow a deck or a machine, and the output."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import ConfigurationError
from simulators.casino.table import CasinoTable
from simulators.engine.virtual_time import run_virtual
from table_controller.cli import OK, USAGE, main
from table_controller.cli.commands import faults as command
from table_controller.diagnosis.deck_or_machine import binomial_tail, find_pattern
from table_controller.diagnosis.drift import Wear, Window
from table_controller.diagnosis.fault_report import CardAccount, FaultReport, Level, MachineHalt, MachineIdentity
from table_controller.diagnosis.fault_report_store import FaultReportStore
from table_controller.diagnosis.history import (
    REPEAT_CARDS,
    FaultHistory,
    FaultRecord,
    HistoryRow,
    ReportedFault,
    cards_between,
    median,
)
from table_controller.diagnosis.history_page import render_page
from table_controller.diagnosis.summary import format_time, hour, summarize
from table_controller.journal.store import Policy
from table_controller.maintenance.wear import WEAR_FOLDER, WearStore
from tests.support.box.journals import open_journal, quick_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NS = 1_000_000_000
_EVENING = 1_931_544_000 * _NS  # 2031-03-17 20:00 UTC


def row(seq: int, second: int, event: dict[str, Any], *decisions: dict[str, Any]) -> HistoryRow:
    return HistoryRow(seq, _EVENING + second * _NS, event, list(decisions))


def moved(what: str, state: str) -> dict[str, Any]:
    return {"type": "StateChanged", "what": what, "state": state}


def jam(seq: int, second: int, slot: str = "shuffler.1", *, reason: int = 430) -> list[HistoryRow]:
    """Return a jam and the return to service as the core journals them; 20 records, two minutes."""
    return [
        row(seq, second, {"type": "SlotChanged", "slot": slot, "trigger": "fault"}, moved(f"slot {slot}", "faulted"),
            {"type": "HoldOpened", "hold": seq, "trigger": "shuffler_fault", "slot": slot, "deck": None},
            {"type": "Prompt", "id": seq + 1, "slot": slot}),
        row(seq + 1, second, {"type": "ShuffleFailed", "slot": slot, "reason": reason, "inside": 20}),
        row(seq + 2, second + 30, {"type": "Answer", "prompt": seq + 1, "who": {"role": "floorperson"}}),
        row(seq + 3, second + 90, {"type": "SlotOrdered", "slot": slot, "act": "clear", "who": {"role": "floorperson"}},
            moved(f"slot {slot}", "cleared")),
        row(seq + 4, second + 120, {"type": "SlotChanged", "slot": slot, "trigger": "verify"},
            moved(f"slot {slot}", "in_service")),
    ]  # fmt: skip


def shuffle(seq: int, second: int, deck: str, slot: str = "shuffler.1") -> list[HistoryRow]:
    return [
        row(seq, second, {"type": "CardsInserted", "slot": slot}, moved(f"deck {deck}", "in_device")),
        row(seq + 1, second + 40, {"type": "ShuffleEnded", "slot": slot, "count": 53, "shuffled": True}),
    ]


def folded(rows: list[HistoryRow], known: list[ReportedFault] | None = None, since: int = 0) -> FaultHistory:
    history = FaultHistory(known, since)
    for each in rows:
        history.add_row(each)
    return history.finish()


def test_a_fault_has_its_reason_deck_times_and_the_cards_before_it() -> None:
    rows = shuffle(1, 0, "blue") + shuffle(3, 60, "red") + [
        row(5, 100, {"type": "CardsInserted", "slot": "shuffler.1"}, moved("deck blue", "in_device"))
    ] + jam(10, 120)  # fmt: skip
    history = folded(rows)
    (fault,) = history.faults
    assert (fault.seq, fault.slot, fault.reason, fault.deck, fault.inside) == (10, "shuffler.1", 430, "blue", 20)
    assert fault.cards == 106
    assert fault.kind == "interruption"
    times = (fault.acknowledged_ns, fault.cleared_ns, fault.returned_ns)
    assert [fault.waited(at) for at in times] == [30, 90, 120]
    assert history.uses["shuffler.1"].by_deck == {"blue": 53, "red": 53}
    assert cards_between(history.faults, 106) == 106


def test_a_fault_that_needed_a_technician_or_took_the_device_out_of_service_is_a_failure() -> None:
    plain, given_up, repaired = jam(10, 0), jam(30, 1_000), jam(50, 2_000)
    given_up.insert(2, row(32, 1_010, {"type": "SlotOrdered", "slot": "shuffler.1", "act": "give_up",
                                       "who": {"role": "floorperson"}}))  # fmt: skip
    repaired[3].event["who"] = {"role": "technician"}
    kinds = [fault.kind for fault in folded(plain + given_up + repaired).faults]
    assert kinds == ["interruption", "failure", "failure"]


def test_a_fault_that_is_still_there_has_no_end_and_one_without_a_latch_ends_with_its_case() -> None:
    (open_fault,) = folded(jam(10, 0)[:2]).faults
    assert open_fault.waited(open_fault.returned_ns) is None
    failed = [
        row(1, 0, {"type": "CommandEnded", "command": 9, "outcome": "failed", "reason": 466},
            {"type": "HoldOpened", "hold": 5, "trigger": "command_failed", "slot": "shaker.1", "deck": "red"}),
        row(2, 3, {"type": "Answer", "prompt": 6, "who": {"role": "floorperson"}}, {"type": "HoldCleared", "hold": 5}),
    ]  # fmt: skip
    (fault,) = folded(failed).faults
    assert (fault.reason, fault.deck, fault.waited(fault.returned_ns)) == (466, "red", 3)


def test_the_same_fault_within_ten_decks_is_that_one_again() -> None:
    rows = jam(10, 0)
    for n in range(REPEAT_CARDS // 53):
        rows += shuffle(20 + 2 * n, 200 + 60 * n, "blue")
    rows += jam(60, 1_000) + shuffle(70, 2_000, "blue")
    for n in range(20):
        rows += shuffle(80 + 2 * n, 3_000 + 60 * n, "blue")
    rows += jam(200, 9_000)
    assert [fault.repeats for fault in folded(rows).faults] == [None, 10, None]


def test_fault_reports_add_segment_and_cause_by_slot_and_time() -> None:
    known = [
        ReportedFault("shuffler.1", _EVENING + _NS, "lift", "a worn roller", "7", staff=False),
        ReportedFault("shuffler.1", _EVENING + 500 * _NS, "feed", "a bent card", "8"),
        ReportedFault("shoe.1", _EVENING, "exit", "dust", "9"),
    ]
    (fault,) = folded(jam(10, 0), known).faults
    assert (fault.segment, fault.cause, fault.report, fault.kind) == ("lift", "a worn roller", "7", "failure")


def test_since_leaves_out_older_faults_and_cards_but_knows_which_deck_was_inside() -> None:
    rows = [*shuffle(1, 0, "blue"), row(3, 50, {"type": "CardsInserted", "slot": "shuffler.1"},
                                        moved("deck red", "in_device")), *jam(10, 200)]  # fmt: skip
    history = folded(rows, since=_EVENING + 100 * _NS)
    (fault,) = history.faults
    assert fault.deck == "red"
    assert history.uses["shuffler.1"].cards == 0


def test_a_cover_card_or_a_no_roll_is_no_fault_of_a_device() -> None:
    no_roll = row(1, 0, {"type": "NoRollReported", "slot": "shaker.1"},
                  {"type": "HoldOpened", "hold": 1, "trigger": "dice_not_flat", "slot": "shaker.1"})  # fmt: skip
    assert folded([no_roll]).faults == []


# --- deck or machine --------------------------------------------------------------------------------------------------


def test_chances_are_exact() -> None:
    assert binomial_tail(3, 3, Fraction(1, 2)) == Fraction(1, 8)
    assert binomial_tail(0, 5, Fraction(1, 3)) == 1
    assert binomial_tail(1, 2, Fraction(1, 3)) == 1 - Fraction(4, 9)


@pytest.mark.parametrize(
    ("faults", "cards", "what", "name"),
    [
        ({("s.1", "red"): 12, ("s.1", "blue"): 1}, {("s.1", "red"): 1000, ("s.1", "blue"): 1000}, "deck", "red"),
        ({("s.1", "red"): 5, ("s.1", "blue"): 6}, {("s.1", "red"): 1000, ("s.1", "blue"): 1000}, "neither", "blue"),
        ({("s.1", "red"): 10, ("s.1", "blue"): 1}, {("s.1", "red"): 9000, ("s.1", "blue"): 1000}, "neither", "blue"),
        ({("s.1", "red"): 3}, {("s.1", "red"): 1000, ("s.1", "blue"): 1000}, "too few", ""),
        ({("s.1", "red"): 9}, {("s.1", "red"): 1000}, "one deck only", ""),
        (
            {("s.1", "red"): 6, ("s.1", "blue"): 6, ("s.2", "red"): 1},
            {("s.1", "red"): 900, ("s.1", "blue"): 900, ("s.2", "red"): 1000, ("s.2", "blue"): 1000},
            "slot",
            "s.1",
        ),
    ],
)
def test_a_fault_follows_the_deck_the_machine_or_neither(
    faults: dict[tuple[str, str], int], cards: dict[tuple[str, str], int], what: str, name: str
) -> None:
    result = find_pattern(faults, cards)
    assert (result.what, result.name) == (what, name)
    assert result.sentence().endswith(".")


def test_chance_alone_hardly_ever_blames_a_deck() -> None:
    """Every distribution of ten faults over two decks, weighted by its probability."""
    blamed = sum(
        binomial_tail(k, 10, Fraction(1, 2)) - binomial_tail(k + 1, 10, Fraction(1, 2))
        for k in range(11)
        if find_pattern(
            {("s", "red"): k, ("s", "blue"): 10 - k}, {("s", "red"): 500, ("s", "blue"): 500}
        ).what == "deck"
    )  # fmt: skip
    assert 0 < blamed < Fraction(1, 50)


# --- a real table, and the command ------------------------------------------------------------------------------------


async def _bad_evening() -> list[Any]:
    house = CasinoTable("face_up_pai_gow", seed=3)
    try:
        await house.open("blue", "red")
        for number in range(6):
            if number in (1, 3):
                house.machines["shuffler.1"].inject("jam:segment=lift,card=20")
            if number == 4:
                house.machines["shoe.1"].inject("jam:segment=exit,card=2")
            await house.round(())
        return house.disk.records
    finally:
        await house.close()


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """The data folder of a box whose table has had a bad evening."""
    records = run_virtual(_bad_evening())
    with quick_folder() as folder:
        store = open_journal(folder / "journal", policy=Policy(segment_bytes=1 << 24, ballast_bytes=0))
        store.append([(r.kind, r.wall_ns, r.mono_ns, store.boot, r.body) for r in records if r.kind in ("step", "box")])
        store.close()
        yield folder


def test_a_real_evening_is_listed_with_its_jams(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--data", str(data)]) == OK
    shown = capsys.readouterr().out
    assert re.match(r"\d+ faults from \d{4}-\d\d-\d\d", shown)
    assert re.search(r"shuffler\.1 +\d+ +2 +0 ", shown)
    assert "too few to decide between deck and machine" in shown
    assert "where and when" in shown
    assert "still out" not in shown
    assert main(["faults", "--data", str(data), "--json"]) == OK
    output = json.loads(capsys.readouterr().out)
    jams = [fault for fault in output["faults"] if fault["reason"] == 430]
    assert [fault["slot"] for fault in jams] == ["shuffler.1", "shuffler.1", "shoe.1"]
    assert all(fault["returned_ns"] > fault["at_ns"] for fault in jams)
    assert all(fault["deck"] in ("blue", "red") for fault in jams)
    assert sum(cell["faults"] for cell in output["heat"]) == len(output["faults"])
    assert main(["faults", "--data", str(data / "journal"), "--slot", "shoe.1", "--json"]) == OK
    assert {fault["slot"] for fault in json.loads(capsys.readouterr().out)["faults"]} == {"shoe.1"}


def test_a_fault_report_next_to_the_journal_gives_the_segment(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["faults", "--data", str(data), "--json"])
    first = json.loads(capsys.readouterr().out)["faults"][0]
    report = FaultReport(
        at_ns=first["at_ns"] + 1000,
        machine=MachineIdentity(slot=first["slot"], kind="shuffler"),
        account=CardAccount(),
        halts=(MachineHalt(what="jam", message="Jam", leg=0, segment="lift", card=20, counted_in=20, counted_out=0),),
        levels=tuple(
            Level(name, False, 900, 500) for name in ("intake", "feed", "bridge", "lift", "exit", "stack", "gate")
        ),
    )
    folder = data / "fault-reports"
    try:
        FaultReportStore(folder).add(report)
        (folder / "000002.json").write_text("{ damaged")
        assert main(["faults", "--data", str(data), "--json"]) == OK
        output = json.loads(capsys.readouterr().out)["faults"][0]
        assert "lift" in output["segment"]
        assert output["report"] == "1"
        assert output["cause"] != "not known"
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def test_a_page_is_one_file_that_fetches_nothing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "jams.html"
    assert main(["faults", "--data", str(data), "--html", str(out)]) == OK
    assert str(out) in capsys.readouterr().out
    text = out.read_text("utf-8")
    assert text.count("<svg") >= 4
    assert "prefers-color-scheme: dark" in text
    for away in ("http:", "https:", "<script", "src=", "@import", "url("):
        assert away not in text
    assert text.count("<rect") == text.count("/>") - text.count("<line") + text.count("</rect>")
    assert "shuffler.1 not known" in text


def test_names_cannot_break_out_of_the_page() -> None:
    history = FaultHistory()
    history.faults = [FaultRecord(1, "shuffler.1", _EVENING, deck="<script>alert(1)</script>", segment='"><b>')]
    text = render_page(summarize(history, {}), "a & b <c>", {})
    assert "<script" not in text
    assert "<b>" not in text
    assert "a &amp; b &lt;c&gt;" in text


def test_a_table_without_faults_is_reported_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_journal(tmp_path / "journal").close()
    assert main(["faults", "--data", str(tmp_path), "--html", str(tmp_path / "x.html")]) == OK
    assert "0 faults" in capsys.readouterr().out
    assert main(["faults", "--data", str(tmp_path)]) == OK
    assert capsys.readouterr().out.startswith("no faults")


def test_a_slot_without_faults_is_reported_as_such_also_at_a_fresh_table(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_journal(tmp_path / "journal").close()
    assert main(["faults", "--data", str(tmp_path), "--slot", "shuffler.1"]) == OK
    assert capsys.readouterr().out == "no faults of shuffler.1 from the beginning to now (UTC)\n"
    config = tmp_path / "table.toml"
    config.write_text("[device.meter_sign.1]\n")
    assert main(["faults", "--config", str(config), "--data", str(data), "--slot", "meter_sign.1"]) == OK
    assert capsys.readouterr().out.startswith("no faults of meter_sign.1 from 2")
    assert main(["faults", "--config", str(config), "--data", str(data), "--slot", "shuffler.9"]) == USAGE
    assert "this table has no slot shuffler.9; its slots: " in capsys.readouterr().err


def test_warnings_of_coming_failures_are_listed_above_past_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_journal(tmp_path / "journal").close()
    means = [60_000] * 8 + [60_000 + 1_800 * n for n in range(1, 9)]
    windows = tuple(Window(212 * n, (mean, 60_000, 60_000), (1, 1, 1), (400,)) for n, mean in enumerate(means, 1))
    WearStore(tmp_path / WEAR_FOLDER).write(Wear("SN7", "shoe.1", cards=3392, base=windows[:5], windows=windows))
    assert main(["faults", "--data", str(tmp_path)]) == OK
    assert "BEFORE THE JAM: shoe.1 (SN7): segment feed is 24.0 % slower" in capsys.readouterr().out


def test_an_unreadable_file_is_one_clear_error(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = (
        ["--data", str(tmp_path)],
        ["--data", str(tmp_path / "nowhere")],
        ["--data", str(data), "--since", "yesterday"],
        ["--data", str(data), "--slot", "shuffler.9"],
        ["--data", str(data), "--html", str(tmp_path / "no" / "x.html")],
    )
    for words in bad:
        assert main(["faults", *words]) == USAGE
        assert capsys.readouterr().err.startswith(("pitbox: PB-6", "pitbox: PB-856"))


def test_since_takes_ages_and_dates() -> None:
    now = _EVENING
    assert command.parse_since("8h", now) == now - 8 * 3600 * _NS
    assert command.parse_since("7d", now) == now - 7 * 86400 * _NS
    assert format_time(command.parse_since("2031-03-17", now)) == "2031-03-17 00:00:00"
    assert format_time(command.parse_since("2031-03-17T14:30+02:00", now)) == "2031-03-17 12:30:00"
    with pytest.raises(ConfigurationError):
        command.parse_since("8 h", now)
    assert hour(_EVENING) == 20
    assert median([3, 1, 2]) == 2
