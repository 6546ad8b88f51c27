"""The second copy: copies committed records to another folder, checks them there, and restores a journal from a copy.

A copy is a journal's folder with the same records, heads and segments, and a mark file that names it a copy. How far it
reaches is the number and head of its last record, so comparing 32 bytes compares both sides.
"""

from __future__ import annotations

import os
import time
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import (
    CopyDiverged,
    CopyUnreachable,
    JournalDamaged,
    JournalError,
    JournalForeign,
    JournalShort,
    RestoreRefused,
)
from table_controller.journal import reader
from table_controller.journal.chain import RESTORED, SNAPSHOT, Record, chain_records
from table_controller.journal.error_mapping import STORAGE_ERRORS, map_errors, to_pitbox_error
from table_controller.journal.head_file import HeadFile, JournalHead, create_head_file, sync_folder
from table_controller.journal.segment import (
    JournalSegment,
    SegmentPlace,
    StoredSnapshot,
    file_name,
    open_read_only,
    snapshot_of,
)
from table_controller.journal.store import CHECKPOINT_BYTES, COPY_MARK, lock_folder
from table_controller.journal.takeover import TakeoverMark, check_mark, continues_from, read_mark, write_mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# Records in one transaction of the copy: one sync for many, and the reader keeps the log open only for a short time.
BATCH: Final = 2000


class Ack(msgspec.Struct, frozen=True):
    """How far a copy reaches: the number and head of the last record that was read back from it."""

    seq: int
    head: bytes


class RestoredRecord(msgspec.Struct, frozen=True):
    """Body of a `restored` record: the last restored record, what is known to be lost after it, and who restored it.

    `by`: credential of each responsible person, by role.
    """

    seq: int
    head: str
    lost: str
    by: dict[str, str] = {}


class CopyWriter:
    """A folder that receives the records of another journal in order, byte for byte. One writer at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = lock_folder(folder)
        self._segment: JournalSegment | None = None
        self._tip: HeadFile | None = None
        self.last: Ack | None = None
        self._in_log = 0
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        segments = reader.segments(self.folder)
        if segments:
            verdict = reader.verify(self.folder, self._from())
            reader.raise_if_bad(self.folder, verdict)
            self._segment = JournalSegment.open(segments[-1][1], reader.ANY_VERSION)
            last = self._segment.last()
            if last is None:
                raise JournalDamaged(f"{self.folder}: {segments[-1][1].name} contains no record")
            self.last = Ack(last.seq, last.head)
            self._tip = HeadFile(self.folder)

    def _from(self) -> int | None:
        snapshot = reader.latest_snapshot(self.folder)
        return None if snapshot is None else snapshot.seq + 1

    def append(self, place: SegmentPlace, records: list[Record], snapshots: dict[int, StoredSnapshot]) -> None:
        """Append the next records, all of one segment of the source; the first of them may begin the segment."""
        if self._segment is None or self._segment.place.number != place.number:
            first, following = records[:1], records[1:]
            if first[0].seq != place.first:
                raise CopyDiverged(f"{self.folder}: record {first[0].seq} does not begin segment {place.number}")
            if self._tip is None:
                create_head_file(self.folder, place.journal)
                self._tip = HeadFile(self.folder)
            new = JournalSegment.create(self.folder / file_name(place.number), place, first, snapshots.get(place.first))
            if self._segment is not None:
                self._segment.close()
            self._segment, records = new, following
        if place.version > self._segment.place.version:
            self._segment.raise_version(place.version)
        groups: list[list[Record]] = [[]]
        for record in records:  # a snapshot ends its transaction
            groups[-1].append(record)
            if record.seq in snapshots:
                groups.append([])
        for group in groups:
            if group:
                self._segment.append(group, snapshots.get(group[-1].seq))
        self._in_log += sum(len(record.body) for record in records)
        if self._in_log > CHECKPOINT_BYTES:
            self._segment.checkpoint()
            self._in_log = 0

    def read_back(self, first: int) -> Ack:
        """Read and check the records from `first` on through another connection, and write the new head."""
        assert self._segment is not None
        last = None
        for record in reader.read(self.folder, first):
            last = record
        assert last is not None
        assert self._tip is not None
        self.last = Ack(last.seq, last.head)
        self._tip.write(JournalHead(self._segment.place.journal, last.seq, last.head))
        return self.last

    def append_own(self, record: Record) -> None:
        """Append a record that the source does not have."""
        assert self._segment is not None
        self._segment.append([record])
        self.read_back(record.seq)

    def close(self) -> None:
        """Close the files and unlock the folder."""
        if self._segment is not None:
            self._segment.close()
        if self._tip is not None:
            self._tip.sync()
            self._tip.close()
        os.close(self._lock)
        self._segment = self._tip = None


def _batches(
    source: Path, first: int, until: int | None
) -> Iterator[tuple[SegmentPlace, list[Record], dict[int, StoredSnapshot]]]:
    """Yield the source's records in batches for `CopyWriter.append`: checked, of one segment, with their snapshots."""
    segments = reader.segments(source)
    for _, path in segments:
        closed = path != segments[-1][1]
        with open_read_only(path, reader.ANY_VERSION, closed=closed) as (connection, place):
            ((newest,),) = connection.execute("SELECT max(seq) FROM records").fetchall()
            end = newest if until is None else min(newest, until)
        start = max(first, place.first)
        while start <= end:
            records = list(islice(reader.read(source, start, end), BATCH))
            if not records:
                raise JournalDamaged(f"{source}: record {start} is missing", start)
            with open_read_only(path, reader.ANY_VERSION, closed=closed) as (connection, _):
                kept = {r.seq: snapshot_of(connection, r.seq) for r in records if r.kind == SNAPSHOT}
            yield place, records, {seq: snapshot for seq, snapshot in kept.items() if snapshot is not None}
            start = records[-1].seq + 1


def begin_copy(folder: Path) -> None:
    """Mark an empty folder as a second copy. A person does this, because an unmounted disk is an empty folder too."""
    with map_errors(folder):
        if any(folder.iterdir()):
            raise CopyDiverged(f"{folder} is not empty; a copy begins in an empty folder")
        (folder / COPY_MARK).write_text("a second copy of a journal; to use it: pitbox journal restore\n")
        sync_folder(folder)


class Copy:
    """The second copy of one journal."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source = source
        self.folder = folder
        self._writer: CopyWriter | None = None

    def ship(self) -> Ack:
        """Copy every committed record; return how far the copy reaches.

        CopyUnreachable: try again later. CopyDiverged: an alarm. CopyTakenOver: another box has this table now.
        """
        if self._writer is None:
            self._writer = self._opened()
        self.check_ownership()
        writer = self._writer
        try:
            first = None if writer.last is None else writer.last.seq + 1
            batches = _batches(self.source, first or 0, None)
            while (batch := self._next(batches)) is not None:
                with map_errors(self.folder):
                    writer.append(*batch)
                    writer.read_back(batch[1][0].seq)
        except _SourceFailed as damaged:
            raise damaged.error from None
        except JournalError as error:
            self.close()
            raise self._meaning(error) from error
        assert writer.last is not None
        return writer.last

    def check_ownership(self) -> None:
        """Raise CopyTakenOver if the copy was restored into another box."""
        with map_errors(self.folder):
            check_mark(self.folder, self.source)

    def _next(
        self, batches: Iterator[tuple[SegmentPlace, list[Record], dict[int, StoredSnapshot]]]
    ) -> tuple[SegmentPlace, list[Record], dict[int, StoredSnapshot]] | None:
        """Return the next batch; raises _SourceFailed if the journal itself cannot be read."""
        try:
            with map_errors(self.source):
                return next(batches, None)
        except JournalError as error:
            raise _SourceFailed(error) from error

    def _opened(self) -> CopyWriter:
        """Open the copy's folder; its last record must be in the journal."""
        try:
            with map_errors(self.folder):
                begun = (self.folder / COPY_MARK).exists()
                writer = CopyWriter(self.folder) if begun else None
        except JournalError as error:
            raise self._meaning(error) from error
        if writer is None:
            raise CopyUnreachable(f"{self.folder} is not marked as a copy; is its disk mounted?")
        if writer.last is not None:
            try:
                check_mark(self.folder, self.source)
                self._compare(writer.last)
            except BaseException:
                writer.close()
                raise
        return writer

    def _meaning(self, error: JournalError) -> JournalError:
        """Return CopyDiverged for a copy with other content, CopyUnreachable for one that cannot be used now."""
        if isinstance(error, JournalDamaged | JournalForeign | JournalShort | CopyDiverged):
            return CopyDiverged(f"the copy at {self.folder} differs from what was copied: {error}")
        return CopyUnreachable(f"the copy at {self.folder}: {error} ({error.code})")

    def _compare(self, ack: Ack) -> None:
        own = next(reader.read(self.source, ack.seq, ack.seq), None)
        if own is None:
            raise CopyDiverged(f"the copy at {self.folder} reaches record {ack.seq}, which the journal does not have")
        if own.head != ack.head:
            raise CopyDiverged(f"the copy at {self.folder} contains another record {ack.seq} than the journal")

    @property
    def acknowledged(self) -> Ack | None:
        """The last record that the copy has acknowledged."""
        return None if self._writer is None else self._writer.last

    def close(self) -> None:
        """Close the copy's folder."""
        writer, self._writer = self._writer, None
        if writer is not None:
            try:
                writer.close()
            except STORAGE_ERRORS as error:  # the disk may be gone; acknowledged records are on it
                raise CopyUnreachable(f"the copy at {self.folder}: {to_pitbox_error(error, self.folder)}") from error


class _SourceFailed(Exception):
    """The journal itself failed while it was copied."""

    def __init__(self, error: JournalError) -> None:
        super().__init__(str(error))
        self.error = error


def restore(
    source: Path,
    target: Path,
    *,
    expected_head: bytes | None = None,
    accept_loss: bool = False,
    by: Mapping[str, str] | None = None,
) -> Ack:
    """Create a journal in an empty folder from a copy or a damaged journal, and record the restore in it.

    `by` names the people, credentials by role. Without `accept_loss`, a damaged source is refused, and so is a copy
    that was restored before and lacks the records of that other box; with it, all records before the first bad one are
    restored. The copy is marked before the new journal can be used: from then on the old box is locked.
    """
    verdict = reader.verify(source, None, expected_head)
    if not verdict.ok and not accept_loss:
        raise RestoreRefused(f"{source}: record {verdict.bad}: {verdict.why}; good up to record {verdict.last}")
    if verdict.last < verdict.first:
        raise RestoreRefused(f"{source}: no record can be read")
    with map_errors(target):
        if target.is_dir() and any(target.iterdir()):
            raise RestoreRefused(f"{target} is not empty")
        _not_taken_over(source, accept_loss=accept_loss)
        target.mkdir(exist_ok=True)
        writer = CopyWriter(target)
        try:
            for batch in _batches(source, 0, verdict.last):
                writer.append(*batch)
            end = list(reader.read(target, verdict.last))[-1]
            assert end.head == verdict.head
            body = msgspec.json.encode(RestoredRecord(end.seq, end.head.hex(), verdict.why, dict(by or {})))
            entry = (RESTORED, time.time_ns(), time.monotonic_ns(), end.boot, body)
            (record,) = chain_records(end.head, end.seq + 1, [entry])
            _mark(source, TakeoverMark(record.seq, record.head.hex(), dict(by or {}), record.wall_ns))
            writer.append_own(record)
        finally:
            writer.close()
    assert writer.last is not None
    return writer.last


def _not_taken_over(source: Path, *, accept_loss: bool) -> None:
    """Refuse a second restore from a copy without records of the first restored box: that box may be running."""
    mark = read_mark(source)
    if mark is not None and not continues_from(mark, source) and not accept_loss:
        people = " and ".join(f"{role} {credential}" for role, credential in mark.by.items()) or "nobody named"
        raise RestoreRefused(
            f"{source} was restored before, by {people}; if that box runs, it has this table. If it will never run, "
            "accept the loss of its records (--accept-loss)"
        )


def _mark(source: Path, mark: TakeoverMark) -> None:
    try:
        write_mark(source, mark)
    except OSError as error:
        raise RestoreRefused(
            f"{source} cannot be marked as taken over ({error.strerror}), so the old box would keep running; mount it "
            "for writing, and restore into an empty folder"
        ) from error
