"""A transport that remembers what passed, for the evidence of a failed check. It changes no byte."""

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

# Lines shown of one check: its beginning and its end. A whole cycle has hundreds, and a page must stay readable.
FIRST_LINES: Final = 12
LAST_LINES: Final = 30
# Of bytes that are no frame so many are shown.
_SHOWN: Final = 24


def _ignore(_: Any) -> None:
    """Take what nobody listens to."""


class Tape:
    """The port during one run. Whoever speaks now sets `on_bytes` and `on_lost`; `lost` stays."""

    def __init__(self) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self.lost: LinkError | None = None
        self.framer = Framer()  # of what comes in, since the check began
        self._inner: Transport | None = None
        self._loop = asyncio.get_running_loop()
        self.rewind()

    def rewind(self) -> None:
        """Forget what passed: a new check begins."""
        self.framer = Framer()
        self._out = Framer()
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._left_out = 0
        self._begin = self._loop.time()

    def carry(self, inner: Transport) -> None:
        """Lead to an open port."""
        self._inner, self.lost = inner, None
        inner.on_bytes = self._came
        inner.on_lost = self._gone

    @property
    def backlog(self) -> int:
        """What the port has not taken yet."""
        return 0 if self._inner is None else self._inner.backlog

    def write(self, data: bytes) -> None:
        """Write bytes, whatever they are."""
        self._note(self._out, True, data)
        if self._inner is not None:
            self._inner.write(data)

    def close(self) -> None:
        """Give the port back."""
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()

    def transcript(self) -> list[str]:
        """Return what passed, one line a frame. Cards are never shown."""
        between = [f"           ... {self._left_out} lines left out ..."] if self._left_out else []
        return [*self._first, *between, *self._last]

    def remark(self, text: str) -> None:
        """Put a sentence between the frames, such as what hands did."""
        self._keep(f"{self._now():8.3f} s    {text}")

    def quote(self, lines: list[str]) -> None:
        """Put what passed in an earlier check before what passes in this one."""
        for line in ("   what was seen in an earlier check:", *lines):
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
        self.remark(f"the port was lost: {cause}")
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
            self._keep(f"{self._now():8.3f} s {arrow} {len(data)} bytes that are no frame{shown}")


def _bad(framer: Framer) -> int:
    counted = framer.counters
    return counted.bad_crc + counted.bad_header + counted.bad_stuffing + counted.too_long
