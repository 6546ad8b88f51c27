"""A box's start: recover the table from its journal, say that the box has started, go on. Opens no port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.controller.loop import Controller
from table_controller.controller.recorder import SNAPSHOT_EVERY, Recorder
from table_controller.journal.recovery import recover

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from table_controller.controller.clock import Clock
    from table_controller.controller.recorder import Writer
    from table_controller.journal.port import Journal
    from table_controller.table.core import Table


def start(
    table: Table,
    store: Journal,
    writer: Writer,
    clock: Clock,
    digests: Mapping[str, str],
    *,
    snapshot_every: int = SNAPSHOT_EVERY,
    on_record: Callable[[int], None] = lambda _: None,
) -> Controller:
    """Return a controller whose table is what the journal says, in the hands of this start.

    `begin` is still to be called, once its slots are known. Whatever of the journal cannot be taken is raised before
    anything is written by this start. `on_record` is called with the number of each record that is replayed.
    """
    recovered = recover(store, table, digests, on_record=on_record)
    recorder = Recorder(writer, clock, store.boot, digests, recovered, every=snapshot_every)
    controller = Controller(table, recorder)
    if recovered.migration is not None:
        recorder.migrated(table, recovered.migration)
    return controller
