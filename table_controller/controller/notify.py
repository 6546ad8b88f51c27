"""What systemd wants to hear of a service: that it is ready, alive, stopping. Its own protocol, without a library.

Without NOTIFY_SOCKET nobody listens, and nothing is sent.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Notifier:
    """Tells systemd. `watchdog` pings from the event loop: a loop that stands still is a box that must be restarted."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        env = os.environ if environment is None else environment
        self._address = env.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            self._address = "\0" + self._address[1:]
        ours = env.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._limit = int(env.get("WATCHDOG_USEC", "0")) / 1e6 if ours else 0.0

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
