"""The journal as an outbox: what is to be told next, in the order of its records, and how far that was acknowledged.

Steps of the running table come by the way; whatever is older, or fell out of memory, is read from the journal in a
thread. Nothing is sent here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.journal import reader
from table_controller.journal.accounts import number_at_begin
from table_controller.uplink import items as it
from table_controller.uplink import messages as m
from table_controller.uplink.cursor import Mark, load_cursor, save_cursor
from table_controller.uplink.tell import Telling, tell_record, tell_step

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.controller.loop import Step
    from table_controller.journal.chain import Record
    from table_controller.journal.segment import Place
    from table_controller.journal.store import Store

log = logging.getLogger(__name__)

# Steps that are kept in memory for a broker that keeps up; older ones are read from the journal.
TAIL: Final = 512
# Records read at once: few, because the thread that reads them holds the interpreter against the game meanwhile.
READ: Final = 64
# A durable record that no step announces for so long (s) is a snapshot or the like: then it is read.
_UNANNOUNCED: Final = 0.5
_ENCODER: Final = msgspec.json.Encoder()


class Outgoing(NamedTuple):
    """One record on its way: a message, or None if it tells nothing; with its acknowledgement `mark` is reached."""

    payload: bytes | None
    mark: Mark


class Outbox:
    """`acknowledged` is how far the broker has the journal. `open` comes first; `differs` is what it found, if any."""

    def __init__(self, store: Store, path: Path) -> None:
        self.acknowledged = Mark("", 0, "", 0)
        self.differs: it.Differs | None = None
        self._store = store
        self._path = path
        self._at = self.acknowledged
        self._saved: Mark | None = None
        self._tail: deque[Step] = deque(maxlen=TAIL)
        self._catch_up = 0
        self._unannounced = (0, 0.0)  # the newest record that no step announced, and since when

    def follow(self, step: Step) -> None:
        """A step is durable. Never waits, never fails: of too many the oldest are read again later."""
        self._tail.append(step)

    @property
    def behind(self) -> int:
        """How many records the broker has not acknowledged."""
        last = self._store.last()
        return 0 if last is None else max(0, last.seq - self.acknowledged.seq)

    # --- where to begin ----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Find out how far the broker had the journal. JournalError if it cannot be read."""
        self.acknowledged, self.differs = await asyncio.to_thread(self._begin)
        self._saved = None if self.differs is not None else self.acknowledged
        self.rewind()

    def _begin(self) -> tuple[Mark, it.Differs | None]:
        folder = self._store.folder
        place, kept = reader.begin(folder), load_cursor(self._path)
        if kept is not None and kept.journal == place.journal.hex():
            problem = self._compare(kept, place)
            if not problem:
                return kept, None
            return _nothing(place), it.Differs(acknowledged=kept.seq, head=kept.head, text=problem)
        if kept is not None:
            log.warning("uplink: the broker had journal %s; this is another one, told from its beginning", kept.journal)
        return _nothing(place), None

    def _compare(self, kept: Mark, place: Place) -> str:
        """Say why the journal is not the one whose record was acknowledged; nothing if it is, or nobody can tell."""
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
        """Begin again after what was acknowledged: the broker may not have had the rest."""
        self._at = self.acknowledged
        last = self._store.last()
        self._catch_up = 0 if last is None else last.seq

    # --- what comes next ---------------------------------------------------------------------------------------------

    async def take(self, most: int) -> list[Outgoing]:
        """Return what is to be told next, in order, at most so many records (but READ out of the journal), or nothing.

        JournalError if it cannot be read; nothing is skipped for that.
        """
        if self.differs is not None and self._at is self.acknowledged:
            self._at = msgspec.structs.replace(self.acknowledged)  # told once per connection, until acknowledged
            return [self._notice(self.differs)]
        tail = self._tail
        while tail and tail[0].seq <= self._at.seq:
            tail.popleft()
        batch: list[Outgoing] = []
        while tail and tail[0].seq == self._at.seq + 1 and len(batch) < most:
            batch.append(self._map_step(tail.popleft()))
        if batch:
            return batch
        until = self._readable()
        if until <= self._at.seq:
            return []
        batch = await asyncio.to_thread(self._read, self._at, min(until, self._at.seq + READ))
        if batch:
            self._at = batch[-1].mark
        return batch

    def _readable(self) -> int:
        """Return up to which record the journal must be read: not what the loop is about to announce by itself."""
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

    def _map_step(self, step: Step) -> Outgoing:
        mapped = tell_step(step.event, step.decisions, self._at.round)
        self._at = Mark(self._at.journal, step.seq, step.head.hex(), mapped.round)
        return Outgoing(_payload(mapped, self._at, step.wall_ns), self._at)

    def _notice(self, differs: it.Differs) -> Outgoing:
        last = self._store.last()
        at = m.instant(0 if last is None else last.wall_ns)
        message = m.Told(
            journal=self._at.journal, seq=0, head="", at=at, round=self._at.round, event="uplink", items=(differs,)
        )  # fmt: skip
        return Outgoing(_ENCODER.encode(message), self.acknowledged)

    # --- in the thread -----------------------------------------------------------------------------------------------

    def _read(self, after: Mark, until: int) -> list[Outgoing]:
        folder = self._store.folder
        place = reader.begin(folder)
        if place.first > after.seq + 1:
            return [self._gap(after, place)]
        batch, mark = [], after
        for record in reader.read(folder, after.seq + 1, until):
            if record.seq != mark.seq + 1:
                break  # a segment has just left; what left with it is a gap, told next time
            mapped = tell_record(record, mark.round)
            mark = Mark(after.journal, record.seq, record.head.hex(), mapped.round)
            batch.append(Outgoing(_payload(mapped, mark, record.wall_ns), mark))
        return batch

    def _gap(self, after: Mark, place: Place) -> Outgoing:
        """Say that records are missing for good, and go on where the journal begins now."""
        number = number_at_begin(self._store.folder)
        mark = Mark(place.journal.hex(), place.first - 1, place.before.hex(), number)
        following: Record | None = next(iter(reader.read(self._store.folder, place.first, place.first)), None)
        mapped = Telling(mark.round, "uplink", "", (it.Gap(first=after.seq + 1, last=mark.seq),))
        log.warning("uplink: records %d to %d left the journal before the broker had them", after.seq + 1, mark.seq)
        return Outgoing(_payload(mapped, mark, 0 if following is None else following.wall_ns), mark)

    # --- what was told -----------------------------------------------------------------------------------------------

    def acknowledge(self, mark: Mark) -> None:
        """The broker has everything up to here."""
        if self.differs is not None and mark is self.acknowledged:
            self.differs = None
            return
        self.acknowledged = mark

    async def save(self) -> None:
        """Bring the acknowledgement to the disk, if it has moved. OSError: the one of before is still there."""
        mark = self.acknowledged
        if mark.seq and mark != self._saved and self.differs is None:
            await asyncio.to_thread(save_cursor, self._path, mark)
            self._saved = mark


def _nothing(place: Place) -> Mark:
    """Return the mark of a journal of which nothing was told."""
    return Mark(place.journal.hex(), 0, "", 0)


def _payload(mapped: Telling, mark: Mark, wall_ns: int) -> bytes | None:
    if not mapped.items:
        return None
    return _ENCODER.encode(
        m.Told(
            journal=mark.journal, seq=mark.seq, head=mark.head, at=m.instant(wall_ns), round=mark.round,
            event=mapped.event, by=mapped.by, items=mapped.items,
        )
    )  # fmt: skip
