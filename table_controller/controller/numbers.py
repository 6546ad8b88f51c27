"""Numbers for commands that no rule gives: signs, keypads, a technician's orders. Far above all numbers of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.controller.clock import Clock

_FIRST: Final = 1 << 62


class ServiceNumbers:
    """Rising also across restarts, as long as the clock is not set back: told apart by the time (microseconds).

    A device remembers its last numbers only; after a clock that was set back, one that repeats is answered as done, and
    nothing is moved twice.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def fresh(self) -> int:
        """Return a number that was not given before."""
        self._last = max(self._last + 1, _FIRST + self._clock.now()[0] // 1000)
        return self._last
