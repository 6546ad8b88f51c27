"""Whether the clock is trusted: by the kernel's flag under any time service, or by systemd's file."""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING

import pytest

from table_controller.controller.clock import STA_UNSYNC, BoxClock, KernelClock, read_kernel_clock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kept", [True, False, None])
@pytest.mark.parametrize("file", [True, False])
def test_a_clock_is_trusted_if_the_kernel_or_systemd_has_reached_a_time_server(
    tmp_path: Path, kept: bool | None, file: bool
) -> None:
    """A box under chrony has no systemd file, only the kernel's flag."""
    received = tmp_path / "synchronized"
    if file:
        received.touch()
    reported = None if kept is None else KernelClock(is_synchronized=kept, max_error_us=1_000)
    assert BoxClock(read_clock=lambda: reported, synchronized_file=received).is_clock_synchronized() is (
        bool(kept) or file
    )


def test_the_kernel_is_asked_and_its_clock_is_left_alone() -> None:
    """A second reader finds the same bytes at the manual's offsets, through libc's other function."""
    reported = read_kernel_clock()
    room = ctypes.create_string_buffer(512)
    state = ctypes.CDLL(None).ntp_adjtime(room)
    if state < 0:
        assert reported is None
        return
    assert reported is not None
    word = struct.calcsize("l")
    (status,) = struct.unpack_from("i", room.raw, 5 * word)
    assert reported.is_synchronized is (state != 5 and not status & STA_UNSYNC)
    assert reported.max_error_us >= 0
    again = read_kernel_clock()
    assert again is not None
    assert again.is_synchronized is reported.is_synchronized
