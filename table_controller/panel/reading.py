"""Reads the journal for the pages beside a table that goes on: in a thread, piece by piece, never while sensors lock.

One reader at a time; what a piece means is folded in the same thread. The loop only hands pieces over.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadRequest, BoxLocked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from table_controller.journal.chain import Record
    from table_controller.journal.port import Journal

    InThread = Callable[..., Awaitable[Any]]
    # Takes some records; returns whether it has enough.
    Take = Callable[[Iterable[Record]], bool]

# Records of one piece: a few milliseconds of work, after which the thread is given back.
PIECE: Final = 200
# How long (s) the thread rests between two pieces, so that a reader never has more than part of a core.
REST: Final = 0.002
# How often (s) a reader that waits for the sensors to lock looks again.
LOOK: Final = 0.05
# Pages that may wait for one reader.
WAITING: Final = 4


class Reading:
    """`store` gives the journal while it is open; `hold` tells whether the loop must not be disturbed now."""

    def __init__(self, store: Callable[[], Journal | None], in_thread: InThread, hold: Callable[[], bool]) -> None:
        self._store = store
        self._hold = hold
        self.in_thread = in_thread
        self._one = asyncio.Lock()
        self._waiting = 0

    async def forward(self, first: int, last: int, take: Take) -> None:
        """Have records taken in order until there are no more, or `take` says that it has enough."""
        starts = range(first, last + 1, PIECE)
        await self._alone([(start, min(last, start + PIECE - 1)) for start in starts], take)

    async def backward(self, last: int, first: int, take: Take) -> None:
        """Have records taken from the newest piece back, each piece in its own order."""
        ends = range(last, first - 1, -PIECE)
        await self._alone([(max(first, end - PIECE + 1), end) for end in ends], take)

    async def _alone(self, pieces: list[tuple[int, int]], consume: Take) -> None:
        if self._waiting >= WAITING:
            raise BadRequest(f"{WAITING} pages wait for the journal already; try again")
        self._waiting += 1
        try:
            async with self._one:
                for first, last in pieces:
                    if await self._piece(first, last, consume):
                        return
                    await asyncio.sleep(REST)
        finally:
            self._waiting -= 1

    async def _piece(self, first: int, last: int, consume: Take) -> bool:
        while self._hold():  # noqa: ASYNC110 - a second at most, and nobody tells its end
            await asyncio.sleep(LOOK)
        store = self._store()
        if store is None:
            raise BoxLocked("the journal is not open")
        enough: bool = await self.in_thread(_taken, store, first, last, consume)
        return enough


def _taken(store: Journal, first: int, last: int, consume: Take) -> bool:
    return consume(store.read(first, last))
