"""The capture's file: cut anywhere, damaged, on a full disk, closed early, or not a capture at all."""

from __future__ import annotations

import errno
import io
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from devices.message_registry import all_messages
from devices.shuffler import messages as m
from firmware_bridge import frame as fr
from firmware_bridge.capture import CaptureFile, read_capture
from firmware_bridge.errors import BadCapture
from firmware_bridge.messages import encode
from tests.support.machines.bench import shuffler_bench
from tests.support.wire.captures import START_NS, captured_so_far, keep_in_memory, signed_with, tshark, virtual_ns


def small_capture() -> tuple[bytes, list[int]]:
    """Return a small file's bytes and its length after each packet."""
    file, capture = keep_in_memory()
    ports = [capture.port("shuffler.1"), capture.port("shuffler.2")]
    ends = []
    for number, message in enumerate([m.GetStatus(), m.StartCycle(1), m.Findings(1, b"abc", b"de"), m.Door(True)]):
        ports[number % 2](number < 2, signed_with(encode(message)), bytes(range(8)))
        ends.append(len(file.getvalue()))
    return file.getvalue(), ends


def test_a_file_cut_at_any_byte_is_read_up_to_the_last_whole_packet(tmp_path: Path) -> None:
    content, ends = small_capture()
    path = tmp_path / "cut.pcapng"
    path.write_bytes(content)
    whole = list(read_capture(path))
    assert [packet.slot for packet in whole] == ["shuffler.1", "shuffler.2"] * 2
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        assert list(read_capture(path)) == whole[: sum(end <= cut for end in ends)], cut


def test_tshark_reads_a_cut_file_up_to_the_last_whole_packet(tmp_path: Path) -> None:
    content, ends = small_capture()
    path = tmp_path / "cut.pcapng"
    for cut, packets in ((ends[0] + 1, 1), (ends[1] + 7, 2), (ends[2] + 30, 3), (ends[3] - 1, 3)):
        path.write_bytes(content[:cut])
        assert len(tshark(path, cut=True).splitlines()) == packets, cut
    path.write_bytes(content[: ends[1]])
    assert len(tshark(path).splitlines()) == 2


def test_each_packet_is_in_the_file_as_soon_as_it_passed(tmp_path: Path) -> None:
    path = tmp_path / "live.pcapng"
    with path.open("wb") as file:
        port = CaptureFile(file, all_messages()).port("shuffler.1")
        for number in range(1, 4):
            port(True, signed_with(encode(m.StartCycle(number))), bytes(8))
            assert len(list(read_capture(path))) == number


def test_slots_have_names_and_come_back_after_a_reconnect() -> None:
    file, capture = keep_in_memory()
    for slot in ("shuffler.1", "shuffler.2", "shuffler.1"):
        capture.port(slot)(True, signed_with(b"", fr.PING), bytes(8))
    assert [packet.interface.name for packet in captured_so_far(file)] == ["shuffler.1", "shuffler.2", "shuffler.1"]
    assert file.getvalue().count(b"shuffler.1") == 1


class FullDisk(io.BytesIO):
    """Accepts some bytes, then is full."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self.room:
            super().write(data[: self.room - self.tell()])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("room", [0, 10, 80, 150, 1500, 5000])
async def test_a_full_disk_ends_the_capture_and_not_the_link(seed: int, tmp_path: Path, room: int) -> None:
    file = FullDisk(room)
    capture = CaptureFile(file, all_messages(), virtual_ns)
    async with shuffler_bench(seed, capture=capture.port("shuffler.1")) as b:
        await b.driver.shuffle(b.next_id())
    assert isinstance(capture.error, OSError)
    assert capture.error.errno == errno.ENOSPC
    path = tmp_path / "full.pcapng"
    path.write_bytes(file.getvalue())
    assert len(file.getvalue()) == room
    assert len(list(read_capture(path))) == capture.packets


@pytest.mark.parametrize("buffering", [0, -1])
async def test_a_device_that_is_always_full_is_no_trouble(seed: int, buffering: int) -> None:
    capture = CaptureFile(Path("/dev/full").open("wb", buffering), all_messages(), virtual_ns)  # noqa: ASYNC230, SIM115
    async with shuffler_bench(seed, capture=capture.port("shuffler.1")) as b:
        assert (await b.driver.status()).state is m.State.IDLE
    capture.close()
    assert isinstance(capture.error, OSError)
    assert (capture.error.errno, capture.packets) == (errno.ENOSPC, 0)


def test_a_short_write_ends_the_capture() -> None:
    class Short(io.BytesIO):
        def write(self, data: Any) -> int:
            return super().write(data[:-1])

    capture = CaptureFile(Short(), all_messages())
    capture.port("shuffler.1")(True, signed_with(b""), b"")
    assert isinstance(capture.error, OSError)


def test_no_capture_error_reaches_the_link() -> None:
    def broken_clock() -> int:
        raise ZeroDivisionError

    capture = CaptureFile(io.BytesIO(), all_messages(), broken_clock)
    capture.port("shuffler.1")(True, signed_with(b""), b"")
    assert isinstance(capture.error, ZeroDivisionError)


def test_a_capture_ends_at_its_limit() -> None:
    file = io.BytesIO()
    capture = CaptureFile(file, all_messages(), lambda: START_NS, limit=1000)
    port = capture.port("shuffler.1")
    for _ in range(50):
        port(True, signed_with(b"", fr.PING), bytes(8))
    assert isinstance(capture.error, OSError)
    assert capture.error.errno == errno.EFBIG
    assert len(file.getvalue()) <= 1000
    assert len(captured_so_far(file)) == capture.packets > 5


def test_a_closed_capture_takes_no_more_and_is_no_error() -> None:
    file, capture = keep_in_memory()
    port = capture.port("shuffler.1")
    capture.close()
    capture.close()
    port(True, signed_with(b""), b"")
    assert (capture.error, capture.packets, file.closed) == (None, 0, True)


@pytest.mark.parametrize(
    "content",
    [
        b"\xd4\xc3\xb2\xa1 an older format of the same tool",
        b"#!/bin/sh\n",
        b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00 no byte order here",
    ],
)
def test_a_file_that_is_no_capture_is_an_error_with_a_code(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(content)
    with pytest.raises(BadCapture, match=r"other\.bin") as bad:
        list(read_capture(path))
    assert bad.value.code == "PB-616"


def test_a_missing_file_is_an_error_with_a_code(tmp_path: Path) -> None:
    with pytest.raises(BadCapture, match="No such file"):
        list(read_capture(tmp_path / "none.pcapng"))


def test_damage_in_the_middle_never_passes_for_an_end_nor_crashes(tmp_path: Path) -> None:
    content, ends = small_capture()
    path = tmp_path / "damaged.pcapng"
    path.write_bytes(content[: ends[0] + 4] + b"\x07" + content[ends[0] + 5 :])
    packets = read_capture(path)
    next(packets)
    with pytest.raises(BadCapture, match=f"damaged at byte {ends[0]}"):
        next(packets)
    for at in range(len(content)):
        for value in (0x00, 0x01, 0x7F, 0xFF):
            path.write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
            with suppress(BadCapture):
                list(read_capture(path))


def test_other_byte_order_other_clock_and_other_links_are_read(tmp_path: Path) -> None:
    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack(">I", len(body) + 12)
        return struct.pack(">I", kind) + length + body + length

    ping = bytes([1, 1, 0, 0]) + fr.pack_header(0, fr.PING, 0, 0, fr.NO_RE, 0)
    path = tmp_path / "merged.pcapng"
    path.write_bytes(
        block(0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1))
        + block(1, struct.pack(">HHI", 1, 0, 0))  # Ethernet
        + block(1, struct.pack(">HHI", 147, 0, 0) + struct.pack(">HH4s", 2, 4, b"shoe"))
        + block(5, bytes(12))  # statistics
        + block(6, struct.pack(">IIIII", 0, 0, 5, 4, 4) + b"cafe")
        + block(6, struct.pack(">IIIII", 1, 1, 2, len(ping), len(ping)) + ping)
    )
    (packet,) = read_capture(path)
    assert (packet.slot, packet.outgoing, packet.frame.type) == ("shoe", True, fr.PING)
    assert packet.time_ns == ((1 << 32) + 2) * 1000
