"""A snapshot without revoked keys, used documents and copy state, of an earlier version, upgrades between rounds."""

from __future__ import annotations

import msgspec

from table_controller.journal import records as rec
from table_controller.journal.migrations import BEFORE_REVOCATIONS, SOFTWARE
from table_controller.journal.recovery import Snapshot, encode_snapshot, recover
from table_controller.journal.timers import Timers
from tests.support.box.journal_prefixes import RecordedRun
from tests.support.core.ideal_table import IdealTable

GAME = "face_up_pai_gow"
NEW = ("enrolled", "revoked", "copy_kept")


def test_its_state_is_read_and_what_came_since_begins_empty() -> None:
    run = RecordedRun(GAME, 1, 1)
    floor = run.recovered(len(run.disk.records))
    body = encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel"))
    kept = msgspec.msgpack.decode(body, type=Snapshot)
    state = msgspec.msgpack.decode(kept.state)
    for name in NEW:
        del state[name]
    del state["money"]["book"]["documents"]
    older = msgspec.structs.replace(kept, state=msgspec.msgpack.encode(state), schema=BEFORE_REVOCATIONS)
    store = run.disk._owner
    assert store is not None
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, msgspec.msgpack.encode(older))
    store.close()
    digests = run.digests | {SOFTWARE: "1" * 64}
    new = IdealTable(GAME)
    recovered = recover(run.disk.open(version=rec.VERSION, digests=digests), new.table, digests)
    assert recovered.migration is not None
    assert recovered.migration.name == "revocations_journaled"
    assert (new.state.enrolled, new.state.revoked, new.state.copy_kept) == ({}, [], False)
    assert new.state.money == floor.state.money
