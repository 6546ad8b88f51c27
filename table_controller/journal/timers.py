"""The running timers of the core, with start times on both clocks, so that they survive a restart."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal.records import Timestamp
from table_controller.table.decisions import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.table.decisions import Decision

# A timer of at least this long (s) is the age of a deck or of dice, and the wall clock counts too. Shorter timers wait
# for a device, and a step of the wall clock must not end them.
LEAST_AGE_S: Final = 60.0
_NS: Final = 1_000_000_000


class RunningTimer(msgspec.Struct, frozen=True):
    """A timer of some seconds, and when it started."""

    seconds: float
    since: Timestamp


class Timers(msgspec.Struct):
    """Every timer that has not expired."""

    running: dict[str, RunningTimer] = {}

    def add_step(self, decisions: Iterable[Decision], now: Timestamp) -> None:
        """Apply the deadlines of a step; a timer that is set again restarts."""
        for decision in decisions:
            if isinstance(decision, Deadline):
                self.running.pop(decision.timer, None)
                if decision.seconds is not None:
                    self.running[decision.timer] = RunningTimer(decision.seconds, now)

    def remove(self, timer: str) -> None:
        """Remove a timer that has expired."""
        self.running.pop(timer, None)

    def seconds_left(self, timer: str, now: Timestamp, *, trusted: bool) -> float:
        """Return the seconds until a timer expires; zero or less if it has expired."""
        running = self.running[timer]
        return running.seconds - elapsed_s(running, now, trusted=trusted)


def elapsed_s(timer: RunningTimer, now: Timestamp, *, trusted: bool) -> float:
    """Return the elapsed time of a timer (s): the larger of wall and monotonic time.

    Across a power-off only the wall clock counts; if it cannot be trusted, the timer has expired.
    """
    wall = (now.wall_ns - timer.since.wall_ns) / _NS
    if timer.since.kernel == now.kernel:
        mono = (now.mono_ns - timer.since.mono_ns) / _NS
        return max(mono, wall) if timer.seconds >= LEAST_AGE_S else mono
    return wall if trusted and wall >= 0 else inf
