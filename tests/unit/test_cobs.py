"""Stuffing: no zero inside, nothing lost, and a bounded overhead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import cobs

# Runs around 254, where a block is full and no zero is implied, are where stuffing goes wrong.
blocks = st.lists(
    st.one_of(st.binary(max_size=20), st.integers(250, 260).map(lambda n: b"\x07" * n), st.integers(1, 5).map(bytes)),
    max_size=6,
).map(b"".join)

# From Cheshire and Baker's paper and Wikipedia's table: written down here, not computed.
KNOWN = [
    ("00", "0101"),
    ("0000", "010101"),
    ("001100", "01021101"),
    ("11220033", "0311220233"),
    ("11223344", "0511223344"),
    ("11000000", "0211010101"),
]


@given(blocks)
def test_what_is_stuffed_comes_back_without_a_zero_on_the_way(data: bytes) -> None:
    stuffed = cobs.encode(data)
    assert 0 not in stuffed
    assert cobs.decode(stuffed) == data


@given(blocks)
def test_stuffing_costs_one_byte_and_one_more_per_254(data: bytes) -> None:
    assert len(data) + 1 <= len(cobs.encode(data)) <= len(data) + 1 + len(data) // 254


@pytest.mark.parametrize(("plain", "stuffed"), KNOWN)
def test_known_bytes_are_stuffed_as_everybody_else_stuffs_them(plain: str, stuffed: str) -> None:
    assert cobs.encode(bytes.fromhex(plain)).hex() == stuffed
    assert cobs.decode(bytes.fromhex(stuffed)) == bytes.fromhex(plain)


@pytest.mark.parametrize("length", [253, 254, 255, 507, 508, 509])
def test_full_blocks_imply_no_zero(length: int) -> None:
    data = bytes(1 + i % 255 for i in range(length))
    assert cobs.decode(cobs.encode(data)) == data
    assert cobs.decode(cobs.encode(data + b"\0")) == data + b"\0"
    assert cobs.decode(cobs.encode(b"\0" + data)) == b"\0" + data


def test_another_implementations_full_last_block_is_understood_too() -> None:
    assert cobs.decode(b"\xff" + b"\x01" * 254) == b"\x01" * 254  # we would append an empty block


@given(st.binary(max_size=600))
def test_any_bytes_are_unstuffed_or_refused_and_never_grow(stuffed: bytes) -> None:
    plain = cobs.decode(stuffed)
    assert plain is None or len(plain) <= len(stuffed)


@given(blocks.filter(bool), st.data())
def test_a_torn_end_is_refused_or_shorter(data: bytes, draw: st.DataObject) -> None:
    stuffed = cobs.encode(data)
    cut = draw.draw(st.integers(0, len(stuffed) - 1))
    plain = cobs.decode(stuffed[:cut])
    assert plain is None or (len(plain) < len(data) and data.startswith(plain))


def test_a_zero_inside_is_refused() -> None:
    assert cobs.decode(b"\x02\x11\x00\x01") is None
