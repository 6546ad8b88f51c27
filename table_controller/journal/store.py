"""The journal's folder for its one writer: open, append, snapshot, rotate, close.

One thread at a time may call it. Reads use their own connections, so another thread may read during an append.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import (
    DiskFull,
    JournalBusy,
    JournalDamaged,
    JournalError,
    JournalFailed,
    JournalForeign,
    JournalGone,
    JournalShort,
)
from table_controller.journal import reader
from table_controller.journal.ballast import Ballast
from table_controller.journal.chain import (
    FIRST_SEQ,
    FORMAT,
    GENESIS,
    OWN_KINDS,
    SNAPSHOT,
    START,
    STOP,
    ZERO_HEAD,
    ChainVerdict,
    NewRecord,
    Record,
    chain_records,
    check_limits,
    snapshot_digest,
)
from table_controller.journal.error_mapping import STORAGE_ERRORS, map_errors, to_pitbox_error
from table_controller.journal.head_file import HeadFile, JournalHead, create_head_file, read_head
from table_controller.journal.retention import ClosedSegment, choose_to_retire, inspect_closed, retire
from table_controller.journal.segment import (
    JournalSegment,
    SegmentPlace,
    SnapshotRecord,
    StoredSnapshot,
    file_name,
    open_read_only,
    remove_database,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from firmware_bridge.errors import PitboxError

__all__ = ["ChainVerdict", "Policy", "Record", "Store", "StoredSnapshot"]

LOCK: Final = "lock"
# Marks the folder of a second copy, so that no box writes a journal there.
COPY_MARK: Final = "copy"
# A checkpoint is due after about this many bytes in the log: a start reads the whole log.
CHECKPOINT_BYTES: Final = 4 << 20
# Log bytes of a commit in addition to the bodies: the last page of the table, at most twice.
_COMMIT_BYTES: Final = 2 * 4096


class GenesisRecord(msgspec.Struct, frozen=True):
    """Body of the first record: the journal's own id (hex) and the format that it began with."""

    journal: str
    format: int


class StartRecord(msgspec.Struct, frozen=True):
    """Body of a `start` record: the versions that write from here on. `clean`: the boot before ended in order."""

    format: int
    version: int
    digests: dict[str, str]
    clean: bool


class Policy(msgspec.Struct, frozen=True):
    """How much the journal keeps. The default is everything, in segments of about a day, with 16 MB of ballast.

    A closed segment is retired when its last record is older than `keep_days`, or when all closed segments exceed
    `keep_bytes`; it moves to `archive` if that is set. 0 bytes of ballast means none.
    """

    segment_bytes: int = 64 << 20
    ballast_bytes: int = 16 << 20
    keep_days: int | None = None
    keep_bytes: int | None = None
    archive: Path | None = None


def _clocks() -> tuple[int, int]:
    return time.time_ns(), time.monotonic_ns()


def lock_folder(folder: Path) -> int:
    """Become the folder's only writer; returns the descriptor of the lock, which the end of the process releases."""
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(lock, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise JournalBusy(f"{folder}: process {owner} writes this journal") from None
    with suppress(OSError):  # the process id is only information; a full disk must not prevent a start
        os.pwrite(lock, f"{os.getpid():<31}\n".encode(), 0)
    return lock


class Store:
    """One journal, opened by its only writer. `boot` is the number of this run; its records carry it."""

    def __init__(self, folder: Path, policy: Policy, clocks: Callable[[], tuple[int, int]]) -> None:
        """Use `Store.open`."""
        self.folder = folder
        self.boot = 0
        self.policy = policy
        self.failed: PitboxError | None = None
        self._clocks = clocks
        self._on_record: Callable[[int], None] = lambda _: None
        self._lock = -1
        self._tip: HeadFile | None = None
        self._segment: JournalSegment | None = None
        self._last: Record | None = None
        self._journal = b""
        self._in_log = 0
        self._ended = False
        self._version = 0  # of the bodies that the caller writes
        # Records from here on may not be retired, because the second copy has not acknowledged them. Set by the copier.
        self.retain_from: int | None = None
        # The error of the last attempt to retire segments, which is repeated when the next segment is closed.
        self.retiring_failed: PitboxError | None = None
        self.ballast = Ballast(folder, policy.ballast_bytes)

    @classmethod
    def open(
        cls,
        folder: Path | str,
        *,
        version: int,
        digests: Mapping[str, str],
        policy: Policy | None = None,
        expected_head: bytes | None = None,
        clocks: Callable[[], tuple[int, int]] = _clocks,
        on_record: Callable[[int], None] = lambda _: None,
    ) -> Store:
        """Open or begin a journal, verify it since its last snapshot, and write the `start` record of this boot.

        `version` is the newest version of record bodies that the caller writes and understands; `digests` name
        software, edition and configuration; `expected_head` must be in the journal (the second copy's head, or a
        published one). Calls `on_record` with the number of each good record.
        """
        store = cls(Path(folder), policy or Policy(), clocks)
        store._on_record = on_record
        try:
            with map_errors(store.folder):
                store._open(version, dict(digests), expected_head)
        except BaseException:
            store._release()
            raise
        return store

    def _open(self, version: int, digests: dict[str, str], expected_head: bytes | None) -> None:
        self.folder.mkdir(exist_ok=True)
        if (self.folder / COPY_MARK).exists():
            raise JournalForeign(f"{self.folder} is a second copy; restore it into an empty folder and open that")
        self._take_lock()
        clean = True
        segments = reader.segments(self.folder)
        try:
            tip = read_head(self.folder)
        except ValueError as spoilt:
            raise JournalDamaged(f"{self.folder}: {spoilt}") from None
        if not segments:
            if tip is not None and tip.seq:
                raise JournalShort(f"{self.folder}: record {tip.seq} was acknowledged and every segment is gone")
            self._begin(version)
        else:
            clean = self._resume(segments[-1][1], version, tip, expected_head)
        assert self._segment is not None
        self._tip = HeadFile(self.folder)
        self.ballast.allocate()
        self._version = version
        assert self._last is not None
        self.boot = self._last.boot + 1
        body = msgspec.json.encode(StartRecord(FORMAT, version, dict(sorted(digests.items())), clean))
        self.append([(START, *self._clocks(), self.boot, body)])
        self._tip.sync()

    def _take_lock(self) -> None:
        self._lock = lock_folder(self.folder)

    def _begin(self, version: int) -> None:
        self._journal = secrets.token_bytes(16)
        create_head_file(self.folder, self._journal)
        body = msgspec.json.encode(GenesisRecord(self._journal.hex(), FORMAT))
        (genesis,) = chain_records(ZERO_HEAD, FIRST_SEQ, [(GENESIS, *self._clocks(), 0, body)])
        place = SegmentPlace(self._journal, 1, FIRST_SEQ, ZERO_HEAD, version)
        self._segment = JournalSegment.create(self.folder / file_name(1), place, [genesis], None)
        self._last = genesis

    def _resume(self, path: Path, version: int, tip: JournalHead | None, expected_head: bytes | None) -> bool:
        """Check everything since the last snapshot, then open for writing. Returns whether it was stopped in order.

        The check only reads, so a bad journal and its log stay unchanged as evidence.
        """
        with open_read_only(path, version) as (_, place):
            self._journal = place.journal
        if tip is None:
            raise JournalShort(
                f"{self.folder}: the head file (tip) is missing, so the end of the journal may be missing too"
            )
        if tip.journal != self._journal:
            raise JournalForeign(f"{self.folder}: {path.name} belongs to another journal than the head file (tip)")
        snapshot = reader.latest_snapshot(self.folder, newest=version)
        if snapshot is None and reader.segments(self.folder)[0][0] > 1:
            raise JournalDamaged(f"{self.folder}: earlier segments were retired and no snapshot is left to begin from")
        start = place.first if snapshot is None else max(snapshot.seq + 1, place.first)
        since = start if expected_head is None else None
        verdict = reader.verify(self.folder, since, expected_head, newest=version, on_record=self._on_record)
        reader.raise_if_bad(self.folder, verdict)
        self._segment = JournalSegment.open(path, version)
        self._last = self._segment.last()
        if self._last is None:
            raise JournalDamaged(f"{self.folder}: {path.name} contains no record", place.first)
        return self._last.kind == STOP

    # --- writing ------------------------------------------------------------------------------------------------------

    def append(self, entries: Sequence[NewRecord], *, write_head: bool = True) -> list[Record]:
        """Make records durable: one transaction, one sync, all or none.

        If `write_head` is false, the caller calls `write_head` itself after it has run the callbacks.
        """
        if not entries:
            return []
        for kind, _, _, _, body in entries:
            check_limits(kind, body)
        segment, last = self._ready()
        if any(entry[0] not in OWN_KINDS for entry in entries):
            self._raise_version(segment)
        records = chain_records(last.head, last.seq + 1, entries)
        self._commit(segment, records, None, remember=write_head)
        return records

    def _raise_version(self, segment: JournalSegment) -> None:
        """Make older software refuse this journal, from the first body on that it cannot read.

        A refused start writes no such body, so the older software can still open the journal.
        """
        if self._version > segment.place.version:
            segment.raise_version(self._version)

    def snapshot(self, seq: int, body: bytes, *, may_rotate: bool = True) -> Record:
        """Store the state after record `seq`, and a record that binds it to the head of that record.

        A snapshot of the newest record begins a new segment if this one is full and `may_rotate` is set: a round under
        way stays in one segment, so that readers find it whole.
        """
        segment, last = self._ready()
        self._raise_version(segment)
        head = last.head if seq == last.seq else next(iter(self.read(seq, seq))).head
        announced = SnapshotRecord(seq, head.hex(), snapshot_digest(body).hex(), len(body), segment.place.number)
        full = may_rotate and seq == last.seq and segment.size() >= self.policy.segment_bytes
        out: list[ClosedSegment] = []
        if full:
            out = self._leaving(segment.place.number)
            archive = "" if self.policy.archive is None else str(self.policy.archive)
            named = [msgspec.structs.replace(each.retired, archive=archive) for each in out]
            announced = msgspec.structs.replace(announced, segment=segment.place.number + 1, retired=named)
        entry = (SNAPSHOT, *self._clocks(), self.boot, msgspec.json.encode(announced))
        (record,) = chain_records(last.head, last.seq + 1, [entry])
        snapshot = StoredSnapshot(seq, head, record.seq, body)
        if full:
            self._rotate(segment, record, snapshot)
            self._retire(out)
        else:
            self._commit(segment, [record], snapshot)
        return record

    def _leaving(self, current: int) -> list[ClosedSegment]:
        policy = self.policy
        if policy.keep_days is None and policy.keep_bytes is None:
            return []
        try:
            with map_errors(self.folder):
                older = [(number, path) for number, path in reader.segments(self.folder) if number <= current]
                segments = [inspect_closed(number, path, reader.ANY_VERSION) for number, path in older]
        except JournalError as damaged:  # unreadable segments stay, and the error is reported
            self.retiring_failed = damaged
            return []
        return choose_to_retire(segments, self._clocks()[0], policy.keep_days, policy.keep_bytes, self.retain_from)

    def _retire(self, out: list[ClosedSegment]) -> None:
        self.retiring_failed = None if out else self.retiring_failed
        try:
            for each in out:
                retire(each, self.policy.archive)
        except (JournalError, *STORAGE_ERRORS) as error:
            self.retiring_failed = to_pitbox_error(error, self.policy.archive or self.folder)

    def _rotate(self, old: JournalSegment, record: Record, snapshot: StoredSnapshot) -> None:
        """Begin the next segment with this snapshot. The old one stays unchanged until the new one is complete."""
        number = old.place.number + 1
        place = SegmentPlace(self._journal, number, record.seq, snapshot.head, old.place.version)
        try:
            new = JournalSegment.create(self.folder / file_name(number), place, [record], snapshot)
        except DiskFull:
            remove_database(self.folder / file_name(number))
            self._commit(old, [record], snapshot)  # no space for a new file; the old one may have some
            return
        self._segment = new
        self._in_log = 0
        self._last = record
        self.write_head()
        with map_errors(self.folder):
            old.close()

    def _commit(
        self, segment: JournalSegment, records: list[Record], snapshot: StoredSnapshot | None, *, remember: bool = True
    ) -> None:
        try:
            try:
                segment.append(records, snapshot)
            except Exception as error:
                if not isinstance(to_pitbox_error(error, self.folder), DiskFull) or not self.ballast.free():
                    raise
                segment.append(records, snapshot)  # in the space of the ballast
        except Exception as error:
            self.failed = to_pitbox_error(error, self.folder)
            raise self.failed from error
        self._in_log += _COMMIT_BYTES + sum(len(record.body) for record in records)
        if snapshot is not None:
            self._in_log += len(snapshot.body)
        self._last = records[-1]
        if remember:
            self.write_head()

    def write_head(self) -> None:
        """Write the newest record's number and head into the head file."""
        _, last = self._ready()
        assert self._tip is not None
        try:
            self._tip.write(JournalHead(self._journal, last.seq, last.head))
        except OSError as error:
            self.failed = to_pitbox_error(error, self.folder)
            raise self.failed from error

    def _ready(self) -> tuple[JournalSegment, Record]:
        if self.failed is not None:
            raise JournalFailed(f"{self.folder}: the journal failed ({self.failed.code}: {self.failed})")
        if self._segment is None or self._last is None:
            raise JournalFailed(f"{self.folder}: the journal is closed")
        return self._segment, self._last

    def checkpoint(self, *, idle: bool = True, now: bool = False) -> None:
        """Write the log into the database if it is long; called between commits.

        While other records wait for a commit (`idle` is false), the log may grow four times as long.
        """
        segment, _ = self._ready()
        if not now and self._in_log < CHECKPOINT_BYTES * (1 if idle else 4):
            return
        assert self._tip is not None
        for _ in range(2):
            try:
                with map_errors(self.folder):
                    self._tip.sync()
                    segment.checkpoint()
            except DiskFull:
                # The log has everything and only stays long. The next commit fails if it has no space.
                if self.ballast.free():
                    continue
            except JournalError as error:
                self.failed = error
                raise
            break
        self._in_log = 0

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def journal(self) -> bytes:
        """The journal's own id."""
        return self._journal

    def last(self) -> Record | None:
        """Return the newest durable record."""
        return self._last

    def read(self, first: int, last: int | None = None) -> Iterator[Record]:
        """Read records in order and check their chain."""
        return reader.read(self.folder, first, last)

    def latest_snapshot(self) -> StoredSnapshot | None:
        """Return the newest snapshot."""
        return reader.latest_snapshot(self.folder)

    def verify(self, from_seq: int | None = None, expected_head: bytes | None = None) -> ChainVerdict:
        """Check the whole chain, or from one record on. `expected_head` must be in it."""
        return reader.verify(self.folder, from_seq, expected_head)

    # --- the end ------------------------------------------------------------------------------------------------------

    def check_on_disk(self) -> None:
        """Raise JournalGone if somebody deleted or replaced the open file."""
        segment = self._segment
        if segment is None:
            return
        try:
            segment.check_on_disk()
        except JournalGone:
            if self._segment is segment:  # else it was closed in the meantime, and may be retired
                raise

    def end(self) -> None:
        """Record that the boot ended in order; no record follows, but the journal can still be read and copied."""
        if self.failed is None and self._segment is not None and not self._ended:
            self._ended = True
            with suppress(JournalError):  # then the next start finds that this one did not end in order, which is true
                self.append([(STOP, *self._clocks(), self.boot, b"{}")])
                assert self._tip is not None
                self._tip.sync()

    def close(self) -> None:
        """Record that the boot ended in order, if `end` has not, and close the folder."""
        try:
            self.end()
        finally:
            self._release()

    def _release(self) -> None:
        if self._segment is not None:
            with suppress(Exception):  # a failed disk may fail here too; durable records are on it already
                self._segment.close()
            self._segment = None
        if self._tip is not None:
            self._tip.close()
            self._tip = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
