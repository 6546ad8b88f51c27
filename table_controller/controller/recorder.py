"""Hands a table's steps to the journal's writer, with both clocks, and keeps what recovery needs besides the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from firmware_bridge.version import VERSION
from table_controller.journal import records as rec
from table_controller.journal.clocks import Reading, back_since, watch
from table_controller.journal.port import JournalWriter
from table_controller.journal.recovery import keep
from table_controller.journal.terms import terms_of
from table_controller.table import machines as mc

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

# A snapshot after so many records of whatever kind, also in a round: so a restart replays fewer than 1,000, whatever
# people and machines did since. The rest is room for what one step brings with it, and for the start's own records.
SNAPSHOT_EVERY: Final = 900
# Between rounds one is kept from three quarters of that on: then one in a round is rare, where the loop has more to do.
_BETWEEN_ROUNDS: Final = 0.75
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
        self._since = recovered.records
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
        self.newest = self._append(rec.STEP, now, rec.encode_step(event, decisions), on_durable)
        self.findings.take(self.newest, now.wall_ns, decisions)

    def note(self, note: rec.Note, on_durable: Callable[[Record], None] = _nothing) -> None:
        """Write down what is no step of the table."""
        now = self.stamp()
        seq = self._append(rec.NOTE, now, rec.encode_body(note), on_durable)
        self.findings.take_note(seq, now.wall_ns, note)
        self.roll.take(note.listed, note.change)

    def snapshot_if_due(self, table: Table) -> None:
        """Keep the state after the step recorded last, if enough was recorded since: fewer between rounds."""
        is_idle = table.state.round.state == mc.IDLE
        if self._since >= self._every * (_BETWEEN_ROUNDS if is_idle else 1):
            self.snapshot(table)

    def snapshot(self, table: Table) -> None:
        """Keep the state after the step recorded last. A new segment of the journal begins only between rounds."""
        self._since = 0
        body = keep(table, self.timers, self._digests, self._last, self.hits, self.findings, self.roll)
        self.writer.snapshot(body, _nothing, may_rotate=table.state.round.state == mc.IDLE)

    def _append(self, kind: str, now: rec.Stamp, body: bytes, on_durable: Callable[[Record], None]) -> int:
        self._since += 1
        return self.writer.append(kind, now.wall_ns, now.mono_ns, self.boot, body, on_durable)
