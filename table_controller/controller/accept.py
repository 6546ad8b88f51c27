"""Two people accept that a table has other devices than its journal, while no box runs; then the box starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import DeviceChangeRefused, JournalGone
from table_controller.controller.clock import BoxClock
from table_controller.controller.data_folder import traces
from table_controller.journal import anchor, reader
from table_controller.journal import records as rec
from table_controller.journal.recovery import keep, recover
from table_controller.journal.store import Store
from table_controller.journal.versions import digests_of
from table_controller.table.core import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.journal.chain import Record
    from table_controller.journal.recovery import Recovered
    from table_controller.journal.segment import Snapshot
    from table_controller.table.events import Person


class _Reader:
    """A journal that is only read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, first: int, last: int | None = None) -> Iterator[Record]:
        """Read records in order."""
        return reader.read(self._folder, first, last, newest=rec.VERSION)

    def latest_snapshot(self) -> Snapshot | None:
        """Return the newest snapshot."""
        return reader.latest_snapshot(self._folder, newest=rec.VERSION)


def _recovered(config: TableConfig, source: Any, people: tuple[Person, Person]) -> tuple[Table, Recovered]:
    """Recover the journal's table as the configuration has it now; DeviceChangeRefused unless its devices differ."""
    kinds: dict[str, Any] = dict(config.kinds)
    table = Table(config.edition, config.submission, kinds)
    found = recover(source, table, digests_of(config.edition, config.submission, kinds), people)
    if found.migration is None or not found.migration.changes:
        raise DeviceChangeRefused(f"{config.path} has the devices of the journal; there is nothing to accept")
    return table, found


def changes_to_accept(config: TableConfig, people: tuple[Person, Person]) -> tuple[str, ...]:
    """Return what would be accepted, a line each; only reads. Raises whatever is against it.

    `people` are those who were named; nobody needs to have proved anything yet.
    """
    folder = config.journal.folder
    anchor.check(config.data, folder, config.journal.copy, traces(config.data))
    if not folder.is_dir() or not reader.segments(folder):
        raise JournalGone(f"{folder} holds no journal: a table that never ran starts with any devices")
    _, found = _recovered(config, _Reader(folder), people)
    assert found.migration is not None
    return found.migration.changes


def accept_changes(config: TableConfig, people: tuple[Person, Person]) -> Record:
    """Record that two people accept the change; return the record. The caller holds the data folder."""
    changes_to_accept(config, people)
    clock = BoxClock()
    digests = digests_of(config.edition, config.submission, config.kinds)
    store = Store.open(
        config.journal.folder, version=rec.VERSION, digests=digests, policy=config.journal.policy, clocks=clock.now
    )
    try:
        table, found = _recovered(config, store, people)
        assert found.migration is not None
        now = clock.now()
        (record,) = store.append([(rec.MIGRATION, *now, store.boot, rec.encode_body(found.migration))])
        stamp = rec.Stamp(*now, clock.kernel)
        store.snapshot(record.seq, keep(table, found.timers, digests, stamp, found.hits, found.findings, found.roll))
    finally:
        store.close()
    last = store.last()
    assert last is not None
    anchor.lay(config.data, store.journal, last)
    return record
