"""The deadlines that the core has asked for, by both clocks, so that they outlive the box. Pure: reads no clock."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal.records import Stamp
from table_controller.table.decisions import Deadline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.table.decisions import Decision

# From so long on (s) a deadline is an age, of a deck or of dice: the wall clock counts too. Shorter ones are patience
# with a device, which a step of the clock must not end.
AGE: Final = 60.0
_NS: Final = 1_000_000_000


class Timer(msgspec.Struct, frozen=True):
    """So many seconds from an instant on."""

    seconds: float
    since: Stamp


class Timers(msgspec.Struct):
    """Every deadline that has not come."""

    running: dict[str, Timer] = {}

    def take(self, decisions: Iterable[Decision], now: Stamp) -> None:
        """Note what a step asked for; a timer that is set again begins anew."""
        for decision in decisions:
            if isinstance(decision, Deadline):
                self.running.pop(decision.timer, None)
                if decision.seconds is not None:
                    self.running[decision.timer] = Timer(decision.seconds, now)

    def came(self, timer: str) -> None:
        """A deadline has come and was told."""
        self.running.pop(timer, None)

    def left(self, timer: str, now: Stamp, *, trusted: bool) -> float:
        """Return how long (s) until a deadline; none or less if it has come."""
        found = self.running[timer]
        return found.seconds - elapsed(found, now, trusted=trusted)


def elapsed(timer: Timer, now: Stamp, *, trusted: bool) -> float:
    """Return how much of a timer has passed (s): the larger of wall and monotonic time.

    Over a power-off only the wall clock knows; if it cannot be trusted, all of it has passed.
    """
    wall = (now.wall_ns - timer.since.wall_ns) / _NS
    if timer.since.kernel == now.kernel:
        mono = (now.mono_ns - timer.since.mono_ns) / _NS
        return max(mono, wall) if timer.seconds >= AGE else mono
    return wall if trusted and wall >= 0 else inf
