"""Keeps tasks alive beside the table: what dies is started again, ever more seldom, and the owner is told. No table."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import PitboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

log = logging.getLogger(__name__)

# What died is started again after so long (s), doubling up to the longest: at once for a slip, quiet for a lasting one.
FIRST: Final = 0.5
LONGEST: Final = 60.0
# A life of this length (s) was a good one: the next death waits for the short time again.
GOOD: Final = 60.0


class TaskState(msgspec.Struct):
    """One task as people see it: `running`, `waiting` to be started again, or `ended` by itself."""

    name: str
    state: str = "running"
    restarts: int = 0
    error: str = ""


def _words(error: Exception) -> str:
    return f"{error.code} {error}" if isinstance(error, PitboxError) else f"{type(error).__name__}: {error}"


class Tasks:
    """Tasks by name. `on_died` is told each death with what it died of and how often that happened."""

    def __init__(self, on_died: Callable[[TaskState], None]) -> None:
        self.states: dict[str, TaskState] = {}
        self._on_died = on_died
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def supervise(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work()` until it returns or the box ends; if it raises, run it anew after a wait."""
        assert name not in self._tasks, f"{name} runs already"
        self.states[name] = TaskState(name)
        self._tasks[name] = asyncio.get_running_loop().create_task(self._keep(name, work), name=name)

    async def _keep(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        loop, state, wait = asyncio.get_running_loop(), self.states[name], FIRST
        while True:
            began = loop.time()
            state.state = "running"
            try:
                await work()
            except Exception as error:
                if loop.time() - began > GOOD:
                    wait = FIRST
                before, state.state, state.error = state.error, "waiting", _words(error)
                state.restarts += 1
                if isinstance(error, PitboxError):  # the message is what people need; once, until it is another one
                    level = logging.DEBUG if state.error == before else logging.ERROR
                    log.log(level, "%s: %s; tried again in %.1f s and then ever more seldom", name, state.error, wait)
                else:
                    log.exception("%s died and is started again in %.1f s", name, wait)
                self._on_died(state)
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST)
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
        """Have every task end at its next step; `close` waits for that."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self) -> None:
        """End every task, the youngest first, and wait for them."""
        for name in reversed(list(self._tasks)):
            await self.end(name)
