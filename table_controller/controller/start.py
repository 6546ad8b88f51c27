"""Builds the controller of a table from its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.controller.controller import Controller
from table_controller.controller.recorder import SNAPSHOT_EVERY, Recorder
from table_controller.journal.recovery import recover

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.clock import Clock
    from table_controller.controller.recorder import WatchedWriter
    from table_controller.journal.interfaces import Journal
    from table_controller.journal.table_terms import SiteTerms
    from table_controller.table.core import Table


def start(
    table: Table,
    store: Journal,
    writer: WatchedWriter,
    clock: Clock,
    digests: Mapping[str, str],
    *,
    snapshot_every: int = SNAPSHOT_EVERY,
    on_record: Callable[[int], None] = lambda _: None,
    site: SiteTerms | None = None,
) -> Controller:
    """Return a controller whose table has the state of the journal.

    The caller adds the slots and calls `begin`. A journal that cannot be used raises before this start writes anything.
    `on_record` is called with the number of each replayed record.
    """
    recovered = recover(store, table, digests, on_record=on_record)
    recorder = Recorder(writer, clock, store.boot, digests, recovered, every=snapshot_every, site=site)
    controller = Controller(table, recorder)
    if recovered.migration is not None:
        recorder.record_migration(table, recovered.migration)
    return controller
