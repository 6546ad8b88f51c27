"""Reads the journal for pages while the table plays: in a thread, in small batches, never while sensors lock.

One reader at a time; each batch is also processed in the thread.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, BoxLocked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from table_controller.journal.chain import Record
    from table_controller.journal.interfaces import Journal

    ThreadRunner = Callable[..., Awaitable[Any]]
    # Processes some records; returns whether it has enough.
    RecordConsumer = Callable[[Iterable[Record]], bool]

# Records in one batch: a few milliseconds of work.
BATCH: Final = 200
# Pause between two batches (s), so that a reader never uses a whole core.
PAUSE_S: Final = 0.002
# Interval (s) of checks while sensors lock.
POLL_S: Final = 0.05
# Most requests that wait for the reader.
MAX_WAITING: Final = 4


class JournalAccess:
    """`store` returns the open journal; `hold` returns whether the loop must not be disturbed now."""

    def __init__(self, store: Callable[[], Journal | None], in_thread: ThreadRunner, hold: Callable[[], bool]) -> None:
        self._store = store
        self._hold = hold
        self.in_thread = in_thread
        self._one = asyncio.Lock()
        self._waiting = 0

    async def forward(self, first: int, last: int, consume: RecordConsumer) -> None:
        """Pass records to `consume` in order until there are no more, or it has enough."""
        starts = range(first, last + 1, BATCH)
        await self._alone([(start, min(last, start + BATCH - 1)) for start in starts], consume)

    async def backward(self, last: int, first: int, consume: RecordConsumer) -> None:
        """Pass batches of records to `consume`, the newest batch first; within a batch in order."""
        ends = range(last, first - 1, -BATCH)
        await self._alone([(max(first, end - BATCH + 1), end) for end in ends], consume)

    async def _alone(self, pieces: list[tuple[int, int]], consume: RecordConsumer) -> None:
        if self._waiting >= MAX_WAITING:
            raise BadRequest(f"{MAX_WAITING} requests already wait for the journal; try again")
        self._waiting += 1
        try:
            async with self._one:
                for first, last in pieces:
                    if await self._piece(first, last, consume):
                        return
                    await asyncio.sleep(PAUSE_S)
        finally:
            self._waiting -= 1

    async def _piece(self, first: int, last: int, consume: RecordConsumer) -> bool:
        while self._hold():  # noqa: ASYNC110 - a second at most, and its end is not announced
            await asyncio.sleep(POLL_S)
        store = self._store()
        if store is None:
            raise BoxLocked("the journal is not open")
        enough: bool = await self.in_thread(_taken, store, first, last, consume)
        return enough


def _taken(store: Journal, first: int, last: int, consume: RecordConsumer) -> bool:
    return consume(store.read(first, last))
