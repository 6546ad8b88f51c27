"""A machine's own clock: timers in device time, run in exact order whatever the computer's load. Knows no machine.

Each callback sees `now` as the instant it was set for, so a loaded computer makes the simulated machine late but never
changes what its sensors measure.
"""

from __future__ import annotations

import asyncio
import heapq
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Timer:
    """A callback that is due at one instant of device time."""

    __slots__ = ("at", "call")

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at = at
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        """Never call it."""
        self.call = None


class DeviceClock:
    """Device time, `speed` times as fast as the event loop's."""

    def __init__(self, speed: float = 1.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._speed = speed
        self._start = self._loop.time()
        self._heap: list[tuple[float, int, Timer]] = []
        self._order = count()
        self._handle: asyncio.TimerHandle | None = None
        self._inside: float | None = None
        self._reached = 0.0

    @property
    def now(self) -> float:
        """Device seconds since the clock was made. It never goes back: what is due and has not run is still to come."""
        if self._inside is not None:
            return self._inside
        now = max(self._reached, (self._loop.time() - self._start) * self._speed)
        heap = self._heap
        while heap and heap[0][2].call is None:
            heapq.heappop(heap)
        return min(now, heap[0][0]) if heap else now

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Call once, this many device seconds from now."""
        inside = self._inside
        at = (self.now if inside is None else inside) + seconds
        timer = Timer(at, call)
        heapq.heappush(self._heap, (at, next(self._order), timer))
        if inside is None:  # else the running pass looks at the heap again
            self._arm()
        return timer

    def stop(self) -> None:
        """Forget all timers, as when power goes."""
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self) -> None:
        heap = self._heap
        while heap and heap[0][2].call is None:
            heapq.heappop(heap)
        if not heap:
            return  # one that is set for nothing finds nothing
        at = self._start + heap[0][0] / self._speed
        if self._handle is not None:
            if self._handle.when() <= at:
                return
            self._handle.cancel()
        self._handle = self._loop.call_at(at, self._run)

    def _run(self) -> None:
        self._handle = None
        limit = max(self._reached, (self._loop.time() - self._start) * self._speed) + 1e-9
        try:
            while self._heap and self._heap[0][0] <= limit:
                at, _, timer = heapq.heappop(self._heap)
                if timer.call is not None:
                    self._inside = self._reached = at
                    timer.call()
        finally:
            self._inside = None
            self._arm()
