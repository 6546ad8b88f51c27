"""The box's clocks. The only place that reads them; everything else is told the time."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_KERNEL: Final = Path("/proc/sys/kernel/random/boot_id")
# systemd makes this file once a time server has been heard since power came.
_SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")
# The kernel's own word, whoever keeps its clock (adjtimex(2)): set until a time server was heard, and again when none
# was heard for so long that the clock may be wrong by 16 s. chrony and ntpd clear it, too.
STA_UNSYNC: Final = 0x0040
_TIME_ERROR: Final = 5


class _Timex(ctypes.Structure):
    """`struct timex` of the kernel, as far as it is read; the rest is room that it may write to."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


class Discipline:
    """What the kernel says of its clock: kept by a time server or not, and how wrong it may be (microseconds)."""

    def __init__(self, *, kept: bool, at_most_us: int) -> None:
        self.kept = kept
        self.at_most_us = at_most_us


def discipline() -> Discipline | None:
    """Ask the kernel, changing nothing; None where there is no such question."""
    found = _Timex()  # modes 0: only read
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(found))
    except (AttributeError, OSError):
        return None
    if state < 0:
        return None
    kept = state != _TIME_ERROR and not found.status & STA_UNSYNC
    return Discipline(kept=kept, at_most_us=int(found.maxerror))


class Clock(Protocol):
    """Where time comes from. `kernel` names the run of the operating system."""

    kernel: str

    def now(self) -> tuple[int, int]:
        """Wall and monotonic time (ns)."""

    def synchronised(self) -> bool:
        """Whether the wall clock is known to be right."""


class BoxClock:
    """The operating system's clocks; monotonic time goes on while the computer sleeps."""

    def __init__(self, *, ask: Callable[[], Discipline | None] = discipline, heard: Path = _SYNCHRONISED) -> None:
        """`ask` the kernel; `heard` is there once systemd's own client has heard a time server."""
        self.kernel = _KERNEL.read_text("ascii").strip() if _KERNEL.exists() else ""
        self._ask = ask
        self._heard = heard

    def now(self) -> tuple[int, int]:
        """Return wall and monotonic time (ns)."""
        return time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def synchronised(self) -> bool:
        """Return whether a time server was heard since power came, by the kernel's word or by systemd's."""
        told = self._ask()
        return (told is not None and told.kept) or self._heard.exists()
