"""The second copy: the same records by head, alarms when they differ, and a journal restored from it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import CopyDiverged, CopyUnreachable, JournalDamaged, RestoreRefused
from table_controller.journal import copier as copier_module
from table_controller.journal import reader
from table_controller.journal.chain import RESTORED, START
from table_controller.journal.copier import Copier, CopyState
from table_controller.journal.copy import Copy, begin_copy, restore
from table_controller.journal.writer import GroupCommitWriter
from tests.support.box.journals import copy_as_cut, entries, fill_segments, newest, open_journal

if TYPE_CHECKING:
    from pathlib import Path


def begun(folder: Path) -> Path:
    folder.mkdir()
    begin_copy(folder)
    return folder


def test_what_is_committed_is_in_the_copy_with_its_heads_segments_and_snapshots(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    copy = Copy(store.folder, begun(tmp_path / "b"))
    fill_segments(store, 2)
    store.append(entries(store, 5))
    store.snapshot(newest(store).seq, b"meters")
    ack = copy.ship()
    assert (ack.seq, ack.head) == (newest(store).seq, newest(store).head)
    store.append(entries(store, 5))
    assert copy.ship().seq == ack.seq + 5
    assert list(reader.read(tmp_path / "b", 1)) == list(store.read(1))
    assert reader.latest_snapshot(tmp_path / "b") == store.latest_snapshot()
    assert reader.verify(tmp_path / "b", expected_head=newest(store).head).ok
    assert [n for n, _ in reader.segments(tmp_path / "b")] == [n for n, _ in reader.segments(tmp_path / "a")]
    copy.close()
    store.close()
    later = open_journal(tmp_path / "a")
    again = Copy(later.folder, tmp_path / "b")
    assert again.ship().head == newest(later).head
    again.close()
    later.close()


def test_an_empty_folder_is_not_taken_for_the_copy(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    (tmp_path / "b").mkdir()
    for folder in (tmp_path / "b", tmp_path / "nowhere"):
        with pytest.raises(CopyUnreachable, match="is its disk mounted"):
            Copy(store.folder, folder).ship()
    assert list((tmp_path / "b").iterdir()) == []
    with pytest.raises(CopyDiverged, match="not empty"):
        begin_copy(tmp_path / "a")
    store.close()


def test_a_copy_of_another_journal_is_an_alarm(tmp_path: Path) -> None:
    stores = [open_journal(tmp_path / name) for name in ("a", "b")]
    begun(tmp_path / "copy")
    for store in stores:
        store.append(entries(store, 5))
    first = Copy(stores[0].folder, tmp_path / "copy")
    first.ship()
    first.close()
    with pytest.raises(CopyDiverged, match="another record"):
        Copy(stores[1].folder, tmp_path / "copy").ship()
    for store in stores:
        store.close()


def test_a_journal_that_went_back_is_caught_by_its_copy(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    copy = Copy(store.folder, begun(tmp_path / "copy"))
    older = copy_as_cut(store.folder, tmp_path / "older")
    store.append(entries(store, 5))
    copy.ship()
    copy.close()
    store.close()
    back = open_journal(older)
    with pytest.raises(CopyDiverged, match="which the journal does not have"):
        Copy(back.folder, tmp_path / "copy").ship()
    back.append(entries(back, 50))
    with pytest.raises(CopyDiverged, match="another record"):
        Copy(back.folder, tmp_path / "copy").ship()
    back.close()


def test_a_copy_that_was_changed_is_an_alarm(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    copy = Copy(store.folder, begun(tmp_path / "copy"))
    store.append(entries(store, 5))
    last = copy.ship().seq
    with sqlite3.connect(tmp_path / "copy" / "journal-000001.db") as connection:
        connection.execute("UPDATE records SET head = zeroblob(32) WHERE seq = ?", (last,))
    connection.close()
    store.append(entries(store, 5))
    with pytest.raises(CopyDiverged, match="differs from what was copied"):
        copy.ship()
    store.close()


def test_damage_in_the_journal_is_the_journals_own_error(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    copy = Copy(store.folder, begun(tmp_path / "copy"))
    records = store.append(entries(store, 5))
    with sqlite3.connect(tmp_path / "a" / "journal-000001.db") as connection:
        connection.execute("UPDATE records SET body = x'00' WHERE seq = ?", (records[2].seq,))
    connection.close()
    with pytest.raises(JournalDamaged) as caught:
        copy.ship()
    assert caught.value.bad == records[2].seq
    copy.close()
    store.close()


# --- restore ----------------------------------------------------------------------------------------------------------


def test_a_journal_is_restored_from_its_copy_and_goes_on(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    copy = Copy(store.folder, begun(tmp_path / "copy"))
    fill_segments(store, 1)
    store.snapshot(newest(store).seq, b"meters")
    ack = copy.ship()
    snapshot = store.latest_snapshot()
    copy.close()
    store.close()
    shutil.rmtree(tmp_path / "a")
    restored = restore(tmp_path / "copy", tmp_path / "new", expected_head=ack.head)
    assert restored.seq == ack.seq + 1
    again = open_journal(tmp_path / "new")
    tail = list(again.read(ack.seq))
    assert [record.kind for record in tail[1:]] == [RESTORED, START]
    assert msgspec.json.decode(tail[1].body) == {"seq": ack.seq, "head": ack.head.hex(), "lost": "", "by": {}}
    assert tail[0].head == ack.head
    assert again.latest_snapshot() == snapshot
    assert again.verify(expected_head=ack.head).ok
    again.close()


def test_restore_refuses_a_folder_that_is_not_empty_and_a_copy_that_does_not_hold(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    records = store.append(entries(store, 9))
    store.close()
    with pytest.raises(RestoreRefused, match="not empty"):
        restore(tmp_path / "a", tmp_path / "a")
    with pytest.raises(RestoreRefused, match="rewritten"):
        restore(tmp_path / "a", tmp_path / "b", expected_head=bytes(32))
    with sqlite3.connect(tmp_path / "a" / "journal-000001.db") as connection:
        connection.execute("UPDATE records SET body = x'00' WHERE seq = ?", (records[5].seq,))
    connection.close()
    with pytest.raises(RestoreRefused, match=f"record {records[5].seq}.*good up to record {records[4].seq}"):
        restore(tmp_path / "a", tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_with_the_loss_accepted_what_is_before_the_first_bad_record_is_kept_and_the_loss_is_written_down(
    tmp_path: Path,
) -> None:
    store = open_journal(tmp_path / "a")
    records = store.append(entries(store, 9))
    store.close()
    with sqlite3.connect(tmp_path / "a" / "journal-000001.db") as connection:
        connection.execute("UPDATE records SET body = x'00' WHERE seq = ?", (records[5].seq,))
    connection.close()
    restore(tmp_path / "a", tmp_path / "b", accept_loss=True)
    again = open_journal(tmp_path / "b")
    kept = list(again.read(records[0].seq))
    assert kept[:5] == records[:5]
    assert [record.kind for record in kept[5:]] == [RESTORED, START]
    assert "its head does not match" in msgspec.json.decode(kept[5].body)["lost"]
    assert again.verify().ok
    again.close()


# --- during play ------------------------------------------------------------------------------------------------------


@pytest.mark.realtime
async def test_the_copier_follows_the_writer_and_reports_its_position(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a")
    states: list[CopyState] = []
    copier = Copier(store, Copy(store.folder, begun(tmp_path / "copy")), states.append)
    writer = GroupCommitWriter(store, lambda error: None)
    for number in range(200):
        writer.append("event", number, number, store.boot, b"x", copier.on_durable)
    await writer.close()
    await copier.close()
    last = newest(store)
    assert copier.state == states[-1]
    assert copier.state.ack is not None
    assert (copier.state.ack.head, copier.state.behind, copier.state.error) == (last.head, 0, "")
    assert store.retain_from == last.seq + 1
    assert f"record {last.seq}" in copier.state.sentence
    store.close()


@pytest.mark.realtime
async def test_a_copy_that_comes_back_catches_up_and_reports_its_lag_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copier_module, "RETRY_S", 0.01)
    store = open_journal(tmp_path / "a")
    states: list[CopyState] = []
    copier = Copier(store, Copy(store.folder, tmp_path / "copy"), states.append)
    copier.on_durable(store.append(entries(store, 5))[-1])
    async with asyncio.timeout(20):
        while not states:  # noqa: ASYNC110 - the thread has no other way to be seen
            await asyncio.sleep(0.01)
    assert (states[0].code, copier.state.behind) == ("PB-721", 7)
    assert "7 records behind" in copier.state.sentence
    begun(tmp_path / "copy")
    async with asyncio.timeout(20):
        while copier.state.error:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert copier.state.behind == 0
    await copier.close()
    store.close()


@pytest.mark.realtime
async def test_a_box_without_a_copy_reports_that(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    states: list[CopyState] = []
    copier = Copier(store, None, states.append)
    await asyncio.sleep(0)
    assert "no second copy" in states[0].sentence
    copier.on_durable(newest(store))
    await copier.close()
    assert store.retain_from is None
    store.close()
