"""Recovery accepts a journal only if replay under the same versions gives the records; else it gives a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge.errors import JournalDamaged, JournalNewer, RecordUnreadable, ReplayDiffers, VersionsDiffer
from simulators.casino.disk import Disk
from table_controller.journal import migrations, recovery
from table_controller.journal import records as rec
from table_controller.journal.chain import chain_records
from table_controller.journal.copy import restore
from table_controller.journal.migrations import CONFIGURATION, EDITION, SOFTWARE, migrate, state_schema
from table_controller.journal.recovery import encode_snapshot, recover
from table_controller.journal.store import Store
from table_controller.journal.timers import RunningTimer, Timers, elapsed_s
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Deadline
from table_controller.table.state import STATE_VERSION
from tests.support.box.journal_prefixes import RecordedRun
from tests.support.box.journals import SMALL, copy_as_cut, newest
from tests.support.core.ideal_table import IdealTable

if TYPE_CHECKING:
    from pathlib import Path

GAME = "face_up_pai_gow"
HOUR = 3600 * 1_000_000_000


def rewritten(run: RecordedRun, change: Any) -> Disk:
    """Return the same journal with one record's body changed and the chain recomputed."""
    disk = Disk(1)
    entries = [(r.kind, r.wall_ns, r.mono_ns, r.boot, r.body) for r in run.disk.records if r.kind != "snapshot"]
    disk.records = chain_records(bytes(32), 1, [change(entry) for entry in entries])
    return disk


def test_replay_that_decides_otherwise_locks_with_its_own_code() -> None:
    run = RecordedRun(GAME, 1, 1)

    def change(entry: Any) -> Any:
        return (*entry[:4], entry[4].replace(b'"state":"betting"', b'"state":"settling"'))

    disk = rewritten(run, change)
    store = disk.open(version=rec.VERSION, digests=run.digests)
    with pytest.raises(ReplayDiffers, match="OpenRound") as refused:
        recover(store, IdealTable(GAME).table, run.digests)
    assert refused.value.code == "PB-730"
    assert disk.records[-1].kind == "start", "nothing but the start was written"


def test_a_record_that_nobody_here_wrote_is_refused() -> None:
    run = RecordedRun(GAME, 1, 1)
    disk = rewritten(run, lambda entry: (*entry[:4], entry[4].replace(b"OpenRound", b"CloseRound")))
    with pytest.raises(RecordUnreadable, match="CloseRound"):
        recover(disk.open(version=rec.VERSION, digests=run.digests), IdealTable(GAME).table, run.digests)


def test_a_flipped_bit_is_found_before_anything_is_replayed() -> None:
    run = RecordedRun(GAME, 1, 1)
    broken = run.disk.records[40]
    run.disk.records[40] = msgspec.structs.replace(broken, body=broken.body[:-1] + b" ")
    run.disk.snapshots.clear()
    run.disk.cut()
    with pytest.raises(JournalDamaged) as raised:
        run.disk.open(version=rec.VERSION, digests=run.digests)
    assert raised.value.bad == broken.seq


def test_a_journal_of_newer_software_is_not_touched() -> None:
    run = RecordedRun(GAME, 1, 1)
    run.disk.cut()
    run.disk.version = rec.VERSION + 1
    before = list(run.disk.records)
    with pytest.raises(JournalNewer):
        run.disk.open(version=rec.VERSION, digests=run.digests)
    assert run.disk.records == before


@pytest.mark.parametrize("what", ["software", "edition", "configuration"])
def test_replay_never_crosses_versions_and_the_error_gives_the_remedy(what: str) -> None:
    run = RecordedRun(GAME, 1, 1)
    run.disk.cut()
    other = run.digests | {what: "0" * 64}
    with pytest.raises(VersionsDiffer, match=f"another {what}.*once more") as refused:
        recover(run.disk.open(version=rec.VERSION, digests=other), IdealTable(GAME).table, other)
    assert refused.value.code == "PB-731"
    run.disk.cut()  # and the old version still starts: nothing is lost by the attempt
    floor = IdealTable(GAME)
    recover(run.disk.open(version=rec.VERSION, digests=run.digests), floor.table, run.digests)
    assert floor.table.snapshot() == run.states[max(run.states)]


def stopped_in_order(run: RecordedRun, floor: IdealTable) -> None:
    """Stop a box between rounds, so that its last record is a snapshot."""
    store = run.disk._owner
    assert store is not None
    stamp = rec.Timestamp(1, 1, "kernel")
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, encode_snapshot(floor.table, Timers(), run.digests, stamp))
    store.close()


def test_a_compatible_configuration_is_taken_between_rounds_by_a_named_migration() -> None:
    run = RecordedRun(GAME, 1, 1)
    floor = run.recovered(len(run.disk.records))
    assert floor.phase == mc.IDLE
    stopped_in_order(run, floor)
    other = run.digests | {CONFIGURATION: "1" * 64}
    table = IdealTable(GAME).table
    recovered = recover(run.disk.open(version=rec.VERSION, digests=other), table, other)
    assert recovered.migration == rec.MigrationRecord("compatible configuration", run.digests, other)
    assert recovered.steps == 0
    assert table.snapshot() == floor.table.snapshot()


def test_other_software_takes_a_state_of_the_same_schema_between_rounds() -> None:
    run = RecordedRun(GAME, 1, 1)
    floor = run.recovered(len(run.disk.records))
    stopped_in_order(run, floor)
    other = run.digests | {SOFTWARE: "1" * 64}
    table = IdealTable(GAME).table
    recovered = recover(run.disk.open(version=rec.VERSION, digests=other), table, other)
    assert recovered.migration == rec.MigrationRecord("same_state", run.digests, other)
    assert recovered.steps == 0
    assert table.snapshot() == floor.table.snapshot()


@pytest.mark.parametrize(
    ("what", "advice"),
    [
        ({EDITION}, "no migration covers a change of edition; an orderly stop does not help: put back the old lines"),
        ({SOFTWARE, EDITION}, "no migration covers a change of edition; an orderly stop does not help"),
        ({SOFTWARE, CONFIGURATION}, "no migration covers both at once; put one of them back, start the box, stop"),
    ],
)
def test_a_change_that_no_migration_knows_is_refused_even_between_rounds(what: set[str], advice: str) -> None:
    run = RecordedRun(GAME, 1, 1)
    stopped_in_order(run, run.recovered(len(run.disk.records)))
    other = run.digests | dict.fromkeys(what, "1" * 64)
    with pytest.raises(VersionsDiffer, match=advice):
        recover(run.disk.open(version=rec.VERSION, digests=other), IdealTable(GAME).table, other)


def test_other_software_with_another_schema_of_the_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RecordedRun(GAME, 1, 1)
    with monkeypatch.context() as before:
        before.setattr(recovery, "state_schema", lambda: "2/0123456789abcdef")  # of which no migration knows
        stopped_in_order(run, run.recovered(len(run.disk.records)))
    other = run.digests | {SOFTWARE: "1" * 64}
    monkeypatch.setattr(migrations, "state_schema", lambda: "3/other")
    with pytest.raises(VersionsDiffer, match=r"schema 2/[0-9a-f]{16} where this software has 3/other: no migration"):
        recover(run.disk.open(version=rec.VERSION, digests=other), IdealTable(GAME).table, other)


def test_other_software_is_refused_after_a_start_that_did_not_end_in_order() -> None:
    run = RecordedRun(GAME, 1, 1)
    floor = run.recovered(len(run.disk.records))
    store = run.disk._owner
    assert store is not None
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel")))
    run.disk.cut()  # the power goes between two rounds, without an orderly stop
    other = run.digests | {SOFTWARE: "1" * 64}
    for _ in range(2):
        refused = run.disk.open(version=rec.VERSION, digests=other)
        with pytest.raises(VersionsDiffer, match="did not end in order; start the box once more"):
            recover(refused, IdealTable(GAME).table, other)
        refused.close()  # the refused start itself ends in order: that proves nothing about the one before
    table = IdealTable(GAME).table
    assert recover(run.disk.open(version=rec.VERSION, digests=run.digests), table, run.digests).migration is None
    assert table.snapshot() == floor.table.snapshot()


def test_the_schema_of_the_state_shows_its_shape_and_its_version() -> None:
    version, _, shape = state_schema().partition("/")
    assert (int(version), len(shape)) == (STATE_VERSION, 16)


def test_a_migration_is_never_taken_in_the_middle_of_a_round_or_for_other_devices() -> None:
    floor, schema = IdealTable(GAME).start().play_to(mc.BETTING), state_schema()
    old, new = {SOFTWARE: "a"}, {SOFTWARE: "b"}
    with pytest.raises(VersionsDiffer, match="while a round"):
        migrate(floor.state, floor.table, old, new, schema=schema, meter=floor.table.context.meter)
    idle, fewer = IdealTable(GAME), IdealTable(GAME, slots={"shoe.1": "shoe"})
    with pytest.raises(VersionsDiffer, match=r"other devices than the journal: .*\(pitbox config accept\)"):
        migrate(idle.state, fewer.table, {CONFIGURATION: "a"}, {CONFIGURATION: "b"}, schema=schema, meter=None)
    assert migrate(idle.state, idle.table, old, new, schema=schema, meter=None)[0] == "same_state"


@pytest.mark.parametrize(
    ("wall", "mono", "kernel", "trusted", "passed"),
    [
        (HOUR, HOUR, "a", True, 3600.0),
        (3 * HOUR, HOUR, "a", True, 10800.0),  # the wall clock was set ahead: the larger counts
        (-8760 * HOUR, HOUR, "a", False, 3600.0),  # back by a year, and the computer ran on
        (2 * HOUR, 5, "b", True, 7200.0),  # power was off, and the clock is right
        (2 * HOUR, 5, "b", False, float("inf")),  # the time is unknown
        (-8760 * HOUR, 5, "b", True, float("inf")),
    ],
)
def test_an_age_takes_the_larger_clock_and_over_a_power_off_only_a_trusted_one(
    wall: int, mono: int, kernel: str, trusted: bool, passed: float
) -> None:
    timer = RunningTimer(4 * 3600.0, rec.Timestamp(10 * HOUR, 2 * HOUR, "a"))
    assert elapsed_s(timer, rec.Timestamp(10 * HOUR + wall, 2 * HOUR + mono, kernel), trusted=trusted) == passed


def test_a_short_patience_is_not_ended_by_a_step_of_the_clock() -> None:
    timer = RunningTimer(1.0, rec.Timestamp(0, 0, "a"))
    assert elapsed_s(timer, rec.Timestamp(HOUR, 500_000_000, "a"), trusted=True) == 0.5


def test_a_timer_set_again_begins_anew_and_none_forgets_it() -> None:
    timers, first, later = Timers(), rec.Timestamp(0, 0, "a"), rec.Timestamp(HOUR, HOUR, "a")
    timers.add_step([Deadline("deck_age/blue/4", 4 * 3600.0)], first)
    timers.add_step([Deadline("deck_age/blue/4", 4 * 3600.0)], later)
    assert timers.seconds_left("deck_age/blue/4", later, trusted=True) == 4 * 3600.0
    timers.add_step([Deadline("deck_age/blue/4", None)], later)
    assert timers.running == {}


def unstopped(folder: Path, image: Path) -> tuple[dict[str, str], IdealTable]:
    """Leave a journal whose last record is the snapshot of an orderly stop, but not the stop, as an old copy has it."""
    run = RecordedRun(GAME, 1, 1)
    floor = run.recovered(len(run.disk.records))
    store = Store.open(folder, version=rec.VERSION, digests=run.digests, policy=SMALL)
    store.append([(rec.NOTE, 1, 1, store.boot, rec.encode_body(rec.Note("begun", "a test")))])
    store.snapshot(
        newest(store).seq, encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel"))
    )
    copy_as_cut(folder, image)
    store.close()
    return run.digests, floor


def opened_by(folder: Path, digests: dict[str, str]) -> Store:
    return Store.open(folder, version=rec.VERSION, digests=digests, policy=SMALL)


def test_a_restore_by_two_people_counts_as_the_end_of_a_journal_whose_stop_never_reached_the_copy(
    tmp_path: Path,
) -> None:
    digests, floor = unstopped(tmp_path / "journal", tmp_path / "copy")
    other = digests | {SOFTWARE: "1" * 64}
    restore(tmp_path / "copy", tmp_path / "one", by={"floorperson": "F1"})
    refused = opened_by(tmp_path / "one", other)
    with pytest.raises(VersionsDiffer, match=r"did not end in order.*pitbox journal restore"):
        recover(refused, IdealTable(GAME).table, other)
    refused.close()
    restore(tmp_path / "one", tmp_path / "two", by={"floorperson": "F1", "auditor": "A2"})
    store, table = opened_by(tmp_path / "two", other), IdealTable(GAME).table
    recovered = recover(store, table, other)
    store.close()
    assert recovered.migration == rec.MigrationRecord("same_state", digests, other)
    assert table.snapshot() == floor.table.snapshot()


def test_a_restore_never_lets_other_software_skip_steps(tmp_path: Path) -> None:
    run = RecordedRun(GAME, 1, 1)
    store = Store.open(tmp_path / "journal", version=rec.VERSION, digests=run.digests, policy=SMALL)
    store.append([(r.kind, r.wall_ns, r.mono_ns, store.boot, r.body) for r in run.disk.records if r.kind == rec.STEP])
    copy_as_cut(tmp_path / "journal", tmp_path / "copy")
    store.close()
    restore(tmp_path / "copy", tmp_path / "new", by={"floorperson": "F1", "auditor": "A2"})
    other = run.digests | {SOFTWARE: "1" * 64}
    later = opened_by(tmp_path / "new", other)
    with pytest.raises(VersionsDiffer, match="replay never crosses versions; start the box once more"):
        recover(later, IdealTable(GAME).table, other)
    later.close()
