"""An in-process pipe with two ends: the other end receives each write in a later callback."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import PortFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError


def _ignore(_: Any) -> None:
    """Ignore it: the default callback."""


class MemoryTransport:
    """One end of a pipe; `memory_pair` makes both."""

    def __init__(self) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self.closed = False
        self._peer: MemoryTransport
        self._loop = asyncio.get_running_loop()

    @property
    def backlog(self) -> int:
        """Always 0: nothing is buffered."""
        return 0

    def write(self, data: bytes) -> None:
        """Deliver to the other end in a later callback."""
        if not self.closed:
            self._loop.call_soon(self._peer.deliver, data)

    def deliver(self, data: bytes) -> None:
        """Pass on bytes from the other end."""
        if not self.closed:
            self.on_bytes(data)

    def close(self) -> None:
        """Close this end; the other end sees its port fail."""
        if not self.closed:
            self.closed = True
            self._loop.call_soon(self._peer.fail)

    def fail(self) -> None:
        """Report that the other end was closed."""
        if not self.closed:
            self.closed = True
            self.on_lost(PortFailed("the other end of the pipe was closed"))


def memory_pair(end: Callable[[], MemoryTransport] = MemoryTransport) -> tuple[MemoryTransport, MemoryTransport]:
    """Return the two ends of a new pipe; `end` makes the first."""
    one, other = end(), MemoryTransport()
    one._peer, other._peer = other, one
    return one, other
