"""A machine's own clock: timers in device time, run in exact order whatever the computer's load. Knows no machine.

Each callback sees `now` as the instant it was set for, so a loaded computer makes the simulated machine late but never
changes what its sensors measure.
"""

from __future__ import annotations

import asyncio
import heapq
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Timers closer together than this are due together (s).
_TOGETHER: Final = 1e-9


class Timer(list[Any]):
    """A callback that is due at one instant of device time, as the heap keeps it: [instant, order, callback, args]."""

    __slots__ = ()

    @property
    def over(self) -> bool:
        """True once it was called or cancelled."""
        return self[2] is None

    def cancel(self) -> None:
        """Never call it."""
        self[2] = None


class DeviceClock:
    """Device time, `speed` times as fast as the event loop's."""

    def __init__(self, speed: float = 1.0) -> None:
        self._loop = asyncio.get_running_loop()
        self._advance: Callable[[float], bool] = getattr(self._loop, "advance", _stay)  # virtual time can
        self._speed = speed
        self._start = self._loop.time()
        self._heap: list[Timer] = []
        self._order = count()
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = 0.0
        self._inside: float | None = None
        self._reached = 0.0

    @property
    def now(self) -> float:
        """Device seconds since the clock was made. It never goes back: what is due and has not run is still to come."""
        if self._inside is not None:
            return self._inside
        now = max(self._reached, (self._loop.time() - self._start) * self._speed)
        heap = self._heap
        while heap and heap[0][2] is None:
            heapq.heappop(heap)
        return min(now, heap[0][0]) if heap else now

    def after(self, seconds: float, call: Callable[..., None], *args: Any) -> Timer:
        """Call once, this many device seconds from now."""
        inside = self._inside
        timer = Timer(((self.now if inside is None else inside) + seconds, next(self._order), call, args))
        heapq.heappush(self._heap, timer)
        if inside is None:  # else the running pass looks at the heap again
            self._arm()
        return timer

    def at_once(self, call: Callable[..., T], *args: Any) -> T:
        """Do what comes from outside, a message or a hand, at one instant: however long it takes, no time passes here.

        Else a computer that is busy elsewhere for a moment would put that moment between a sensor's edge and the
        motion that it belongs to, as many times as long as this clock is fast.
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
        """Forget all timers, as when power goes."""
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self) -> None:
        heap = self._heap
        while heap and heap[0][2] is None:
            heapq.heappop(heap)
        if not heap:
            return  # one that is set for nothing finds nothing
        at = self._start + heap[0][0] / self._speed
        if self._handle is not None:
            if self._handle_at <= at:
                return
            self._handle.cancel()
        self._handle, self._handle_at = self._loop.call_at(at, self._run), at

    def _run(self) -> None:
        """Call what is due, and what comes after it as long as the loop lets time pass without asking anybody else."""
        self._handle = None
        heap, start, speed = self._heap, self._start, self._speed
        limit = max(self._reached, (self._loop.time() - start) * speed) + _TOGETHER
        try:
            while heap:
                at, _, call, args = timer = heap[0]
                if call is not None and at > limit:
                    then = start + at / speed
                    if not self._advance(then):
                        break
                    limit = (then - start) * speed + _TOGETHER
                heapq.heappop(heap)
                if call is not None:
                    timer[2] = None
                    self._inside = self._reached = at
                    call(*args)
        finally:
            self._inside = None
            self._arm()


def _stay(_then: float) -> bool:
    """Nobody can move the wall clock."""
    return False
