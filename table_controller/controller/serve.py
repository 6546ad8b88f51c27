"""A box on a real computer: data folder, journal on disk, control socket, signals, from start to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import TYPE_CHECKING

from table_controller.controller.box import Box
from table_controller.controller.clock import BoxClock
from table_controller.controller.control import Control
from table_controller.controller.data_folder import DataFolder
from table_controller.journal.records import VERSION
from table_controller.journal.store import Policy, Store
from table_controller.journal.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from table_controller.controller.plan import Plan

log = logging.getLogger(__name__)


def _unheard(error: Exception) -> None:
    """The controller takes this over at once."""
    raise error


async def serve(plan: Plan, folder: Path, policy: Policy | None = None) -> None:
    """Run one box until it is told to stop."""
    data = DataFolder(folder)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    clock = BoxClock()
    box = Box(plan, clock)

    def open_journal(digests: Mapping[str, str]) -> tuple[Store, Writer]:
        store = Store.open(data.journal, version=VERSION, digests=digests, policy=policy, clocks=clock.now)
        return store, Writer(store, _unheard)

    control = Control(box, data.socket)
    try:
        await box.begin(open_journal)
        await control.start()
        print(f"ready: {plan.name}, {data.socket}", flush=True)  # noqa: T201
        await stop.wait()
    finally:
        await box.stop()
        await control.close()
        data.close()
