"""A full disk and a read-only one, for real: reported, nothing lost, and room for the error record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import DiskFull, DiskReadOnly, JournalFailed
from table_controller.journal import reader
from table_controller.journal.ballast import Ballast
from table_controller.journal.store import Policy
from table_controller.journal.writer import GroupCommitWriter
from tests.support.box.journals import entries, newest, open_journal
from tests.support.box.small_disk import remount, small_disk

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record
    from table_controller.journal.store import Store

BALLASTED = Policy(ballast_bytes=256 << 10)


def filled_up(disk: Path) -> None:
    """Fill the disk."""
    with (disk / "other").open("wb", buffering=0) as other:
        try:
            while other.write(bytes(4096)):
                pass
        except OSError:
            pass


def until_full(store: Store) -> list[Record]:
    acknowledged: list[Record] = []
    while True:
        try:
            acknowledged += store.append(entries(store, 10, 500))
        except DiskFull:
            return acknowledged


def test_the_ballast_gives_room_and_then_the_disk_is_full_and_nothing_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path, 2048) as disk:
        store = open_journal(disk / "journal", policy=BALLASTED)
        assert store.ballast.is_allocated
        acknowledged = store.append(entries(store, 10))
        filled_up(disk)
        while (disk / "journal" / "ballast").exists():
            acknowledged += store.append(entries(store, 10, 500))
        # The record that met the full disk is durable, in the ballast's room.
        (text,) = store.append([("error", 0, 0, store.boot, b"PB-716")])
        acknowledged += [text, *until_full(store)]
        with pytest.raises(JournalFailed, match="PB-716"):
            store.append(entries(store, 1))
        store.close()
        assert list(reader.read(disk / "journal", 3)) == acknowledged
        (disk / "other").unlink()
        again = open_journal(disk / "journal", policy=BALLASTED)
        assert again.ballast.is_allocated, "with room again, the ballast is laid again"
        assert again.verify(expected_head=acknowledged[-1].head).ok
        again.close()


def test_a_full_disk_in_a_rotation_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path, 1024) as disk:
        store = open_journal(disk / "journal", policy=Policy(segment_bytes=20_000, ballast_bytes=0))
        heads = []
        try:
            while True:
                heads += [record.head for record in store.append(entries(store, 10, 300))]
                heads.append(store.snapshot(newest(store).seq, bytes(2000)).head)
        except DiskFull:
            assert store.failed is not None
        store.close()
        verdict = reader.verify(disk / "journal", expected_head=heads[-1])
        assert verdict.ok
        assert verdict.last >= len(heads)


def test_a_new_journal_on_a_full_disk_is_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path, 1024) as disk:
        filled_up(disk)
        with pytest.raises(DiskFull, match="no room left"):
            open_journal(disk / "journal")
        (disk / "other").unlink()
        open_journal(disk / "journal").close()


def test_a_disk_that_turns_read_only_is_reported_and_nothing_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path, 2048) as disk:
        open_journal(disk / "journal").close()
        remount(disk, "ro")
        with pytest.raises(DiskReadOnly):
            open_journal(disk / "journal")
        assert list(reader.read(disk / "journal", 1))[-1].kind == "stop"
        assert reader.verify(disk / "journal").ok, "an auditor can verify what cannot be written"
        remount(disk, "rw")
        open_journal(disk / "journal").close()


@pytest.mark.realtime
async def test_the_writer_reports_that_the_ballast_was_released_and_then_that_the_disk_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path, 2048) as disk:
        store = open_journal(disk / "journal", policy=BALLASTED)
        reported: list[object] = []
        writer = GroupCommitWriter(store, reported.append, lambda: reported.append("ballast"))
        acknowledged: list[Record] = []
        filled_up(disk)
        for number in range(3000):
            writer.append("event", number, number, store.boot, bytes(600), acknowledged.append)
        await writer.close()
        assert reported[0] == "ballast"
        assert [type(error) for error in reported[1:]] == [DiskFull]
        assert 0 < len(acknowledged) < 3000
        assert writer.failed is reported[1]
        store.close()
        assert list(reader.read(disk / "journal", 3))[: len(acknowledged)] == acknowledged


def test_ballast_is_really_allocated_and_never_fills_the_disk_itself(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path, 1 << 20)
    assert ballast.allocate()
    assert (tmp_path / "ballast").stat().st_blocks * 512 >= 1 << 20
    assert ballast.allocate()
    assert ballast.free()
    assert not ballast.free()
    free = os.statvfs(tmp_path)
    assert not Ballast(tmp_path, free.f_bavail * free.f_frsize).allocate()
    assert not Ballast(tmp_path, 0).allocate()
    assert list(tmp_path.iterdir()) == []
