"""A component that is not what the manifest names: the box runs, and journal, log and status say what differs."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from simulators.table import layout, table_toml
from table_controller.controller.self_check import MANIFEST
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.manifest import as_json, read_manifest
from tests.support.configs import lay_out
from tests.support.processes import LIMIT, pitbox
from tests.support.running import RunningBox, running

if TYPE_CHECKING:
    from pathlib import Path

GAME = "over_under"

pytestmark = pytest.mark.realtime


def compared(box: RunningBox) -> list[str]:
    """Wait until the whole list was compared; return what was found."""
    until = time.monotonic() + 4 * LIMIT
    while True:
        found = [text for what, text in box.status()["checks"] if what == "manifest"]
        if found:
            return found
        assert time.monotonic() < until, "nobody compares"
        time.sleep(0.1)


def noted(folder: Path) -> list[str]:
    records: Any = (r for r in reader.read(folder / "data" / "journal", 1) if r.kind == rec.NOTE)
    notes = [msgspec.json.decode(record.body, type=rec.Note) for record in records]
    return [note.text for note in notes if note.kind == "manifest"]


async def test_what_changed_since_the_manifest_was_written_is_a_note_in_the_journal(tmp_path: Path) -> None:
    text = table_toml(GAME, {slot: str(tmp_path / slot) for slot in layout(GAME)})
    config = lay_out(tmp_path, f"{text}\n[panel]\nenabled = false\n")
    (tmp_path / "data").mkdir(exist_ok=True)
    kept = tmp_path / MANIFEST
    told = await asyncio.to_thread(pitbox, "version", "--manifest", "--json", "--config", str(config))
    kept.write_text(told)
    with running(config) as box:
        assert await asyncio.to_thread(compared, box) == [f"everything is as {kept} names it"]
    assert noted(tmp_path) == []
    manifest = read_manifest(kept)
    other = [replace(p, digest="ab" * 32) if "msgspec" in p.name else p for p in manifest.components]
    assert other != list(manifest.components)
    kept.write_bytes(as_json(replace(manifest, components=tuple(other))))
    with running(config) as box:
        (found,) = await asyncio.to_thread(compared, box)
        assert found.startswith("~")
        assert "msgspec" in found
        said = await asyncio.to_thread(pitbox, "status", "--config", str(config))
        assert f"manifest: {found}" in said
        assert "not as" in box.words()
    (note,) = noted(tmp_path)
    assert note == f"1 not as {MANIFEST} names it: {found}"
