"""The pcapng file format: blocks built and read. What is inside a packet, and what may be, is the capture's business.

Only what a capture needs: section header, interface description, enhanced packet. Reading skips all other blocks, takes
either byte order, and ends cleanly at a last block that was cut off.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

LINK_USER0: Final = 147  # the first of the link types that are left to private use
# Bits of an enhanced packet's flags that tell the direction, seen from whoever captured.
INBOUND: Final = 1
OUTBOUND: Final = 2
# Bytes. A block of ours has less than 1 kB; what says it is longer than this is not a block.
MAX_BLOCK: Final = 1 << 20

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_MAGIC: Final = _SECTION.to_bytes(4, "big")  # the same in either byte order
_ORDERS: Final = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_WRITTEN_ORDER: Final = "<"  # whatever the machine's own, so that equal captures are equal bytes

# Options: the same number means another thing in another block.
_END: Final = 0
_COMMENT: Final = 1
_SECTION_APPLICATION: Final = 4
_INTERFACE_NAME: Final = 2
_INTERFACE_RESOLUTION: Final = 9
_PACKET_FLAGS: Final = 2

_NANOSECONDS: Final = 9  # time stamps count 10**-9 s
_DEFAULT_RESOLUTION: Final = 6  # what the format means where nothing is said


class Broken(ValueError):
    """The bytes are not pcapng, or not from some place on."""


class Interface(msgspec.Struct, frozen=True):
    """Where packets were seen: the name it was given, and what kind of packets pass there."""

    name: str
    link_type: int
    resolution: int


class Captured(msgspec.Struct, frozen=True):
    """One packet as it stands in the file."""

    interface: Interface
    time_ns: int
    data: bytes
    flags: int
    comment: str


# --- building ------------------------------------------------------------------------------------------------


def section(application: str) -> bytes:
    """Return the block that begins a file; its length is left open, since the writer may be killed."""
    body = struct.pack(_WRITTEN_ORDER + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(_SECTION, body, [(_SECTION_APPLICATION, application.encode())])


def interface(name: str, link_type: int) -> bytes:
    """Return the block that introduces an interface; they count from 0 in the order they stand in the file."""
    body = struct.pack(_WRITTEN_ORDER + "HHI", link_type, 0, 0)  # 0: packets are kept whole
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


def read(file: BinaryIO) -> Iterator[Captured]:
    """Yield the packets of an open file; a cut-off last block ends it, anything else that does not fit is Broken."""
    interfaces: list[Interface] = []
    for at, order, kind, body in _blocks(file):
        try:
            if kind == _SECTION:
                interfaces = []
            elif kind == _INTERFACE:
                interfaces.append(_read_interface(order, body))
            elif kind == _PACKET:
                yield _read_packet(order, body, interfaces)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise Broken(f"damaged at byte {at}") from error


def _blocks(file: BinaryIO) -> Iterator[tuple[int, str, int, bytes]]:
    """Yield each whole block: where it begins, its byte order, its kind, its body."""
    at, order = 0, ""
    while True:
        start = file.read(12)  # no block is shorter; a section tells its byte order within them
        if not at and start[:4] != _MAGIC[: len(start)]:
            raise Broken("not a pcapng file")
        if len(start) < 12:
            return
        if start[:4] == _MAGIC:
            order = _ORDERS.get(start[8:], "")
            if not order:
                raise Broken(f"damaged at byte {at}")
        kind, length = struct.unpack(order + "II", start[:8])
        if not 12 <= length <= MAX_BLOCK or length % 4:
            raise Broken(f"damaged at byte {at}")
        block = start + file.read(length - 12)
        if len(block) < length:
            return
        if block[-4:] != start[4:8]:
            raise Broken(f"damaged at byte {at}")
        yield at, order, kind, block[8:-4]
        at += length


def _read_interface(order: str, body: bytes) -> Interface:
    link_type, _, _ = struct.unpack_from(order + "HHI", body)
    options = _options(order, body[8:])
    resolution = options.get(_INTERFACE_RESOLUTION, bytes([_DEFAULT_RESOLUTION]))[0]
    return Interface(options.get(_INTERFACE_NAME, b"").decode(), link_type, resolution)


def _read_packet(order: str, body: bytes, interfaces: list[Interface]) -> Captured:
    interface_id, high, low, size, _ = struct.unpack_from(order + "IIIII", body)
    end = 20 + size
    if end > len(body):
        raise IndexError(end)
    options = _options(order, body[end + -size % 4 :])
    (flags,) = struct.unpack(order + "I", options.get(_PACKET_FLAGS, bytes(4)))
    seen_by = interfaces[interface_id]
    comment = options.get(_COMMENT, b"").decode()
    return Captured(seen_by, _nanoseconds(high << 32 | low, seen_by.resolution), body[20:end], flags, comment)


def _nanoseconds(ticks: int, resolution: int) -> int:
    """Turn a time stamp into nanoseconds; the resolution is a power of ten, or of two with its high bit set."""
    per_second = 1 << (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    return ticks * 1_000_000_000 // per_second


def _options(order: str, data: bytes) -> dict[int, bytes]:
    """Return a block's options by number; of a repeated one, the first."""
    options: dict[int, bytes] = {}
    at = 0
    while at < len(data):
        code, size = struct.unpack_from(order + "HH", data, at)
        if code == _END:
            break
        options.setdefault(code, data[at + 4 : at + 4 + size])
        at += 4 + size + -size % 4
    return options
