"""A transport that records every byte of both directions with its time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError
    from firmware_bridge.wire import Transport

LoggedBytes = tuple[str, bytes, int]  # which way, what, and when (microseconds)


class ByteLog:
    """A transport that writes down every byte of both directions, and when it passed."""

    def __init__(self, inner: Transport, log: list[LoggedBytes]) -> None:
        self.on_bytes: Callable[[bytes], None]
        self.on_lost: Callable[[LinkError], None]
        self._inner = inner
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        inner.on_bytes = self._receive
        inner.on_lost = self._lose

    @property
    def backlog(self) -> int:
        return self._inner.backlog

    def write(self, data: bytes) -> None:
        self._note("to the machine", data)
        self._inner.write(data)

    def close(self) -> None:
        self._inner.close()

    def _receive(self, data: bytes) -> None:
        self._note("from the machine", data)
        self.on_bytes(data)

    def _lose(self, cause: LinkError) -> None:
        self.on_lost(cause)

    def _note(self, direction: str, data: bytes) -> None:
        self._log.append((direction, data, round((self._loop.time() - self._start) * 1e6)))
