"""The box's clocks. The only place that reads them; everything else is told the time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final, Protocol

_KERNEL: Final = Path("/proc/sys/kernel/random/boot_id")
# systemd makes this file once a time server has been heard since power came.
_SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")


class Clock(Protocol):
    """Where time comes from. `kernel` names the run of the operating system."""

    kernel: str

    def now(self) -> tuple[int, int]:
        """Wall and monotonic time (ns)."""

    def synchronised(self) -> bool:
        """Whether the wall clock is known to be right."""


class BoxClock:
    """The operating system's clocks; monotonic time goes on while the computer sleeps."""

    def __init__(self) -> None:
        self.kernel = _KERNEL.read_text("ascii").strip() if _KERNEL.exists() else ""

    def now(self) -> tuple[int, int]:
        """Return wall and monotonic time (ns)."""
        return time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    def synchronised(self) -> bool:
        """Return whether a time server was heard since power came."""
        return _SYNCHRONISED.exists()
