"""Runs a box as a process: data folder, journal on disk, control socket and signals, from start to stop.

`background_services` names the tasks that run with the table, such as uplink and panel. They are restarted when they
fail, and their failures never stop the table.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import DataFolderUnusable, DiskReadOnly, JournalError, JournalGone
from table_controller.access.control_socket import ControlSocket
from table_controller.config import load_config
from table_controller.config.check import unusable_settings
from table_controller.controller.box import Box
from table_controller.controller.clock import BoxClock
from table_controller.host.configured_plan import plan_of
from table_controller.host.data_folder import DataFolder, former_files
from table_controller.host.self_check import (
    check_ports_and_disk,
    check_software,
    compare_installation,
    describe_files,
    watch_approval,
)
from table_controller.host.systemd import SystemdNotifier
from table_controller.journal import anchor
from table_controller.journal.copier import Copier
from table_controller.journal.copy import Copy
from table_controller.journal.copy_check import CopyCheck
from table_controller.journal.records import VERSION, Note
from table_controller.journal.store import Store
from table_controller.journal.writer import GroupCommitWriter
from table_controller.maintenance.fault_reports import FaultReports
from table_controller.maintenance.key_files import finish_former_enrollments

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.journal.copier import CopyState

    # Background services by name; each gets the box and its configuration.
    BackgroundServices = Mapping[str, Callable[[Box, TableConfig], Coroutine[Any, Any, None]]]

log = logging.getLogger(__name__)

# How often the anchor is written (s), if anything was recorded.
ANCHOR_EVERY_S: Final = 30.0
# Probably a new table, but only people know.
_NEW_JOURNAL: Final = (
    "there was no journal: a new one begins, and every meter starts at its seed; if this table was played before, stop "
    "the box and mount its disk, or restore its journal from the copy (pitbox journal restore)"
)


def _failed_early(error: Exception) -> None:
    """Log a failure of the journal from before the controller handles it."""
    log.error("the journal failed before the table started: %s", error)


def _copied(state: CopyState) -> None:
    level = logging.ERROR if state.error or state.damage else logging.INFO if state.configured else logging.WARNING
    log.log(level, "%s", state.sentence)


def _copier(box: Box, config: TableConfig, store: Any) -> Copier:
    """Return the copier of the second copy; it reports its state to the box, which decides whether rounds may open."""

    def copied(state: CopyState) -> None:
        _copied(state)
        box.copy_changed(state)

    journal, copy = config.journal.folder, config.journal.copy
    if copy is None:
        return Copier(store, None, copied)
    return Copier(store, Copy(journal, copy), copied, CopyCheck(journal, copy, config.data))


async def serve(config: TableConfig, background_services: BackgroundServices | None = None) -> None:
    """Run one box until a signal stops it. A problem that forbids the start is raised before any machine is touched."""
    for problem in unusable_settings(config):
        raise problem
    data = DataFolder(config.data)
    try:
        settled = [] if data.is_read_only else finish_former_enrollments(config)
        if settled:
            config = load_config(config.path)
        await _serve(config, data, background_services or {}, settled)
    finally:
        data.close()


async def _serve(config: TableConfig, data: DataFolder, services: BackgroundServices, settled: Sequence[str]) -> None:
    stop = _on_signal()
    notifier = SystemdNotifier()
    clock = BoxClock()
    box = Box(plan_of(config), clock)
    box.on_replayed = notifier.extend_start
    box.checks = [check_software(config, box.digests)]
    box.checks += [("keys", sentence) for sentence in settled]
    box.checks += check_ports_and_disk(box.plan, data.path, box.digests)
    box.checks += [("configuration", warning) for warning in config.warnings]
    for what, result in box.checks:
        log.info("self-check: %s: %s", what, result)

    def open_journal(digests: Mapping[str, str]) -> tuple[Store, GroupCommitWriter]:
        policy, folder = config.journal.policy, config.journal.folder
        if data.is_read_only:
            raise DiskReadOnly(
                f"{data.path} is on a disk that is mounted read-only; this often happens when a disk fails"
            )
        anchor.check_anchor(data.path, folder, config.journal.copy, former_files(data.path))
        store = Store.open(
            folder, version=VERSION, digests=digests, policy=policy, clocks=clock.now, on_record=notifier.extend_start
        )
        try:
            _anchored(store, data.path)
        except JournalError:
            store.close()
            raise
        opened.append(store)
        return store, GroupCommitWriter(store, _failed_early)

    opened: list[Store] = []
    control = ControlSocket(box, config.control.socket)
    try:
        await box.begin(open_journal, partial(_copier, box, config))
        _note_start(box, config, settled)
        # A locked box creates no folder for fault reports.
        if box.controller is not None or (data.fault_reports.is_dir() and not data.is_read_only):
            box.fault_reports = FaultReports(box, data.fault_reports)
        await _open(control, box)
        for name, work in services.items():
            box.supervise(name, partial(work, box, config))
        phase = "running" if box.cause is None else f"locked: {box.cause.code} {box.cause}"
        gc.collect()
        gc.freeze()  # these objects stay; the garbage collector need not scan them during a deal
        notifier.ready(phase)
        box.supervise("watchdog", notifier.watchdog)
        for store in opened:
            box.supervise("anchor", partial(_keep_anchor, box, store, data.path))
        _watch_software(box, config)
        if box.credentials is not None:
            box.supervise("people", box.credentials.watch)
        log.info("ready: %s, %s; control socket %s", config.name, phase, control.path)
        await stop.wait()
        log.info("stopping: received a signal")
    finally:
        notifier.stopping()
        await box.stop()
        for store in opened:
            _anchored_at_last(store, data.path)
        await control.close()
        log.info("ended")


def _note_start(box: Box, config: TableConfig, settled: Sequence[str]) -> None:
    """Record what this start did: a new journal, the approval, enrollments that it finished or undid."""
    if box.is_new_journal:
        log.warning("%s", _NEW_JOURNAL)
        box.checks.append(("journal", _NEW_JOURNAL))
        box.note(Note("begun", _NEW_JOURNAL))
    box.note(Note("software", box.checks[0][1]))
    box.note(Note("configuration", describe_files(config)))
    for sentence in (*settled, *box.settled_enrollments):
        box.note(Note("enrolled", sentence))


def _on_signal() -> asyncio.Event:
    """Return an event that SIGTERM or SIGINT sets."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _watch_software(box: Box, config: TableConfig) -> None:
    """Compare the installation with the approved manifest, and keep checking that the manifest is there."""
    box.supervise("manifest", lambda: compare_installation(box, config))
    box.supervise("approval", lambda: watch_approval(box, config))


def _anchored(store: Store, data: Path) -> None:
    """Write the anchor: the last record of the journal, kept outside its folder."""
    last = store.last()
    assert last is not None
    if anchor.read_anchor(data) is None:
        anchor.create_anchor(data, store.journal, last)
    else:
        anchor.update_anchor(data, store.journal, last)


def _anchored_at_last(store: Store, data: Path) -> None:
    """Write the anchor at the end of a box; log a failed disk, because the older anchor is still valid."""
    try:
        _anchored(store, data)
    except JournalError as error:
        log.error("%s %s", error.code, error)  # noqa: TRY400 - the message is what people need


async def _keep_anchor(box: Box, store: Store, data: Path) -> None:
    """Write the anchor at intervals: somebody could remove the records since the last anchor while the box is off.

    Halt the box if a file of the journal was deleted or replaced: new records there would be lost.
    """
    last = store.last()
    while True:
        await asyncio.sleep(ANCHOR_EVERY_S)
        try:
            await box.run_in_thread(store.check_on_disk)
        except JournalGone as cause:
            box.halt(cause)
            return
        if store.last() != last:
            last = store.last()
            await box.run_in_thread(lambda: _anchored(store, data))


async def _open(control: ControlSocket, box: Box) -> None:
    """Open the control socket. A locked box continues without it, because its machines are safe."""
    try:
        await control.start()
    except DataFolderUnusable as error:
        if box.cause is None:
            raise
        log.error("%s %s", error.code, error)  # noqa: TRY400 - the message is what people need
