"""Restarts background tasks that fail, with growing waits, and reports each failure."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import PitboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

log = logging.getLogger(__name__)

# A failed task is restarted after this time (s), which doubles up to the longest.
FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 60.0
# After a run of this length (s) the next wait is the first one again.
GOOD_RUN_S: Final = 60.0


class TaskState(msgspec.Struct):
    """One task for people: `running`, `waiting` for a restart, or `ended`."""

    name: str
    state: str = "running"
    restarts: int = 0
    error: str = ""


def _error_text(error: Exception) -> str:
    return f"{error.code} {error}" if isinstance(error, PitboxError) else f"{type(error).__name__}: {error}"


class TaskSupervisor:
    """Runs tasks by name. `on_died` gets the state of a task after each failure."""

    def __init__(self, on_died: Callable[[TaskState], None]) -> None:
        self.states: dict[str, TaskState] = {}
        self._on_died = on_died
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def supervise(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work()` until it returns or the box ends; if it raises, run it again after a wait."""
        assert name not in self._tasks, f"{name} runs already"
        self.states[name] = TaskState(name)
        self._tasks[name] = asyncio.get_running_loop().create_task(self._keep(name, work), name=name)

    async def _keep(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        loop, state, wait = asyncio.get_running_loop(), self.states[name], FIRST_WAIT_S
        while True:
            began = loop.time()
            state.state = "running"
            try:
                await work()
            except Exception as error:
                if loop.time() - began > GOOD_RUN_S:
                    wait = FIRST_WAIT_S
                before, state.state, state.error = state.error, "waiting", _error_text(error)
                state.restarts += 1
                if isinstance(error, PitboxError):  # its message is enough, and once until it changes
                    level = logging.DEBUG if state.error == before else logging.ERROR
                    log.log(level, "%s: %s; next try in %.1f s, later tries less often", name, state.error, wait)
                else:
                    log.exception("%s failed and is restarted in %.1f s", name, wait)
                self._on_died(state)
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_S)
            else:
                state.state = "ended"
                return

    async def end(self, name: str) -> None:
        """End one task and wait for it."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
            self.states[name].state = "ended"

    def cancel(self) -> None:
        """Cancel every task; `close` waits for them."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self) -> None:
        """End every task, the newest first, and wait for them."""
        for name in reversed(list(self._tasks)):
            await self.end(name)
