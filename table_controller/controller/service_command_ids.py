"""Ids for commands that the core does not issue: for signs, keypads and technicians. Far above the ids of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.controller.clock import Clock

_FIRST: Final = 1 << 62


class ServiceCommandIds:
    """Ids from the time (microseconds), so they rise across restarts unless the clock is set back.

    If an id repeats after that, a device that remembers it answers "done" and moves nothing twice.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def next_id(self) -> int:
        """Return a new id."""
        self._last = max(self._last + 1, _FIRST + self._clock.now()[0] // 1000)
        return self._last
