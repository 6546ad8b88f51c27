"""Fail-safe first: while machines are being made safe, what they confirm is only read, and the disk waits.

A lock is confirmed within a millisecond, and between the first confirmation and the sixth the loop has one thing to do:
read the next. The call is written down, and what they mean is taken, once all of them are there, in the order in which
they came. The disk's thread shares the interpreter with the loop; held back, it takes no turns from it, and the call
and its confirmations are one commit. Decides nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.journal.port import JournalWriter

# Nothing waits longer than this (s) for a machine. Until then machines were only stopped and locked, as every start
# does first: a box that dies in between has lost nothing that it permitted.
LONGEST: Final = 0.002


class Hold:
    """From the first fail-safe command that is written until the last of them has its answer, or takes too long."""

    def __init__(self, writer: JournalWriter) -> None:
        self._writer = writer
        self._unanswered: set[asyncio.Future[Any]] = set()
        self._kept: list[Callable[[], None]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._catching_up = False

    def begun(self, work: asyncio.Future[Any]) -> None:
        """A fail-safe command was written, and its answer is waited for."""
        self._unanswered.add(work)
        if self._timer is None:
            self._writer.hold()
            self._timer = asyncio.get_running_loop().call_later(LONGEST, self._end)

    def answered(self, work: asyncio.Future[Any], then: Callable[[], None]) -> None:
        """A command has its answer; `then` is done with the others, or now if nothing waits."""
        self._unanswered.discard(work)
        if not self.later(then):
            then()
        elif not self._unanswered:
            self._end()

    def later(self, work: Callable[[], None]) -> bool:
        """Keep something until all have answered; False if nothing waits: then it is to be done now."""
        if self._timer is None:
            return False
        self._kept.append(work)
        return True

    @property
    def keeps(self) -> bool:
        """Whether anything is kept back, as a step that has no record yet."""
        return bool(self._kept) or self._catching_up

    def catch_up(self) -> None:
        """Do what was kept: something else has come, and it stays behind what came before it."""
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
        self.catch_up()
        if self._timer is None:  # else what was kept has made something safe in its turn
            self._writer.release()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._unanswered.clear()

    def close(self) -> None:
        """Be as if power had gone: what was kept is never done."""
        self._stop()
        self._kept.clear()
