"""The journal's folder: what was appended is there, chained, after every way of ending; one writer at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge.errors import JournalBusy
from table_controller.journal.chain import GENESIS, START, STOP
from table_controller.journal.store import Policy, Store

if TYPE_CHECKING:
    from pathlib import Path

DIGESTS = {"software": "aa", "edition": "bb", "configuration": "cc"}
SMALL = Policy(segment_bytes=40_000, ballast_bytes=0)


def opened(folder: Path, **more: Any) -> Store:
    chosen: dict[str, Any] = {"version": 1, "digests": DIGESTS, "policy": SMALL}
    return Store.open(folder, **chosen | more)


def entries(store: Store, count: int, size: int = 20) -> list[tuple[str, int, int, int, bytes]]:
    return [("event", 1000 + n, n, store.boot, bytes([n % 256]) * size) for n in range(count)]


def test_records_are_there_after_a_restart_in_order_and_chained(tmp_path: Path) -> None:
    store = opened(tmp_path)
    written = store.append(entries(store, 5)) + store.append(entries(store, 1))
    store.close()
    again = opened(tmp_path)
    records = list(again.read(1))
    assert [record.kind for record in records] == [GENESIS, START, *["event"] * 6, STOP, START]
    assert records[2:8] == written
    assert [record.boot for record in records] == [0, *[1] * 8, 2]
    assert msgspec.json.decode(records[1].body)["digests"] == DIGESTS
    verdict = again.verify()
    assert (verdict.ok, verdict.first, verdict.last, verdict.head) == (True, 1, 10, records[-1].head)
    again.close()


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(JournalBusy, match=r"process \d+ writes this journal"):
        opened(tmp_path)
    store.close()


def test_a_full_segment_is_followed_by_one_that_begins_with_a_snapshot(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for _ in range(4):
        store.append(entries(store, 100, 200))
        last = store.last()
        assert last is not None
        store.snapshot(last.seq, b"state %d" % last.seq)
    assert len(list(tmp_path.glob("*.db"))) > 1
    snapshot = store.latest_snapshot()
    assert snapshot is not None
    assert snapshot.body == b"state %d" % snapshot.seq
    assert store.verify().ok
    assert [record.seq for record in store.read(1)] == list(range(1, 407))
    store.close()
    again = opened(tmp_path)
    assert again.verify().ok
    again.close()
