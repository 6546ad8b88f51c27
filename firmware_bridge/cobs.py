"""Consistent Overhead Byte Stuffing: bytes without a zero, so that zero can delimit. No framing here."""

from __future__ import annotations

# A block's length byte counts itself; 0xFF means 254 bytes that are *not* followed by an implied zero.
_FULL = 254
_LENGTH = [bytes([n]) for n in range(256)]


def encode(data: bytes) -> bytes:
    """Return `data` stuffed: no zero byte inside, no delimiter appended."""
    parts = data.split(b"\0")
    if len(data) < _FULL:
        return b"".join([_LENGTH[len(part) + 1] + part for part in parts])
    out = bytearray()
    for part in parts:
        start = 0
        while len(part) - start >= _FULL:
            out += b"\xff" + part[start : start + _FULL]
            start += _FULL
        out += _LENGTH[len(part) - start + 1] + part[start:]
    return bytes(out)


def decode(stuffed: bytes) -> bytes | None:
    """Return the bytes that were stuffed, or None if `stuffed` (without its delimiter) is not whole."""
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
