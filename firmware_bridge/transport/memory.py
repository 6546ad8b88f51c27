"""Two ends of a pipe in one process: what one writes, the other gets in a later callback. No operating system below."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import PortFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError


def _ignore(_: Any) -> None:
    """Take what nobody listens to."""


class MemoryTransport:
    """One end. Made in pairs by `memory_pair`."""

    def __init__(self) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self.closed = False
        self._peer: MemoryTransport
        self._loop = asyncio.get_running_loop()

    @property
    def backlog(self) -> int:
        """Nothing waits in a pipe without an operating system."""
        return 0

    def write(self, data: bytes) -> None:
        """Deliver to the other end in a later callback."""
        if not self.closed:
            self._loop.call_soon(self._peer.take, data)

    def take(self, data: bytes) -> None:
        """Receive from the other end."""
        if not self.closed:
            self.on_bytes(data)

    def close(self) -> None:
        """Close this end; the other end sees its port fail."""
        if not self.closed:
            self.closed = True
            self._loop.call_soon(self._peer.lose)

    def lose(self) -> None:
        """See the other end go."""
        if not self.closed:
            self.closed = True
            self.on_lost(PortFailed("the other end of the pipe was closed"))


def memory_pair(end: Callable[[], MemoryTransport] = MemoryTransport) -> tuple[MemoryTransport, MemoryTransport]:
    """Return the two ends of a new pipe; `end` makes the first."""
    one, other = end(), MemoryTransport()
    one._peer, other._peer = other, one
    return one, other
