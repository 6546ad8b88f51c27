"""An earlier version whose records had other names than those of today: made up, to try how they are read. No tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.journal import former_names as fn
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.chain import SNAPSHOT, ZERO_HEAD, chain_records, snapshot_digest
from table_controller.journal.copy import CopyWriter
from table_controller.journal.segment import SegmentPlace, SnapshotRecord, StoredSnapshot
from tests.support import second_edition as second
from tools.former_names import extended

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

# From the names of the second version to made-up ones, as a map of renames has them.
LINES: Final = """
name table_controller/table/events.py: OpenRound -> RoundBegun
name table_controller/table/events.py: Person.credential -> badge
value table_controller/table/events.py: Person.role "dealer" -> "croupier"
name table_controller/table/decisions.py: Prompt -> Question
name table_controller/table/decisions.py: Prompt.kind -> topic
name table_controller/table/decisions.py: Booked.entry -> posting
name table_controller/table/decisions.py: Moved.what -> subject
value table_controller/table/decisions.py: Moved.state "betting" -> "wagering"
name table_controller/ledger/money.py: Transfer.amount -> sum
name table_controller/ledger/money.py: MoneyBook.held -> balances
name table_controller/table/state.py: State.money -> funds
name table_controller/table/state.py: Round.number -> ordinal
name table_controller/journal/recovery.py: Kept.timers -> alarms
name table_controller/journal/records.py: Note.text -> sentence
name table_controller/journal/terms.py: Terms.title -> heading
name table_controller/diagnosis/dossier.py: Dossier.halts -> stops
name table_controller/diagnosis/dossier.py: Halt.segment -> stretch
name table_controller/diagnosis/steps.py: Began -> Taken
name table_controller/diagnosis/steps.py: Ticked.step -> duty
name table_controller/controller/box.py: Box.slots -> places
""".strip().splitlines()


def made_up() -> fn.Table:
    """Return the table from the names of the second version to the made-up ones."""
    return extended({}, {1: second.shapes()}, LINES)[0]


def led_back(table: fn.Table) -> fn.Table:
    """Return the table that leads the other way: from the made-up names to those of the second version."""
    return {area: {1: _led_back(versions[1])} for area, versions in table.items()}


def _led_back(version: fn.Version) -> fn.Version:
    new = {key: f"{key.rpartition('.')[0]}.{names.name}" for key, names in version.types.items() if names.name}

    def shape(text: str) -> str:
        *marks, key = text.split(" ")
        return " ".join([*marks, key if "|" in marks else new.get(key, key)])

    types = {}
    for key, names in version.types.items():
        field = names.fields
        types[new.get(key, key)] = fn.Names(
            key.rpartition(".")[2] if names.name else "",
            {after: before for before, after in field.items()},
            {field.get(name, name): shape(each) for name, each in names.inside.items()},
            {field.get(name, name): {b: a for a, b in each.items()} for name, each in names.values.items()},
        )
    return fn.Version({root: shape(key) for root, key in version.roots.items()}, types)


def renamed(root: str, body: bytes, table: fn.Table) -> bytes:
    """Return a record's body under the made-up names."""
    return msgspec.json.encode(fn.renew(fn.RECORDS, root, msgspec.json.decode(body), 1, 2, table))


def renamed_snapshot(body: bytes, table: fn.Table) -> bytes:
    """Return a snapshot's body, and the state in it, under the made-up names."""
    kept: dict[str, Any] = msgspec.msgpack.decode(body)
    state = fn.renew(fn.RECORDS, "state", msgspec.msgpack.decode(kept["state"]), 1, 2, table)
    kept["state"] = msgspec.msgpack.encode(state)
    return msgspec.msgpack.encode(fn.renew(fn.RECORDS, "snapshot", kept, 1, 2, table))


def renamed_journal(source: Path, target: Path, table: fn.Table) -> Path:
    """Write a journal of one segment again as the made-up version would have: other names, its own chain."""
    records: list[Record] = []
    snapshots: dict[int, StoredSnapshot] = {}
    before = reader.latest_snapshot(source)
    assert before is not None
    body = renamed_snapshot(before.body, table)
    for record in reader.read(source, 1):
        content = renamed(record.kind, record.body, table)
        if record.kind == SNAPSHOT:
            head = records[before.seq - 1].head
            content = msgspec.json.encode(
                SnapshotRecord(before.seq, head.hex(), snapshot_digest(body).hex(), len(body), 1)
            )
            snapshots[record.seq] = StoredSnapshot(before.seq, head, record.seq, body)
        last = records[-1].head if records else ZERO_HEAD
        entry = (record.kind, record.wall_ns, record.mono_ns, record.boot, content)
        records += chain_records(last, record.seq, [entry])
    target.mkdir()
    writer = CopyWriter(target)
    writer.append(SegmentPlace(reader.first_place(source).journal, 1, 1, ZERO_HEAD, 1), records, snapshots)
    writer.read_back(1)
    writer.close()
    return target


def steps_in(folder: Path) -> list[rec.StepRecord]:
    """Return every step of a journal."""
    return [rec.decode_step(record.body) for record in reader.read(folder, 1) if record.kind == rec.STEP]
