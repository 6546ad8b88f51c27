"""A running box and its approved manifest: no manifest, no service; a difference or a deletion locks the table."""

from __future__ import annotations

import asyncio
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from simulators.casino.table_layout import BENCH_PIN, table_slots, table_toml, write_bench_people
from table_controller.config import load_config
from table_controller.host.approval import MANIFEST, RECORD, Approval, manifest_path, read_approval
from table_controller.host.manifest import manifest_json, read_manifest
from table_controller.journal import reader
from table_controller.journal import records as rec
from tests.support.box.configs import write_config
from tests.support.box.processes import LIMIT, pitbox
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

GAME = "over_under"

# A box compares its whole installation at the lowest priority: minutes, where others compute.
pytestmark = [pytest.mark.realtime, pytest.mark.timeout(1200)]


def configured(folder: Path, *, development: bool = False) -> Path:
    text = table_toml(GAME, {slot: str(folder / slot) for slot in table_slots(GAME)})
    text = text.replace("development = true", f"development = {str(development).lower()}")
    write_bench_people(folder / "data")
    (folder / "pins").write_text(f"tech-1 {BENCH_PIN}\naudit-1 {BENCH_PIN}\nfloor-1 {BENCH_PIN}\n")
    (folder / "pins").chmod(0o600)
    return write_config(folder, f"{text}\n[panel]\nenabled = false\n")


def approve(folder: Path, *people: str, expect: int = 0) -> str:
    two = people or ("--technician", "tech-1", "--auditor", "audit-1")
    return pitbox(
        "approve", "--config", str(folder / "table.toml"), "--pin-file", str(folder / "pins"), *two, expect=expect
    )


def altered(config: Path, name: str) -> None:
    """Write another digest of one component into the approved manifest, and approve that manifest."""
    table = load_config(config)
    manifest = read_manifest(manifest_path(table))
    others = [replace(p, digest="ab" * 32) if name in p.name else p for p in manifest.components]
    assert others != list(manifest.components)
    data = manifest_json(replace(manifest, components=tuple(others)))
    manifest_path(table).write_bytes(data)
    approval = read_approval(table)
    assert isinstance(approval, Approval)
    changed = replace(approval, manifest=sha256(data).hexdigest())
    (table.data / RECORD).write_bytes(msgspec.json.encode(changed))


def until(box: RunningBox, what: str) -> dict[str, Any]:
    """Wait until the box has compared everything (`checks`) or is locked (`cause`); return its status."""
    limit = time.monotonic() + 16 * LIMIT
    while True:
        status = box.status()
        if (what == "cause" and status["cause"]) or (
            what == "checks" and [text for name, text in status["checks"] if name == "manifest"]
        ):
            return status
        assert time.monotonic() < limit, f"the box shows no {what}"
        time.sleep(0.1)


def noted(folder: Path, *kinds: str) -> list[str]:
    records: Any = (r for r in reader.read(folder / "data" / "journal", 1) if r.kind == rec.NOTE)
    notes = [msgspec.json.decode(record.body, type=rec.Note) for record in records]
    return [note.text for note in notes if note.kind in kinds]


def test_a_box_without_an_approved_manifest_ends_and_names_who_must_sign(tmp_path: Path) -> None:
    config = configured(tmp_path)
    printed = pitbox("run", "--config", str(config), expect=4)
    assert "PB-319" in printed
    assert "pitbox approve" in printed
    assert not (tmp_path / "data" / "journal").exists()
    assert "floorperson" in approve(tmp_path, "--technician", "tech-1", "--auditor", "floor-1", expect=1)
    assert "PB-319" in pitbox("run", "--config", str(config), expect=4)


async def test_an_approved_box_serves_and_a_component_that_differs_locks_it(tmp_path: Path) -> None:
    config = configured(tmp_path)
    assert "technician tech-1 and auditor audit-1 approved manifest" in await asyncio.to_thread(approve, tmp_path)
    with RunningBox(config) as box:
        status = await asyncio.to_thread(until, box, "checks")
        assert ["manifest", f"everything matches {tmp_path / MANIFEST}"] in status["checks"]
        assert status["cause"] is None
        assert not status["unverified"]
    (signed,) = noted(tmp_path, "software")
    assert "technician tech-1 and auditor audit-1 approved manifest" in signed
    assert noted(tmp_path, "manifest", "halted") == []
    altered(config, "msgspec")
    with RunningBox(config) as box:
        status = await asyncio.to_thread(until, box, "cause")
        assert status["cause"]["code"] == "PB-317"
        assert "msgspec" in status["cause"]["text"]
        assert status["phase"] == "halted"
        assert "differs from" in box.log_text()
    (note, halted) = noted(tmp_path, "manifest", "halted")
    assert note.startswith(f"1 difference from {MANIFEST}: ~")
    assert halted.startswith("PB-317")


async def test_another_text_of_the_configuration_with_the_same_choices_is_a_note(tmp_path: Path) -> None:
    config = configured(tmp_path)
    await asyncio.to_thread(approve, tmp_path)
    config.write_text(config.read_text() + "# moved to another shelf\n")
    with RunningBox(config) as box:
        status = await asyncio.to_thread(until, box, "checks")
        assert status["cause"] is None
    (note,) = noted(tmp_path, "manifest")
    assert "configuration/file" in note


def test_a_development_table_is_marked_in_status_journal_and_log(tmp_path: Path) -> None:
    config = configured(tmp_path, development=True)
    assert "a development table cannot be approved" in approve(tmp_path, expect=2)
    with RunningBox(config) as box:
        assert box.status()["unverified"]
        assert "UNVERIFIED" in pitbox("status", "--config", str(config))
    (note,) = noted(tmp_path, "software")
    assert note.startswith("UNVERIFIED")
    assert "UNVERIFIED" in box.log_text()
