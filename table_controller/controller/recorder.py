"""Hands a table's steps to the journal's writer, with both clocks, and keeps what recovery needs besides the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from firmware_bridge.version import VERSION
from table_controller.journal import records as rec
from table_controller.journal.clocks import Reading, back_since, watch
from table_controller.journal.port import JournalWriter
from table_controller.journal.recovery import keep
from table_controller.journal.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.clock import Clock
    from table_controller.journal.chain import Record
    from table_controller.journal.finding_log import FindingLog
    from table_controller.journal.hit_log import HitLog
    from table_controller.journal.recovery import Recovered
    from table_controller.journal.roll import Roll
    from table_controller.journal.timers import Timers
    from table_controller.table.core import Table
    from table_controller.table.decisions import Decision
    from table_controller.table.events import Event

# A snapshot after at least so many steps, between rounds: a restart replays at most about so many.
SNAPSHOT_EVERY: Final = 1000
# A clock that is back by less than this (ns) since the last record was only put right.
BACK_NS: Final = 1_000_000_000


class Writer(JournalWriter, Protocol):
    """The journal's writer, and whom it tells when it fails."""

    on_failed: Callable[[Exception], None]
    on_ballast_freed: Callable[[], None] | None


def _nothing(_: Record) -> None:
    """Nobody waits for this record."""


class Recorder:
    """One start's records. `back`: the wall clock shows less than the newest record of the start before."""

    def __init__(
        self,
        writer: Writer,
        clock: Clock,
        boot: int,
        digests: Mapping[str, str],
        recovered: Recovered,
        *,
        every: int = SNAPSHOT_EVERY,
    ) -> None:
        self.boot = boot
        self.timers: Timers = recovered.timers
        self.hits: HitLog = recovered.hits
        self.findings: FindingLog = recovered.findings
        self.roll: Roll = recovered.roll
        self.writer = writer
        self._clock = clock
        self._digests = dict(digests)
        self._every = every
        self._since = recovered.steps
        self.newest = 0  # the number of the step that was handed over last in this start
        now = self.stamp()
        self.back = recovered.stamp is not None and back_since(recovered.stamp.wall_ns, now.wall_ns) > BACK_NS
        self.set = clock.synchronised()
        self._last = now
        self._anchor = Reading(now.wall_ns, now.mono_ns)

    @property
    def trusted(self) -> bool:
        """Whether the wall clock may say how long the box was off."""
        return self.set and not self.back

    def stamp(self) -> rec.Stamp:
        """Return the present instant."""
        return rec.Stamp(*self._clock.now(), self._clock.kernel)

    def begin(self, table: Table) -> None:
        """Write down what time is worth in this start, and what the table plays by."""
        body = rec.Box(VERSION, self._clock.kernel, self.set, self.back, terms_of(table.context), rec.ACCOUNTING)
        self._append(rec.BOX, self._last, rec.encode_body(body), _nothing)

    def migrated(self, table: Table, migration: rec.Migrated) -> None:
        """Write down how the state was taken over from other versions, and keep it: replay begins from here on."""
        self._append(rec.MIGRATION, self._last, rec.encode_body(migration), _nothing)
        self.snapshot(table)

    def step(
        self, event: Event, decisions: list[Decision], now: rec.Stamp, on_durable: Callable[[Record], None]
    ) -> None:
        """Hand a step over; `on_durable` is called with its record once it is on disk."""
        self._anchor, by = watch(self._anchor, Reading(now.wall_ns, now.mono_ns))
        if by:
            self._append(rec.CLOCK, now, rec.encode_body(rec.ClockStep(by)), _nothing)
        self._last = now
        self.timers.take(decisions, now)
        self.hits.take(now.wall_ns, decisions)
        self._since += 1
        self.newest = self._append(rec.STEP, now, rec.encode_step(event, decisions), on_durable)
        self.findings.take(self.newest, now.wall_ns, decisions)

    def note(self, note: rec.Note, on_durable: Callable[[Record], None] = _nothing) -> None:
        """Write down what is no step of the table."""
        now = self.stamp()
        seq = self._append(rec.NOTE, now, rec.encode_body(note), on_durable)
        self.findings.take_note(seq, now.wall_ns, note)
        self.roll.take(note.listed, note.change)

    def snapshot_if_due(self, table: Table) -> None:
        """Keep the state after the step recorded last, if enough steps have passed; called between rounds."""
        if self._since >= self._every:
            self.snapshot(table)

    def snapshot(self, table: Table) -> None:
        """Keep the state after the step recorded last."""
        self._since = 0
        body = keep(table, self.timers, self._digests, self._last, self.hits, self.findings, self.roll)
        self.writer.snapshot(body, _nothing)

    def _append(self, kind: str, now: rec.Stamp, body: bytes, on_durable: Callable[[Record], None]) -> int:
        return self.writer.append(kind, now.wall_ns, now.mono_ns, self.boot, body, on_durable)
