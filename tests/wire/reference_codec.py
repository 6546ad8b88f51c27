"""A second implementation of the wire, written from docs/protocol.md. It imports nothing of pitbox, on purpose.

Slow and simple: it exists to disagree with our code when our code is wrong, so it shares none of it. It includes
BLAKE2s (RFC 7693), because a firmware engineer has no hashlib.
"""

from __future__ import annotations

from typing import Any, Final

# --- msgpack: only the shapes that the protocol uses, each in its shortest form ----------------------------------


def pack(value: Any) -> bytes:
    """Return one value as msgpack."""
    if value is None:
        return b"\xc0"
    if value is True:
        return b"\xc3"
    if value is False:
        return b"\xc2"
    if isinstance(value, int):
        return _pack_int(value)
    if isinstance(value, str):
        text = value.encode("utf-8")
        return (bytes([0xA0 + len(text)]) if len(text) < 32 else bytes([0xD9, len(text)])) + text
    if isinstance(value, bytes):
        return bytes([0xC4, len(value)]) + value
    assert isinstance(value, list), value
    start = bytes([0x90 + len(value)]) if len(value) < 16 else b"\xdc" + len(value).to_bytes(2, "big")
    return start + b"".join(pack(item) for item in value)


def _pack_int(value: int) -> bytes:
    assert value >= 0, "nothing on this wire is negative"
    if value < 0x80:
        return bytes([value])
    for mark, size in ((0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
        if value < 1 << (8 * size):
            return bytes([mark]) + value.to_bytes(size, "big")
    raise AssertionError(value)


# --- CRC-16/CCITT-FALSE --------------------------------------------------------------------------------------------


def crc16(data: bytes) -> bytes:
    """Polynomial 0x1021, start 0xFFFF, highest bit first, nothing inverted; two bytes, high byte first."""
    register = 0xFFFF
    for byte in data:
        for bit in range(7, -1, -1):
            carry = (register >> 15) ^ (byte >> bit & 1)
            register = (register << 1 & 0xFFFF) ^ (0x1021 if carry else 0)
    return register.to_bytes(2, "big")


# --- COBS ----------------------------------------------------------------------------------------------------------


def stuff(data: bytes) -> bytes:
    """Replace zeros by distances, one byte at a time."""
    out, block = bytearray(), bytearray()
    for byte in data:
        if byte:
            block.append(byte)
            if len(block) == 254:
                out += b"\xff" + block
                block.clear()
        else:
            out += bytes([len(block) + 1]) + block
            block.clear()
    return bytes(out + bytes([len(block) + 1]) + block)


def unstuff(data: bytes) -> bytes:
    """Undo `stuff`."""
    out, at = bytearray(), 0
    while at < len(data):
        code = data[at]
        out += data[at + 1 : at + code]
        at += code
        if code < 0xFF and at < len(data):
            out.append(0)
    return bytes(out)


# --- BLAKE2s (RFC 7693) with the parameter block spelled out -------------------------------------------------------

_IV: Final = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)  # fmt: skip
_SIGMA: Final = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)
_MIXES: Final = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
_WORD: Final = 0xFFFFFFFF


def blake2s(data: bytes, *, key: bytes = b"", person: bytes = b"", size: int = 32) -> bytes:
    """BLAKE2s of `data`; the parameter block is size, key length, fan-out 1, depth 1, zeros, person in the last 8."""
    block = bytes([size, len(key), 1, 1]) + bytes(20) + person.ljust(8, b"\0")
    h = [iv ^ int.from_bytes(block[4 * i : 4 * i + 4], "little") for i, iv in enumerate(_IV)]
    whole = (key.ljust(64, b"\0") if key else b"") + data
    length = len(whole)
    whole = whole.ljust(max(64, -(-length // 64) * 64), b"\0")
    for start in range(0, len(whole), 64):
        last = start + 64 >= len(whole)
        _compress(h, whole[start : start + 64], length if last else start + 64, last=last)
    return b"".join(word.to_bytes(4, "little") for word in h)[:size]


def _compress(h: list[int], chunk: bytes, counted: int, *, last: bool) -> None:
    words = [int.from_bytes(chunk[4 * i : 4 * i + 4], "little") for i in range(16)]
    v = [*h, *_IV]
    v[12] ^= counted & _WORD
    v[13] ^= counted >> 32
    if last:
        v[14] ^= _WORD
    for sigma in _SIGMA:
        for i, (a, b, c, d) in enumerate(_MIXES):
            v[a] = (v[a] + v[b] + words[sigma[2 * i]]) & _WORD
            v[d] = _turn(v[d] ^ v[a], 16)
            v[c] = (v[c] + v[d]) & _WORD
            v[b] = _turn(v[b] ^ v[c], 12)
            v[a] = (v[a] + v[b] + words[sigma[2 * i + 1]]) & _WORD
            v[d] = _turn(v[d] ^ v[a], 8)
            v[c] = (v[c] + v[d]) & _WORD
            v[b] = _turn(v[b] ^ v[c], 7)
    for i in range(8):
        h[i] ^= v[i] ^ v[i + 8]


def _turn(word: int, by: int) -> int:
    return (word >> by | word << (32 - by)) & _WORD


# --- the frame and the handshake -----------------------------------------------------------------------------------


def header(flags: int, kind: int, seq: int, ack: int, re: int, counter: int) -> bytes:
    """Version 1 and the flags share the first byte; all numbers high byte first."""
    fields = ((0x10 | flags, 1), (kind, 1), (seq, 2), (ack, 2), (re, 2), (counter, 4))
    return b"".join(number.to_bytes(size, "big") for number, size in fields)


def mac(session_key: bytes, signed: bytes) -> bytes:
    """The seal over header and payload."""
    return blake2s(signed, key=session_key, size=8)


def wire(signed: bytes, seal: bytes = b"") -> bytes:
    """A whole frame with its delimiter."""
    body = signed + seal
    return stuff(body + crc16(body)) + b"\0"


def transcript(host_hello: bytes, device_hello: bytes) -> bytes:
    """Both hellos' payloads, the first one's length before them."""
    return blake2s(len(host_hello).to_bytes(2, "big") + host_hello + device_hello)
