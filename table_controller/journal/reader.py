"""Reads a journal's folder, beside a writer or without one, and checks what it reads. Changes nothing."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import JournalDamaged, JournalError, JournalForeign, JournalNewer, JournalShort
from table_controller.journal.chain import FIRST, NOTHING, SNAPSHOT, Broken, Record, Verdict
from table_controller.journal.segment import (
    Announced,
    Place,
    Snapshot,
    check_snapshots,
    checked_in,
    reading,
    snapshot_in,
)
from table_controller.journal.tip import read_tip
from table_controller.journal.trouble import TROUBLE, plainly, told

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path

_NAME: Final = re.compile(r"journal-(\d{6,})\.db")
# For readers that look at bytes only, whoever wrote them: every version.
ANY_VERSION: Final = (1 << 63) - 1


def segments(folder: Path) -> list[tuple[int, Path]]:
    """Return number and file of every segment, oldest first; a gap in the numbers is damage."""
    found = sorted(
        (int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name)) is not None
    )
    for (number, _), (following, _) in pairwise(found):
        if following != number + 1:
            raise JournalDamaged(f"{folder}: segment {number + 1} is missing; {following} is there")
    return found


def _damaged(folder: Path, broken: Broken) -> JournalDamaged:
    return JournalDamaged(f"{folder}: record {broken.seq}: {broken.why}", broken.seq)


def _must_join(end: Record | None, place: Place) -> None:
    """A segment begins where the one before it ends."""
    if end is not None and (place.first, place.before) != (end.seq + 1, end.head):
        raise Broken(end.seq + 1, f"segment {place.number} does not begin where the one before it ends")


def read(folder: Path, first: int, last: int | None = None, *, newest: int = ANY_VERSION) -> Iterator[Record]:
    """Read records in order, the chain checked on the way. JournalDamaged names the first that does not hold."""
    with plainly(folder):
        found = segments(folder)
        start = 0
        for index in range(len(found) - 1, -1, -1):  # what is wanted is most often near the end
            with reading(found[index][1], newest, closed=index < len(found) - 1) as (_, place):
                if place.first <= first:
                    start = index
                    break
        end: Record | None = None
        try:
            for _, path in found[start:]:
                with reading(path, newest, closed=path != found[-1][1]) as (connection, place):
                    if last is not None and place.first > last:
                        return
                    _must_join(end, place)
                    for record in checked_in(connection, place, max(first, place.first), last):
                        end = record
                        yield record
        except Broken as broken:
            raise _damaged(folder, broken) from None


def bounds(folder: Path) -> tuple[int, int]:
    """Return the numbers of the first and the last record that are there; JournalError if there is no journal."""
    first = begin(folder).first
    with plainly(folder):
        found = segments(folder)
        with reading(found[-1][1], ANY_VERSION) as (connection, _):
            ((last,),) = connection.execute("SELECT max(seq) FROM records").fetchall()
    if not isinstance(last, int):
        raise JournalDamaged(f"{folder}: {found[-1][1].name} holds no record")
    return first, last


def begin(folder: Path) -> Place:
    """Return where the first segment that is kept stands: the journal's id, its first record, the head before it."""
    with plainly(folder):
        found = segments(folder)
        if not found:
            raise JournalError(f"{folder} holds no journal")
        with reading(found[0][1], ANY_VERSION, closed=len(found) > 1) as (_, place):
            return place


def latest_snapshot(folder: Path, *, newest: int = ANY_VERSION) -> Snapshot | None:
    """Return the newest snapshot, compared with the record that announces it."""
    with plainly(folder):
        found = segments(folder)
        for _, path in reversed(found):
            with reading(path, newest, closed=path != found[-1][1]) as (connection, _):
                try:
                    snapshot = snapshot_in(connection)
                except Broken as broken:
                    raise _damaged(folder, broken) from None
            if snapshot is not None:
                return snapshot
    return None


class _Walk:
    """One pass over the segments: how far the chain held, and which of the wanted heads went by."""

    def __init__(self, first: int | None, wanted: dict[bytes, int | None], on_record: Callable[[int], None]) -> None:
        self.from_seq = first
        self._on_record = on_record
        self.first = 0
        self.last = 0
        self.head = NOTHING
        self.wanted = wanted
        self.seen: set[bytes] = set()
        self.retired: set[tuple[int, int, str]] = set()
        self._begins = (1, NOTHING)
        self._journal = b""

    def segment(self, connection: sqlite3.Connection, place: Place, number: int) -> None:
        """Check one segment whole, or from where the walk begins."""
        if place.number != number or self._journal not in (b"", place.journal):
            raise JournalForeign(f"segment {number} is another journal's file, or another segment under its name")
        self._journal = place.journal
        if self.last and (place.first, place.before) != (self.last + 1, self.head):
            raise Broken(self.last + 1, f"segment {number} does not begin where the one before it ends")
        if not self.last:
            start = place.first if self.from_seq is None else max(self.from_seq, place.first)
            if place.first == FIRST and place.before != NOTHING:
                raise Broken(FIRST, "something claims to come before the first record")
            self.first = start
            self._begins = (number, place.before)
            self.last = start - 1
        start = self.last + 1
        for record in checked_in(connection, place, start):
            self.last, self.head = record.seq, record.head
            self._on_record(record.seq)
            if record.head in self.wanted and self.wanted[record.head] in (None, record.seq):
                self.seen.add(record.head)
            if record.kind == SNAPSHOT:
                announced = msgspec.json.decode(record.body, type=Announced)
                self.retired |= {(each.segment, each.last, each.head) for each in announced.retired}
        check_snapshots(connection)

    def unexplained(self) -> str:
        """Say what is wrong with what is not there: segments may only be gone if a record says so."""
        number, before = self._begins
        if self.from_seq is not None or number == 1 or (number - 1, self.first - 1, before.hex()) in self.retired:
            return ""
        return f"the segments before number {number} are gone, and no record says that they were retired"


def verify(
    folder: Path,
    from_seq: int | None = None,
    against: bytes | None = None,
    *,
    newest: int = ANY_VERSION,
    on_record: Callable[[int], None] = lambda _: None,
) -> Verdict:
    """Check the chain of everything, or from one record on, the tip, and that `against` is one of the heads.

    `on_record` is called with the number of each record that holds. Raises only where nothing can be said: a newer
    format, or a folder that cannot be read at all.
    """
    with plainly(folder):
        found = segments(folder)
        try:
            tip = read_tip(folder)
        except ValueError as spoilt:
            raise JournalDamaged(f"{folder}: {spoilt}") from None
    wanted: dict[bytes, int | None] = {}
    if tip is not None:
        wanted[tip.head] = tip.seq
    if against is not None:
        wanted[against] = None
    walk = _Walk(from_seq, wanted, on_record)
    bad = _walked(walk, _needed(found, from_seq, newest), newest)
    if bad is not None:
        return bad
    if why := walk.unexplained():
        return Verdict(False, walk.first, walk.last, walk.head, walk.first - 1, why)
    after = walk.last + 1
    if tip is not None and tip.head not in walk.seen and tip.seq >= walk.first:
        why = f"record {tip.seq} was acknowledged and is not there, or is another one"
        return Verdict(False, walk.first, walk.last, walk.head, min(after, tip.seq), why, short=True)
    if against is not None and against not in walk.seen:
        why = f"no record has the head {against.hex()}: cut short or rewritten after it was published"
        return Verdict(False, walk.first, walk.last, walk.head, after, why, short=True)
    return Verdict(True, walk.first, walk.last, walk.head)


def _needed(found: list[tuple[int, Path]], from_seq: int | None, newest: int) -> list[tuple[int, Path]]:
    """Leave out the segments that end before the walk begins."""
    if from_seq is None:
        return found
    for index in range(len(found) - 1, 0, -1):
        try:
            with reading(found[index][1], newest, closed=index < len(found) - 1) as (_, place):
                if place.first <= from_seq:
                    return found[index:]
        except (JournalDamaged, *TROUBLE):
            return found  # the walk comes by and says what is wrong
    return found


def _walked(walk: _Walk, found: list[tuple[int, Path]], newest: int) -> Verdict | None:
    """Walk; return the verdict if something is wrong."""
    newest_path = found[-1][1] if found else None
    for number, path in found:
        why = ""
        bad = 0
        try:
            with reading(path, newest, closed=path != newest_path) as (connection, place):
                walk.segment(connection, place, number)
        except Broken as broken:
            bad, why = broken.seq, broken.why
        except JournalNewer:
            raise
        except (JournalDamaged, JournalForeign) as damaged:
            bad, why = walk.last + 1, str(damaged)
        except TROUBLE as error:
            trouble = told(error, path.parent)
            if not isinstance(trouble, JournalDamaged):
                raise trouble from error  # the disk cannot be read now; that says nothing about the records
            bad, why = walk.last + 1, str(trouble)
        if why:
            return Verdict(False, walk.first, walk.last, walk.head, bad, why)
    return None


def must_hold(folder: Path, verdict: Verdict) -> None:
    """Raise what a bad verdict means to a person."""
    if verdict.ok:
        return
    if verdict.short:
        raise JournalShort(f"{folder}: {verdict.why}; the journal ends with record {verdict.last}")
    raise JournalDamaged(f"{folder}: record {verdict.bad}: {verdict.why}", verdict.bad)
