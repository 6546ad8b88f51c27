"""The anchor of a running box: rewritten every thirty seconds if anything was recorded, in virtual time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import JournalShort
from table_controller.host.serve import ANCHOR_EVERY_S, _anchored, _keep_anchor
from table_controller.journal import anchor
from tests.support.box.boxes import BoxTestBench
from tests.support.box.journals import entries, open_journal

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_anchor_follows_the_journal_every_thirty_seconds_unless_it_is_idle(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    store = open_journal(data / "journal")
    _anchored(store, data)
    box.supervise("anchor", lambda: _keep_anchor(box, store, data))

    def remembered() -> int:
        tip = anchor.read_anchor(data)
        assert tip is not None
        return tip.seq

    def last() -> int:
        record = store.last()
        assert record is not None
        return record.seq

    try:
        await asyncio.sleep(0)
        first = last()
        assert (ANCHOR_EVERY_S, remembered()) == (30.0, first)
        store.append(entries(store, 5))
        await asyncio.sleep(29.9)
        assert remembered() == first, "not with every record: one sync in thirty seconds"
        await asyncio.sleep(0.2)
        assert remembered() == last() == first + 5
        whole = (data / "anchor").read_bytes()
        await asyncio.sleep(10 * ANCHOR_EVERY_S)
        assert (data / "anchor").read_bytes() == whole, "nothing was recorded, and nothing is written"
        older = {file.name: file.read_bytes() for file in (data / "journal").iterdir()}
        store.append(entries(store, 1))
        await asyncio.sleep(ANCHOR_EVERY_S + 0.1)
        assert remembered() == last()
    finally:
        await box.stop()
        bench.close()
        store.close()
    for name, content in older.items():  # a box that is cut off and rolled back by more than thirty seconds is detected
        (data / "journal" / name).write_bytes(content)
    for left in {file.name for file in (data / "journal").iterdir()} - set(older):
        (data / "journal" / left).unlink()
    with pytest.raises(JournalShort):
        anchor.check_anchor(data, data / "journal", None)
