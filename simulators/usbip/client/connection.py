"""One TCP connection to a USB/IP server: requests its list, or imports a device and does transfers.

A transfer blocks the calling thread; another thread of the connection receives the answers, so that several transfers
can wait at the same time. Raises pyusb's errors with libusb's numbers: 110 for a timeout, 32 for a stall, 19 for a
device or server that is gone.
"""

from __future__ import annotations

import errno
import os
import queue
import socket
import struct
import threading
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

from usb.core import USBError, USBTimeoutError

from simulators.usbip import packets
from simulators.usbip.packets import BadUsbIpPacket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulators.usbip.packets import ExportedDevice

# How long (s) a server may take to connect, to receive data, and to answer an immediate request.
SERVER_TIMEOUT_S: Final = 3.0
# More devices than any table has; a longer list is malformed.
MAX_DEVICES: Final = 1024

# Error numbers for a refused import. Old servers send NOT_AVAILABLE, mostly for a device in use.
_REFUSALS: Final = {
    packets.NOT_AVAILABLE: errno.EBUSY,
    packets.DEVICE_BUSY: errno.EBUSY,
    packets.NO_DEVICE: errno.ENODEV,
}
# libusb's error numbers for the status of a URB, where they differ.
_ENDS: Final = {errno.ESHUTDOWN: errno.ENODEV, errno.ENOENT: errno.ENODEV, errno.ECONNRESET: errno.ENODEV}


def usb_error(number: int, text: str = "") -> USBError:
    """Return pyusb's error for an error number."""
    kind = USBTimeoutError if number == errno.ETIMEDOUT else USBError
    return kind(text or os.strerror(number), None, number)


def list_devices(host: str, port: int) -> list[ExportedDevice]:
    """Return the devices that a server exports."""
    with _connect(host, port) as server, _as_usb_errors(host, port):
        until = monotonic() + SERVER_TIMEOUT_S
        server.sendall(packets.pack_op(packets.REQ_DEVLIST))
        if _reply(server, packets.REP_DEVLIST, until) != packets.OK:
            raise BadUsbIpPacket("it refuses to list its devices")
        (count,) = packets.COUNT.unpack(_exactly(server, packets.COUNT.size, until))
        if count > MAX_DEVICES:
            raise BadUsbIpPacket(f"a list of {count} devices")
        return [_listed(server, until) for _ in range(count)]


def _listed(server: socket.socket, until: float) -> ExportedDevice:
    device = _exactly(server, packets.DEVICE.size, until)
    interfaces = _exactly(server, packets.INTERFACE.size * packets.interface_count(device), until)
    return packets.read_device(device, interfaces)


# The end of a transfer: error number and text, or None; number of bytes sent; bytes received.
_End = tuple[tuple[int, str] | None, int, bytes]


class _Transfer:
    """A transfer that waits for its end."""

    __slots__ = ("direction", "end", "length")

    def __init__(self, direction: int, length: int) -> None:
        self.direction = direction
        self.length = length
        self.end: queue.SimpleQueue[_End] = queue.SimpleQueue()


class UsbIpConnection:
    """An imported device, in exclusive use."""

    def __init__(self, host: str, port: int, exported: ExportedDevice) -> None:
        self._where = f"{host}:{port}"
        self._socket = _connect(host, port)
        try:
            with _as_usb_errors(host, port):
                self._devid = self._import(exported)
        except USBError:
            self._socket.close()
            raise
        self._socket.settimeout(None)
        # A blocking socket with a send timeout.
        limit = struct.pack("@ll", int(SERVER_TIMEOUT_S), int(SERVER_TIMEOUT_S % 1 * 1e6))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self._lock = threading.Lock()  # guards sending and `_waiting`
        self._seqnum = 0
        self._waiting: dict[int, _Transfer] = {}
        self._unlinks: dict[int, int] = {}
        self._dead: tuple[int, str] | None = None  # error number and text of the first cause
        self._receiver = threading.Thread(target=self._receive, name=f"usbip {self._where}", daemon=True)
        self._receiver.start()

    def read(self, endpoint: int, size: int, timeout: int, setup: bytes = bytes(8)) -> bytes:
        """Receive at most `size` bytes. `timeout` in ms, 0 for none. Raises USBError."""
        return self._transfer(_Transfer(packets.IN, size), endpoint, b"", timeout, setup)[1]

    def write(self, endpoint: int, data: bytes, timeout: int, setup: bytes = bytes(8)) -> int:
        """Send; return how many bytes the device accepted. `timeout` in ms, 0 for none. Raises USBError."""
        return self._transfer(_Transfer(packets.OUT, len(data)), endpoint, data, timeout, setup)[0]

    def close(self) -> None:
        """Release the device; waiting transfers end as if it had been unplugged."""
        self._die(errno.ENODEV, "the device was closed")
        self._receiver.join()
        self._socket.close()

    def _import(self, exported: ExportedDevice) -> int:
        until = monotonic() + SERVER_TIMEOUT_S
        self._socket.sendall(packets.pack_op(packets.REQ_IMPORT) + packets.pack_busid(exported.busid))
        status = _reply(self._socket, packets.REP_IMPORT, until)
        if status != packets.OK:
            raise usb_error(_REFUSALS.get(status, errno.EIO))
        imported = packets.read_device(_exactly(self._socket, packets.DEVICE.size, until))
        if (imported.busid, imported.vendor, imported.product) != (exported.busid, exported.vendor, exported.product):
            raise BadUsbIpPacket(f"asked for {exported.busid}, it gave {imported.busid}")
        return imported.devid

    def _transfer(
        self, transfer: _Transfer, endpoint: int, data: bytes, timeout: int, setup: bytes
    ) -> tuple[int, bytes]:
        with self._lock:
            number = self._next()
            self._waiting[number] = transfer
            submit = packets.Submit(number, self._devid, transfer.direction, endpoint & 0x0F, transfer.length, setup)
            self._send(packets.pack_submit(submit) + data)
        try:
            error, count, came = transfer.end.get(timeout=timeout / 1000 if timeout else None)
        except queue.Empty:
            error, count, came = self._take_back(number, transfer)
        if error is not None:
            raise usb_error(*error)
        return count, came

    def _next(self) -> int:
        self._seqnum = self._seqnum % 0x7FFF_FFFF + 1
        return self._seqnum

    def _send(self, data: bytes) -> None:
        """Send; the lock is held."""
        if self._dead is not None:
            raise usb_error(*self._dead)
        try:
            self._socket.sendall(data)
        except OSError as error:
            cause = (errno.ENODEV, f"the USB/IP server at {self._where} accepts no more data")
            self._lose(*cause)
            raise usb_error(*cause) from error

    def _take_back(self, number: int, transfer: _Transfer) -> _End:
        """Unlink a transfer that timed out; it may have ended meanwhile."""
        with self._lock:
            if number in self._waiting:
                unlink = self._next()
                self._unlinks[unlink] = number
                self._send(packets.pack_unlink(packets.Unlink(unlink, self._devid, number)))
        try:
            return transfer.end.get(timeout=SERVER_TIMEOUT_S)
        except queue.Empty:
            self._die(errno.EIO, f"the USB/IP server at {self._where} does not answer")
            return transfer.end.get()

    def _receive(self) -> None:
        try:
            while True:
                answer = packets.read_answer(_exactly(self._socket, packets.HEADER.size))
                if isinstance(answer, packets.Unlinked):
                    self._unlinked(answer)
                else:
                    self._submitted(answer)
        except BadUsbIpPacket as error:
            self._die(errno.EPROTO, f"not USB/IP at {self._where}: {error}")
        except OSError:
            self._die(errno.ENODEV, f"the USB/IP server at {self._where} closed the connection")

    def _submitted(self, answer: packets.Submitted) -> None:
        with self._lock:
            transfer = self._waiting.get(answer.seqnum)
        if transfer is None:
            raise BadUsbIpPacket(f"the end of transfer {answer.seqnum}, which was not requested")
        if answer.length > transfer.length or answer.status > 0:
            raise BadUsbIpPacket(f"{answer.length} bytes in a transfer of {transfer.length}, status {answer.status}")
        came = _exactly(self._socket, answer.length) if transfer.direction == packets.IN else b""
        with self._lock:
            self._waiting.pop(answer.seqnum, None)
        number = _ENDS.get(-answer.status, -answer.status)
        transfer.end.put(((number, "") if number else None, answer.length, came))

    def _unlinked(self, answer: packets.Unlinked) -> None:
        with self._lock:
            transfer = self._waiting.pop(self._unlinks.pop(answer.seqnum, 0), None)
        if transfer is not None:  # else it had ended before, and its end was reported
            transfer.end.put(((errno.ETIMEDOUT, ""), 0, b""))

    def _die(self, number: int, text: str) -> None:
        with self._lock:
            self._lose(number, text)

    def _lose(self, number: int, text: str) -> None:
        """End all transfers with the first cause; the lock is held."""
        if self._dead is not None:
            return
        self._dead = (number, text)
        for transfer in self._waiting.values():
            transfer.end.put((self._dead, 0, b""))
        self._waiting.clear()
        with suppress(OSError):  # the other end closed first
            self._socket.shutdown(socket.SHUT_RDWR)


def _connect(host: str, port: int) -> socket.socket:
    try:
        server = socket.create_connection((host, port), SERVER_TIMEOUT_S)
    except OSError as error:
        raise usb_error(errno.ENODEV, f"nothing answers at {host}:{port}") from error
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


@contextmanager
def _as_usb_errors(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except BadUsbIpPacket as error:
        raise usb_error(errno.EPROTO, f"not USB/IP at {host}:{port}: {error}") from error
    except TimeoutError as error:
        raise usb_error(errno.ETIMEDOUT, f"the server at {host}:{port} does not answer") from error
    except USBError:
        raise
    except OSError as error:
        raise usb_error(errno.EPROTO, f"the server at {host}:{port} hung up") from error


def _reply(server: socket.socket, expected: int, until: float) -> int:
    code, status = packets.read_op(_exactly(server, packets.OP.size, until))
    if code != expected:
        raise BadUsbIpPacket(f"reply {code:#06x}, not {expected:#06x}")
    return status


def _exactly(server: socket.socket, size: int, until: float | None = None) -> bytes:
    """Receive exactly `size` bytes; TimeoutError if they do not arrive by `until`."""
    data = b""
    while len(data) < size:
        if until is not None:
            server.settimeout(max(0.001, until - monotonic()))
        more = server.recv(size - len(data), socket.MSG_WAITALL)
        if not more:
            raise ConnectionError("the connection ended")
        data += more
    return data
