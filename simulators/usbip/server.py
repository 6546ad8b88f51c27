"""A USB/IP server for simulated devices, on loopback only: lists them, and lets one client at a time import each.

Strict: a client that breaks the protocol or reads no answers is disconnected, and its device is free again.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import ConfigurationError
from simulators.usbip import device as usb
from simulators.usbip import packets
from simulators.usbip.device import Urb
from simulators.usbip.packets import BadUsbIpPacket, ExportedDevice

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.usbip.device import UsbDevice

log = logging.getLogger(__name__)

# Loopback only: no other address can be configured.
LOOPBACK: Final = "127.0.0.1"
BUS: Final = 1
# Limits far above normal use: bytes of a transfer, waiting transfers, unread answers.
MAX_TRANSFER: Final = 1024 * 1024
MAX_WAITING: Final = 256
_MAX_UNREAD: Final = 4 * MAX_TRANSFER


class UsbIpServer:
    """The server and the places of its bus: a device keeps its bus id when it is plugged in again."""

    def __init__(self) -> None:
        self.number = 0  # of the TCP port
        self._server: asyncio.Server | None = None
        self._places = 0
        self._devices: dict[int, tuple[UsbDevice, ExportedDevice]] = {}
        self._plugged = 0  # devices ever plugged in, for unique device numbers
        self._sessions: set[_Session] = set()

    async def start(self, number: int = 0) -> None:
        """Listen at this TCP port, or at any free one."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _Session(self), LOOPBACK, number)
        except (OSError, OverflowError) as error:
            raise ConfigurationError(f"TCP port {number} cannot be used: {error}") from error
        self.number = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Stop listening and disconnect all clients."""
        if self._server is not None:
            self._server.close()
        for session in list(self._sessions):
            session.end()

    def place(self) -> int:
        """Return a place on the bus for one more machine."""
        self._places += 1
        return self._places

    def plug(self, place: int, device: UsbDevice) -> None:
        """Put a device onto the bus; it leaves when it is closed."""
        self._plugged += 1
        exported = ExportedDevice(
            packets.SERIAL_PATH + device.serial, f"{BUS}-{place}", BUS, self._plugged + 1, usb.FULL_SPEED,
            usb.VENDOR, usb.PRODUCT, usb.RELEASE, (0, 0, 0), usb.CONFIGURED, 1, (usb.VENDOR_CLASS,),
        )  # fmt: skip
        self._devices[place] = (device, exported)
        device.on_gone = lambda: self._gone(place, device)

    def exported(self) -> list[ExportedDevice]:
        """Return the devices on the bus, imported or not."""
        return [exported for _, (_, exported) in sorted(self._devices.items())]

    def find(self, busid: str) -> tuple[UsbDevice, ExportedDevice] | None:
        """Return a device by its bus id."""
        return next((entry for entry in self._devices.values() if entry[1].busid == busid), None)

    def add_client(self, session: _Session) -> None:
        """Add a client."""
        self._sessions.add(session)

    def remove_client(self, session: _Session) -> None:
        """Remove a client."""
        self._sessions.discard(session)

    def _gone(self, place: int, device: UsbDevice) -> None:
        del self._devices[place]
        for session in list(self._sessions):
            if session.device is device:
                session.hang_up()


class _Session(asyncio.Protocol):
    """One client: it requests the list, or imports a device and then submits and unlinks transfers."""

    def __init__(self, server: UsbIpServer) -> None:
        self.device: UsbDevice | None = None
        self._server = server
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._devid = 0
        self._waiting: dict[int, Urb] = {}
        self._handle_next: Callable[[], bool] = self._handle_op

    # --- asyncio's callbacks -----------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=_MAX_UNREAD)
        self._server.add_client(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            while not self._transport.is_closing() and self._handle_next():
                pass
        except BadUsbIpPacket as error:
            self.cut(str(error))

    def pause_writing(self) -> None:
        self.cut("it does not read its answers")

    def connection_lost(self, _: Exception | None) -> None:
        self._server.remove_client(self)
        if self.device is not None:
            self.device.detach()
            self.device = None

    # --- ending ------------------------------------------------------------------------------------------------

    def cut(self, why: str) -> None:
        """End the connection now; unsent data is lost."""
        log.warning("USB/IP client cut off: %s", why)
        self.end()

    def end(self) -> None:
        """End the connection now."""
        self._transport.abort()

    def hang_up(self) -> None:
        """The device is gone: send the pending answers, then end."""
        self._transport.close()

    # --- requests ----------------------------------------------------------------------------------------------

    def _have(self, size: int) -> bytes | None:
        return bytes(self._buffer[:size]) if len(self._buffer) >= size else None

    def _handle_op(self) -> bool:
        head = self._have(packets.OP.size)
        if head is None:
            return False
        code, _ = packets.read_op(head)
        if code == packets.REQ_DEVLIST:
            devices = self._server.exported()
            listed = [packets.pack_device(device) + packets.pack_interfaces(device) for device in devices]
            count = packets.COUNT.pack(len(devices))
            self._transport.write(packets.pack_op(packets.REP_DEVLIST) + count + b"".join(listed))
            self._transport.close()
            return False
        if code != packets.REQ_IMPORT:
            raise BadUsbIpPacket(f"request {code:#06x}")
        request = self._have(packets.OP.size + packets.BUSID.size)
        if request is None:
            return False
        del self._buffer[: len(request)]
        self._import(packets.read_busid(request[packets.OP.size :]))
        return True

    def _import(self, busid: str) -> None:
        entry = self._server.find(busid)
        if entry is None or entry[0].attached:
            status = packets.NO_DEVICE if entry is None else packets.DEVICE_BUSY
            self._transport.write(packets.pack_op(packets.REP_IMPORT, status))
            self._transport.close()
            return
        self.device, exported = entry
        self.device.attach()
        self._devid = exported.devid
        self._handle_next = self._handle_command
        self._transport.write(packets.pack_op(packets.REP_IMPORT) + packets.pack_device(exported))

    def _handle_command(self) -> bool:
        header = self._have(packets.HEADER.size)
        if header is None:
            return False
        command = packets.read_command(header)
        if command.devid != self._devid:
            raise BadUsbIpPacket(f"device {command.devid:#x}, which was not imported here")
        if isinstance(command, packets.Unlink):
            del self._buffer[: len(header)]
            self._unlink(command)
            return True
        if command.length > MAX_TRANSFER:
            raise BadUsbIpPacket(f"a transfer of {command.length} bytes")
        size = command.length if command.direction == packets.OUT else 0
        packet = self._have(len(header) + size)
        if packet is None:
            return False
        del self._buffer[: len(packet)]
        self._submit(Urb(command, packet[len(header) :], self._ended))
        return True

    def _submit(self, urb: Urb) -> None:
        assert self.device is not None
        if urb.request.seqnum in self._waiting or len(self._waiting) >= MAX_WAITING:
            raise BadUsbIpPacket(f"transfer {urb.request.seqnum}, while {len(self._waiting)} wait")
        self._waiting[urb.request.seqnum] = urb
        self.device.submit(urb)

    def _unlink(self, command: packets.Unlink) -> None:
        assert self.device is not None
        urb = self._waiting.pop(command.victim, None)
        if urb is not None:
            self.device.cancel(urb)
        status = -errno.ECONNRESET if urb is not None else 0
        self._transport.write(packets.pack_unlinked(packets.Unlinked(command.seqnum, status)))

    def _ended(self, urb: Urb, status: int, length: int) -> None:
        del self._waiting[urb.request.seqnum]
        answer = packets.pack_submitted(packets.Submitted(urb.request.seqnum, status, length))
        self._transport.write(answer + urb.received if urb.request.direction == packets.IN else answer)
