"""A transport over a blocking port: one thread reads, another writes."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError

# More than a window of the longest frames; a port with more unwritten bytes is dead.
MAX_BACKLOG: Final = 64 * 1024
# Chunks that may be read and not yet delivered; beyond that the port is read no faster than the loop delivers.
MAX_UNDELIVERED: Final = 256
# How long (s) to pause reading then.
_PAUSE_S: Final = 0.001


class BlockingPort(Protocol):
    """What ThreadTransport needs of a port. Every failure is an OSError."""

    def read(self) -> bytes:
        """Return bytes after a short wait at most; an empty result is not a failure."""

    def write(self, data: bytes) -> None:
        """Return once the bytes are written."""

    def begin_close(self) -> None:
        """Prepare for closing: `read` and `write` may return early from now on. Does not block."""

    def close(self) -> None:
        """Release the port. Called once, by the writing thread, possibly during a `read`."""


class _Closes(Protocol):
    def close(self) -> None: ...


_Port = TypeVar("_Port", bound=_Closes)


async def open_in_thread(open_: Callable[[], _Port]) -> _Port:
    """Open a port in a thread, because it may take seconds. If canceled, the port is closed once it is open."""
    opening = asyncio.get_running_loop().run_in_executor(None, open_)
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_unwanted)
        raise


def _close_unwanted(opened: asyncio.Future[_Port]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        threading.Thread(target=opened.result().close, name="close an unwanted port", daemon=True).start()


def _ignore(_: Any) -> None:
    """Ignore it: the default callback."""


class ThreadTransport:
    """Carries the bytes of a blocking port; its threads use `call_soon_threadsafe`."""

    def __init__(self, port: BlockingPort, url: str, why: Callable[[OSError], LinkError]) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self._port = port
        self._why = why
        self._loop = asyncio.get_running_loop()
        self._out: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._backlog = 0
        self._brought = 0  # chunks, counted by the reading thread
        self._delivered = 0  # counted by the loop
        self._open = True
        for name, work in (("read", self._read), ("write", self._write)):
            threading.Thread(target=work, name=f"{name} {url}", daemon=True).start()

    @property
    def backlog(self) -> int:
        """How many bytes the writing thread has not written yet."""
        return self._backlog

    def write(self, data: bytes) -> None:
        """Queue bytes for the writing thread."""
        if not self._open:
            return
        if self._backlog + len(data) > MAX_BACKLOG:
            self._lose(OSError("the port accepts no more bytes"))
            return
        self._backlog += len(data)
        self._out.put(data)

    def close(self) -> None:
        """Release the port; its threads end by themselves."""
        if self._open:
            self._open = False
            self._port.begin_close()
            self._out.put(None)

    def _read(self) -> None:
        while self._open:
            try:
                data = self._port.read()
            except OSError as error:
                self._enter(self._lose, error)
                return
            if data:
                self._brought += 1
                self._enter(self._deliver, data)
            while self._open and self._brought - self._delivered > MAX_UNDELIVERED:
                sleep(_PAUSE_S)

    def _write(self) -> None:
        while (data := self._out.get()) is not None:
            try:
                self._port.write(data)
            except OSError as error:
                self._enter(self._lose, error)
                break
            self._enter(self._written, len(data))
        with contextlib.suppress(OSError):
            self._port.close()

    def _enter(self, call: Callable[[Any], None], value: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(call, value)

    def _deliver(self, data: bytes) -> None:
        self._delivered += 1
        if self._open:
            self.on_bytes(data)

    def _written(self, count: int) -> None:
        self._backlog -= count

    def _lose(self, error: OSError) -> None:
        if self._open:
            self.close()
            # Reported later: a loss found while writing must not re-enter the writer.
            self._loop.call_soon(self._report_loss, self._why(error))

    def _report_loss(self, cause: LinkError) -> None:
        self.on_lost(cause)
