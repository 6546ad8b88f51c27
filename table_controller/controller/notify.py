"""What systemd wants to hear of a service: that it is ready, alive, stopping. Its own protocol, without a library.

Without NOTIFY_SOCKET nobody listens, and nothing is sent.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# While a long journal is read, systemd is asked for so much more time (s), once in so long (s): a start that goes on is
# not ended in the middle, and one that stands still is.
MORE_TIME: Final = 60.0
ASK_EVERY: Final = 5.0


class Notifier:
    """Tells systemd. `watchdog` pings from the event loop: a loop that stands still is a box that must be restarted."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        env = os.environ if environment is None else environment
        self._address = env.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            self._address = "\0" + self._address[1:]
        ours = env.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._limit = int(env.get("WATCHDOG_USEC", "0")) / 1e6 if ours else 0.0
        self._ask_at = 0.0

    def tell(self, *words: str) -> None:
        """Send words such as READY=1; a systemd that does not listen is no reason to stop."""
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as sender:
            try:
                sender.connect(self._address)
                sender.send("\n".join(words).encode())
            except OSError:
                return

    def reading(self, record: int) -> None:
        """A record of the journal was read at the start: ask for more time, now and then."""
        if self._address and (now := time.monotonic()) >= self._ask_at:
            self._ask_at = now + ASK_EVERY
            self.tell(f"EXTEND_TIMEOUT_USEC={MORE_TIME * 1e6:.0f}", f"STATUS=reading the journal: record {record}")

    def ready(self, status: str) -> None:
        """The box runs, or is locked and says so."""
        self.tell("READY=1", f"STATUS={status}")

    def stopping(self) -> None:
        """The box ends in order."""
        self.tell("STOPPING=1", "STATUS=stopping")

    async def watchdog(self) -> None:
        """Say that the loop is alive, twice in every limit; returns at once where nobody watches."""
        while self._limit:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(self._limit / 2)
