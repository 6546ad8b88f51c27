"""Writes and reads the blocks of the pcapng file format.

Only the blocks that a capture needs: section header, interface description, enhanced packet. The reader skips all other
blocks, accepts either byte order, and ends cleanly at a last block that was cut off.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

LINK_USER0: Final = 147  # the first link type for private use
# Direction bits in the flags of an enhanced packet, seen from the capturing computer.
INBOUND: Final = 1
OUTBOUND: Final = 2
# Bytes. Our blocks have less than 1 kB; a longer length means damaged data.
MAX_BLOCK: Final = 1 << 20

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_MAGIC: Final = _SECTION.to_bytes(4, "big")  # the same in either byte order
_ORDERS: Final = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_WRITTEN_ORDER: Final = "<"  # fixed, so that equal captures have equal bytes

# Options: the same number has different meanings in different blocks.
_END: Final = 0
_COMMENT: Final = 1
_SECTION_APPLICATION: Final = 4
_INTERFACE_NAME: Final = 2
_INTERFACE_RESOLUTION: Final = 9
_PACKET_FLAGS: Final = 2

_NANOSECONDS: Final = 9  # time stamps count 10**-9 s
_DEFAULT_RESOLUTION: Final = 6  # the format's default


class BadPcapng(ValueError):
    """The bytes are not pcapng, or are damaged."""


class CaptureInterface(msgspec.Struct, frozen=True):
    """A capture interface: its name, link type and time resolution."""

    name: str
    link_type: int
    resolution: int


class CapturedPacket(msgspec.Struct, frozen=True):
    """One packet of the file."""

    interface: CaptureInterface
    time_ns: int
    data: bytes
    flags: int
    comment: str


# --- building ------------------------------------------------------------------------------------------------


def section(application: str) -> bytes:
    """Return the first block of a file; its length stays open, because the writer may be killed."""
    body = struct.pack(_WRITTEN_ORDER + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(_SECTION, body, [(_SECTION_APPLICATION, application.encode())])


def interface(name: str, link_type: int) -> bytes:
    """Return the block that declares an interface; interfaces are numbered from 0 in file order."""
    body = struct.pack(_WRITTEN_ORDER + "HHI", link_type, 0, 0)  # 0: packets are not truncated
    return _block(_INTERFACE, body, [(_INTERFACE_NAME, name.encode()), (_INTERFACE_RESOLUTION, bytes([_NANOSECONDS]))])


def packet(interface_id: int, time_ns: int, data: bytes, flags: int, comment: str = "") -> bytes:
    """Return the block of one packet."""
    stamp = (time_ns >> 32, time_ns & 0xFFFF_FFFF)
    body = struct.pack(_WRITTEN_ORDER + "IIIII", interface_id, *stamp, len(data), len(data)) + _padded(data)
    options = [(_PACKET_FLAGS, struct.pack(_WRITTEN_ORDER + "I", flags))]
    if comment:
        options.append((_COMMENT, comment.encode()))
    return _block(_PACKET, body, options)


def _block(kind: int, body: bytes, options: list[tuple[int, bytes]]) -> bytes:
    for code, value in [*options, (_END, b"")]:
        body += struct.pack(_WRITTEN_ORDER + "HH", code, len(value)) + _padded(value)
    length = len(body) + 12
    return struct.pack(_WRITTEN_ORDER + "II", kind, length) + body + struct.pack(_WRITTEN_ORDER + "I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


# --- reading -------------------------------------------------------------------------------------------------


def read(file: BinaryIO) -> Iterator[CapturedPacket]:
    """Yield the packets of an open file. Ends at a cut-off last block; raises Broken for any other damage."""
    interfaces: list[CaptureInterface] = []
    for at, order, kind, body in _blocks(file):
        try:
            if kind == _SECTION:
                interfaces = []
            elif kind == _INTERFACE:
                interfaces.append(_read_interface(order, body))
            elif kind == _PACKET:
                yield _read_packet(order, body, interfaces)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise BadPcapng(f"damaged at byte {at}") from error


def _blocks(file: BinaryIO) -> Iterator[tuple[int, str, int, bytes]]:
    """Yield each whole block: its offset, byte order, kind and body."""
    at, order = 0, ""
    while True:
        start = file.read(12)  # the shortest block; a section header gives its byte order in these bytes
        if not at and start[:4] != _MAGIC[: len(start)]:
            raise BadPcapng("not a pcapng file")
        if len(start) < 12:
            return
        if start[:4] == _MAGIC:
            order = _ORDERS.get(start[8:], "")
            if not order:
                raise BadPcapng(f"damaged at byte {at}")
        kind, length = struct.unpack(order + "II", start[:8])
        if not 12 <= length <= MAX_BLOCK or length % 4:
            raise BadPcapng(f"damaged at byte {at}")
        block = start + file.read(length - 12)
        if len(block) < length:
            return
        if block[-4:] != start[4:8]:
            raise BadPcapng(f"damaged at byte {at}")
        yield at, order, kind, block[8:-4]
        at += length


def _read_interface(order: str, body: bytes) -> CaptureInterface:
    link_type, _, _ = struct.unpack_from(order + "HHI", body)
    options = _options(order, body[8:])
    resolution = options.get(_INTERFACE_RESOLUTION, bytes([_DEFAULT_RESOLUTION]))[0]
    return CaptureInterface(options.get(_INTERFACE_NAME, b"").decode(), link_type, resolution)


def _read_packet(order: str, body: bytes, interfaces: list[CaptureInterface]) -> CapturedPacket:
    interface_id, high, low, size, _ = struct.unpack_from(order + "IIIII", body)
    end = 20 + size
    if end > len(body):
        raise IndexError(end)
    options = _options(order, body[end + -size % 4 :])
    (flags,) = struct.unpack(order + "I", options.get(_PACKET_FLAGS, bytes(4)))
    seen_by = interfaces[interface_id]
    comment = options.get(_COMMENT, b"").decode()
    return CapturedPacket(seen_by, _nanoseconds(high << 32 | low, seen_by.resolution), body[20:end], flags, comment)


def _nanoseconds(ticks: int, resolution: int) -> int:
    """Convert a timestamp to nanoseconds. The resolution is a power of ten, or of two if its high bit is set."""
    per_second = 1 << (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    return ticks * 1_000_000_000 // per_second


def _options(order: str, data: bytes) -> dict[int, bytes]:
    """Return the options of a block by number; the first of a repeated option."""
    options: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        code, size = struct.unpack_from(order + "HH", data, at)
        if code == _END:
            break
        options.setdefault(code, data[at + 4 : at + 4 + size])
        at += 4 + size + -size % 4
    return options
