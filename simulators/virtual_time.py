"""An event loop whose clock jumps: hours in milliseconds, the same every time. No threads, no waiting."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

_T = TypeVar("_T")


class _JumpingSelector(selectors.SelectSelector):
    """Never waits: instead of sleeping until the next timer, it moves the clock there."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if timeout is None and not ready:
            raise RuntimeError("virtual time: everybody waits and no timer is set; this would never end")
        if timeout and not ready:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in virtual time; starting a thread in it is an error."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """Return virtual seconds since the loop was made."""
        return self._jumping.now

    def run_in_executor(self, _executor: Any, func: Any, *_: Any) -> NoReturn:  # type: ignore[override]
        """Refuse: a thread's timing is not virtual."""
        raise RuntimeError(f"virtual time: {func} must not run in a thread")


def run_virtual(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in virtual time to its end."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
