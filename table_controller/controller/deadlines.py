"""Wakes the controller when a deadline of the core has passed by the wall clock or the monotonic clock."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.recorder import Recorder

# The wall clock can jump while the loop sleeps: each deadline is checked again after at most this time (s).
RECHECK_S: Final = 60.0
# A deadline nearer than this (s) has passed: clocks count nanoseconds, the loop sleeps in floating point.
_NOW: Final = 1e-6


class Deadlines:
    """One handle per running timer."""

    def __init__(self, recorder: Recorder, on_due: Callable[[str], None]) -> None:
        self._recorder = recorder
        self._on_due = on_due
        self._loop = asyncio.get_running_loop()
        self._handles: dict[str, asyncio.TimerHandle] = {}

    def update(self, timer: str) -> None:
        """Follow a change of a timer: wait for it again, or no longer."""
        self._cancel(timer)
        if timer in self._recorder.timers.running:
            self._wait(timer)

    def resume(self) -> list[str]:
        """Continue the timers of the previous start; return those that have passed meanwhile."""
        now, trusted = self._recorder.stamp(), self._recorder.is_clock_trusted
        timers = self._recorder.timers
        passed = [timer for timer in timers.running if timers.seconds_left(timer, now, trusted=trusted) <= _NOW]
        for timer in timers.running:
            if timer not in passed:
                self._wait(timer)
        return passed

    def _wait(self, timer: str) -> None:
        left = self._recorder.timers.seconds_left(
            timer, self._recorder.stamp(), trusted=self._recorder.is_clock_trusted
        )
        self._handles[timer] = self._loop.call_later(max(0.0, min(left, RECHECK_S)), self._look, timer)

    def _look(self, timer: str) -> None:
        del self._handles[timer]
        if (
            self._recorder.timers.seconds_left(timer, self._recorder.stamp(), trusted=self._recorder.is_clock_trusted)
            <= _NOW
        ):
            self._on_due(timer)
        else:
            self._wait(timer)

    def _cancel(self, timer: str) -> None:
        handle = self._handles.pop(timer, None)
        if handle is not None:
            handle.cancel()

    def close(self) -> None:
        """Cancel all timers."""
        for timer in list(self._handles):
            self._cancel(timer)
