"""Clients of the control socket of a box: one for asyncio programs, and a blocking one for commands."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.errors import NoBox, PitboxError, code_of

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator
    from pathlib import Path

# A box answers at once, except for requests that wait for a disk or a machine (s).
TIMEOUT_S: Final = 30.0
# The longest line that a box sends: a whole state.
_MAX_LINE: Final = 8 << 20
_CHUNK: Final = 1 << 16


class RefusedByBox(PitboxError):
    """A box refused a request; carries the error code of the box."""

    def __init__(self, text: str, code: str, act: str) -> None:
        super().__init__(text)
        self._code = code
        self.act = act

    @property
    def code(self) -> str:
        """The error code of the box."""
        return self._code

    @property
    def error_class(self) -> type[PitboxError]:
        """The exception class with this code."""
        return next((kind for kind in _tree(PitboxError) if code_of(kind.number) == self._code), PitboxError)


def _tree(root: type[PitboxError]) -> Iterator[type[PitboxError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


def _answered(message: dict[str, Any]) -> Any:
    error = message.get("error")
    if error is not None:
        raise RefusedByBox(error["text"], error["code"], error.get("act", ""))
    return message.get("ok")


class BlockingClient:
    """A blocking connection for commands; a context manager."""

    def __init__(self, path: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_s)
        self._numbers = count(1)
        try:
            self._socket.connect(str(path))
            self._file: io.BufferedReader = self._socket.makefile("rb")
        except OSError as error:
            self._socket.close()
            raise NoBox(f"no box answers at {path}: {error.strerror or error}") from error
        self._path = path
        try:
            greeting = self._next()
            if "hello" not in greeting:
                _answered(greeting)
        except PitboxError:
            self.close()
            raise
        self.hello: dict[str, Any] = greeting["hello"]

    def request(self, do: str, **details: Any) -> Any:
        """Send one request and return the answer; raise Refused if the box refuses it."""
        number = next(self._numbers)
        try:
            self._socket.sendall(msgspec.json.encode({"do": do, "id": number, **details}) + b"\n")
        except OSError as error:
            raise NoBox(f"the box at {self._path} is gone: {error}") from error
        while True:
            message = self._next()
            if message.get("id") == number or ("error" in message and "id" not in message):
                return _answered(message)

    def pushes(self, until: float | None = None) -> Iterator[dict[str, Any]]:
        """Yield the messages that the box sends unasked, until it ends or until this time (`time.monotonic`)."""
        waiting = bytearray()
        while until is None or time.monotonic() < until:
            self._socket.settimeout(None if until is None else max(0.001, until - time.monotonic()))
            try:
                more = self._file.read1(_CHUNK)
            except TimeoutError:
                return
            if not more:
                raise NoBox(f"the box at {self._path} has ended")
            waiting += more
            *lines, incomplete = waiting.split(b"\n")
            waiting = bytearray(incomplete)
            for line in lines:
                yield msgspec.json.decode(line)

    def _next(self) -> dict[str, Any]:
        try:
            line = self._file.readline(_MAX_LINE)
        except TimeoutError as error:
            raise NoBox(f"the box at {self._path} does not answer") from error
        except OSError as error:
            raise NoBox(f"the box at {self._path} is gone: {error}") from error
        if not line:
            raise NoBox(f"the box at {self._path} has ended")
        message: dict[str, Any] = msgspec.json.decode(line)
        return message

    def close(self) -> None:
        """Hang up."""
        if hasattr(self, "_file"):
            self._file.close()
        self._socket.close()

    def __enter__(self) -> BlockingClient:
        """Use as a context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up."""
        self.close()


class BoxClient:
    """A connection for asyncio programs: `request` awaits an answer, `on_push` gets all other messages.

    `gone` is set when the box has ended or closed the connection.
    """

    def __init__(self, on_push: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.on_push = on_push
        self.hello: dict[str, Any] = {}
        self.ended = asyncio.Event()
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, path: Path, on_push: Callable[[dict[str, Any]], None] | None = None) -> BoxClient:
        """Connect; raise NoBox if no box answers, Refused if it refuses the connection."""
        client = cls(on_push)
        try:
            reader, client._writer = await asyncio.open_unix_connection(path, limit=_MAX_LINE)
            greeting = msgspec.json.decode(await reader.readline() or b"{}")
        except OSError as error:
            await client.close()
            raise NoBox(f"no box answers at {path}: {error.strerror or error}") from error
        if "hello" not in greeting:
            await client.close()
            _answered(greeting)
            raise NoBox(f"the box at {path} closed the connection")
        client.hello = greeting["hello"]
        client._task = asyncio.get_running_loop().create_task(client._read(reader))
        return client

    async def request(self, do: str, **details: Any) -> Any:
        """Send one request and return the answer; raise Refused if the box refuses it."""
        if self._writer is None or self.ended.is_set():
            raise NoBox("the box has ended")
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(msgspec.json.encode({"do": do, "id": number, **details}) + b"\n")
        try:
            return _answered(await answer)
        finally:
            self._waiting.pop(number, None)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                message = msgspec.json.decode(line)
                waiting = self._waiting.get(message.get("id", 0))
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
                elif self.on_push is not None:
                    self.on_push(message)
        except OSError:
            pass  # the box is gone
        finally:
            self.ended.set()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(NoBox("the box has ended"))

    async def close(self) -> None:
        """Hang up. A second call does nothing, also if the first one was canceled."""
        task, writer, self._task, self._writer = self._task, self._writer, None, None
        if writer is not None:
            writer.close()
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        if writer is not None:
            with suppress(OSError):
                await writer.wait_closed()
