"""The outbox: the next events to publish, in the order of the journal, and how far the broker has acknowledged them.

New steps are kept in memory; older ones are read from the journal in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.journal import reader
from table_controller.journal.accounts import last_round_before_begin
from table_controller.uplink import event_types as it
from table_controller.uplink import messages as m
from table_controller.uplink.cursor import Cursor, load_cursor, save_cursor
from table_controller.uplink.event_mapping import MappedEvent, map_record, map_step

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.controller.controller import DurableStep
    from table_controller.journal.chain import Record
    from table_controller.journal.segment import SegmentPlace
    from table_controller.journal.store import Store

log = logging.getLogger(__name__)

# Steps in memory, enough for a broker that keeps up; older ones are read from the journal.
TAIL: Final = 512
# Records in one read: few, because the reading thread shares the interpreter with the game.
READ_BATCH: Final = 64
# A durable record that is not announced as a step within this time (s) is read from the journal, such as a snapshot.
_UNANNOUNCED: Final = 0.5
_ENCODER: Final = msgspec.json.Encoder()


class OutgoingEvent(NamedTuple):
    """One record: its message, or None if it is not published; and the cursor after it."""

    payload: bytes | None
    mark: Cursor


class Outbox:
    """`acknowledged` is the broker's cursor. Call `open` first; it sets `history_difference` if the journal differs."""

    def __init__(self, store: Store, path: Path) -> None:
        self.acknowledged = Cursor("", 0, "", 0)
        self.history_difference: it.HistoryDiffersItem | None = None
        self._store = store
        self._path = path
        self._at = self.acknowledged
        self._saved: Cursor | None = None
        self._tail: deque[DurableStep] = deque(maxlen=TAIL)
        self._catch_up = 0
        self._unannounced = (0, 0.0)  # the newest record that no step announced, and since when

    def add_step(self, step: DurableStep) -> None:
        """Add a durable step; never waits or fails. Steps that do not fit into memory are read later."""
        self._tail.append(step)

    @property
    def behind(self) -> int:
        """How many records the broker has not acknowledged."""
        last = self._store.last()
        return 0 if last is None else max(0, last.seq - self.acknowledged.seq)

    # --- the start ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Load the cursor and compare it with the journal. JournalError if the journal cannot be read."""
        self.acknowledged, self.history_difference = await asyncio.to_thread(self._begin)
        self._saved = None if self.history_difference is not None else self.acknowledged
        self.rewind()

    def _begin(self) -> tuple[Cursor, it.HistoryDiffersItem | None]:
        folder = self._store.folder
        place, kept = reader.first_place(folder), load_cursor(self._path)
        if kept is not None and kept.journal == place.journal.hex():
            problem = self._compare(kept, place)
            if not problem:
                return kept, None
            return _nothing(place), it.HistoryDiffersItem(acknowledged=kept.seq, head=kept.head, text=problem)
        if kept is not None:
            log.warning(
                "uplink: the broker has journal %s; this is another one, and it is published from its beginning",
                kept.journal,
            )
        return _nothing(place), None

    def _compare(self, kept: Cursor, place: SegmentPlace) -> str:
        """Return why the journal does not contain the acknowledged record; empty if it does, or if that is unknown."""
        _, last = reader.bounds(self._store.folder)
        if kept.seq > last:
            return f"the journal ends with record {last}, and {kept.seq} was acknowledged"
        head = kept.head
        if kept.seq == place.first - 1:
            head = place.before.hex()
        elif kept.seq >= place.first:
            (record,) = reader.read(self._store.folder, kept.seq, kept.seq)
            head = record.head.hex()
        return "" if head == kept.head else f"record {kept.seq} has another head than the one that was acknowledged"

    def rewind(self) -> None:
        """Begin again after the last acknowledged record."""
        self._at = self.acknowledged
        last = self._store.last()
        self._catch_up = 0 if last is None else last.seq

    # --- the next events ---------------------------------------------------------------------------------------------

    async def next_batch(self, most: int) -> list[OutgoingEvent]:
        """Return the next events in order: at most `most` records (READ_BATCH if read from the journal), or none.

        JournalError if the journal cannot be read; no record is skipped.
        """
        if self.history_difference is not None and self._at is self.acknowledged:
            self._at = msgspec.structs.replace(self.acknowledged)  # sent once per connection, until it is acknowledged
            return [self._notice(self.history_difference)]
        tail = self._tail
        while tail and tail[0].seq <= self._at.seq:
            tail.popleft()
        batch: list[OutgoingEvent] = []
        while tail and tail[0].seq == self._at.seq + 1 and len(batch) < most:
            batch.append(self._map_step(tail.popleft()))
        if batch:
            return batch
        until = self._readable()
        if until <= self._at.seq:
            return []
        batch = await asyncio.to_thread(self._read, self._at, min(until, self._at.seq + READ_BATCH))
        if batch:
            self._at = batch[-1].mark
        return batch

    def _readable(self) -> int:
        """Return the last record to read from the journal: none that the loop is about to add as a step."""
        if self._tail:
            return self._tail[0].seq - 1
        last = self._store.last()
        if last is None or last.seq <= self._at.seq or self._at.seq < self._catch_up:
            return 0 if last is None else last.seq
        now, (seq, since) = asyncio.get_running_loop().time(), self._unannounced
        if seq != last.seq:
            self._unannounced = (last.seq, now)
            return 0
        return last.seq if now - since >= _UNANNOUNCED else 0

    def _map_step(self, step: DurableStep) -> OutgoingEvent:
        mapped = map_step(step.event, step.decisions, self._at.round)
        self._at = Cursor(self._at.journal, step.seq, step.head.hex(), mapped.round)
        return OutgoingEvent(_payload(mapped, self._at, step.wall_ns), self._at)

    def _notice(self, differs: it.HistoryDiffersItem) -> OutgoingEvent:
        last = self._store.last()
        at = m.instant(0 if last is None else last.wall_ns)
        message = m.EventMessage(
            journal=self._at.journal, seq=0, head="", at=at, round=self._at.round, event="uplink", items=(differs,)
        )  # fmt: skip
        return OutgoingEvent(_ENCODER.encode(message), self.acknowledged)

    # --- in the thread -----------------------------------------------------------------------------------------------

    def _read(self, after: Cursor, until: int) -> list[OutgoingEvent]:
        folder = self._store.folder
        place = reader.first_place(folder)
        if place.first > after.seq + 1:
            return [self._gap(after, place)]
        batch, mark = [], after
        for record in reader.read(folder, after.seq + 1, until):
            if record.seq != mark.seq + 1:
                break  # a segment was just retired; the next read reports the gap
            mapped = map_record(record, mark.round)
            mark = Cursor(after.journal, record.seq, record.head.hex(), mapped.round)
            batch.append(OutgoingEvent(_payload(mapped, mark, record.wall_ns), mark))
        return batch

    def _gap(self, after: Cursor, place: SegmentPlace) -> OutgoingEvent:
        """Return a gap event, with the cursor before the first record of the journal."""
        number = last_round_before_begin(self._store.folder)
        mark = Cursor(place.journal.hex(), place.first - 1, place.before.hex(), number)
        following: Record | None = next(iter(reader.read(self._store.folder, place.first, place.first)), None)
        mapped = MappedEvent(mark.round, "uplink", "", (it.GapItem(first=after.seq + 1, last=mark.seq),))
        log.warning(
            "uplink: the journal retired records %d to %d before the broker acknowledged them", after.seq + 1, mark.seq
        )
        return OutgoingEvent(_payload(mapped, mark, 0 if following is None else following.wall_ns), mark)

    # --- acknowledgment ---------------------------------------------------------------------------------------------

    def acknowledge(self, mark: Cursor) -> None:
        """Note that the broker has acknowledged everything up to a cursor."""
        if self.history_difference is not None and mark is self.acknowledged:
            self.history_difference = None
            return
        self.acknowledged = mark

    async def save(self) -> None:
        """Save the cursor if it has moved. An OSError leaves the old file."""
        mark = self.acknowledged
        if mark.seq and mark != self._saved and self.history_difference is None:
            await asyncio.to_thread(save_cursor, self._path, mark)
            self._saved = mark


def _nothing(place: SegmentPlace) -> Cursor:
    """Return the cursor before the first record of a journal."""
    return Cursor(place.journal.hex(), 0, "", 0)


def _payload(mapped: MappedEvent, mark: Cursor, wall_ns: int) -> bytes | None:
    if not mapped.items:
        return None
    return _ENCODER.encode(
        m.EventMessage(
            journal=mark.journal, seq=mark.seq, head=mark.head, at=m.instant(wall_ns), round=mark.round,
            event=mapped.event, by=mapped.by, items=mapped.items,
        )
    )  # fmt: skip
