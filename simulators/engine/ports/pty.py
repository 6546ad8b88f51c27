"""A simulated machine on a real pty under a stable name, as if it were plugged into a serial port."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import tty
from typing import TYPE_CHECKING, Any, Final

from simulators.engine.ports.plugged import PluggedPort

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from firmware_bridge.errors import LinkError
    from simulators.engine.machine import SimulatedMachine

_CHUNK: Final = 4096
# While no host has the pty open its master reads EIO; look again after this long (s).
_LOOK_AGAIN: Final = 0.02
# Bytes that may wait for a host that does not read.
_MAX_BACKLOG: Final = 256 * 1024


def _ignore(_: Any) -> None:
    """Ignore data without a listener."""


class _PtyEnd:
    """The machine's end: the master of a pty. Hosts may connect and disconnect; only unplugging ends it."""

    def __init__(self, fd: int) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._retry: asyncio.TimerHandle | None = None
        self._open = True
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._readable)

    @property
    def backlog(self) -> int:
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        if not self._open:
            return
        if self._waiting:
            self._keep(data)
            return
        try:
            written = os.write(self._fd, data)
        except OSError:  # full, or no host: a machine cannot know
            written = 0
        if written < len(data):
            self._keep(data[written:])
            self._loop.add_writer(self._fd, self._writable)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            if self._retry is not None:
                self._retry.cancel()
            os.close(self._fd)

    def _keep(self, data: bytes) -> None:
        if len(self._waiting) + len(data) <= _MAX_BACKLOG:
            self._waiting += data

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # No host has the port open. Polling a hung-up pty would spin, so look again a little later.
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            self._waiting.clear()
            self._retry = self._loop.call_later(_LOOK_AGAIN, self._watch_again)
            return
        if data:
            self.on_bytes(data)

    def _watch_again(self) -> None:
        self._retry = None
        if self._open:
            self._loop.add_reader(self._fd, self._readable)

    def _writable(self) -> None:
        try:
            del self._waiting[: os.write(self._fd, self._waiting)]
        except BlockingIOError:
            return
        except OSError:
            self._waiting.clear()
        if not self._waiting:
            self._loop.remove_writer(self._fd)


class PtyPort(PluggedPort):
    """Keeps a pty for one machine behind a symbolic link that stays the same over unplug and replug."""

    def __init__(self, machine: SimulatedMachine, port: Path) -> None:
        self.port = port
        super().__init__(machine)

    def _connect(self) -> None:
        """Make a new pty and point the stable name at it."""
        master, slave = os.openpty()
        tty.setraw(slave)
        name = os.ttyname(slave)
        os.close(slave)
        fresh = self.port.with_name(self.port.name + ".new")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        fresh.symlink_to(name)
        fresh.replace(self.port)
        self._machine.board.plug(_PtyEnd(master))

    def _disconnect(self) -> None:
        """Remove the name; the machine closes the pty."""
        with contextlib.suppress(FileNotFoundError):
            self.port.unlink()
