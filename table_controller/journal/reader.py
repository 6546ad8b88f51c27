"""Reads a journal's folder and checks what it reads; works while a box writes the journal."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import JournalDamaged, JournalError, JournalForeign, JournalNewer, JournalShort
from table_controller.journal.chain import FIRST_SEQ, SNAPSHOT, ZERO_HEAD, ChainBroken, ChainVerdict, Record
from table_controller.journal.error_mapping import STORAGE_ERRORS, map_errors, to_pitbox_error
from table_controller.journal.head_file import read_head
from table_controller.journal.segment import (
    SegmentPlace,
    SnapshotRecord,
    StoredSnapshot,
    check_snapshots,
    open_read_only,
    read_checked,
    snapshot_in,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

_NAME: Final = re.compile(r"journal-(\d{6,})\.db")
# For readers that do not decode bodies: accepts every version.
ANY_VERSION: Final = (1 << 63) - 1


def segments(folder: Path) -> list[tuple[int, Path]]:
    """Return number and file of every segment, oldest first; JournalDamaged if a number is missing."""
    numbered = sorted(
        (int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name)) is not None
    )
    for (number, _), (following, _) in pairwise(numbered):
        if following != number + 1:
            raise JournalDamaged(f"{folder}: segment {number + 1} is missing; {following} is there")
    return numbered


def _damaged(folder: Path, broken: ChainBroken) -> JournalDamaged:
    return JournalDamaged(f"{folder}: record {broken.seq}: {broken.why}", broken.seq)


def _must_join(end: Record | None, place: SegmentPlace) -> None:
    """Raise ChainBroken unless the segment begins where the one before it ends."""
    if end is not None and (place.first, place.before) != (end.seq + 1, end.head):
        raise ChainBroken(end.seq + 1, f"segment {place.number} does not begin where the one before it ends")


def read(folder: Path, first: int, last: int | None = None, *, newest: int = ANY_VERSION) -> Iterator[Record]:
    """Read records in order and check their chain. JournalDamaged names the first bad record."""
    with map_errors(folder):
        files = segments(folder)
        start = 0
        for index in range(len(files) - 1, -1, -1):  # most readers read records near the end
            with open_read_only(files[index][1], newest, closed=index < len(files) - 1) as (_, place):
                if place.first <= first:
                    start = index
                    break
        end: Record | None = None
        try:
            for _, path in files[start:]:
                with open_read_only(path, newest, closed=path != files[-1][1]) as (connection, place):
                    if last is not None and place.first > last:
                        return
                    _must_join(end, place)
                    for record in read_checked(connection, place, max(first, place.first), last):
                        end = record
                        yield record
        except ChainBroken as broken:
            raise _damaged(folder, broken) from None


def bounds(folder: Path) -> tuple[int, int]:
    """Return the numbers of the first and the last record; JournalError if there is no journal."""
    first = first_place(folder).first
    with map_errors(folder):
        files = segments(folder)
        with open_read_only(files[-1][1], ANY_VERSION) as (connection, _):
            ((last,),) = connection.execute("SELECT max(seq) FROM records").fetchall()
    if not isinstance(last, int):
        raise JournalDamaged(f"{folder}: {files[-1][1].name} contains no record")
    return first, last


def first_place(folder: Path) -> SegmentPlace:
    """Return the place of the first segment: the journal's id, its first record, and the head before it."""
    with map_errors(folder):
        files = segments(folder)
        if not files:
            raise JournalError(f"{folder} contains no journal")
        with open_read_only(files[0][1], ANY_VERSION, closed=len(files) > 1) as (_, place):
            return place


def latest_snapshot(folder: Path, *, newest: int = ANY_VERSION) -> StoredSnapshot | None:
    """Return the newest snapshot, compared with the record that announces it."""
    with map_errors(folder):
        files = segments(folder)
        for _, path in reversed(files):
            with open_read_only(path, newest, closed=path != files[-1][1]) as (connection, _):
                try:
                    snapshot = snapshot_in(connection)
                except ChainBroken as broken:
                    raise _damaged(folder, broken) from None
            if snapshot is not None:
                return snapshot
    return None


class _ChainWalk:
    """One pass over the segments: how far the chain is intact, and which of the given heads it contains."""

    def __init__(self, first: int | None, heads: dict[bytes, int | None], on_record: Callable[[int], None]) -> None:
        self.from_seq = first
        self._on_record = on_record
        self.first = 0
        self.last = 0
        self.head = ZERO_HEAD
        self.heads = heads
        self.seen: set[bytes] = set()
        self.retired: set[tuple[int, int, str]] = set()
        self._begins = (1, ZERO_HEAD)
        self._journal = b""

    def segment(self, connection: sqlite3.Connection, place: SegmentPlace, number: int) -> None:
        """Check one segment, or its part from the first record of the walk on."""
        if place.number != number or self._journal not in (b"", place.journal):
            raise JournalForeign(f"segment {number} is another journal's file, or another segment under its name")
        self._journal = place.journal
        if self.last and (place.first, place.before) != (self.last + 1, self.head):
            raise ChainBroken(self.last + 1, f"segment {number} does not begin where the one before it ends")
        if not self.last:
            start = place.first if self.from_seq is None else max(self.from_seq, place.first)
            if place.first == FIRST_SEQ and place.before != ZERO_HEAD:
                raise ChainBroken(FIRST_SEQ, "a record before the first one is claimed")
            self.first = start
            self._begins = (number, place.before)
            self.last = start - 1
        start = self.last + 1
        for record in read_checked(connection, place, start):
            self.last, self.head = record.seq, record.head
            self._on_record(record.seq)
            if record.head in self.heads and self.heads[record.head] in (None, record.seq):
                self.seen.add(record.head)
            if record.kind == SNAPSHOT:
                announced = msgspec.json.decode(record.body, type=SnapshotRecord)
                self.retired |= {(each.segment, each.last, each.head) for each in announced.retired}
        check_snapshots(connection)

    def unexplained(self) -> str:
        """Return an error text if earlier segments are missing and no record lists them as retired."""
        number, before = self._begins
        if self.from_seq is not None or number == 1 or (number - 1, self.first - 1, before.hex()) in self.retired:
            return ""
        return f"the segments before number {number} are missing, and no record lists them as retired"


def verify(
    folder: Path,
    from_seq: int | None = None,
    expected_head: bytes | None = None,
    *,
    newest: int = ANY_VERSION,
    on_record: Callable[[int], None] = lambda _: None,
) -> ChainVerdict:
    """Check the whole chain, or from one record on, and that the head file and `expected_head` are in it.

    Calls `on_record` with the number of each good record. Raises only for a newer format and for a folder that cannot
    be read at all.
    """
    with map_errors(folder):
        files = segments(folder)
        try:
            tip = read_head(folder)
        except ValueError as spoilt:
            raise JournalDamaged(f"{folder}: {spoilt}") from None
    heads: dict[bytes, int | None] = {}
    if tip is not None:
        heads[tip.head] = tip.seq
    if expected_head is not None:
        heads[expected_head] = None
    walk = _ChainWalk(from_seq, heads, on_record)
    bad = _walked(walk, _needed(files, from_seq, newest), newest)
    if bad is not None:
        return bad
    if why := walk.unexplained():
        return ChainVerdict(False, walk.first, walk.last, walk.head, walk.first - 1, why)
    after = walk.last + 1
    if tip is not None and tip.head not in walk.seen and tip.seq >= walk.first:
        why = f"record {tip.seq} was acknowledged, and it is missing or differs"
        return ChainVerdict(False, walk.first, walk.last, walk.head, min(after, tip.seq), why, is_short=True)
    if expected_head is not None and expected_head not in walk.seen:
        why = f"no record has the head {expected_head.hex()}: the journal was cut short or rewritten after that"
        return ChainVerdict(False, walk.first, walk.last, walk.head, after, why, is_short=True)
    return ChainVerdict(True, walk.first, walk.last, walk.head)


def _needed(files: list[tuple[int, Path]], from_seq: int | None, newest: int) -> list[tuple[int, Path]]:
    """Return the segments without those that end before the walk begins."""
    if from_seq is None:
        return files
    for index in range(len(files) - 1, 0, -1):
        try:
            with open_read_only(files[index][1], newest, closed=index < len(files) - 1) as (_, place):
                if place.first <= from_seq:
                    return files[index:]
        except (JournalDamaged, *STORAGE_ERRORS):
            return files  # the walk will report the error
    return files


def _walked(walk: _ChainWalk, files: list[tuple[int, Path]], newest: int) -> ChainVerdict | None:
    """Check the segments; return a verdict only if something is wrong."""
    newest_path = files[-1][1] if files else None
    for number, path in files:
        why = ""
        bad = 0
        try:
            with open_read_only(path, newest, closed=path != newest_path) as (connection, place):
                walk.segment(connection, place, number)
        except ChainBroken as broken:
            bad, why = broken.seq, broken.why
        except JournalNewer:
            raise
        except (JournalDamaged, JournalForeign) as damaged:
            bad, why = walk.last + 1, str(damaged)
        except STORAGE_ERRORS as error:
            trouble = to_pitbox_error(error, path.parent)
            if not isinstance(trouble, JournalDamaged):
                raise trouble from error  # the disk cannot be read now; the records may be good
            bad, why = walk.last + 1, str(trouble)
        if why:
            return ChainVerdict(False, walk.first, walk.last, walk.head, bad, why)
    return None


def raise_if_bad(folder: Path, verdict: ChainVerdict) -> None:
    """Raise the error for a bad verdict."""
    if verdict.ok:
        return
    if verdict.is_short:
        raise JournalShort(f"{folder}: {verdict.why}; the journal ends with record {verdict.last}")
    raise JournalDamaged(f"{folder}: record {verdict.bad}: {verdict.why}", verdict.bad)
