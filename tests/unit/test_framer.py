"""The framer against hostile streams: it never raises, never grows, resynchronizes and counts every byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import cobs
from firmware_bridge import frame as fr
from firmware_bridge.framer import Framer
from firmware_bridge.seal import Sealer

KEY = bytes(32)


def wire_of(n: int, payload: bytes = b"\x92d\x01", *, sealed: bool = True) -> bytes:
    """Return one valid frame with sequence number n."""
    if not sealed:
        return fr.to_wire(fr.pack_header(0, fr.HANDSHAKE, n, 0, fr.NO_RE, 0) + payload)
    return fr.to_wire(*Sealer(KEY).seal(0, fr.EVENT, n, fr.FIRST_SEQ, fr.NO_RE, payload))


def accounts_balance(framer: Framer) -> bool:
    """Every byte that came in is framed, dropped or waiting."""
    c = framer.counters
    return c.bytes_in == c.bytes_framed + c.bytes_dropped + framer.buffered


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    """Cut into chunks of these sizes, over and over."""
    chunks, at, turn = [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        chunks.append(data[at : at + size])
        at, turn = at + size, turn + 1
    return chunks


sizes = st.lists(st.integers(1, 700), min_size=1, max_size=8)
noise = st.binary(max_size=1500)
no_delimiter = st.binary(max_size=1500).map(lambda data: data.replace(b"\0", b"\x01"))


@given(st.lists(noise, max_size=12))
def test_arbitrary_bytes_in_arbitrary_chunks_never_raise_never_grow_and_are_all_accounted_for(
    chunks: list[bytes],
) -> None:
    framer = Framer()
    for chunk in chunks:
        framer.feed(chunk)
        assert framer.buffered < fr.MAX_WIRE
        assert accounts_balance(framer)
    assert framer.counters.bytes_in == sum(map(len, chunks))


@given(st.lists(st.tuples(no_delimiter, st.binary(max_size=fr.MAX_PAYLOAD)), min_size=1, max_size=6), sizes)
def test_after_noise_every_frame_after_a_delimiter_is_found_in_any_chunks(
    parts: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(junk + b"\0" + wire_of(n, payload) for n, (junk, payload) in enumerate(parts, 1))
    framer = Framer()
    frames = [frame for chunk in cut(stream, cuts) for frame in framer.feed(chunk)]
    assert [(f.seq, f.payload) for f in frames] == [(n, payload) for n, (_, payload) in enumerate(parts, 1)]
    assert framer.counters.frames == len(parts)
    assert accounts_balance(framer)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), sizes)
def test_the_chunks_change_neither_frames_nor_counters(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"noise\0".join(wire_of(n, payload) for n, payload in enumerate(payloads)) + b"rest"
    whole, pieces = Framer(), Framer()
    at_once = whole.feed(stream)
    in_pieces = [frame for chunk in cut(stream, cuts) for frame in pieces.feed(chunk)]
    assert in_pieces == at_once
    assert pieces.counters == whole.counters
    assert pieces.buffered == whole.buffered == 4


def test_noise_spoils_only_the_frame_it_touches() -> None:
    framer = Framer()
    frames = framer.feed(b"\x55\x55" + wire_of(1) + wire_of(2) + b"\xff\x00" + wire_of(3))
    assert [f.seq for f in frames] == [2, 3]


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("payload", [b"", b"\x92d\x01", bytes(40), bytes(range(256)), b"\x07" * fr.MAX_PAYLOAD])
def test_every_single_bit_flip_is_refused_and_counted(payload: bytes, sealed: bool) -> None:
    good = wire_of(7, payload, sealed=sealed)
    for bit in range(8 * len(good)):
        broken = bytearray(good)
        broken[bit // 8] ^= 1 << bit % 8
        framer = Framer()
        assert framer.feed(bytes(broken)) == [], f"bit {bit}"
        c = framer.counters
        assert framer.buffered or c.bad_crc + c.bad_stuffing + c.bad_header + c.too_long, f"bit {bit}"
        assert accounts_balance(framer)
        # The flip costs at most one more frame: the one joined to it by a lost delimiter.
        assert [f.seq for f in framer.feed(wire_of(8) + wire_of(9))][-1] == 9, f"bit {bit}"


@pytest.mark.parametrize("first", [0x00, 0x20, 0xF1, 0x14, 0x18, 0x1F], ids=lambda first: f"first byte {first:#04x}")
def test_another_version_or_an_unknown_flag_is_counted_and_dropped(first: int) -> None:
    framer = Framer()
    assert framer.feed(fr.to_wire(bytes([first]) + fr.pack_header(0, fr.ACK, 0, 0, 0, 0)[1:] + bytes(8))) == []
    assert framer.counters.bad_header == 1


@pytest.mark.parametrize("type_", [0, 7, 255])
def test_an_unknown_type_is_counted_and_dropped(type_: int) -> None:
    framer = Framer()
    assert framer.feed(fr.to_wire(fr.pack_header(0, type_, 0, 0, 0, 0))) == []
    assert framer.counters.bad_header == 1


def test_a_sealed_frame_without_room_for_its_mac_is_counted_and_dropped() -> None:
    framer = Framer()
    assert framer.feed(fr.to_wire(fr.pack_header(fr.SEALED, fr.ACK, 0, 0, 0, 0) + bytes(fr.MAC_SIZE - 1))) == []
    assert framer.counters.bad_header == 1


@pytest.mark.parametrize("length", range(fr.HEADER_SIZE + fr.CRC_SIZE))
def test_a_body_shorter_than_a_header_is_dropped(length: int) -> None:
    framer = Framer()
    assert framer.feed(cobs.encode(bytes(length)) + b"\0") == []
    assert framer.counters.bytes_dropped == framer.counters.bytes_in
    assert framer.counters.frames == 0


@pytest.mark.parametrize("payload", [b"\x07" * fr.MAX_PAYLOAD, bytes(fr.MAX_PAYLOAD)])
@pytest.mark.parametrize("chunk", [1, 100, 10_000])
def test_the_longest_frame_passes(payload: bytes, chunk: int) -> None:
    framer = Framer()
    assert [f.payload for c in cut(wire_of(1, payload), [chunk]) for f in framer.feed(c)] == [payload]


@pytest.mark.parametrize("chunk", [1, 100, fr.MAX_WIRE, 100_000])
def test_an_overlong_frame_is_dropped_as_one_and_the_next_one_is_found(chunk: int) -> None:
    framer = Framer()
    stream = b"\x07" * 5000 + b"\0" + wire_of(1)
    results = []
    for piece in cut(stream, [chunk]):
        results += framer.feed(piece)
        assert framer.buffered < fr.MAX_WIRE
    assert [f.seq for f in results] == [1]
    assert framer.counters.too_long == 1
    assert framer.counters.bad_crc == framer.counters.bad_stuffing == 0
    assert accounts_balance(framer)


def test_the_tail_of_an_overlong_frame_is_never_taken_for_a_frame() -> None:
    framer = Framer()
    framer.feed(b"\x07" * fr.MAX_WIRE)
    assert framer.feed(wire_of(1)) == []  # it was joined to the noise
    assert [f.seq for f in framer.feed(wire_of(2))] == [2]


def test_idle_delimiters_are_no_fault() -> None:
    framer = Framer()
    assert [f.seq for f in framer.feed(b"\0\0\0" + wire_of(1) + b"\0")] == [1]
    c = framer.counters
    assert c.bad_crc + c.bad_stuffing + c.bad_header + c.too_long == 0
    assert (c.bytes_dropped, framer.buffered) == (4, 0)
