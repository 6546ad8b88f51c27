"""Reads a slice of the second copy each night and compares it with what was copied.

Disks lose bits silently, and nobody reads a copy until a restore. Each night a thirtieth of the copy is read from its
disk: every record is checked with its head, every snapshot with its record, and the last head with the journal's. The
position is kept across restarts, so the whole copy is read within a month.
"""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import CopyCorrupted, DiskFailed, JournalDamaged, JournalError, JournalForeign, JournalShort
from table_controller.journal import reader
from table_controller.journal.chain import SNAPSHOT, ChainBroken
from table_controller.journal.error_mapping import map_errors
from table_controller.journal.head_file import sync_folder
from table_controller.journal.segment import open_read_only, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME: Final = "copy-check.json"
# A slice is due from this hour of the day on (local time): most tables are closed or quiet then.
START_HOUR: Final = 4
# The whole copy is read within this many nights, and at least this many records in one night (a few seconds).
NIGHTS: Final = 30
LEAST_RECORDS: Final = 20_000
# Records in one step: between steps, new records are copied first.
CHUNK: Final = 500


class Position(msgspec.Struct, frozen=True):
    """Progress of the check: `next` record, the `day` of the last slice, the day when the `whole` copy had been read.

    `bad` is the first record that differs from what was copied, and `why`; 0 if none does.
    """

    journal: str = ""
    next: int = 0
    day: str = ""
    whole: str = ""
    bad: int = 0
    why: str = ""

    @property
    def damage(self) -> CopyCorrupted | None:
        """The damage as an error for people; None if there is none."""
        if not self.bad:
            return None
        return CopyCorrupted(f"record {self.bad} of the second copy differs from what was copied: {self.why}")


_POSITIONS: Final = msgspec.json.Decoder(Position)


def read_position(data: Path) -> Position:
    """Return the saved position; a new one if none can be read."""
    try:
        return _POSITIONS.decode((data / NAME).read_bytes())
    except (OSError, *UNDECODABLE):
        return Position()


def _keep(data: Path, position: Position) -> None:
    draft = data / f"{NAME}.new"
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(position))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(data / NAME)
    sync_folder(data)


class CopyCheck:
    """The check of one copy. `step` reads the next records of the slice that is due."""

    def __init__(self, source: Path, copy: Path, data: Path, now: Callable[[], datetime] = datetime.now) -> None:
        self._source = source
        self._copy = copy
        self._data = data
        self._now = now
        self.position = read_position(data)
        self._until = 0  # the last record of the current slice; 0 if there is none

    @property
    def is_due(self) -> bool:
        """Whether `step` has something to read now."""
        now = self._now()
        return self._until > 0 or (now.hour >= START_HOUR and f"{now:%Y-%m-%d}" != self.position.day)

    def step(self) -> None:
        """Read the next records. JournalError: the copy cannot be read now; its records may still be good."""
        if not self._until:
            self._begin()
            return
        first, last = self.position.next, min(self.position.next + CHUNK - 1, self._until)
        bad, why = self._read(first, last)
        position = self.position
        if bad and not position.bad:
            position = msgspec.structs.replace(position, bad=bad, why=why)
        self.position = msgspec.structs.replace(position, next=last + 1)
        if last == self._until:
            self._until = 0
        if bad or not self._until:
            _keep(self._data, self.position)

    def _begin(self) -> None:
        """Choose tonight's slice."""
        first, newest = reader.bounds(self._copy)
        journal = reader.first_place(self._copy).journal.hex()
        position, day = self.position, f"{self._now():%Y-%m-%d}"
        if position.journal != journal:
            position = Position(journal)
        start = position.next
        if not first <= start <= newest:  # the end was reached, or this is the first slice
            position = msgspec.structs.replace(position, whole=day if start > newest else position.whole)
            start = first
        if position.bad:  # read it again: a cable or a network may have failed that night
            bad, why = self._read(position.bad, min(newest, position.bad + CHUNK - 1))
            position = msgspec.structs.replace(position, bad=bad, why=why)
        size = max(LEAST_RECORDS, -(-(newest - first + 1) // NIGHTS))
        self.position = msgspec.structs.replace(position, next=start, day=day)
        self._until = min(newest, start + size - 1)
        with map_errors(self._copy):
            self._forget(start)
        _keep(self._data, self.position)

    def _forget(self, start: int) -> None:
        """Drop the slice from the page cache, so that it is read from the disk itself."""
        for _, path in reversed(reader.segments(self._copy)):
            with open_read_only(path, reader.ANY_VERSION) as (_, place):
                begins = place.first
            if begins > self._until:
                continue
            fd = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)
            if begins <= start:
                return

    def _read(self, first: int, last: int) -> tuple[int, str]:
        """Read records of the copy; return the first that differs from what was copied, and why, or 0."""
        at, head = first, b""
        try:
            for record in reader.read(self._copy, first, last):
                at, head = record.seq, record.head
                if record.kind == SNAPSHOT:
                    self._snapshot(record.seq)
            if at != last:
                return at + 1, "it is missing"
        except ChainBroken as broken:
            return broken.seq, broken.why
        except (JournalDamaged, JournalShort, JournalForeign, DiskFailed) as damaged:
            return getattr(damaged, "bad", None) or at, str(damaged)
        return (0, "") if self._own(last) in (None, head) else (last, "the journal has another record there")

    def _snapshot(self, record: int) -> None:
        """Compare a snapshot with the record that announces it; raises ChainBroken if it differs."""
        for _, path in reversed(reader.segments(self._copy)):
            with map_errors(self._copy), open_read_only(path, reader.ANY_VERSION) as (connection, place):
                if place.first <= record:
                    snapshot_of(connection, record)
                    return

    def _own(self, seq: int) -> bytes | None:
        """Return the head of that record in the journal; None if the journal does not have it any more."""
        try:
            record = next(reader.read(self._source, seq, seq), None)
        except JournalError:
            return None  # errors of the journal are reported elsewhere
        return None if record is None or record.seq != seq else record.head
