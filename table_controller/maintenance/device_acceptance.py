"""Records that two people accept other devices than the journal has, while no box runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import DeviceChangeRefused, JournalGone
from table_controller.controller.clock import BoxClock
from table_controller.host.data_folder import former_files
from table_controller.journal import anchor, reader
from table_controller.journal import records as rec
from table_controller.journal.recovery import encode_snapshot, recover
from table_controller.journal.store import Store
from table_controller.journal.versions import digests_of
from table_controller.table.core import Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.journal.chain import Record
    from table_controller.journal.recovery import Recovered
    from table_controller.journal.segment import StoredSnapshot
    from table_controller.table.events import Person


class _Reader:
    """Reads a journal without writing to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, first: int, last: int | None = None) -> Iterator[Record]:
        """Return records in order."""
        return reader.read(self._folder, first, last, newest=rec.VERSION)

    def latest_snapshot(self) -> StoredSnapshot | None:
        """Return the newest snapshot."""
        return reader.latest_snapshot(self._folder, newest=rec.VERSION)


def _recovered(config: TableConfig, source: Any, people: tuple[Person, Person]) -> tuple[Table, Recovered]:
    """Recover the table with the configuration of now; raise DeviceChangeRefused if its devices do not differ."""
    kinds: dict[str, Any] = dict(config.kinds)
    table = Table(config.edition, config.submission, kinds)
    recovered = recover(source, table, digests_of(config.edition, config.submission, kinds), people)
    if recovered.migration is None or not recovered.migration.changes:
        raise DeviceChangeRefused(f"{config.path} has the same devices as the journal; there is nothing to accept")
    return table, recovered


def changes_to_accept(config: TableConfig, people: tuple[Person, Person]) -> tuple[str, ...]:
    """Return one line for each change to accept; raise the error that forbids it. Only reads.

    `people` are the people that the command names; their PINs need not be checked yet.
    """
    folder = config.journal.folder
    anchor.check_anchor(config.data, folder, config.journal.copy, former_files(config.data))
    if not folder.is_dir() or not reader.segments(folder):
        raise JournalGone(f"{folder} has no journal: a table that never ran starts with any devices")
    _, recovered = _recovered(config, _Reader(folder), people)
    assert recovered.migration is not None
    return recovered.migration.changes


def accept_changes(config: TableConfig, people: tuple[Person, Person]) -> Record:
    """Record that two people accept the change; return the record. The caller has locked the data folder."""
    changes_to_accept(config, people)
    clock = BoxClock()
    digests = digests_of(config.edition, config.submission, config.kinds)
    store = Store.open(
        config.journal.folder, version=rec.VERSION, digests=digests, policy=config.journal.policy, clocks=clock.now
    )
    try:
        table, recovered = _recovered(config, store, people)
        assert recovered.migration is not None
        now = clock.now()
        (record,) = store.append([(rec.MIGRATION, *now, store.boot, rec.encode_body(recovered.migration))])
        stamp = rec.Timestamp(*now, clock.kernel)
        store.snapshot(
            record.seq,
            encode_snapshot(
                table, recovered.timers, digests, stamp, recovered.hits, recovered.findings, recovered.roll
            ),
        )
    finally:
        store.close()
    last = store.last()
    assert last is not None
    anchor.create_anchor(config.data, store.journal, last)
    return record
