"""Frames over a transport: sends and receives whole frames, and passes each to the capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from firmware_bridge import frame as fr
from firmware_bridge.framer import Framer

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError


class Transport(Protocol):
    """Carries bytes. Calls `on_bytes` for each chunk, and `on_lost` once when it fails."""

    on_bytes: Callable[[bytes], None]
    on_lost: Callable[[LinkError], None]

    @property
    def backlog(self) -> int:
        """How many written bytes the operating system has not accepted yet."""

    def write(self, data: bytes) -> None:
        """Write bytes; never blocks, never raises. Bytes written after a loss are dropped."""

    def close(self) -> None:
        """Release the port at once, without calling `on_lost`. Closing twice is harmless."""


class Capture(Protocol):
    """Records frames."""

    def __call__(self, outgoing: bool, signed: bytes, mac: bytes) -> None:
        """Record one frame: header + payload, and its MAC."""


class Wire:
    """Frames over one transport. The current user sets `on_frame`: first the handshake, then the link."""

    def __init__(self, transport: Transport, capture: Capture | None = None) -> None:
        self.transport = transport
        self.framer = Framer()
        self.capture = capture
        self.on_frame: Callable[[fr.Frame], None] = _drop
        transport.on_bytes = self._bytes

    def send(self, signed: bytes, mac: bytes = b"") -> None:
        """Write one frame now."""
        if self.capture is not None:
            self.capture(True, signed, mac)
        self.transport.write(fr.to_wire(signed, mac))

    def _bytes(self, chunk: bytes) -> None:
        for frame in self.framer.feed(chunk):
            if self.capture is not None:
                self.capture(False, frame.signed, frame.mac)
            self.on_frame(frame)


def _drop(_: fr.Frame) -> None:
    """Drop a frame that arrives before `on_frame` is set."""
