"""Group commit: in order, never blocking, drained at the end, silent after a failure."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import DiskFailed, DiskReadOnly, JournalFailed
from table_controller.journal import writer as writer_module
from table_controller.journal.writer import GroupCommitWriter
from tests.support.box.journals import newest, open_journal

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

pytestmark = pytest.mark.realtime


async def test_callbacks_come_on_the_loop_in_order_and_the_end_drains(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    failed: list[Exception] = []
    records: list[Record] = []
    threads = set()

    def on_durable(record: Record) -> None:
        records.append(record)
        threads.add(threading.current_thread())

    writer = GroupCommitWriter(store, failed.append)
    seqs = [writer.append("event", n, n, store.boot, b"%d" % n, on_durable) for n in range(1000)]
    assert records == [], "nothing is reported before the loop runs"
    await writer.close()
    assert [record.seq for record in records] == seqs == list(range(3, 1003))
    assert [record.body for record in records] == [b"%d" % n for n in range(1000)]
    assert (failed, writer.waiting) == ([], 0)
    assert threads == {threading.main_thread()}
    assert list(store.read(3)) == records
    store.close()


async def test_while_one_commit_runs_the_next_group_gathers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_journal(tmp_path)
    running, go_on = threading.Event(), threading.Event()
    sizes: list[int] = []
    real = store.append

    def slowly(group: Any, *, write_head: bool) -> list[Record]:
        sizes.append(len(group))
        running.set()
        assert go_on.wait(20)
        return real(group, write_head=write_head)

    monkeypatch.setattr(store, "append", slowly)
    records: list[Record] = []
    writer = GroupCommitWriter(store, lambda error: None)
    writer.append("event", 0, 0, 1, b"", records.append)
    await asyncio.to_thread(running.wait, 20)
    for _ in range(50):
        writer.append("event", 0, 0, 1, b"", records.append)
    assert (writer.waiting, records) == (51, [])
    go_on.set()
    await writer.close()
    assert sizes == [1, 50]
    assert len(records) == 51
    monkeypatch.undo()
    store.close()


async def test_a_snapshot_takes_its_number_in_order_and_is_of_the_record_before_it(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    records: list[Record] = []
    writer = GroupCommitWriter(store, lambda error: None)
    before = writer.append("event", 0, 0, 1, b"a", records.append)
    announced = writer.snapshot(b"state", records.append)
    after = writer.append("event", 0, 0, 1, b"b", records.append)
    await writer.close()
    assert (announced, after) == (before + 1, before + 2)
    assert [(record.seq, record.kind) for record in records] == [
        (before, "event"), (announced, "snapshot"), (after, "event")
    ]  # fmt: skip
    snapshot = store.latest_snapshot()
    assert snapshot is not None
    assert (snapshot.seq, snapshot.body) == (before, b"state")
    store.close()


async def test_a_failure_is_reported_once_and_no_callback_follows(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    failed: list[Exception] = []
    records: list[Record] = []
    writer = GroupCommitWriter(store, failed.append)
    segment = store._segment
    assert segment is not None
    segment._connection.execute("PRAGMA query_only = ON")
    writer.append("event", 0, 0, 1, b"", records.append)
    async with asyncio.timeout(20):
        while not failed:  # noqa: ASYNC110 - the thread has no other way to be seen
            await asyncio.sleep(0.001)
    writer.append("event", 0, 0, 1, b"", records.append)
    await writer.close()
    assert [type(error) for error in failed] == [DiskReadOnly]
    assert (records, writer.failed) == ([], failed[0])
    with pytest.raises(JournalFailed, match="closed"):
        writer.append("event", 0, 0, 1, b"", records.append)
    store.close()


async def test_a_disk_that_does_not_keep_up_is_a_failure_and_memory_stays_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "MAX_BACKLOG", 10)
    store = open_journal(tmp_path)
    failed: list[Exception] = []
    writer = GroupCommitWriter(store, failed.append)
    for _ in range(20):
        writer.append("event", 0, 0, 1, b"", lambda record: None)
    assert [type(error) for error in failed] == [DiskFailed]
    await writer.close()
    store.close()


async def test_a_listener_that_raises_hides_nobody_elses_record(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    records: list[Record] = []
    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    writer = GroupCommitWriter(store, lambda error: None)
    writer.append("event", 0, 0, 1, b"", lambda record: 1 // 0)  # type: ignore[arg-type]
    writer.append("event", 0, 0, 1, b"", records.append)
    await writer.close()
    assert len(records) == 1
    assert [type(context["exception"]) for context in seen] == [ZeroDivisionError]
    store.close()


async def test_what_cannot_be_a_record_is_refused_at_once(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    writer = GroupCommitWriter(store, lambda error: None)
    with pytest.raises(ValueError, match="beyond the limits"):
        writer.append("", 0, 0, 1, b"", lambda record: None)
    seq = writer.append("event", 0, 0, 1, b"", lambda record: None)
    await writer.close()
    assert newest(store).seq == seq
    store.close()


async def test_the_log_is_brought_into_the_database_between_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from table_controller.journal import store as store_module

    monkeypatch.setattr(store_module, "CHECKPOINT_BYTES", 50_000)
    store = open_journal(tmp_path)
    writer = GroupCommitWriter(store, lambda error: None)
    for _ in range(40):
        for _ in range(10):
            writer.append("event", 0, 0, 1, bytes(500), lambda record: None)
        await asyncio.sleep(0)
    await writer.close()
    assert (tmp_path / "journal-000001.db").stat().st_size > 100_000
    assert store.verify().ok
    store.close()


def test_real_and_simulated_journals_have_one_interface() -> None:
    """That their types agree is checked by mypy, in the two assignments."""
    from simulators.casino.disk import DiskStore
    from simulators.casino.disk_writer import DiskWriter
    from table_controller.journal import interfaces
    from table_controller.journal.store import Store

    journals: tuple[type[interfaces.Journal], ...] = (Store, DiskStore)
    writers: tuple[type[interfaces.JournalWriter], ...] = (GroupCommitWriter, DiskWriter)
    for expected, created in ((interfaces.Journal, journals), (interfaces.JournalWriter, writers)):
        names = {name for name, value in vars(expected).items() if callable(value) and not name.startswith("_")}
        assert names
        for each in created:
            assert names <= set(dir(each)), each


async def test_held_back_records_become_one_commit_and_closing_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_journal(tmp_path)
    sizes: list[int] = []
    real = store.append

    def watched(group: Any, *, write_head: bool = True) -> list[Record]:
        sizes.append(len(group))
        return real(group, write_head=write_head)

    monkeypatch.setattr(store, "append", watched)
    records: asyncio.Queue[Record] = asyncio.Queue()
    writer = GroupCommitWriter(store, lambda error: None)
    writer.pause()
    seqs = [writer.append("event", n, n, store.boot, b"%d" % n, records.put_nowait) for n in range(7)]
    await asyncio.sleep(0.02)
    assert (sizes, writer.waiting) == ([], 7)
    writer.resume()
    assert [(await records.get()).seq for _ in seqs] == seqs
    assert sum(sizes) == 7
    assert len(sizes) <= 2, "one commit; two if the thread was quicker than seven calls"
    writer.pause()
    writer.append("event", 7, 7, store.boot, b"7", records.put_nowait)
    await writer.close()
    assert (await records.get()).body == b"7"
    store.close()
