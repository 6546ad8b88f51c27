"""Packs and parses USB/IP packets, version 1.1.1.

The layout is that of the kernel's Documentation/usb/usbip_protocol.rst; all numbers are big-endian.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

import msgspec

VERSION: Final = 0x0111
DEFAULT_PORT: Final = 3240  # the stock tools' TCP port

REQ_DEVLIST: Final = 0x8005
REP_DEVLIST: Final = 0x0005
REQ_IMPORT: Final = 0x8003
REP_IMPORT: Final = 0x0003

# Results of an import, as in the stock tools; an old server sends NOT_AVAILABLE for every refusal.
OK: Final = 0
NOT_AVAILABLE: Final = 1
DEVICE_BUSY: Final = 2
NO_DEVICE: Final = 4

CMD_SUBMIT: Final = 1
CMD_UNLINK: Final = 2
RET_SUBMIT: Final = 3
RET_UNLINK: Final = 4

OUT: Final = 0
IN: Final = 1

# Set by Linux in an IN submission (URB_DIR_IN), and in submissions that are not isochronous.
_FLAG_IN: Final = 0x200
_NO_PACKETS: Final = 0xFFFF_FFFF

OP: Final = Struct(">HHI")
COUNT: Final = Struct(">I")
BUSID: Final = Struct(">32s")
DEVICE: Final = Struct(">256s32sIIIHHHBBBBBB")
INTERFACE: Final = Struct(">BBBx")
HEADER: Final = Struct(">5I28s")  # common size of the four packets after an import
_SUBMIT: Final = Struct(">5I5I8s")
_UNLINK: Final = Struct(">5II24x")
_SUBMITTED: Final = Struct(">5Ii4I8x")
_UNLINKED: Final = Struct(">5Ii24x")

# Our server puts a device's serial number into its path. The list has no field for it, and importing a device to read
# the serial number would keep other hosts from opening it meanwhile.
SERIAL_PATH: Final = "/pitbox/"


class BadUsbIpPacket(ValueError):
    """Received bytes are not a packet of this protocol, or not one that is valid now."""


class ExportedDevice(msgspec.Struct, frozen=True):
    """One exported device of a list, with the class, subclass and protocol of each interface."""

    path: str
    busid: str
    busnum: int
    devnum: int
    speed: int
    vendor: int
    product: int
    release: int
    device_class: tuple[int, int, int]
    configuration: int
    configurations: int
    interfaces: tuple[tuple[int, int, int], ...]

    @property
    def devid(self) -> int:
        """The device's id in submissions."""
        return self.busnum << 16 | self.devnum

    @property
    def serial(self) -> str | None:
        """The serial number, if the exporter wrote it into the path."""
        return self.path.removeprefix(SERIAL_PATH) if self.path.startswith(SERIAL_PATH) else None


class Submit(msgspec.Struct, frozen=True):
    """A requested transfer. `length`: bytes to send, or size of the buffer; `setup` is for endpoint 0."""

    seqnum: int
    devid: int
    direction: int
    endpoint: int
    length: int
    setup: bytes = bytes(8)


class Unlink(msgspec.Struct, frozen=True):
    """A request to cancel a transfer."""

    seqnum: int
    devid: int
    victim: int


class Submitted(msgspec.Struct, frozen=True):
    """The end of a transfer: 0 or a negative error number, and the number of bytes."""

    seqnum: int
    status: int
    length: int


class Unlinked(msgspec.Struct, frozen=True):
    """The answer to Unlink: -ECONNRESET if the transfer was still waiting, 0 if it had ended before."""

    seqnum: int
    status: int


# --- before the import -------------------------------------------------------------------------------------


def pack_op(code: int, status: int = OK) -> bytes:
    """Return the head of a request or reply."""
    return OP.pack(VERSION, code, status)


def read_op(data: bytes) -> tuple[int, int]:
    """Return code and status."""
    version, code, status = OP.unpack(data)
    if version != VERSION:
        raise BadUsbIpPacket(f"USB/IP version {version:#06x}, not {VERSION:#06x}")
    return code, status


def pack_busid(busid: str) -> bytes:
    """Return a bus id as an import request carries it."""
    return BUSID.pack(busid.encode("ascii"))


def read_busid(data: bytes) -> str:
    """Return the bus id of an import request."""
    return _text(BUSID.unpack(data)[0])


def pack_device(device: ExportedDevice) -> bytes:
    """Return a device without its interfaces, as an import reply carries it."""
    return DEVICE.pack(
        device.path.encode("ascii"), device.busid.encode("ascii"), device.busnum, device.devnum, device.speed,
        device.vendor, device.product, device.release, *device.device_class, device.configuration,
        device.configurations, len(device.interfaces),
    )  # fmt: skip


def pack_interfaces(device: ExportedDevice) -> bytes:
    """Return what follows a device in a list."""
    return b"".join(INTERFACE.pack(*interface) for interface in device.interfaces)


def interface_count(data: bytes) -> int:
    """Return how many interfaces follow this device in a list."""
    return data[DEVICE.size - 1]


def read_device(data: bytes, interfaces: bytes = b"") -> ExportedDevice:
    """Return a device from its bytes and, in a list, those of its interfaces."""
    path, busid, busnum, devnum, speed, vendor, product, release, *numbers = DEVICE.unpack(data)
    if busnum > 0xFFFF or devnum > 0xFFFF:
        raise BadUsbIpPacket(f"a device at bus {busnum}, number {devnum}")
    return ExportedDevice(
        _text(path), _text(busid), busnum, devnum, speed, vendor, product, release,
        (numbers[0], numbers[1], numbers[2]), numbers[3], numbers[4], tuple(INTERFACE.iter_unpack(interfaces)),
    )  # fmt: skip


def _text(field: bytes) -> str:
    text, zero, _ = field.partition(b"\0")
    if not zero or not text.isascii() or not text.decode("ascii").isprintable():
        raise BadUsbIpPacket("a name that is not zero-terminated printable ASCII")
    return text.decode("ascii")


# --- after the import --------------------------------------------------------------------------------------


def pack_submit(packet: Submit) -> bytes:
    """Return a submission's header; the bytes of an OUT transfer follow it."""
    flags = _FLAG_IN if packet.direction == IN else 0
    return _SUBMIT.pack(
        CMD_SUBMIT, packet.seqnum, packet.devid, packet.direction, packet.endpoint,
        flags, packet.length, 0, _NO_PACKETS, 0, packet.setup,
    )  # fmt: skip


def pack_unlink(packet: Unlink) -> bytes:
    """Return the packet that cancels a transfer."""
    return _UNLINK.pack(CMD_UNLINK, packet.seqnum, packet.devid, 0, 0, packet.victim)


def read_command(header: bytes) -> Submit | Unlink:
    """Return a client's command, from the 48 bytes of a header."""
    (command,) = COUNT.unpack_from(header)
    if command == CMD_UNLINK:
        _, seqnum, devid, _, _, victim = _UNLINK.unpack(header)
        return Unlink(seqnum, devid, victim)
    if command != CMD_SUBMIT:
        raise BadUsbIpPacket(f"command {command:#x}")
    _, seqnum, devid, direction, endpoint, _, length, _, packets, _, setup = _SUBMIT.unpack(header)
    if direction not in (OUT, IN) or endpoint > 15:
        raise BadUsbIpPacket(f"a transfer to endpoint {endpoint} in direction {direction}")
    if packets not in (0, _NO_PACKETS):  # Linux sends 0, the documentation asks for the other
        raise BadUsbIpPacket("an isochronous transfer")
    return Submit(seqnum, devid, direction, endpoint, length, setup)


def pack_submitted(packet: Submitted) -> bytes:
    """Return a transfer's end; the bytes of an IN transfer follow it."""
    return _SUBMITTED.pack(RET_SUBMIT, packet.seqnum, 0, 0, 0, packet.status, packet.length, 0, _NO_PACKETS, 0)


def pack_unlinked(packet: Unlinked) -> bytes:
    """Return the answer to an unlink."""
    return _UNLINKED.pack(RET_UNLINK, packet.seqnum, 0, 0, 0, packet.status)


def read_answer(header: bytes) -> Submitted | Unlinked:
    """Return a server's answer, from the 48 bytes of a header."""
    (command,) = COUNT.unpack_from(header)
    if command == RET_UNLINK:
        _, seqnum, _, _, _, status = _UNLINKED.unpack(header)
        return Unlinked(seqnum, status)
    if command != RET_SUBMIT:
        raise BadUsbIpPacket(f"command {command:#x}")
    _, seqnum, _, _, _, status, length, *_ = _SUBMITTED.unpack(header)
    return Submitted(seqnum, status, length)
