"""The journal's files deleted or replaced under a running box: noticed on the anchor's timer, and the box halts."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import JournalGone
from table_controller.host.serve import ANCHOR_EVERY_S, _keep_anchor
from table_controller.journal import anchor
from table_controller.journal.records import VERSION
from table_controller.journal.segment import file_name
from table_controller.journal.store import Store
from tests.support.box.boxes import BoxTestBench

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.controller.box import Box
    from table_controller.journal.chain import Record


def cause_of(box: Box) -> str:
    return "" if box.cause is None else box.cause.code


def deed(name: str, newest: Path) -> None:
    """Delete or replace the newest segment, or delete its log."""
    if name == "deleted":
        newest.unlink()
    elif name == "log deleted":
        newest.with_name(f"{newest.name}-wal").unlink()
    else:
        shutil.copy(newest, newest.with_suffix(".copy"))
        newest.with_suffix(".copy").replace(newest)


@pytest.mark.parametrize("name", ["deleted", "log deleted", "replaced"])
async def test_a_journal_that_vanishes_under_a_running_box_halts_it(tmp_path: Path, name: str) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    store = Store.open(tmp_path / "journal", version=VERSION, digests=box.digests)
    anchor.create_anchor(tmp_path, store.journal, _last(store))
    watching = asyncio.create_task(_keep_anchor(box, store, tmp_path))
    await asyncio.sleep(2 * ANCHOR_EVERY_S + 1)
    assert cause_of(box) == ""
    deed(name, tmp_path / "journal" / file_name(1))
    await asyncio.sleep(ANCHOR_EVERY_S)
    assert cause_of(box) == JournalGone("").code
    assert watching.done()
    await box.stop()
    bench.close()
    store.close()


def _last(store: Store) -> Record:
    last = store.last()
    assert last is not None
    return last
