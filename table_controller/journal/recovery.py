"""From a journal to the table as it was: snapshot, replay, and the proof that both agree. No round is decided.

Replay recomputes every decision and compares it with the recorded one, bit for bit. It never crosses versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import JournalNewer, RecordUnreadable, ReplayDiffers, VersionsDiffer
from table_controller.journal import records as rec
from table_controller.journal.chain import START
from table_controller.journal.migrations import changed, migrate
from table_controller.journal.timers import Timers
from table_controller.table.events import Due
from table_controller.table.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.journal.chain import Record
    from table_controller.journal.port import Journal
    from table_controller.table.core import Table

_STATES: Final = msgspec.msgpack.Decoder(State)


class Kept(msgspec.Struct, frozen=True):
    """Body of a snapshot: the whole state after its record, the running timers, and under which versions."""

    version: int
    digests: dict[str, str]
    state: bytes
    timers: Timers
    stamp: rec.Stamp


class Recovered(msgspec.Struct, frozen=True):
    """What was found: timers, the newest instant that was recorded (None: nothing was), how much was replayed."""

    timers: Timers
    stamp: rec.Stamp | None
    steps: int = 0
    migration: str = ""


_KEPT: Final = msgspec.msgpack.Decoder(Kept)
_KEEP: Final = msgspec.msgpack.Encoder()


class _Began(msgspec.Struct, frozen=True):
    """What recovery reads of a `start` record."""

    digests: dict[str, str]


_BEGAN: Final = msgspec.json.Decoder(_Began)


def keep(table: Table, timers: Timers, digests: Mapping[str, str], stamp: rec.Stamp) -> bytes:
    """Return the body of a snapshot of the table as it is now."""
    return _KEEP.encode(Kept(rec.VERSION, dict(digests), table.snapshot(), timers, stamp))


def recover(source: Journal, table: Table, digests: Mapping[str, str]) -> Recovered:
    """Bring a fresh table to the state after the newest record. The table is useless if this raises.

    ReplayDiffers, VersionsDiffer, JournalNewer or RecordUnreadable say why a journal whose chain holds is not taken.
    """
    return _Replay(table, dict(digests)).run(source)


class _Replay:
    """One recovery under way."""

    def __init__(self, table: Table, digests: dict[str, str]) -> None:
        self._table = table
        self._digests = digests
        self._under = digests  # the versions that what is read now was written under
        self._timers = Timers()
        self._stamp: rec.Stamp | None = None
        self._kernel = ""
        self._steps = 0
        self._old: dict[str, str] | None = None  # the snapshot's versions, if they are others: then no step may follow
        self._migration = ""

    def run(self, source: Journal) -> Recovered:
        snapshot = source.latest_snapshot()
        if snapshot is not None:
            self._load(snapshot.body)
        for record in source.read(1 if snapshot is None else snapshot.seq + 1):
            self._take(record)
        if self._old is not None:
            self._migrate(self._old)
        return Recovered(self._timers, self._stamp, self._steps, self._migration)

    def _load(self, body: bytes) -> None:
        try:
            kept = _KEPT.decode(body)
        except msgspec.DecodeError as error:
            raise RecordUnreadable(f"the snapshot is not one that this software wrote: {error}") from error
        if kept.version > rec.VERSION:
            raise JournalNewer(f"the snapshot has version {kept.version}, this software knows {rec.VERSION}")
        self._timers, self._stamp, self._kernel = kept.timers, kept.stamp, kept.stamp.kernel
        self._under = kept.digests
        if changed(kept.digests, self._digests):
            self._old = kept.digests
            self._state = kept.state
        else:
            self._table.restore(kept.state)

    def _migrate(self, old: dict[str, str]) -> None:
        try:
            state = _STATES.decode(self._state)
        except msgspec.DecodeError as error:
            raise VersionsDiffer(f"the state in the snapshot is not this software's: {error}") from error
        self._migration, state = migrate(state, self._table, old, self._digests)
        self._table.context.state = state

    def _take(self, record: Record) -> None:
        if record.kind == START:
            self._under = _BEGAN.decode(record.body).digests
        elif record.kind == rec.BOX:
            self._kernel = rec.decode_box(record.body).kernel
        elif record.kind == rec.STEP:
            self._step(record)

    def _step(self, record: Record) -> None:
        differs = changed(self._under, self._digests)
        if self._old is not None or differs:
            names = " and ".join(sorted(differs or changed(self._old or {}, self._digests)))
            raise VersionsDiffer(
                f"record {record.seq} was written with another {names}, and replay never crosses versions; start the "
                "software and configuration that wrote it once more, end the round, stop the box in order, then change"
            )
        try:
            step = rec.decode_step(record.body)
        except msgspec.DecodeError as error:
            raise RecordUnreadable(f"record {record.seq} is not one that this software wrote: {error}") from error
        decisions = self._table.step(step.event)
        if rec.encode_step(step.event, decisions) != record.body:
            raise ReplayDiffers(
                f"record {record.seq}: the same {type(step.event).__name__} gives other decisions than it gave then"
            )
        self._stamp = rec.Stamp(record.wall_ns, record.mono_ns, self._kernel)
        if isinstance(step.event, Due):
            self._timers.came(step.event.timer)
        self._timers.take(decisions, self._stamp)
        self._steps += 1
