"""One segment: one SQLite file with records, snapshots and its place in the chain."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import JournalBusy, JournalDamaged, JournalGone, JournalNewer
from table_controller.journal.chain import FORMAT, SNAPSHOT, ChainBroken, Record, check_records, snapshot_digest
from table_controller.journal.error_mapping import map_errors
from table_controller.journal.head_file import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# "PBJ1": the application id of a segment.
_APPLICATION: Final = 0x50424A31
_SCHEMA: Final = """
CREATE TABLE place (only INTEGER PRIMARY KEY CHECK (only = 1), journal BLOB NOT NULL, number INTEGER NOT NULL,
    first INTEGER NOT NULL, before BLOB NOT NULL, version INTEGER NOT NULL, checkpoints INTEGER NOT NULL);
CREATE TABLE records (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, wall_ns INTEGER NOT NULL, mono_ns INTEGER NOT NULL,
    boot INTEGER NOT NULL, body BLOB NOT NULL, head BLOB NOT NULL);
CREATE TABLE snapshots (record INTEGER PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL);
"""
_INSERT: Final = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_COLUMNS: Final = "seq, kind, wall_ns, mono_ns, boot, body, head"
# Longest wait for another process (s); commits and readers do not block each other in WAL.
_PATIENCE: Final = 5.0


class SegmentPlace(msgspec.Struct, frozen=True):
    """A segment's place in the chain: journal id, number, first record, head before it, newest record version."""

    journal: bytes
    number: int
    first: int
    before: bytes
    version: int


class SnapshotRecord(msgspec.Struct, frozen=True):
    """Body of a `snapshot` record: the snapshot, and the segments retired with it. Heads and digests in hex."""

    seq: int
    head: str
    digest: str
    size: int
    segment: int
    retired: list[RetiredSegment] = []


class RetiredSegment(msgspec.Struct, frozen=True):
    """A retired segment: its records and the head of the last one.

    `archive` is the folder that it moved to; empty: it was deleted, or older software did not record the folder.
    """

    segment: int
    first: int
    last: int
    head: str
    archive: str = ""


class StoredSnapshot(msgspec.Struct, frozen=True):
    """The state after record `seq`; record `record` holds its digest."""

    seq: int
    head: bytes
    record: int
    body: bytes


def file_name(number: int) -> str:
    """Return the name of a segment's file."""
    return f"journal-{number:06}.db"


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=_PATIENCE,
        check_same_thread=False, cached_statements=32,
    )  # fmt: skip


def _record(row: Sequence[object]) -> Record:
    seq, kind, wall_ns, mono_ns, boot, body, head = row
    if not (
        isinstance(seq, int) and isinstance(kind, str) and isinstance(wall_ns, int) and isinstance(mono_ns, int)
        and isinstance(boot, int) and boot >= 0 and isinstance(body, bytes) and isinstance(head, bytes)
    ):  # fmt: skip
        raise ChainBroken(seq if isinstance(seq, int) else -1, "its columns have other types than were written")
    return Record(seq, kind, wall_ns, mono_ns, boot, body, head)


def _place_in(connection: sqlite3.Connection, path: Path, newest: int) -> SegmentPlace:
    """Return a segment's place; JournalNewer if newer software wrote it."""
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise JournalDamaged(f"{path} is not a segment of a journal")
    if form > FORMAT:
        raise JournalNewer(f"{path} has format {form}; this software knows formats up to {FORMAT}")
    rows = connection.execute("SELECT journal, number, first, before, version FROM place").fetchall()
    if len(rows) != 1:
        raise JournalDamaged(f"{path} does not have its place in the chain")
    place = msgspec.convert(rows[0], tuple[bytes, int, int, bytes, int])
    if place[4] > newest:
        raise JournalNewer(f"{path} has records of version {place[4]}; this software knows versions up to {newest}")
    return SegmentPlace(*place)


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


@contextmanager
def open_read_only(
    path: Path, newest: int, *, closed: bool = False
) -> Iterator[tuple[sqlite3.Connection, SegmentPlace]]:
    """Open a segment for reading only; a writer may have it open.

    A closed segment without a log is opened as immutable, so that SQLite creates no files. The newest segment is opened
    so only if the disk is full or read-only and SQLite cannot create its shared memory.
    """
    connection = _connected(path, "ro&immutable=1" if closed and not _has_log(path) else "ro")
    try:
        try:
            connection.execute("PRAGMA cell_size_check = ON")
            place = _place_in(connection, path, newest)
        except sqlite3.OperationalError:
            if _has_log(path):
                raise
            connection.close()
            connection = _connected(path, "ro&immutable=1")
            place = _place_in(connection, path, newest)
        yield connection, place
    finally:
        connection.close()


def records_in(connection: sqlite3.Connection, first: int, last: int | None = None) -> Iterator[Record]:
    """Read records in order, without checks."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM records WHERE seq >= ? AND seq <= ? ORDER BY seq",  # noqa: S608 - our own names
        (first, (1 << 63) - 1 if last is None else last),
    )
    return map(_record, rows)


def head_before(connection: sqlite3.Connection, place: SegmentPlace, first: int) -> bytes:
    """Return the head before the record `first`."""
    if first == place.first:
        return place.before
    row = connection.execute("SELECT head FROM records WHERE seq = ?", (first - 1,)).fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise ChainBroken(first - 1, "it is missing")
    return row[0]


def snapshot_in(connection: sqlite3.Connection) -> StoredSnapshot | None:
    """Return a segment's newest snapshot; raises ChainBroken if its record does not match it."""
    row = connection.execute("SELECT record, seq, body FROM snapshots ORDER BY record DESC LIMIT 1").fetchone()
    return None if row is None else _announced(connection, row)


def snapshot_of(connection: sqlite3.Connection, record: int) -> StoredSnapshot | None:
    """Return the snapshot of a record; None if it is not stored."""
    row = connection.execute("SELECT record, seq, body FROM snapshots WHERE record = ?", (record,)).fetchone()
    return None if row is None else _announced(connection, row)


def check_snapshots(connection: sqlite3.Connection) -> None:
    """Compare every snapshot with its record; raises ChainBroken at the first that differs."""
    for row in connection.execute("SELECT record, seq, body FROM snapshots ORDER BY record"):
        _announced(connection, row)


def _announced(connection: sqlite3.Connection, row: Sequence[object]) -> StoredSnapshot:
    record, seq, body = msgspec.convert(row, tuple[int, int, bytes])
    announcement = next(records_in(connection, record, record), None)
    if announcement is None or announcement.kind != SNAPSHOT:
        raise ChainBroken(record, "the record of a snapshot is missing")
    try:
        announced = msgspec.json.decode(announcement.body, type=SnapshotRecord)
        head = bytes.fromhex(announced.head)
    except ValueError:
        raise ChainBroken(record, "it does not name its snapshot") from None
    if (announced.seq, announced.digest) != (seq, snapshot_digest(body).hex()):
        raise ChainBroken(record, "the stored snapshot is not the one that this record names")
    return StoredSnapshot(seq, head, record, body)


class JournalSegment:
    """The segment that is open for writing. One owner at a time; `append` is one transaction and one sync."""

    def __init__(self, path: Path, place: SegmentPlace, connection: sqlite3.Connection) -> None:
        self.path = path
        status = path.stat()
        self._files = {path: (status.st_dev, status.st_ino)}  # device and inode of each open file
        self.place = place
        self._connection = connection

    @classmethod
    def create(
        cls, path: Path, place: SegmentPlace, records: Sequence[Record], snapshot: StoredSnapshot | None
    ) -> JournalSegment:
        """Create a segment with its first records. It gets its file name only when it is complete and on disk."""
        draft = path.with_suffix(".new")
        remove_database(draft)
        with map_errors(path.parent):
            with closing(_connected(draft, "rwc")) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.executescript(_SCHEMA)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO place VALUES (1, ?, ?, ?, ?, ?, 0)", msgspec.structs.astuple(place))
                _insert(connection, records, snapshot)
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.execute("COMMIT")
            draft.rename(path)
            sync_folder(path.parent)
        return cls.open(path, place.version)

    @classmethod
    def open(cls, path: Path, newest: int) -> JournalSegment:
        """Open a segment for writing."""
        with map_errors(path.parent):
            connection = _connected(path, "rw")
            try:
                connection.execute("PRAGMA cell_size_check = ON")
                place = _place_in(connection, path, newest)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                # A checkpoint costs syncs, so the store decides when.
                connection.execute("PRAGMA wal_autocheckpoint = 0")
            except BaseException:
                connection.close()
                raise
        return cls(path, place, connection)

    def append(self, records: Sequence[Record], snapshot: StoredSnapshot | None = None) -> None:
        """Make records durable, all or none."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            _insert(connection, records, snapshot)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def raise_version(self, version: int) -> None:
        """Store that records of a newer version follow."""
        self._connection.execute("UPDATE place SET version = ?", (version,))
        self.place = msgspec.structs.replace(self.place, version=version)

    def checkpoint(self) -> None:
        """Write the log into the database and restart the log, so that the next commit is one sync again.

        Passive: a commit never waits for a reader in another process; the log grows until that reader closes.
        """
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._connection.execute("UPDATE place SET checkpoints = checkpoints + 1")

    def size(self) -> int:
        """Return the bytes of the database without its log."""
        ((pages,), (size,)) = (
            self._connection.execute("PRAGMA page_count").fetchone(),
            self._connection.execute("PRAGMA page_size").fetchone(),
        )
        return int(pages) * int(size)

    def last(self) -> Record | None:
        """Read the newest record, unchecked."""
        row = self._connection.execute(f"SELECT {_COLUMNS} FROM records ORDER BY seq DESC LIMIT 1").fetchone()  # noqa: S608
        return None if row is None else _record(row)

    def check_on_disk(self) -> None:
        """Raise JournalGone if somebody deleted or replaced an open file.

        Writes to such a file succeed and are lost when the process ends.
        """
        for path in (self.path, self.path.with_name(f"{self.path.name}-wal")):
            try:
                status = path.stat()
            except FileNotFoundError:
                if path in self._files:
                    raise JournalGone(f"{path} was deleted while the box wrote it") from None
                continue  # the log is created by the next write
            if self._files.setdefault(path, (status.st_dev, status.st_ino)) != (status.st_dev, status.st_ino):
                raise JournalGone(f"{path} was replaced by another file while the box wrote it")

    def close(self) -> None:
        """Close the file; SQLite writes the log into the database first."""
        self._connection.close()


def _insert(connection: sqlite3.Connection, records: Sequence[Record], snapshot: StoredSnapshot | None) -> None:
    connection.executemany(_INSERT, [msgspec.structs.astuple(record) for record in records])
    if snapshot is not None:
        connection.execute(
            "INSERT INTO snapshots VALUES (?, ?, ?)", (snapshot.record, snapshot.seq, snapshot.body)
        )  # fmt: skip


def empty_log(path: Path) -> None:
    """Write the log of a closed segment into its database, so that one file holds everything."""
    with closing(_connected(path, "rw")) as connection:
        (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise JournalBusy(f"{path} is being read by another process")


def remove_database(path: Path) -> None:
    """Remove a database and its log, if they exist."""
    for name in (f"{path.name}-wal", f"{path.name}-shm", path.name):
        path.with_name(name).unlink(missing_ok=True)


def read_checked(
    connection: sqlite3.Connection, place: SegmentPlace, first: int, last: int | None = None
) -> Iterator[Record]:
    """Read records and check their chain; raises ChainBroken at the first bad one. Past the end: no records."""
    records = records_in(connection, first, last)
    begin = next(records, None)
    if begin is not None:
        yield from check_records(head_before(connection, place, first), first, chain([begin], records))
