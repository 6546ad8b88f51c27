"""Consistent Overhead Byte Stuffing (COBS): removes zero bytes from data, so that a zero byte can delimit frames."""

from __future__ import annotations

from typing import Final

# A block's length byte counts itself; 0xFF means 254 bytes that are *not* followed by an implied zero.
_FULL: Final = 254
LENGTH: Final = tuple(bytes([n]) for n in range(256))
# Up to this many bytes without a zero are one block: a length byte, then the bytes.
MAX_BLOCK: Final = _FULL - 1


def encode(data: bytes) -> bytes:
    """Return `data` stuffed, without a zero byte and without a delimiter."""
    if len(data) <= MAX_BLOCK:
        return b"".join([LENGTH[len(part) + 1] + part for part in data.split(b"\0")])
    out = bytearray()
    for part in data.split(b"\0"):
        start = 0
        while len(part) - start >= _FULL:
            out += b"\xff" + part[start : start + _FULL]
            start += _FULL
        out += LENGTH[len(part) - start + 1] + part[start:]
    return bytes(out)


def decode(stuffed: bytes) -> bytes | None:
    """Return the original bytes, or None if `stuffed` (without its delimiter) is malformed."""
    end = len(stuffed)
    if end > MAX_BLOCK + 1:
        return _decode_long(stuffed)
    if end and stuffed[0] == end:  # one block
        return stuffed[1:]
    out = bytearray(stuffed)
    at = 0
    while at < end:  # each length byte but the first replaces a zero
        length = out[at]
        if not length:
            return None
        out[at] = 0
        at += length
    return bytes(out)[1:] if at == end else None


def _decode_long(stuffed: bytes) -> bytes | None:
    out: list[bytes] = []
    at, end = 0, len(stuffed)
    while at < end:
        length = stuffed[at]
        stop = at + length
        if length == 0 or stop > end:
            return None
        out.append(stuffed[at + 1 : stop])
        at = stop
        if length != 255 and at < end:
            out.append(b"\0")
    return b"".join(out)
