"""Rebuilds the table's state from a journal: loads the newest snapshot and replays the steps after it.

Replay recomputes every decision and compares it with the recorded one, bit for bit. It never crosses versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import JournalNewer, RecordUnreadable, ReplayDiffers, VersionsDiffer
from table_controller.journal import records as rec
from table_controller.journal.chain import FIRST_SEQ, RESTORED, START, STOP
from table_controller.journal.credential_roster import CredentialRoster
from table_controller.journal.device_migration import differences
from table_controller.journal.finding_log import FindingLog
from table_controller.journal.former_names import renew_snapshot
from table_controller.journal.hit_log import HitLog
from table_controller.journal.migrations import FIRST_EDITION, REVERT_FIRST, changed_digests, migrate, state_schema
from table_controller.journal.timers import Timers
from table_controller.ledger.meter import MeterRules, meter_rules
from table_controller.ledger.money import TWO_PERSON_KINDS, add_to_runs, document_key, slip_number
from table_controller.table.decisions import Booked
from table_controller.table.events import Due, Person
from table_controller.table.state import TableState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.journal.chain import Record
    from table_controller.journal.interfaces import JournalReader
    from table_controller.table.core import Table

_STATES: Final = msgspec.msgpack.Decoder(TableState)
_HAND_PAY: Final = b'"hand_pay_paid"'  # in the body of every record that may have a slip


class Snapshot(msgspec.Struct, frozen=True):
    """Body of a snapshot: the state after its record, the running timers, the logs, and the versions."""

    version: int
    digests: dict[str, str]
    state: bytes
    timers: Timers
    stamp: rec.Timestamp
    schema: str = ""  # of the state; empty in snapshots of software that did not record it
    hits: HitLog = msgspec.field(default_factory=HitLog)  # the last ones of each level
    # The submitted terms of the meter; unset in snapshots of the first version, whose `box` records have them.
    meter: MeterRules | msgspec.UnsetType | None = msgspec.UNSET
    findings: FindingLog = msgspec.field(default_factory=FindingLog)
    roll: CredentialRoster = msgspec.field(default_factory=CredentialRoster)


class Recovered(msgspec.Struct, frozen=True):
    """The result of a recovery: timers, logs, and the newest recorded time (None: the journal is empty).

    `records` counts the records after the snapshot, `steps` the steps among them.
    """

    timers: Timers
    stamp: rec.Timestamp | None
    steps: int = 0
    migration: rec.MigrationRecord | None = None
    hits: HitLog = msgspec.field(default_factory=HitLog)
    findings: FindingLog = msgspec.field(default_factory=FindingLog)
    roll: CredentialRoster = msgspec.field(default_factory=CredentialRoster)
    records: int = 0


_SNAPSHOTS: Final = msgspec.msgpack.Decoder(Snapshot)
_ENCODER: Final = msgspec.msgpack.Encoder()


class _StartFields(msgspec.Struct, frozen=True):
    """The fields of a `start` record that recovery reads."""

    digests: dict[str, str]


_START_FIELDS: Final = msgspec.json.Decoder(_StartFields)


class _RestoredFields(msgspec.Struct, frozen=True):
    """The fields of a record of kind "restored" that recovery reads."""

    by: dict[str, str] = {}


_RESTORED_FIELDS: Final = msgspec.json.Decoder(_RestoredFields)


def _has_two_people(record: Record) -> bool:
    """Return whether two different people signed for a restore."""
    return len(set(_RESTORED_FIELDS.decode(record.body).by.values())) > 1


def encode_snapshot(
    table: Table,
    timers: Timers,
    digests: Mapping[str, str],
    stamp: rec.Timestamp,
    hits: HitLog | None = None,
    findings: FindingLog | None = None,
    roll: CredentialRoster | None = None,
) -> bytes:
    """Return the body of a snapshot of the table's present state."""
    meter = meter_rules(table.context.edition, table.context.submission)
    return _ENCODER.encode(
        Snapshot(
            rec.VERSION, dict(digests), table.snapshot(), timers, stamp, state_schema(), hits or HitLog(), meter,
            findings or FindingLog(), roll or CredentialRoster(),
        )
    )  # fmt: skip


def recover(
    source: JournalReader,
    table: Table,
    digests: Mapping[str, str],
    accepted: tuple[Person, Person] | None = None,
    *,
    on_record: Callable[[int], None] = lambda _: None,
) -> Recovered:
    """Bring a fresh table to the state after the newest record. The table must not be used if this raises.

    Calls `on_record` with the number of each replayed record.

    ReplayDiffers, VersionsDiffer, JournalNewer or RecordUnreadable explain why an intact journal cannot be used.
    `accepted`: the two people who accept that the table has other devices than the journal; DeviceChangeRefused if the
    change is not possible.
    """
    return _Recovery(table, dict(digests), on_record, accepted).run(source)


def _meter_of_last_start(source: JournalReader) -> MeterRules | msgspec.UnsetType | None:
    """Return the meter terms of the newest `box` record that has terms; unset if there is none."""
    rules: MeterRules | msgspec.UnsetType | None = msgspec.UNSET
    for record in source.read(FIRST_SEQ):
        if record.kind == rec.BOX:
            terms = rec.decode_box(record.body).terms
            rules = rules if terms is None else terms.meter
    return rules


class _EntryFields(msgspec.Struct, frozen=True):
    """The fields of an entry of older software that are read here."""

    kind: str = ""
    document: str = ""


class _DecisionFields(msgspec.Struct, frozen=True):
    entry: _EntryFields | None = None


class _StepFields(msgspec.Struct, frozen=True):
    decisions: list[_DecisionFields] = []


_STEP_FIELDS: Final = msgspec.json.Decoder(_StepFields)


def _documents(source: JournalReader) -> list[str]:
    """Return the documents of manual money entries in the journal: states of older software do not have them."""
    entries = [
        decided.entry
        for record in source.read(FIRST_SEQ)
        if record.kind == rec.STEP
        for decided in _STEP_FIELDS.decode(rec.current_body(rec.STEP, record.body)).decisions
    ]
    return [document_key(entry.document) for entry in entries if entry is not None and entry.kind in TWO_PERSON_KINDS]


def _slips_in(source: JournalReader) -> list[tuple[int, int]]:
    """Return the slip numbers of all hand pays in the journal, as ranges."""
    runs: list[tuple[int, int]] = []
    for record in source.read(FIRST_SEQ):
        body = rec.current_body(record.kind, record.body)
        if record.kind == rec.STEP and _HAND_PAY in body:
            booked = [each.entry for each in rec.decode_step(body).decisions if isinstance(each, Booked)]
            for entry in booked:
                if entry.kind == "hand_pay_paid":
                    runs = add_to_runs(runs, slip_number(entry.document))
    return runs


class _Recovery:
    """One recovery under way."""

    def __init__(
        self,
        table: Table,
        digests: dict[str, str],
        on_record: Callable[[int], None],
        accepted: tuple[Person, Person] | None = None,
    ) -> None:
        self._table = table
        self._on_record = on_record
        self._accepted = accepted
        self._digests = digests
        self._under = digests  # the versions that wrote the records being read
        self._timers = Timers()
        self._hits = HitLog()
        self._findings = FindingLog()
        self._roll = CredentialRoster()
        self._stamp: rec.Timestamp | None = None
        self._kernel = ""
        self._version = ""  # of the software that wrote the records being read
        self._steps = 0
        self._records = 0
        self._old: Snapshot | None = None  # the snapshot, if other versions wrote it: then no step may follow
        self._stopped: bool | None = None  # whether the run that made the snapshot ended in order; None: not known yet

    def run(self, source: JournalReader) -> Recovered:
        snapshot = source.latest_snapshot()
        if snapshot is not None:
            self._load(snapshot.body)
        for record in source.read(1 if snapshot is None else snapshot.seq + 1):
            self._apply(record)
            self._records += 1
            self._on_record(record.seq)
        migration = None if self._old is None else self._migrate(self._old, source)
        return Recovered(
            self._timers, self._stamp, self._steps, migration, self._hits, self._findings, self._roll, self._records
        )

    def _load(self, body: bytes) -> None:
        try:
            kept = _SNAPSHOTS.decode(renew_snapshot(body, rec.VERSION))
        except UNDECODABLE as error:
            raise RecordUnreadable(f"this software did not write the snapshot: {error}") from error
        if kept.version > rec.VERSION:
            raise JournalNewer(f"the snapshot has version {kept.version}, this software knows {rec.VERSION}")
        self._timers, self._stamp, self._kernel = kept.timers, kept.stamp, kept.stamp.kernel
        self._under, self._hits = kept.digests, kept.hits
        self._findings, self._roll = kept.findings, kept.roll
        if changed_digests(kept.digests, self._digests):
            self._old = kept
        else:
            self._table.restore(kept.state)

    def _migrate(self, old: Snapshot, source: JournalReader) -> rec.MigrationRecord:
        """Migrate the state of other versions, if their last run ended in order."""
        names = " and ".join(sorted(changed_digests(old.digests, self._digests)))
        if not self._stopped:
            raise VersionsDiffer(
                f"{names} changed after a start that did not end in order; {REVERT_FIRST}. If that software is not "
                "available any more: move the journal's folder away and restore it from there under two credentials "
                "(pitbox journal restore), which counts as an orderly end"
            )
        try:
            state = _STATES.decode(old.state)
        except UNDECODABLE as error:
            raise VersionsDiffer(f"the state in the snapshot is not this software's: {error}") from error
        meter = self._meter(old, state, source)
        if old.schema != state_schema():
            state.money.book.documents = [*dict.fromkeys((*state.money.book.documents, *_documents(source)))]
        changes = tuple(differences(state, self._table)) if self._accepted is not None else ()
        name, state = migrate(
            state, self._table, old.digests, self._digests, schema=old.schema, meter=meter,
            accepted=self._accepted is not None,
        )  # fmt: skip
        if old.schema == FIRST_EDITION:  # its state does not have the used slips
            state.money.book.slips = _slips_in(source)
        self._table.context.state = state
        who, second = self._accepted or (None, None)
        return rec.MigrationRecord(name, old.digests, self._digests, who, second, changes)

    def _meter(self, old: Snapshot, state: TableState, source: JournalReader) -> MeterRules | None:
        """Return the submitted terms of the meter at the time of the snapshot."""
        if old.meter is not msgspec.UNSET:
            return old.meter
        recorded = _meter_of_last_start(source)
        if recorded is msgspec.UNSET and state.money.book.entries:
            raise VersionsDiffer(f"the terms of the meter are not in the journal any more; {REVERT_FIRST}")
        if recorded is msgspec.UNSET or recorded is None or state.money.rate_bp is None:
            return recorded or None
        # A `box` record has the rate in force: here a documented rate, which overrides the submitted one.
        submitted = meter_rules(self._table.context.edition, self._table.context.submission)
        return recorded if submitted is None else replace(recorded, rate_bp=submitted.rate_bp)

    def _apply(self, record: Record) -> None:
        if record.kind in (STOP, START) and self._stopped is None:
            self._stopped = record.kind == STOP
        elif record.kind == RESTORED and _has_two_people(record):
            self._stopped = True  # they confirmed that no later record existed
        if record.kind == START:
            self._under = _START_FIELDS.decode(record.body).digests
        elif record.kind == rec.BOX:
            box = rec.decode_box(record.body)
            self._kernel, self._version = box.kernel, box.version
        elif record.kind == rec.NOTE:
            self._note(record)
        elif record.kind == rec.STEP:
            self._step(record)

    def _note(self, record: Record) -> None:
        """Add a note to the findings and to the roster; notes never change the table."""
        try:
            note = rec.decode_note(record.body)
        except UNDECODABLE:  # written by other software; the table does not depend on it
            return
        self._findings.add_note(record.seq, record.wall_ns, note)
        self._roll.apply(note.listed, note.change)

    def _writer(self) -> str:
        """Return the version that wrote the records being read, if it is known."""
        return f" (software {self._version})" if self._version else ""

    def _step(self, record: Record) -> None:
        differs = changed_digests(self._under, self._digests)
        if self._old is not None or differs:
            names = " and ".join(
                sorted(differs or changed_digests(self._old.digests if self._old else {}, self._digests))
            )
            raise VersionsDiffer(
                f"record {record.seq} was written with another {names}{self._writer()}, and replay never crosses "
                f"versions; {REVERT_FIRST}"
            )
        try:
            step = rec.decode_step(record.body)
        except UNDECODABLE as error:
            raise RecordUnreadable(f"this software did not write record {record.seq}: {error}") from error
        decisions = self._table.step(step.event)
        if rec.encode_step(step.event, decisions) != record.body:
            raise ReplayDiffers(
                f"record {record.seq}: replaying {type(step.event).__name__} gives other decisions than recorded"
            )
        self._stamp = rec.Timestamp(record.wall_ns, record.mono_ns, self._kernel)
        if isinstance(step.event, Due):
            self._timers.remove(step.event.timer)
        self._timers.add_step(decisions, self._stamp)
        self._hits.add_step(record.wall_ns, decisions)
        self._findings.add_step(record.seq, record.wall_ns, decisions)
        self._steps += 1
