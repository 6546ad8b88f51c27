"""Files of the second version verify, are shown and upgrade: journals, exports, fault reports, configurations."""

from __future__ import annotations

import json
import shutil
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.capture import read_capture
from firmware_bridge.errors import VersionsDiffer
from table_controller.access import people_file
from table_controller.cli import OK, main
from table_controller.config import load_config
from table_controller.diagnosis import fault_report_store as reports
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.accounts import read_money_book
from table_controller.journal.migrations import SECOND_EDITION, state_schema
from table_controller.journal.recovery import recover
from table_controller.journal.revocations import revoked_in
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HitClaimed
from table_controller.uplink import event_types as it
from table_controller.uplink.event_mapping import map_record
from tests.support import second_edition as second
from tests.support.box.boxes import BoxTestBench
from tests.support.box.configs import write_config
from tests.support.box.journal_prefixes import restart, resume_play
from tests.support.box.journals import decode_migration
from tests.support.core.ideal_table import DEALER, IdealTable
from tools import verify_export

if TYPE_CHECKING:
    from pathlib import Path

# The migration that leads from the second version to this version; it has its own name once the state's names differ.
MIGRATION = "same_state" if state_schema() == SECOND_EDITION else "plain_names"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == OK
    return capsys.readouterr().out


# --- verified ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", second.JOURNALS)
def test_its_journals_verify_up_to_the_recorded_head(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, head = second.unpacked(name, tmp_path), second.golden()["journals"][name]["head"]
    assert "are intact" in printed(capsys, "journal", "verify", str(folder), "--against", head)


@pytest.mark.parametrize("name", second.EXPORTS)
def test_its_exports_verify(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = second.golden()["journals"][name]
    assert verify_export.main([str(second.unpacked(f"{name}_export", tmp_path)), "--against", expected["head"]]) == 0
    shown = capsys.readouterr().out
    assert f"chain     {expected['records']} records" in shown
    assert f"meter {expected['meter_microdollars']} micro-dollars" in shown
    assert f"money     {expected['entries']} entries" in shown


@pytest.mark.parametrize("name", second.EXPORTS)
def test_its_journals_are_exported_anew_with_the_same_records(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, before = second.unpacked(name, tmp_path), second.unpacked(f"{name}_export", tmp_path)
    printed(capsys, "journal", "export", str(folder), "--to", str(tmp_path / "anew"))
    records = [(each / "records.jsonl").read_bytes() for each in (before, tmp_path / "anew")]
    assert records[0] == records[1]
    assert verify_export.main([str(tmp_path / "anew")]) == 0


@pytest.mark.parametrize("name", second.JOURNALS)
def test_the_figures_of_its_journals_are_the_recorded_ones(name: str, tmp_path: Path) -> None:
    folder, expected = second.unpacked(name, tmp_path), second.golden()["journals"][name]
    records = list(reader.read(folder, 1))
    steps = [rec.decode_step(record.body) for record in records if record.kind == rec.STEP]
    decisions = [decision for step in steps for decision in step.decisions]
    book, snapshot = read_money_book(folder), reader.latest_snapshot(folder)
    assert snapshot is not None
    result = {
        "records": len(records),
        "steps": len(steps),
        "decisions": len(decisions),
        "head": records[-1].head.hex(),
        "snapshot_after": snapshot.seq,
        "accounts_microdollars": sorted(book.held.values()),
        "meter_microdollars": book.meters.current,
        "entries": book.entries,
        "hits": [[d.round, d.seat, d.fixed, d.share] for d in decisions if isinstance(d, HitClaimed)],
    }
    assert result == expected


# --- shown ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("wild", 1, "progressive bet of $1.00 accepted"),
        ("wild", 2, "hand pay paid"),
        ("wild", 2, "envy"),
        ("wild", 3, "award paid"),
        ("wild", 4, "hit withdrawn"),
        ("wild", 6, "void"),
        ("pai_gow", 2, "award paid"),
        ("pai_gow", 3, "dice"),
        ("halfway", 2, "the round has not ended in this journal"),
        ("several", 4, "played to its end"),
    ],
)
def test_its_rounds_are_shown(
    name: str, number: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in printed(capsys, "journal", "show", str(second.unpacked(name, tmp_path)), str(number))


@pytest.mark.parametrize("name", second.JOURNALS)
def test_every_record_is_shown_on_a_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "journal", "tail", "-n", "9999", str(second.unpacked(name, tmp_path))).splitlines()
    assert len(lines) == second.golden()["journals"][name]["records"]
    assert not [line for line in lines if line.endswith(" bytes")], "a body that could not be read"


def test_its_hits_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "hits", "--journal", str(second.unpacked("wild", tmp_path)))
    for amount in ("$2,000.75", "$50.00", "$200.06"):  # the last one as it was booked again
        assert amount in shown


@pytest.mark.parametrize("name", second.JOURNALS)
def test_its_records_go_out_over_the_uplink(name: str, tmp_path: Path) -> None:
    result, round_ = [], 0
    for record in reader.read(second.unpacked(name, tmp_path), 1):
        about = map_record(record, round_)
        round_ = about.round
        result += [item for item in about.items if isinstance(item, it.RecordedItem) and record.kind == rec.STEP]
    assert not result, "steps of which only the kind is known"


def test_its_keys_stay_revoked(tmp_path: Path) -> None:
    assert len(revoked_in(second.unpacked("box_journal", tmp_path))) == 1


def test_its_fault_report_is_shown_with_the_steps_of_the_return(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = second.unpacked("fault_reports", tmp_path)
    assert "jam in lift" in printed(capsys, "jam", "--list", "--folder", str(folder))
    assert "☑ return" in printed(capsys, "jam", "1", "--folder", str(folder))
    assert len(reports.steps_of(folder, 1)) > 10


def test_its_capture_is_read_and_replayed(capsys: pytest.CaptureFixture[str]) -> None:
    packets = list(read_capture(second.CAPTURE))
    assert len(packets) > 10
    assert {packet.slot for packet in packets} == {"shuffler.1"}
    assert "shuffler.1" in printed(capsys, "replay", str(second.CAPTURE))


@pytest.mark.parametrize("game", second.GAMES)
def test_its_configurations_are_loaded(game: str, tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path, (second.FILES / f"{game}.toml").read_text("utf-8")))
    assert config.game == game


def test_its_people_file_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "people.json"
    shutil.copy(second.PEOPLE, file)
    file.chmod(0o600)
    assert sorted(people_file.load_people_file(file).people) == ["a1", "a9", "d1", "d2", "d7", "f1", "t1"]


# --- upgraded ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", second.TABLES)
def test_its_journals_upgrade_between_rounds_by_a_named_migration(name: str, tmp_path: Path) -> None:
    floor, expected = second.floor_of(name), second.golden()["journals"][name]
    store, digests = second.opened(second.unpacked(name, tmp_path), floor)
    result = recover(store, floor.table, digests)
    assert result.migration is not None
    assert result.migration.name == MIGRATION
    assert result.steps == 0
    assert floor.state.money.book.meters.current == expected["meter_microdollars"]
    assert floor.state.money.book.entries == expected["entries"]
    number = floor.round_.number
    restart(floor, store.boot, Random(1))
    resume_play(floor)
    floor.bets = {1, 3} if expected["entries"] else set()
    floor.play(ev.OpenRound(DEALER))
    resume_play(floor)
    assert (floor.phase, floor.round_.number) == (mc.IDLE, number + 1)
    assert sum(floor.state.money.book.held.values()) == 0
    store.close()


def test_its_journal_is_refused_in_the_middle_of_a_round_with_what_to_do(tmp_path: Path) -> None:
    floor = IdealTable("face_up_pai_gow")
    store, digests = second.opened(second.unpacked("halfway", tmp_path), floor)
    with pytest.raises(VersionsDiffer, match="while a round or an irregularity was open") as refused:
        recover(store, floor.table, digests)
    assert "start the box once more with the software and configuration that wrote the journal" in str(refused.value)
    store.close()


async def test_the_box_of_this_version_starts_on_its_journal(tmp_path: Path) -> None:
    folder = second.unpacked("box_journal", tmp_path)
    bench = BoxTestBench(tmp_path, "face_up_pai_gow")
    bench.disk.records = list(reader.read(folder, 1))
    snapshot = reader.latest_snapshot(folder)
    assert snapshot is not None
    bench.disk.snapshots, bench.disk.version = [snapshot], 1
    revoked = revoked_in(folder)
    bench.plan = without(bench, {serial for serial, _ in revoked})
    box = await bench.start()
    try:
        assert box.cause is None, box.cause
        (migration,) = [record for record in bench.records() if record.kind == rec.MIGRATION]
        assert decode_migration(migration.body).name == MIGRATION
        state = box.running_controller().table.state
        assert state.money.book.meters.current == 10_000_000_000
        assert tuple(state.revoked) == revoked
        (edited,) = bench.notes("people_edited")
        assert "D7 (dealer) was removed" in edited.text, "the journal knows who was added at the old version"
    finally:
        await box.stop()
        bench.close()


def without(bench: BoxTestBench, serials: set[str]) -> Any:
    """Return the bench's plan with another shoe where the journal has revoked the key of the first."""
    from dataclasses import replace

    from simulators.casino.device_bench import trust_for
    from simulators.engine.ports.memory import MemoryPort
    from simulators.kinds.models import make_machine

    new = make_machine("shoe", "shoe.1", seed=77, speed=20.0, world=bench.machines["shoe.1"].world)
    assert {bench.machines["shoe.1"].key.serial} == serials
    bench.machines["shoe.1"], bench.ports["shoe.1"] = new, MemoryPort(new)
    places = tuple(replace(p, trust=trust_for(new)) if p.name == "shoe.1" else p for p in bench.plan.slots)
    return replace(bench.plan, slots=places)


def test_the_manifest_of_its_exports_names_the_game(tmp_path: Path) -> None:
    manifest = json.loads((second.unpacked("wild_export", tmp_path) / "manifest.json").read_bytes())
    assert manifest["game"] == "dj_wild"
