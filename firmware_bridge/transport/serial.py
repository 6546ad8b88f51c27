"""Serial ports by pyserial URL, on asyncio: real ports, USB-serial adapters, ptys, `socket://`, `rfc2217://`.

The event loop reads and writes a port with a file descriptor. An `rfc2217://` port has none, so threads carry its
bytes.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import serial

from firmware_bridge.errors import BadPort, LinkError, PitboxError, PortBusy, PortFailed, PortMissing
from firmware_bridge.transport.threaded import MAX_BACKLOG, ThreadTransport, open_in_thread

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from firmware_bridge.wire import Transport

# Line speed of the devices; ptys and network ports ignore it.
BAUD: Final = 115_200
PORT_FORMS: Final = (
    "a port is a device path, socket://HOST:PORT, rfc2217://HOST:PORT, usb:VENDOR:PRODUCT:SERIAL "
    "or usbip://HOST:PORT/VENDOR:PRODUCT:SERIAL"
)
_CHUNK: Final = 4096


async def open_serial(url: str) -> Transport:
    """Open a port exclusively. Raises BadPort, PortMissing, PortBusy or PortFailed."""
    if not is_serial_address(url):
        raise BadPort(f"{url or 'an empty name'}: {PORT_FORMS}")
    if "://" not in url:
        return _FdTransport(_open(url), url)
    port = await open_in_thread(lambda: _open(url))
    if not url.startswith("rfc2217://"):
        return _FdTransport(port, url)
    return ThreadTransport(_Rfc2217Port(port), url, lambda error: _failed(url, error))


def is_serial_address(url: str) -> bool:
    """Return whether an address has one of the supported forms; pyserial itself accepts more."""
    if "://" not in url:
        return bool(url)
    try:
        parts = urlsplit(url)
        return parts.scheme in ("socket", "rfc2217") and bool(parts.hostname) and bool(parts.port)
    except ValueError:  # a port that is no number, or a bracket without its partner
        return False


def _open(url: str) -> serial.SerialBase:
    try:
        # Network ports have no `exclusive`; their server admits one client at a time.
        options: dict[str, Any] = {} if "://" in url else {"exclusive": True}
        port: serial.SerialBase = serial.serial_for_url(url, baudrate=BAUD, timeout=0.5, **options)
    except ValueError as error:
        raise BadPort(f"{url}: {error}") from error
    except Exception as error:
        # SerialException and OSError, but pyserial also raises others; none of them may end a supervisor.
        raise _why_not_opened(url, error) from error
    return port


def _why_not_opened(url: str, error: Exception) -> PitboxError:
    text = str(error)
    network = "://" in url
    if network and "expected a string in the form" in text:  # pyserial's text for unknown options
        return BadPort(f"{url}: {PORT_FORMS}")
    if "exclusively lock" in text:
        return PortBusy(f"{url} is in use by another program")
    number = getattr(error, "errno", None)
    if number == errno.EACCES:
        return PortFailed(f"{url}: permission denied; the user must be in the group of the port (often dialout)")
    if number == errno.EBUSY:
        return PortBusy(f"{url} is busy")
    if number == errno.EISDIR or "Inappropriate ioctl" in text:
        return BadPort(f"{url} is not a serial port")
    if number in (errno.EIO, errno.ENXIO, errno.ENODEV):
        return PortMissing(f"{url}: no device is connected to this port")
    if network or number in (errno.ENOENT, errno.ENOTDIR):
        return PortMissing(f"{url}: {'nothing answers there' if network else 'no such port'}")
    return PortFailed(f"{url}: {text}")


def _ignore(_: Any) -> None:
    """Ignore it: the default callback."""


class _FdTransport:
    """A port with a file descriptor, read and written from the event loop."""

    def __init__(self, port: serial.SerialBase, url: str) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self._port = port
        self._url = url
        self._fd: int = port.fileno()
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._open = True
        os.set_blocking(self._fd, False)
        self._loop.add_reader(self._fd, self._readable)

    @property
    def backlog(self) -> int:
        """How many bytes the operating system has not accepted yet."""
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        """Write as much as the port accepts now; buffer the rest."""
        if not self._open:
            return
        if self._waiting:
            self._keep(data)
            return
        try:
            written = os.write(self._fd, data)
        except BlockingIOError:
            written = 0
        except OSError as error:
            self._lose(error)
            return
        if written < len(data):
            self._loop.add_writer(self._fd, self._writable)
            self._keep(data[written:])

    def close(self) -> None:
        """Release the port."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
            if "://" in self._url:  # pyserial sleeps while closing a network port
                threading.Thread(target=_close_port, args=(self._port,), name=f"close {self._url}", daemon=True).start()
            else:
                self._port.close()

    def _keep(self, data: bytes) -> None:
        if len(self._waiting) + len(data) > MAX_BACKLOG:
            self._lose(OSError("the port accepts no more bytes"))
        else:
            self._waiting += data

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error)
            return
        if data:
            self.on_bytes(data)
        else:
            self._lose(OSError("end of file"))

    def _writable(self) -> None:
        try:
            del self._waiting[: os.write(self._fd, self._waiting)]
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error)
            return
        if not self._waiting:
            self._loop.remove_writer(self._fd)

    def _lose(self, error: OSError) -> None:
        if self._open:
            self.close()
            # Reported later: a loss found while writing must not re-enter the writer.
            self._loop.call_soon(self._report_loss, _failed(self._url, error))

    def _report_loss(self, cause: LinkError) -> None:
        self.on_lost(cause)


class _Rfc2217Port:
    """A port without a file descriptor, for the threads of a ThreadTransport."""

    def __init__(self, port: serial.SerialBase) -> None:
        self._port = port

    def read(self) -> bytes:
        with _os_errors():
            data = self._port.read(1)
            if data:
                data += self._port.read(self._port.in_waiting)  # type: ignore[attr-defined]
            return data

    def write(self, data: bytes) -> None:
        with _os_errors():
            self._port.write(data)

    def begin_close(self) -> None:
        """Do nothing: closing ends a read."""

    def close(self) -> None:
        with _os_errors():
            _close_port(self._port)


def _close_port(port: serial.SerialBase) -> None:
    """Close a network port and its socket: pyserial leaves the socket of a lost peer open."""
    held: socket.socket | None = getattr(port, "_socket", None)
    try:
        port.close()
    finally:
        if held is not None:
            held.close()


@contextmanager
def _os_errors() -> Iterator[None]:
    """Turn the errors that pyserial raises when a port is closed during a read into OSError."""
    try:
        yield
    except (TypeError, AttributeError) as error:
        raise OSError("the port was closed") from error


def _failed(url: str, error: Exception) -> PortFailed:
    failed = PortFailed(f"{url} failed: {getattr(error, 'strerror', None) or error}")
    failed.__cause__ = error
    return failed
