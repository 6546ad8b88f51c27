"""One frame: header, payload, MAC and CRC, and their bytes on the wire.

0        1     2..3  4..5  6..7  8..11    12..n    8 bytes        2 bytes
version  type  seq   ack   re    counter  payload  MAC if sealed  CRC-16     all big-endian, then COBS, then 0x00
| flags
"""

from __future__ import annotations

import struct
from binascii import crc_hqx
from typing import Final

import msgspec

from firmware_bridge import cobs
from firmware_bridge.cobs import LENGTH, MAX_BLOCK

VERSION: Final = 1

# Types. REQUEST, REPLY and EVENT are sequenced: acknowledged, retransmitted, delivered once and in order.
HANDSHAKE: Final = 1
REQUEST: Final = 2
REPLY: Final = 3
EVENT: Final = 4
ACK: Final = 5
PING: Final = 6
TYPE_NAMES: Final = {1: "HANDSHAKE", 2: "REQUEST", 3: "REPLY", 4: "EVENT", 5: "ACK", 6: "PING"}

# Flags, in the low half of the first byte.
SEALED: Final = 1
RETRANSMIT: Final = 2

# First sequence number, first counter, and the value of `re` in a frame that is no reply. None has a zero byte, which
# keeps the byte stuffing short.
FIRST_SEQ: Final = 0x0101
FIRST_COUNTER: Final = 0x0101_0101
NO_RE: Final = 0xFFFF

HEADER: Final = struct.Struct(">BBHHHI")
HEADER_SIZE: Final = HEADER.size
MAC_SIZE: Final = 8
CRC_SIZE: Final = 2
# Large enough for a hello or a report, small enough for a microcontroller's receive buffer.
MAX_PAYLOAD: Final = 512
MAX_BODY: Final = HEADER_SIZE + MAX_PAYLOAD + MAC_SIZE + CRC_SIZE
MAX_WIRE: Final = MAX_BODY + MAX_BODY // 254 + 2  # stuffing, then the delimiter

_FIRST: Final = VERSION << 4
_FIRST_BYTES: Final = frozenset(_FIRST | flags for flags in range((SEALED | RETRANSMIT) + 1))
_pack: Final = HEADER.pack
_unpack: Final = HEADER.unpack_from
_pack_crc: Final = struct.Struct(">H").pack


class Frame(msgspec.Struct, frozen=True, gc=False):
    """A parsed frame. `signed` is header and payload, which the MAC covers; `mac` is empty if not sealed."""

    flags: int
    type: int
    seq: int
    ack: int
    re: int
    counter: int
    payload: bytes
    signed: bytes
    mac: bytes


def pack_header(flags: int, type: int, seq: int, ack: int, re: int, counter: int) -> bytes:  # noqa: A002 - the field's name
    """Return the header's bytes."""
    return _pack(_FIRST | flags, type, seq, ack, re, counter)


def to_wire(signed: bytes, mac: bytes = b"") -> bytes:
    """Return the bytes on the wire of a frame, from header + payload and the MAC."""
    body = signed + mac
    body += _pack_crc(crc_hqx(body, 0xFFFF))
    if 0 in body or len(body) > MAX_BLOCK:
        return cobs.encode(body) + b"\0"
    return LENGTH[len(body) + 1] + body + b"\0"  # most frames: one block


def is_crc_valid(body: bytes) -> bool:
    """Return whether the last two bytes of an unstuffed body are its CRC."""
    # Run over its own remainder, this CRC gives zero.
    return len(body) >= HEADER_SIZE + CRC_SIZE and not crc_hqx(body, 0xFFFF)


def parse(body: bytes) -> Frame | None:
    """Return the frame in a body whose CRC fits, or None if it is not a frame of this version."""
    first, type_, seq, ack, re, counter = _unpack(body)
    if first not in _FIRST_BYTES or type_ not in TYPE_NAMES:
        return None
    flags = first - _FIRST
    end = len(body) - CRC_SIZE
    if not flags & SEALED:
        return Frame(flags, type_, seq, ack, re, counter, body[HEADER_SIZE:end], body[:end], b"")
    split = end - MAC_SIZE
    if split < HEADER_SIZE:
        return None
    return Frame(flags, type_, seq, ack, re, counter, body[HEADER_SIZE:split], body[:split], body[split:end])
