"""An event loop whose clock jumps: hours in milliseconds, the same every time. No threads, no waiting.

It does what asyncio's own loop does, without asking the operating system what nobody waits for: callbacks run in the
order in which they were set, timers in the order of their instants, those of one instant in the order in which they
were set.
"""

from __future__ import annotations

import asyncio
import selectors
from contextvars import copy_context
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Coroutine
    from contextvars import Context

_T = TypeVar("_T")

# Timers closer together than this are due together (s).
_RESOLUTION: Final = 1e-9
# The heap is swept when it holds so many cancelled timers, and more of them than others.
_SWEEP: Final = 500
# The loop's own pipe, for signals.
_OWN_FILES: Final = 1


class _Handle(asyncio.Handle):
    """A callback that is due; without the loop's debugging, which nobody switches on in virtual time."""

    __slots__ = ()
    _context: Context
    _callback: Any
    _args: Any

    def __init__(self, callback: Any, args: Any, loop: VirtualLoop, context: Context | None) -> None:
        self._context = copy_context() if context is None else context
        self._loop: Any = loop
        self._callback, self._args = callback, args
        self._cancelled, self._repr = False, None
        self._source_traceback = None


class _Timer(asyncio.TimerHandle):
    """A timer that is never compared: the heap holds its instant beside it."""

    __slots__ = ()
    _context: Context
    _callback: Any
    _args: Any

    def __init__(self, when: float, callback: Any, args: Any, loop: VirtualLoop, context: Context | None) -> None:
        self._context = copy_context() if context is None else context
        self._loop: Any = loop
        self._callback, self._args = callback, args
        self._cancelled, self._repr = False, None
        self._source_traceback = None
        self._when, self._scheduled = when, True

    def cancel(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            if self._scheduled:
                self._loop._timer_handle_cancelled(self)
            self._callback, self._args = None, None


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in virtual time; starting a thread in it is an error."""

    _ready: deque[_Handle | _Timer]
    _closed: bool
    _stopping: bool
    _selector: selectors.BaseSelector
    _process_events: Callable[[Any], None]

    def __init__(self) -> None:
        self._now = 0.0
        self._heap: list[tuple[float, int, _Timer]] = []
        self._set = 0  # timers set so far: the order among those of one instant
        self._cancelled = 0  # timers that are still in the heap and will not be called
        selector = selectors.SelectSelector()
        self._files = selector._fd_to_key  # type: ignore[attr-defined]  # its public face counts in Python
        super().__init__(selector)
        self._clock_resolution = _RESOLUTION

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._now

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call once, at an instant of virtual time."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        timer = _Timer(when, callback, args, self, context)
        self._set += 1
        heappush(self._heap, (when, self._set, timer))
        return timer

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call once, after what is ready now."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def _timer_handle_cancelled(self, _: asyncio.TimerHandle) -> None:
        self._cancelled += 1
        if self._cancelled > _SWEEP and 2 * self._cancelled > len(self._heap):
            self._heap[:] = [entry for entry in self._heap if not entry[2]._cancelled]
            heapify(self._heap)
            self._cancelled = 0

    def _run_once(self) -> None:
        """Run what is ready, then move the clock to the next timer, until somebody stops the loop."""
        ready, files, heap = self._ready, self._files, self._heap
        while not self._stopping:
            if len(files) > _OWN_FILES:
                self._process_events(self._selector.select(0))
            while heap and heap[0][2]._cancelled:
                heappop(heap)
                self._cancelled -= 1
            if not ready:
                if not heap:
                    raise RuntimeError("virtual time: everybody waits and no timer is set; this would never end")
                self._now = max(self._now, heap[0][0])
            limit = self._now + _RESOLUTION
            while heap and heap[0][0] < limit:
                timer = heappop(heap)[2]
                timer._scheduled = False
                if timer._cancelled:
                    self._cancelled -= 1
                else:
                    ready.append(timer)
            for _ in range(len(ready)):
                handle = ready.popleft()
                if handle._cancelled:
                    continue
                try:
                    handle._context.run(handle._callback, *handle._args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:  # noqa: BLE001 - as every loop does: who fails is told of, the rest goes on
                    told = {"message": f"Exception in {handle!r}", "exception": error, "handle": handle}
                    self.call_exception_handler(told)

    def run_in_executor(self, _executor: Any, func: Any, *_: Any) -> NoReturn:  # type: ignore[override]
        """Refuse: a thread's timing is not virtual."""
        raise RuntimeError(f"virtual time: {func} must not run in a thread")


def run_virtual(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in virtual time to its end."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
