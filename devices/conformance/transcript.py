"""A transport that records its frames as evidence for failed checks."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from devices.frame_text import frame_text
from firmware_bridge.framer import Framer

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError
    from firmware_bridge.wire import Transport

# Lines shown of one check, at its beginning and its end; a whole cycle would have hundreds.
FIRST_LINES: Final = 12
LAST_LINES: Final = 30
# How many bytes are shown of input that is not a frame.
_SHOWN: Final = 24


def _ignore(_: Any) -> None:
    """Ignore it: the default callback."""


class Transcript:
    """The port during one run. Its current user sets `on_bytes` and `on_lost`."""

    def __init__(self) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self.lost: LinkError | None = None
        self.framer = Framer()  # of received bytes, since the check began
        self._inner: Transport | None = None
        self._loop = asyncio.get_running_loop()
        self.restart()

    def restart(self) -> None:
        """Clear the record: a new check begins."""
        self.framer = Framer()
        self._out = Framer()
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._left_out = 0
        self._begin = self._loop.time()

    def attach(self, inner: Transport) -> None:
        """Attach an open port."""
        self._inner, self.lost = inner, None
        inner.on_bytes = self._came
        inner.on_lost = self._gone

    @property
    def backlog(self) -> int:
        """How many bytes the port has not accepted yet."""
        return 0 if self._inner is None else self._inner.backlog

    def write(self, data: bytes) -> None:
        """Record and write bytes."""
        self._note(self._out, True, data)
        if self._inner is not None:
            self._inner.write(data)

    def close(self) -> None:
        """Release the port."""
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()

    def lines(self) -> list[str]:
        """Return the record, one line for each frame. Cards are never shown."""
        between = [f"           ... {self._left_out} lines left out ..."] if self._left_out else []
        return [*self._first, *between, *self._last]

    def add_remark(self, text: str) -> None:
        """Add a sentence to the record, such as a step of the operator."""
        self._keep(f"{self._now():8.3f} s    {text}")

    def add_quote(self, lines: list[str]) -> None:
        """Add the record of an earlier check."""
        for line in ("   observed in an earlier check:", *lines):
            self._keep(line)

    def _keep(self, line: str) -> None:
        if len(self._first) < FIRST_LINES:
            self._first.append(line)
            return
        self._left_out += len(self._last) == LAST_LINES
        self._last.append(line)

    def _came(self, data: bytes) -> None:
        self._note(self.framer, False, data)
        self.on_bytes(data)

    def _gone(self, cause: LinkError) -> None:
        self._inner, self.lost = None, cause
        self.add_remark(f"the port was lost: {cause}")
        self.on_lost(cause)

    def _now(self) -> float:
        return self._loop.time() - self._begin

    def _note(self, framer: Framer, outgoing: bool, data: bytes) -> None:
        bad = _bad(framer)
        for frame in framer.feed(data):
            counter = f" counter {frame.counter:08x}" if frame.mac else ""
            self._keep(f"{self._now():8.3f} s {frame_text(outgoing, frame.signed)}{counter}")
        if _bad(framer) > bad:
            arrow = "->" if outgoing else "<-"
            shown = f": {data[:_SHOWN].hex(' ')}{' ...' if len(data) > _SHOWN else ''}" if outgoing else ""
            self._keep(f"{self._now():8.3f} s {arrow} {len(data)} bytes that are not a frame{shown}")


def _bad(framer: Framer) -> int:
    counted = framer.counters
    return counted.bad_crc + counted.bad_header + counted.bad_stuffing + counted.too_long
