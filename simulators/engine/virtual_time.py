"""An event loop whose clock jumps to the next timer: hours pass in milliseconds, identically in every run. No threads.

Like asyncio's own loop, it runs callbacks in the order in which they were scheduled, and timers in the order of their
instants; timers of one instant run in the order in which they were set.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from contextvars import Context
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Coroutine

_T = TypeVar("_T")

# Timers closer together than this are due together (s).
_RESOLUTION: Final = 1e-9
# The heap is swept when it holds this many canceled timers and more of them than live ones.
_SWEEP: Final = 500
# The loop's own pipe, for signals.
_OWN_FILES: Final = 1


class _Handle(msgspec.Struct, order=True):
    """A scheduled callback. Each timer has its own order, so heap and queue compare instants and orders only.

    A struct, because a round makes thousands of them. `callback` is None once it is canceled, `loop` is None once the
    timer has left the heap.
    """

    instant: float
    order: int
    callback: Callable[..., Any] | None
    args: tuple[Any, ...]
    context: Context | None
    loop: VirtualLoop | None

    def when(self) -> float:
        """Return the instant for which a timer was set."""
        return self.instant

    def cancel(self) -> None:
        """Never call it."""
        if self.callback is not None:
            self.callback = None
            if self.loop is not None:
                self.loop.timer_canceled()

    def cancelled(self) -> bool:
        """Return whether it was canceled."""
        return self.callback is None


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in virtual time; starting a thread in it is an error."""

    _ready: deque[_Handle]
    _closed: bool
    _stopping: bool
    _selector: selectors.BaseSelector
    _process_events: Callable[[Any], None]
    _write_to_self: Callable[[], None]

    def __init__(self) -> None:
        self._now = 0.0
        self._heap: list[_Handle] = []
        self._set = 0  # timers set so far: the order among timers of one instant
        self._canceled = 0  # timers that are still in the heap and will not be called
        selector = selectors.SelectSelector()
        self._files = selector._fd_to_key  # type: ignore[attr-defined]  # its public interface is slow
        super().__init__(selector)
        self._clock_resolution = _RESOLUTION

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._now

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call once, at an instant of virtual time. Without a context of its own a callback runs in the loop's."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        self._set = order = self._set + 1
        timer = _Handle(when, order, callback, args, context, self)
        heappush(self._heap, timer)
        return timer

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call once, after so many virtual seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call once, after what is ready now."""
        if self._closed:
            raise RuntimeError("Event loop is closed")
        handle = _Handle(0.0, 0, callback, args, context, None)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> _Handle:
        """Call once, after what is ready now; also from a signal."""
        handle = self.call_soon(callback, *args, context=context)
        self._write_to_self()
        return handle

    def _add_callback(self, handle: asyncio.Handle) -> None:
        """A file is ready: schedule asyncio's own callback."""
        if not handle.cancelled():
            self.call_soon(handle._run)

    def timer_canceled(self) -> None:
        """Count a canceled timer in the heap; sweep the heap when there are too many."""
        self._canceled += 1
        if self._canceled > _SWEEP and 2 * self._canceled > len(self._heap):
            self._heap[:] = [timer for timer in self._heap if timer.callback is not None]
            heapify(self._heap)
            self._canceled = 0

    def advance(self, then: float) -> bool:
        """Move the clock to an instant, unless other work is due before it or at it.

        A callback that would only set a timer and return can go on at once, in the order in which the loop would have
        called everything.
        """
        heap = self._heap
        while heap and heap[0].callback is None:
            heappop(heap)
            self._canceled -= 1
        if self._ready or self._stopping or len(self._files) > _OWN_FILES:
            return False
        if heap and heap[0].instant < then + _RESOLUTION:
            return False
        self._now = max(self._now, then)
        return True

    def _run_once(self) -> None:
        """Run what is ready, then move the clock to the next timer, until the loop is stopped."""
        ready, files, heap = self._ready, self._files, self._heap
        while not self._stopping:
            if len(files) > _OWN_FILES:
                self._process_events(self._selector.select(0))
            if not ready:
                self._move_on()
            if heap and heap[0].instant < self._now + _RESOLUTION:
                self._come_due()
            for _ in range(len(ready)):
                handle = ready.popleft()
                callback, context = handle.callback, handle.context
                if callback is None:
                    continue
                try:
                    if context is None:
                        callback(*handle.args)
                    else:
                        context.run(callback, *handle.args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:  # noqa: BLE001 - as in every loop: report the failure and go on
                    failure = {"message": f"Exception in {callback!r}", "exception": error, "handle": handle}
                    self.call_exception_handler(failure)

    def _move_on(self) -> None:
        """Make the next timer ready and move the clock to it."""
        heap = self._heap
        while heap:
            timer = heappop(heap)
            if timer.callback is not None:
                timer.loop = None
                self._ready.append(timer)
                self._now = max(self._now, timer.instant)
                return
            self._canceled -= 1
        raise RuntimeError("virtual time: every task waits and no timer is set; this would never end")

    def _come_due(self) -> None:
        """Make ready what is due."""
        ready, heap = self._ready, self._heap
        limit = self._now + _RESOLUTION
        while heap and heap[0].instant < limit:
            timer = heappop(heap)
            if timer.callback is None:
                self._canceled -= 1
            else:
                timer.loop = None
                ready.append(timer)

    def run_in_executor(self, _executor: Any, func: Any, *_: Any) -> NoReturn:  # type: ignore[override]
        """Refuse: a thread's timing is not virtual."""
        raise RuntimeError(f"virtual time: {func} must not run in a thread")


def run_virtual(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in virtual time to its end."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
