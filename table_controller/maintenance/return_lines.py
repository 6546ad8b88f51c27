"""Writes the decisions about each return to service with its fault report, for technicians; follows the journal.

A line names its record. After a start, the lines that a power cut prevented are written from the newest records.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from firmware_bridge.errors import BadFaultReport
from table_controller.diagnosis import fault_report_store as files
from table_controller.journal import records as rec
from table_controller.table import decisions as d

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from table_controller.controller.controller import DurableStep
    from table_controller.journal.interfaces import Journal
    from table_controller.table.decisions import Decision
    from table_controller.table.return_progress import ReturnDecision

# How many of the newest records are compared after a start. A follower is never so far behind.
_NEWEST: Final = 1_000
_OF_A_RETURN: Final[tuple[Any, ...]] = (
    d.ReturnBegan, d.TechnicianAssigned, d.TechnicianLeft, d.EvidenceShown, d.StepCompleted, d.StepsUndone,
)  # fmt: skip
# Records with such a decision.
_NAMES: Final = re.compile("|".join(f'"type":"{each.__name__}"' for each in _OF_A_RETURN).encode())


log = logging.getLogger(__name__)


class _Lines(NamedTuple):
    """The lines of one record for one fault report."""

    report: int
    lines: list[ReturnDecision]
    seq: int


class ReturnLines:
    """The lines of one box."""

    def __init__(self, store: files.FaultReportStore, *, threads: bool) -> None:
        self._store, self._threads = store, threads
        self._tasks: set[asyncio.Task[None]] = set()
        self._caught_up = 0  # the newest record whose lines were compared at the start
        self._unwritten: deque[_Lines] = deque()  # the oldest first

    @property
    def folder(self) -> Path:
        """The folder of the fault reports."""
        return self._store.folder

    def catch_up(self, journal: Journal) -> None:
        """Write the lines that are missing since the last start."""
        last = journal.last()
        self._caught_up = 0 if last is None else last.seq
        for record in journal.read(max(1, self._caught_up - _NEWEST)):
            if record.kind == rec.STEP and _NAMES.search(record.body):
                for report, lines in _by_report(rec.decode_step(record.body).decisions).items():
                    self._add(_Lines(report, lines, record.seq))

    def on_step(self, step: DurableStep) -> None:
        """Write the lines of a step that is on disk."""
        if step.seq > self._caught_up:
            for report, lines in _by_report(step.decisions).items():
                self.write(self._add, _Lines(report, lines, step.seq))

    def _add(self, lines: _Lines) -> None:
        """Write these lines after those that the disk refused before; keep them if it refuses again."""
        self._unwritten.append(lines)
        while self._unwritten:
            try:
                self._write_missing(self._unwritten[0])
            except BadFaultReport as damaged:
                log.error("a line is not written with its fault report: %s", damaged)  # noqa: TRY400 - no traceback
            except OSError as error:
                log.error("the lines of a return to service wait for the disk: %s", error)  # noqa: TRY400 - no traceback
                return
            self._unwritten.popleft()

    def _write_missing(self, lines: _Lines) -> None:
        """Write the lines of a record that its fault report does not have yet."""
        seq, count = files.last_line(self.folder, lines.report)
        missing = lines.lines if lines.seq > seq else lines.lines[count:] if lines.seq == seq else []
        if missing:
            self._store.note(lines.report, *missing, seq=lines.seq)

    def write(self, call: Callable[..., Any], *args: Any, **more: Any) -> None:
        """Write after all earlier writes."""
        if not self._threads:
            call(*args, **more)
            return
        before = tuple(self._tasks)

        async def write() -> None:
            if before:
                await asyncio.wait(before)
            await asyncio.to_thread(call, *args, **more)

        task = asyncio.get_running_loop().create_task(write())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait_until_written(self) -> None:
        """Wait until every line is on disk."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def cancel(self) -> None:
        """Stop at once."""
        for task in self._tasks:
            task.cancel()


def _by_report(decisions: list[Decision]) -> dict[int, list[ReturnDecision]]:
    """Return the decisions about returns to service by fault report."""
    lines: dict[int, list[ReturnDecision]] = {}
    for each in decisions:
        if isinstance(each, _OF_A_RETURN):
            lines.setdefault(each.report, []).append(each)
    return lines
