"""Files of the first version are verified, shown and upgraded: journal, export, fault reports, capture."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.capture import read_capture
from firmware_bridge.errors import VersionsDiffer
from table_controller.cli import OK, main
from table_controller.cli.commands.faults import known_faults
from table_controller.config import load_config
from table_controller.diagnosis import fault_report_store
from table_controller.host.data_folder import DataFolder
from table_controller.journal import records as rec
from table_controller.journal.accounts import read_money_book
from table_controller.journal.migrations import FIRST_EDITION, state_schema
from table_controller.journal.recovery import recover
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetAccepted, Booked
from tests.support.box import first_edition as first
from tests.support.box.boxes import BoxTestBench
from tests.support.box.configs import write_config
from tests.support.box.journal_prefixes import restart, resume_play
from tests.support.box.journals import decode_migration
from tests.support.core.ideal_table import DEALER, IdealTable
from tools import verify_export

if TYPE_CHECKING:
    from pathlib import Path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == OK
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["played", "halfway", "box/journal"])
def test_its_journals_verify(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = first.copied(name, tmp_path)
    assert "are intact" in printed(capsys, "journal", "verify", str(folder))


def test_its_export_verifies_by_the_arithmetic_of_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_export.main([str(first.EXPORT)]) == 0
    output = capsys.readouterr().out
    assert f"meter {first.METER} micro-dollars" in output
    assert "1 hit_withdrawn" in output


def test_its_journal_is_exported_anew_with_the_same_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = first.copied("played", tmp_path)
    printed(capsys, "journal", "export", str(folder), "--to", str(tmp_path / "anew"))
    before, after = (json.loads((each / "manifest.json").read_bytes()) for each in (first.EXPORT, tmp_path / "anew"))
    assert after["head_after"] == before["head_after"]
    assert verify_export.main([str(tmp_path / "anew")]) == 0


def test_its_rounds_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(first.copied("played", tmp_path))
    for number, words in (
        (1, "progressive bet of $1.00 accepted"), (2, "hand pay paid"), (3, "award paid"), (4, "hit withdrawn"),
        (5, "void: the round does not count"),
    ):  # fmt: skip
        assert words in printed(capsys, "journal", "show", folder, str(number))
    assert "the box stops in order" in printed(capsys, "journal", "tail", "-n", "1", folder)
    assert len(printed(capsys, "journal", "tail", "-n", "9999", folder).splitlines()) > 400
    assert read_money_book(first.copied("halfway", tmp_path)).meters.current == 10_000_840_000


def test_its_fault_report_is_shown_and_its_steps_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(first.copied("box/dossiers", tmp_path))
    assert "jam in lift" in printed(capsys, "fault", "--list", "--folder", folder)
    output = printed(capsys, "fault", "1", "--folder", folder)
    assert "☑ return" in output
    assert "returns it to service" in output


def test_its_folder_of_fault_reports_is_read_and_gets_its_present_name_at_the_first_start(tmp_path: Path) -> None:
    first.copied("box/dossiers", tmp_path).rename(tmp_path / "dossiers")
    reported = known_faults(tmp_path)
    assert [fault.number for fault in reported] == ["1"]
    data = DataFolder(tmp_path)
    try:
        assert data.fault_reports == tmp_path / "fault-reports"
        assert fault_report_store.is_pinned(data.fault_reports, 1)
        assert len(fault_report_store.steps_of(data.fault_reports, 1)) > 8
    finally:
        data.close()
    assert known_faults(tmp_path) == reported
    assert not (tmp_path / "dossiers").exists()


def test_its_journal_shows_the_notes_of_the_return_to_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(first.copied("box/journal", tmp_path))
    assert "dossier 1: " in printed(capsys, "journal", "tail", "-n", "9999", folder)


def test_its_capture_is_read() -> None:
    packets = list(read_capture(first.CAPTURE))
    assert len(packets) > 10
    assert {packet.slot for packet in packets} == {"shuffler.1"}


def test_its_configuration_is_loaded(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path, first.CONFIGURATION.read_text("utf-8")))
    assert config.game == first.GAME


def test_the_state_of_this_version_is_distinguished_from_the_first_editions() -> None:
    assert state_schema() != FIRST_EDITION


def test_its_journal_is_taken_over_between_rounds_and_the_table_plays_on_with_the_meter_exact(tmp_path: Path) -> None:
    folder = first.copied("played", tmp_path)
    floor = IdealTable(first.GAME)
    store, digests = first.opened(folder, floor)
    recovered = recover(store, floor.table, digests)
    assert recovered.migration is not None
    assert recovered.migration.name == "second_edition"
    assert recovered.steps == 0
    assert floor.state.money.book.meters.current == first.METER
    restart(floor, store.boot, Random(1))
    resume_play(floor)
    floor.bets = {1, 3}
    floor.play(ev.OpenRound(DEALER))
    resume_play(floor)
    assert (floor.phase, floor.round_.number) == (mc.IDLE, 7)
    bets = [d for _, decisions in floor.log for d in decisions if isinstance(d, BetAccepted)]
    assert len(bets) == 2
    rules = floor.table.context.meter
    assert rules is not None
    assert floor.state.money.book.meters.current == first.METER + 2 * rules.unit * rules.rate_bp // 10_000
    assert sum(floor.state.money.book.held.values()) == 0
    store.close()


def test_a_slip_that_it_used_documents_no_second_hand_pay_after_the_upgrade(tmp_path: Path) -> None:
    floor = IdealTable(first.GAME)
    store, digests = first.opened(first.copied("played", tmp_path), floor)
    recover(store, floor.table, digests)
    steps = [rec.decode_step(record.body) for record in store.read(1) if record.kind == rec.STEP]
    booked = [d.entry for step in steps for d in step.decisions if isinstance(d, Booked)]
    used = [int(entry.document.removeprefix("slip ")) for entry in booked if entry.kind == "hand_pay_paid"]
    assert used
    assert all(floor.state.money.book.has_slip(number) for number in used)
    assert not floor.state.money.book.has_slip(max(used) + 1)
    store.close()


def test_its_journal_is_not_taken_over_in_the_middle_of_a_round(tmp_path: Path) -> None:
    floor = IdealTable(first.GAME)
    store, digests = first.opened(first.copied("halfway", tmp_path), floor)
    with pytest.raises(VersionsDiffer, match="while a round or an irregularity was open"):
        recover(store, floor.table, digests)
    store.close()


def test_its_meter_keeps_its_paytable_through_the_upgrade(tmp_path: Path) -> None:
    floor = IdealTable(first.GAME, paytables={"progressive": "688a-progressive-2"})
    store, digests = first.opened(first.copied("played", tmp_path), floor)
    with pytest.raises(VersionsDiffer, match="688a-progressive-1 -> 688a-progressive-2"):
        recover(store, floor.table, digests)
    store.close()


def test_a_schema_that_is_not_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from table_controller.journal import migrations

    floor = IdealTable(first.GAME)
    store, digests = first.opened(first.copied("played", tmp_path), floor)
    ours = tuple(each for each in migrations.MIGRATIONS if not each.schemas)
    monkeypatch.setattr(migrations, "MIGRATIONS", ours)
    with pytest.raises(VersionsDiffer, match=f"schema {FIRST_EDITION} where this software has"):
        recover(store, floor.table, digests)
    store.close()


async def test_the_box_of_this_version_starts_on_its_journal_and_fault_reports(tmp_path: Path) -> None:
    from table_controller.journal import reader
    from table_controller.maintenance.fault_reports import FaultReports

    folder = first.copied("box/journal", tmp_path)
    bench = BoxTestBench(tmp_path, first.GAME)
    bench.disk.records = list(reader.read(folder, 1))
    snapshot = reader.latest_snapshot(folder)
    assert snapshot is not None
    bench.disk.snapshots, bench.disk.version = [snapshot], rec.VERSION
    fault_reports = first.copied("box/dossiers", tmp_path)
    box = await bench.start()
    try:
        assert box.cause is None, box.cause
        (migration,) = [record for record in bench.records() if record.kind == rec.MIGRATION]
        assert decode_migration(migration.body).name == "second_edition"
        box.fault_reports = FaultReports(box, fault_reports, threads=False)
        assert box.running_controller().table.state.money.book.meters.current == 10_000_000_000
    finally:
        await box.stop()
        bench.close()


def test_a_document_of_its_time_moves_no_money_again(tmp_path: Path) -> None:
    floor = IdealTable(first.GAME)
    store, digests = first.opened(first.copied("played", tmp_path), floor)
    recover(store, floor.table, digests)
    assert floor.state.money.book.documents == ["memo 7"], "the refused memo 8 moved nothing"
    store.close()
