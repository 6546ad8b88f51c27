"""Retired segments: which, never too many, never what the copy lacks; and the chain that proves them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

import pytest

from firmware_bridge.errors import JournalDamaged
from table_controller.journal import reader
from table_controller.journal.retention import ClosedSegment, choose_to_retire
from table_controller.journal.segment import RetiredSegment
from table_controller.journal.store import Policy, Store
from tests.support.box.journals import SMALL, fill_segments, open_journal

DAY: Final = 24 * 3600 * 1_000_000_000


def segment(number: int, day: int, size: int = 100) -> ClosedSegment:
    retired = RetiredSegment(number, number * 10, number * 10 + 9, "00")
    return ClosedSegment(Path(f"{number}"), retired, day * DAY, size)


@pytest.mark.parametrize(
    ("days", "size", "held", "chosen"),
    [
        (None, None, None, []),
        (30, None, None, [1, 2]),  # at most two at once, though four are too old
        (97, None, None, [1]),
        (200, None, None, []),
        (None, 450, None, [1]),
        (None, 10, None, [1, 2]),
        (30, None, 20, [1]),  # the copy has everything before record 20
        (30, None, 0, []),  # the copy has nothing
    ],
)
def test_which_segments_leave(days: int | None, size: int | None, held: int | None, chosen: list[int]) -> None:
    results = [segment(number, number) for number in range(1, 6)]
    out = choose_to_retire(results, 99 * DAY, days, size, held)
    assert [each.retired.segment for each in out] == chosen


def test_the_newest_closed_segment_always_stays() -> None:
    assert choose_to_retire([segment(1, 1)], 999 * DAY, 1, 1, None) == []


def kept(**limits: object) -> Policy:
    return Policy(segment_bytes=SMALL.segment_bytes, ballast_bytes=0, **limits)  # type: ignore[arg-type]


def rotated(store: Store) -> None:
    """Append until the next segment has begun."""
    from tests.support.box.journals import entries, newest

    number = reader.segments(store.folder)[-1][0]
    while reader.segments(store.folder)[-1][0] == number:
        store.append(entries(store, 50, 200))
        store.snapshot(newest(store).seq, b"state")


def test_what_left_stays_provable_and_its_archive_verifies_by_itself(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    store = open_journal(tmp_path / "a", policy=kept(keep_bytes=1, archive=archive))
    for _ in range(4):
        rotated(store)
    numbers = [number for number, _ in reader.segments(store.folder)]
    assert numbers[0] > 1
    assert len(numbers) == 2
    assert store.retiring_failed is None
    verdict = store.verify()
    assert verdict.ok
    first = next(store.read(verdict.first))
    assert first.seq == verdict.first > 100
    old = reader.verify(archive)
    assert (old.ok, old.first, old.last) == (True, 1, verdict.first - 1)
    with sqlite3.connect(reader.segments(store.folder)[0][1]) as connection:
        ((before,),) = connection.execute("SELECT before FROM place").fetchall()
    connection.close()
    assert before == old.head, "the archive ends with the head that the kept part begins with"
    store.close()
    again = open_journal(tmp_path / "a")
    assert again.verify().ok
    again.close()


def test_segments_removed_by_hand_are_noticed(tmp_path: Path) -> None:
    store = open_journal(tmp_path)
    fill_segments(store, 3)
    store.close()
    (tmp_path / "journal-000001.db").unlink()
    verdict = reader.verify(tmp_path)
    assert not verdict.ok
    assert "no record lists them as retired" in verdict.why


def test_an_unreachable_archive_keeps_the_segments_and_is_reported(tmp_path: Path) -> None:
    store = open_journal(tmp_path / "a", policy=kept(keep_bytes=1, archive=tmp_path / "not mounted"))
    for _ in range(3):
        rotated(store)
    failed = store.retiring_failed
    assert failed is not None
    assert failed.code == "PB-710"
    assert [number for number, _ in reader.segments(store.folder)] == [1, 2, 3, 4]
    (tmp_path / "not mounted").mkdir()
    rotated(store)
    assert store.retiring_failed is None
    assert [number for number, _ in reader.segments(store.folder)] == [3, 4, 5]
    assert store.verify().ok
    store.close()


def test_nothing_leaves_before_the_copy_has_it(tmp_path: Path) -> None:
    store = open_journal(tmp_path, policy=kept(keep_bytes=1))
    store.retain_from = 0
    for _ in range(3):
        rotated(store)
    assert reader.segments(store.folder)[0][0] == 1
    store.retain_from = None
    rotated(store)
    assert reader.segments(store.folder)[0][0] == 3
    store.close()


def test_without_the_snapshot_that_replaces_what_left_nothing_opens(tmp_path: Path) -> None:
    store = open_journal(tmp_path, policy=kept(keep_bytes=1))
    for _ in range(3):
        rotated(store)
    store.close()
    for _, path in reader.segments(tmp_path):
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM snapshots")
        connection.close()
    with pytest.raises(JournalDamaged, match="no snapshot is left"):
        open_journal(tmp_path)
