"""Passes the steps of a table to the writer of the journal, with both clocks, and keeps the data for snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from firmware_bridge.version import VERSION
from table_controller.journal import records as rec
from table_controller.journal.clocks import ClockReading, compare_clocks, set_back_ns
from table_controller.journal.interfaces import JournalWriter
from table_controller.journal.recovery import encode_snapshot
from table_controller.journal.table_terms import terms_of
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.clock import Clock
    from table_controller.journal.chain import Record
    from table_controller.journal.credential_roster import CredentialRoster
    from table_controller.journal.finding_log import FindingLog
    from table_controller.journal.hit_log import HitLog
    from table_controller.journal.recovery import Recovered
    from table_controller.journal.table_terms import SiteTerms
    from table_controller.journal.timers import Timers
    from table_controller.table.core import Table
    from table_controller.table.decisions import Decision
    from table_controller.table.events import Event

# A snapshot after this many records of any kind, even during a round, so that a restart replays fewer than 1,000. The
# difference is room for the records of one step and of the start itself.
SNAPSHOT_EVERY: Final = 900
# Between rounds a snapshot is written at three quarters of that: during a round, when the loop is busy, it is rare.
_BETWEEN_ROUNDS: Final = 0.75
# A clock that went back by less than this (ns) since the last record was only corrected.
CLOCK_BACK_NS: Final = 1_000_000_000


class WatchedWriter(JournalWriter, Protocol):
    """The writer of the journal, with callbacks for its failures."""

    on_failed: Callable[[Exception], None]
    on_ballast_freed: Callable[[], None] | None


def _nothing(_: Record) -> None:
    """Do nothing: nobody waits for this record."""


class Recorder:
    """Writes the records of one start. `back`: the wall clock is behind the newest record of the previous start."""

    def __init__(
        self,
        writer: WatchedWriter,
        clock: Clock,
        boot: int,
        digests: Mapping[str, str],
        recovered: Recovered,
        *,
        every: int = SNAPSHOT_EVERY,
        site: SiteTerms | None = None,
    ) -> None:
        self.boot = boot
        self.timers: Timers = recovered.timers
        self.hits: HitLog = recovered.hits
        self.findings: FindingLog = recovered.findings
        self.roll: CredentialRoster = recovered.roll
        self.writer = writer
        self._clock = clock
        self._digests = dict(digests)
        self._every = every
        self._site = site
        self._since = recovered.records
        self.newest_seq = 0  # the number of the last step of this start
        now = self.stamp()
        self.clock_went_back = (
            recovered.stamp is not None and set_back_ns(recovered.stamp.wall_ns, now.wall_ns) > CLOCK_BACK_NS
        )
        self.is_clock_synchronized = clock.is_clock_synchronized()
        self._last = now
        self._anchor = ClockReading(now.wall_ns, now.mono_ns)

    @property
    def is_clock_trusted(self) -> bool:
        """Whether the wall clock can measure how long the box was off."""
        return self.is_clock_synchronized and not self.clock_went_back

    def stamp(self) -> rec.Timestamp:
        """Return the present instant."""
        return rec.Timestamp(*self._clock.now(), self._clock.kernel)

    def record_start(self, table: Table) -> None:
        """Record the state of the clock in this start, and the terms of the table."""
        body = rec.BoxRecord(
            VERSION,
            self._clock.kernel,
            self.is_clock_synchronized,
            self.clock_went_back,
            terms_of(table.context),
            rec.ACCOUNTING,
            self._site,
        )
        self._append(rec.BOX, self._last, rec.encode_body(body), _nothing)

    def record_migration(self, table: Table, migration: rec.MigrationRecord) -> None:
        """Record the migration of the state from other versions, and write a snapshot: replay begins here."""
        self._append(rec.MIGRATION, self._last, rec.encode_body(migration), _nothing)
        self.snapshot(table)

    def record_step(
        self, event: Event, decisions: list[Decision], now: rec.Timestamp, on_durable: Callable[[Record], None]
    ) -> None:
        """Record a step; call `on_durable` with its record when it is on disk."""
        self._anchor, by = compare_clocks(self._anchor, ClockReading(now.wall_ns, now.mono_ns))
        if by:
            self._append(rec.CLOCK, now, rec.encode_body(rec.ClockRecord(by)), _nothing)
        self._last = now
        self.timers.add_step(decisions, now)
        self.hits.add_step(now.wall_ns, decisions)
        self.newest_seq = self._append(rec.STEP, now, rec.encode_step(event, decisions), on_durable)
        self.findings.add_step(self.newest_seq, now.wall_ns, decisions)

    def record_note(self, note: rec.Note, on_durable: Callable[[Record], None] = _nothing) -> int:
        """Record a note, which is not a step of the table; return the number of its record."""
        now = self.stamp()
        seq = self._append(rec.NOTE, now, rec.encode_body(note), on_durable)
        self.findings.add_note(seq, now.wall_ns, note)
        self.roll.apply(note.listed, note.change)
        return seq

    def snapshot_if_due(self, table: Table) -> None:
        """Write a snapshot if enough records were written since the last one; between rounds fewer are enough."""
        is_idle = table.state.round.state == mc.IDLE
        if self._since >= self._every * (_BETWEEN_ROUNDS if is_idle else 1):
            self.snapshot(table)

    def snapshot(self, table: Table) -> None:
        """Write a snapshot of the state after the last step. The journal begins a new segment only between rounds."""
        self._since = 0
        body = encode_snapshot(table, self.timers, self._digests, self._last, self.hits, self.findings, self.roll)
        self.writer.snapshot(body, _nothing, may_rotate=table.state.round.state == mc.IDLE)

    def _append(self, kind: str, now: rec.Timestamp, body: bytes, on_durable: Callable[[Record], None]) -> int:
        self._since += 1
        return self.writer.append(kind, now.wall_ns, now.mono_ns, self.boot, body, on_durable)
