"""Handles the confirmations of a stop or a lock as one batch, before any other work and the disk.

A sensor confirms a lock within a millisecond. Until the last of six sensors has confirmed, the event loop should only
read frames. So the step and its confirmations are handled together when all have arrived, in their order. The thread of
the journal shares the interpreter with the loop, so it waits too; the step and its confirmations are one commit.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from table_controller.journal.interfaces import JournalWriter

# The longest time (s) that work is deferred. Until then machines were only stopped and locked, as at every start: a box
# that fails in between has lost nothing that it permitted.
LONGEST_S: Final = 0.002


class ConfirmationBatch:
    """Defers work from the first fail-safe command until the last one is answered or the time is over."""

    def __init__(self, writer: JournalWriter) -> None:
        self._writer = writer
        self._unanswered: set[asyncio.Future[Any]] = set()
        self._kept: list[Callable[[], None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._catching_up = False

    def add(self, work: asyncio.Future[Any]) -> None:
        """Wait for the answer to a fail-safe command that was just sent."""
        self._unanswered.add(work)
        if self._timer is None:
            self._writer.pause()
            self._timer = asyncio.get_running_loop().call_later(LONGEST_S, self._end)

    def on_answer(self, work: asyncio.Future[Any], then: Callable[[], None]) -> None:
        """Handle the answer to a command: run `then` with the rest of the batch, or now if there is no batch."""
        self._unanswered.discard(work)
        if not self.defer(then):
            then()
        elif not self._unanswered:
            self._end()

    def defer(self, work: Callable[[], None]) -> bool:
        """Defer work until all commands are answered; return False without a batch: then the caller does it now."""
        if self._timer is None:
            return False
        self._kept.append(work)
        return True

    @property
    def has_deferred(self) -> bool:
        """Whether work is deferred, such as a step that has no record yet."""
        return bool(self._kept) or self._catching_up

    @contextmanager
    def one_commit(self) -> Iterator[None]:
        """Write the records of this block in one commit: a power cut keeps all of them, or none."""
        before, self._catching_up = self._catching_up, True
        if self._timer is None:
            self._writer.pause()
        try:
            yield
        finally:
            self._catching_up = before
            if self._timer is None and not before:  # otherwise the end of the batch, or of the outer block, resumes
                self._writer.resume()

    def run_deferred(self) -> None:
        """Run the deferred work now, so that a new event keeps its place after it."""
        if self._kept:
            kept, self._kept = self._kept, []
            before, self._catching_up = self._catching_up, True
            try:
                for work in kept:
                    work()
            finally:
                self._catching_up = before

    def _end(self) -> None:
        self._stop()
        self.run_deferred()
        if self._timer is None:  # otherwise the deferred work has started a new batch
            self._writer.resume()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._unanswered.clear()

    def close(self) -> None:
        """Behave as after a power cut: drop the deferred work."""
        self._stop()
        self._kept.clear()
