"""Files of record version 2, with a return to service half done and a machine in test mode, are read and upgraded."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from table_controller.cli import OK, main
from table_controller.diagnosis import fault_report_store as files
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.migrations import THIRD_EDITION, state_schema
from table_controller.maintenance.fault_reports import FaultReports
from table_controller.table import events as ev
from table_controller.table import return_progress as rp
from table_controller.table.decisions import ReturnBegan
from tests.support.box.boxes import BoxTestBench, DirectClient
from tests.support.box.journals import decode_migration
from tests.support.box.return_to_service import SLOT, complete_return
from tools import verify_export

if TYPE_CHECKING:
    import pytest

FILES: Final = Path(__file__).parent.parent / "fixtures" / "third_edition"
SHOE: Final = "shoe.1"


def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FILES / "golden.json").read_text("utf-8"))
    return content


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(FILES / f"{name}.tar.xz") as archive:
        archive.extractall(folder / name, filter="data")
    return folder / name


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == OK
    return capsys.readouterr().out


def test_its_journal_and_export_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, expected = unpacked("box_journal", tmp_path), golden()["journals"]["box_journal"]
    assert "are intact" in printed(capsys, "journal", "verify", str(folder))
    records = list(reader.read(folder, 1))
    steps = [rec.decode_step(record.body) for record in records if record.kind == rec.STEP]
    assert len(records) == expected["records"]
    assert records[-1].head.hex() == expected["head"]
    assert (len(steps), sum(len(step.decisions) for step in steps)) == (expected["steps"], expected["decisions"])
    assert verify_export.main([str(unpacked("box_journal_export", tmp_path))]) == 0


def test_its_steps_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "journal", "tail", "-n", "9999", str(unpacked("box_journal", tmp_path)))
    assert "return step changed: slot shuffler.1, fault report 1, step motor_jog: turn every motor" in lines
    assert "step test: a technician leaves test mode; it goes back to mode" not in lines, "a shoe has no modes"
    output = printed(capsys, "fault", "1", "--folder", str(unpacked("fault_reports", tmp_path)))
    assert "☑ sensor test" in output
    assert "▶ motor jog" in output
    assert "Jogged, turned: transport, elevator, eject" in output


def test_its_state_is_another_one_than_todays() -> None:
    assert golden()["state_schema"] == THIRD_EDITION != state_schema()


async def test_the_box_of_this_version_continues_with_all_steps_open_and_the_test_going_on(tmp_path: Path) -> None:
    folder = unpacked("box_journal", tmp_path)
    bench = BoxTestBench(tmp_path, "face_up_pai_gow")
    bench.disk.records = list(reader.read(folder, 1))
    snapshot = reader.latest_snapshot(folder)
    assert snapshot is not None
    bench.disk.snapshots, bench.disk.version = [snapshot], 2
    box = await bench.start()
    try:
        assert box.cause is None, box.cause
        (migration,) = [record for record in bench.records() if record.kind == rec.MIGRATION]
        assert decode_migration(migration.body).name == "typed_return_to_service"
        slots = box.running_controller().table.state.slots
        assert slots[SLOT].return_procedure == rp.FaultRecording("", 0, 1), "it is not lost"
        assert slots[SHOE].return_procedure == rp.TestMode("", "")
        talk = await DirectClient(box).sign_on("F1", "T1")
        refused = await talk.submit("slot", slot=SLOT, act="clear", by="T1")
        assert not isinstance(refused, str), refused
        box.fault_reports = FaultReports(box, unpacked("fault_reports", tmp_path), threads=False)
        procedure = slots[SLOT].return_procedure
        assert isinstance(procedure, rp.ReturnProgress)
        assert (procedure.fault_report, procedure.done, procedure.began.service) == (1, (), True)
        await complete_return(bench, talk)
        lines = files.steps_of(tmp_path / "fault_reports", 1)
        assert sum(isinstance(line, ReturnBegan) for line in lines) == 2
        assert slots[SLOT].return_procedure is None
        assert (slots[SHOE].tested_report, slots[SHOE].state) == (0, "unverified")
        answer = await talk.ask("device", slot=SHOE, call="leave_test", arguments={}, by="T1")
        assert answer is None, answer
        assert slots[SHOE].return_procedure is None
    finally:
        await box.stop()
        bench.close()


def test_an_event_of_its_time_is_read_and_none_is_submitted_any_more(tmp_path: Path) -> None:
    steps = [rec.decode_step(r.body) for r in reader.read(unpacked("box_journal", tmp_path), 1) if r.kind == rec.STEP]
    changed = [step.event for step in steps if isinstance(step.event, ev.ReturnStepChanged)]
    assert [event.testing for event in changed if event.slot == SHOE] == [True]
    assert changed[-2].step.startswith("motor_jog: ")
