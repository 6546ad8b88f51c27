"""Group commit: in order, never blocking, drained at the end, silent after a failure."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from table_controller.journal.writer import Writer
from tests.unit.test_journal_store import opened

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

pytestmark = pytest.mark.realtime


async def test_callbacks_come_on_the_loop_in_order_and_the_end_drains(tmp_path: Path) -> None:
    store = opened(tmp_path)
    failed: list[Exception] = []
    told: list[Record] = []
    writer = Writer(store, failed.append)
    seqs = [writer.append("event", n, n, store.boot, b"%d" % n, told.append) for n in range(1000)]
    assert told == []
    await writer.close()
    assert [record.seq for record in told] == seqs == list(range(3, 1003))
    assert [record.body for record in told] == [b"%d" % n for n in range(1000)]
    assert (failed, writer.waiting) == ([], 0)
    assert list(store.read(3)) == told
    store.close()
    await asyncio.sleep(0)
