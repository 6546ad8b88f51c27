"""A simulated disk for virtual time: no files, no threads. A power cut loses unsynced data, by seed.

A commit is a write and a sync, and power can fail at each: before the sync the group is lost or, as on real disks, kept
anyway; after it the group is durable but not acknowledged. A group is written whole or not at all, like a transaction.
`Disk` survives boots; `Disk.open` replaces `Store.open`. `disk_writer` replaces the group commit.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import msgspec

from firmware_bridge.errors import JournalBusy, JournalDamaged, JournalFailed, JournalNewer
from table_controller.journal.chain import (
    FIRST_SEQ,
    FORMAT,
    GENESIS,
    SNAPSHOT,
    START,
    STOP,
    ZERO_HEAD,
    ChainBroken,
    ChainVerdict,
    NewRecord,
    Record,
    chain_records,
    check_limits,
    check_records,
    snapshot_digest,
)
from table_controller.journal.segment import SnapshotRecord, StoredSnapshot
from table_controller.journal.store import GenesisRecord, StartRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from firmware_bridge.errors import PitboxError


class PowerCut(BaseException):
    """Power was cut. Only the simulation may catch this: nothing of this boot may go on."""


def _no_clocks() -> tuple[int, int]:
    return 0, 0


class Disk:
    """The data that survives boots. `cut_at`: the number of the point at which power is cut; `points` counts them.

    `fault`: the error of the next commit, if set: DiskFull, DiskReadOnly, DiskFailed.
    """

    def __init__(self, seed: int = 0, *, cut_at: int | None = None) -> None:
        self.records: list[Record] = []
        self.snapshots: list[StoredSnapshot] = []
        self.version = 0
        self.cut_at = cut_at
        self.points = 0
        self.cuts = 0
        self.fault: PitboxError | None = None
        self.on_cut: Callable[[], None] | None = None
        self.rng = Random(seed)
        self._unsynced: tuple[list[Record], StoredSnapshot | None] | None = None
        self._owner: DiskStore | None = None

    def open(
        self,
        *,
        version: int,
        digests: Mapping[str, str],
        clocks: Callable[[], tuple[int, int]] = _no_clocks,
        expected_head: bytes | None = None,
    ) -> DiskStore:
        """Open the journal on this disk, or create it, as `Store.open` does."""
        if self._owner is not None:
            raise JournalBusy("the simulated disk: another writer has this journal")
        if self.version > version:
            raise JournalNewer(f"records of version {self.version}; this software knows versions up to {version}")
        store = self._owner = DiskStore(self, clocks)
        try:
            store.begin(version, dict(sorted(digests.items())), expected_head)
        except BaseException:
            self._owner = None
            raise
        return store

    def cut(self) -> None:
        """Cut the power now: the owner is gone, and an unsynced group is kept or lost, by chance."""
        if self._unsynced is not None and self.rng.random() < 0.5:
            self._keep()
        self._unsynced = None
        self._owner = None
        self.cuts += 1
        if self.on_cut is not None:
            self.on_cut()

    def write(self, owner: DiskStore, records: list[Record], snapshot: StoredSnapshot | None) -> None:
        """Accept a transaction without syncing it."""
        self.check_owner(owner)
        self._unsynced = (records, snapshot)
        self._point()

    def sync(self, owner: DiskStore) -> None:
        """Make the transaction durable."""
        self.check_owner(owner)
        if self.fault is not None:
            self._unsynced = None
            raise self.fault
        self._keep()
        self._unsynced = None
        self._point()

    def check_owner(self, store: DiskStore) -> None:
        """Raise PowerCut for the owner of an earlier boot."""
        if self._owner is not store:
            raise PowerCut

    def release(self, store: DiskStore) -> None:
        """Release the disk for the next writer."""
        if self._owner is store:
            self._owner = None

    def _keep(self) -> None:
        assert self._unsynced is not None
        records, snapshot = self._unsynced
        self.records += records
        if snapshot is not None:
            self.snapshots.append(snapshot)

    def _point(self) -> None:
        self.points += 1
        if self.points == self.cut_at:
            self.cut()
            raise PowerCut


class DiskStore:
    """A journal on a simulated disk, opened by its single writer. Same guarantees as `Store`."""

    def __init__(self, disk: Disk, clocks: Callable[[], tuple[int, int]]) -> None:
        """Use `Disk.open`."""
        self.disk = disk
        self.boot = 0
        self.failed: PitboxError | None = None
        self._ended = False
        self._clocks = clocks

    def begin(self, version: int, digests: dict[str, str], expected_head: bytes | None) -> None:
        """Verify the journal, and write the first records of a journal and of a boot."""
        clean = True
        if self.disk.records:
            snapshot = self.latest_snapshot()
            verdict = self.verify(
                None if snapshot is None or expected_head is not None else snapshot.seq + 1, expected_head
            )
            if not verdict.ok:
                raise JournalDamaged(f"record {verdict.bad}: {verdict.why}", verdict.bad)
            clean = self.disk.records[-1].kind == STOP
        else:
            body = msgspec.json.encode(GenesisRecord(self.disk.rng.randbytes(16).hex(), FORMAT))
            self._commit(chain_records(ZERO_HEAD, FIRST_SEQ, [(GENESIS, *self._clocks(), 0, body)]), None)
        self.disk.version = version
        self.boot = self.disk.records[-1].boot + 1
        body = msgspec.json.encode(StartRecord(FORMAT, version, digests, clean))
        self.append([(START, *self._clocks(), self.boot, body)])

    def append(self, entries: Sequence[NewRecord]) -> list[Record]:
        """Make records durable, all or none."""
        if not entries:
            return []
        records = self.chained(entries)
        self._commit(records, None)
        return records

    def chained(self, entries: Sequence[NewRecord]) -> list[Record]:
        """Return entries as records with the next numbers and heads."""
        for kind, _, _, _, body in entries:
            check_limits(kind, body)
        last = self._ready()
        return chain_records(last.head, last.seq + 1, entries)

    def snapshot(self, seq: int, body: bytes, *, may_rotate: bool = True) -> Record:  # noqa: ARG002 - no segments
        """Store a snapshot of the state after a record."""
        records, snapshot = self.announced(seq, body)
        self._commit(records, snapshot)
        return records[0]

    def announced(self, seq: int, body: bytes) -> tuple[list[Record], StoredSnapshot]:
        """Return the record that announces a snapshot, and the snapshot."""
        last = self._ready()
        head = next(iter(self.read(seq, seq))).head
        text = msgspec.json.encode(SnapshotRecord(seq, head.hex(), snapshot_digest(body).hex(), len(body), 1))
        records = chain_records(last.head, last.seq + 1, [(SNAPSHOT, *self._clocks(), self.boot, text)])
        return records, StoredSnapshot(seq, head, records[0].seq, body)

    def _commit(self, records: list[Record], snapshot: StoredSnapshot | None) -> None:
        self.disk.write(self, records, snapshot)
        self.finish()

    def finish(self) -> None:
        """Sync what was written."""
        try:
            self.disk.sync(self)
        except Exception as error:
            self.failed = error  # type: ignore[assignment]
            raise

    def _ready(self) -> Record:
        self.disk.check_owner(self)
        if self.failed is not None:
            raise JournalFailed(f"the journal failed ({self.failed.code}: {self.failed})")
        return self.disk.records[-1]

    def last(self) -> Record | None:
        """Return the newest durable record."""
        return self.disk.records[-1] if self.disk.records else None

    def read(self, first: int, last: int | None = None) -> Iterator[Record]:
        """Read records in order and check the chain."""
        end = None if last is None else last + 1 - FIRST_SEQ
        before = ZERO_HEAD if first == FIRST_SEQ else self.disk.records[first - 1 - FIRST_SEQ].head
        try:
            yield from check_records(before, first, self.disk.records[first - FIRST_SEQ : end])
        except ChainBroken as broken:
            raise JournalDamaged(str(broken), broken.seq) from None

    def latest_snapshot(self) -> StoredSnapshot | None:
        """Return the newest snapshot."""
        return self.disk.snapshots[-1] if self.disk.snapshots else None

    def verify(self, from_seq: int | None = None, expected_head: bytes | None = None) -> ChainVerdict:
        """Check the chain."""
        first, last, head = from_seq or FIRST_SEQ, (from_seq or FIRST_SEQ) - 1, ZERO_HEAD
        seen = expected_head is None
        try:
            for record in self.read(first):
                last, head = record.seq, record.head
                seen = seen or head == expected_head
        except JournalDamaged as damaged:
            return ChainVerdict(False, first, last, head, damaged.bad, str(damaged))
        if not seen:
            return ChainVerdict(False, first, last, head, last + 1, "no record has the head that was asked for")
        return ChainVerdict(True, first, last, head)

    def end(self) -> None:
        """Write the record of an orderly stop."""
        if self.failed is None and not self._ended:
            self._ended = True
            self.append([(STOP, *self._clocks(), self.boot, b"{}")])

    def close(self) -> None:
        """Stop in order and release the disk."""
        self.end()
        self.disk.release(self)
