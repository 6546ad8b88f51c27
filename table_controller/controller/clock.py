"""The clocks of the box. Only this module reads them."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_KERNEL: Final = Path("/proc/sys/kernel/random/boot_id")
# systemd-timesyncd creates this file after the first contact with a time server since the boot.
_SYNCHRONIZED: Final = Path("/run/systemd/timesync/synchronized")
# Status flag of adjtimex(2): set until the clock is synchronized, and again when the error may have grown to 16 s.
# timesyncd, chrony and ntpd clear it.
STA_UNSYNC: Final = 0x0040
_TIME_ERROR: Final = 5


class _Timex(ctypes.Structure):
    """The first fields of `struct timex` of the kernel, and room for the others."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


class KernelClock:
    """The state of the kernel clock: synchronized or not, and its largest error (microseconds)."""

    def __init__(self, *, is_synchronized: bool, max_error_us: int) -> None:
        self.is_synchronized = is_synchronized
        self.max_error_us = max_error_us


def read_kernel_clock() -> KernelClock | None:
    """Return the state of the kernel clock; None if the system does not report it."""
    timex = _Timex()  # modes 0: read only
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    except (AttributeError, OSError):
        return None
    if state < 0:
        return None
    kept = state != _TIME_ERROR and not timex.status & STA_UNSYNC
    return KernelClock(is_synchronized=kept, max_error_us=int(timex.maxerror))


class Clock(Protocol):
    """Source of time. `kernel` names the boot of the operating system."""

    kernel: str

    def now(self) -> tuple[int, int]:
        """Return wall and monotonic time (ns)."""

    def is_clock_synchronized(self) -> bool:
        """Return whether the wall clock is synchronized."""


class BoxClock:
    """The clocks of the operating system; monotonic time includes the time that the computer sleeps."""

    def __init__(
        self,
        *,
        read_clock: Callable[[], KernelClock | None] = read_kernel_clock,
        synchronized_file: Path = _SYNCHRONIZED,
    ) -> None:
        """`read_clock` reads the kernel clock; `synchronized_file` is the file that systemd-timesyncd creates."""
        self.kernel = _KERNEL.read_text("ascii").strip() if _KERNEL.exists() else ""
        self._read_clock = read_clock
        self._synchronized_file = synchronized_file

    def now(self) -> tuple[int, int]:
        """Return wall and monotonic time (ns)."""
        return time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def is_clock_synchronized(self) -> bool:
        """Return whether the clock was synchronized since the boot, by the kernel or by systemd-timesyncd."""
        kernel = self._read_clock()
        return (kernel is not None and kernel.is_synchronized) or self._synchronized_file.exists()
