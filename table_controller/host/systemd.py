"""Notifies systemd that the service is ready, alive or stopping (sd_notify protocol).

Without NOTIFY_SOCKET nothing is sent.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# While a start reads a long journal, it asks systemd for this much more time (s), this often (s): systemd ends a start
# only if it hangs.
EXTEND_BY_S: Final = 60.0
EXTEND_EVERY_S: Final = 5.0


class SystemdNotifier:
    """Sends notifications to systemd. `watchdog` sends from the event loop: systemd restarts a box whose loop hangs."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        env = os.environ if environment is None else environment
        self._address = env.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            self._address = "\0" + self._address[1:]
        ours = env.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._limit = int(env.get("WATCHDOG_USEC", "0")) / 1e6 if ours else 0.0
        self._ask_at = 0.0

    def send(self, *words: str) -> None:
        """Send assignments such as READY=1; ignore a systemd that does not receive them."""
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as sender:
            try:
                sender.connect(self._address)
                sender.send("\n".join(words).encode())
            except OSError:
                return

    def extend_start(self, record: int) -> None:
        """Ask for more time, at intervals, while the start reads the journal."""
        if self._address and (now := time.monotonic()) >= self._ask_at:
            self._ask_at = now + EXTEND_EVERY_S
            self.send(f"EXTEND_TIMEOUT_USEC={EXTEND_BY_S * 1e6:.0f}", f"STATUS=reading the journal: record {record}")

    def ready(self, status: str) -> None:
        """Report that the box runs, or is locked."""
        self.send("READY=1", f"STATUS={status}")

    def stopping(self) -> None:
        """Report that the box stops."""
        self.send("STOPPING=1", "STATUS=stopping")

    async def watchdog(self) -> None:
        """Report that the event loop is alive, twice in every limit; return at once if systemd sets no limit."""
        while self._limit:
            self.send("WATCHDOG=1")
            await asyncio.sleep(self._limit / 2)
