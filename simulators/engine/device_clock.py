"""A machine's own clock: timers in device time that run in exact order under any load of the computer.

Each callback sees `now` as the instant for which it was set. A loaded computer makes the simulated machine late, but
never changes what its sensors measure.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

# Timers closer together than this are due together (s).
_TOGETHER: Final = 1e-9


class DeviceTimer(msgspec.Struct, order=True):
    """A callback due at one instant of device time. Each has its own `order`, so callbacks are never compared."""

    instant: float
    order: int
    call: Callable[..., None] | None
    args: tuple[Any, ...]

    @property
    def is_over(self) -> bool:
        """True once it was called or canceled."""
        return self.call is None

    def cancel(self) -> None:
        """Never call it."""
        self.call = None


class DeviceClock:
    """Device time, `speed` times as fast as the event loop's."""

    def __init__(self, speed: float = 1.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._advance: Callable[[float], bool] = getattr(self._loop, "advance", _stay)  # only virtual time can advance
        self._speed = speed
        self._start = self._loop.time()
        self._heap: list[DeviceTimer] = []
        self._order = count()
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = 0.0
        self._inside: float | None = None
        self._reached = 0.0

    @property
    def now(self) -> float:
        """Device seconds since the clock was made. Never goes back, and never passes a timer that has not run."""
        if self._inside is not None:
            return self._inside
        now = max(self._reached, (self._loop.time() - self._start) * self._speed)
        heap = self._heap
        while heap and heap[0].call is None:
            heapq.heappop(heap)
        return min(now, heap[0].instant) if heap else now

    def after(self, seconds: float, call: Callable[..., None], *args: Any) -> DeviceTimer:
        """Call once, this many device seconds from now."""
        inside = self._inside
        timer = DeviceTimer((self.now if inside is None else inside) + seconds, next(self._order), call, args)
        heapq.heappush(self._heap, timer)
        if inside is None:  # otherwise the running pass looks at the heap again
            self._arm()
        return timer

    def run_at_one_instant(self, call: Callable[..., T], *args: Any) -> T:
        """Run a message or a hand action at one instant: no device time passes, however long the call takes.

        Otherwise a delay of the computer would appear, multiplied by `speed`, between a sensor's edge and the motion
        that caused it.
        """
        if self._inside is not None:
            return call(*args)
        self._inside = self._reached = self.now
        try:
            return call(*args)
        finally:
            self._inside = None
            self._arm()

    def stop(self) -> None:
        """Remove all timers, as when power is lost."""
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self) -> None:
        heap = self._heap
        while heap and heap[0].call is None:
            heapq.heappop(heap)
        if not heap:
            return  # a handle without timers does nothing
        at = self._start + heap[0].instant / self._speed
        if self._handle is not None:
            if self._handle_at <= at:
                return
            self._handle.cancel()
        self._handle, self._handle_at = self._loop.call_at(at, self._run), at

    def _run(self) -> None:
        """Call what is due, and the next timers as long as the loop can advance time without other work."""
        self._handle = None
        heap, start, speed = self._heap, self._start, self._speed
        limit = max(self._reached, (self._loop.time() - start) * speed) + _TOGETHER
        try:
            while heap:
                timer = heap[0]
                at, call = timer.instant, timer.call
                if call is not None and at > limit:
                    then = start + at / speed
                    if not self._advance(then):
                        break
                    limit = (then - start) * speed + _TOGETHER
                heapq.heappop(heap)
                if call is not None:
                    timer.call = None
                    self._inside = self._reached = at
                    call(*timer.args)
        finally:
            self._inside = None
            self._arm()


def _stay(_then: float) -> bool:
    """Refuse: a real-time loop cannot advance its clock."""
    return False
