"""The line between box and machine, with faults: it drops, duplicates, corrupts, splits or slows frames. Seeded."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadFault

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from firmware_bridge.errors import LinkError
    from firmware_bridge.wire import Transport
    from simulators.engine.faults import InjectedFault


def _ignore(_: Any) -> None:
    """Ignore data without a listener."""


class FaultyLine:
    """A transport around another one. Faults act on whole frames in both directions."""

    def __init__(self, rng: Random) -> None:
        self.on_bytes: Callable[[bytes], None] = _ignore
        self.on_lost: Callable[[LinkError], None] = _ignore
        self._rng = rng
        self._inner: Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._rates: dict[str, float] = {}
        self._next: dict[str, int] = {}
        self._junk_bytes = 0
        self._split = False
        self._byte_time = 0.0
        self._worse = False  # a fault is active
        self._free_at = [0.0, 0.0]  # when each direction is free again
        self._partial_frame = b""

    def plug(self, inner: Transport) -> None:
        """Connect the line to a port."""
        self._inner = inner
        self._partial_frame = b""
        inner.on_bytes = self._from_box
        inner.on_lost = self._lost

    @property
    def backlog(self) -> int:
        """Bytes that the port has not sent yet."""
        return self._inner.backlog if self._inner is not None else 0

    def write(self, data: bytes) -> None:
        """Send one frame toward the box."""
        if not self._worse:
            if self._inner is not None:
                self._inner.write(data)
            return
        for piece in self._impair(data):
            self._carry(piece, 0, self._to_box)

    def close(self) -> None:
        """Pull the cable."""
        inner, self._inner = self._inner, None
        if inner is not None:
            inner.close()

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the line, or end all faults."""
        name = fault.kind.name
        if name in ("drop", "duplicate", "corrupt"):
            if fault.integer("frames"):
                self._next[name] = fault.integer("frames")
            else:
                self._rates[name] = _share(fault)
        elif name == "junk":
            self._rates[name], self._junk_bytes = _share(fault), fault.integer("bytes")
        elif name == "split":
            self._split = True
        elif name == "slow":
            self._byte_time = 10 / max(300.0, fault.number("baud"))
        elif name == "calm":
            self._rates.clear()
            self._next.clear()
            self._split, self._byte_time = False, 0.0
        elif name == "garbage":
            self._to_box(self._rng.randbytes(fault.integer("bytes")))
        else:  # faults of some kinds of port only
            breakable = getattr(self._inner, "inject", None)
            if breakable is None:
                raise BadFault(f"{name} does not happen to the port that this machine is plugged into")
            breakable(fault)
        self._worse = bool(self._rates or self._next or self._split or self._byte_time)

    def _from_box(self, data: bytes) -> None:
        if not self._worse and not self._partial_frame:
            self.on_bytes(data)
            return
        *frames, self._partial_frame = (self._partial_frame + data).split(b"\0")
        for frame in frames:
            for piece in self._impair(frame + b"\0"):
                self._carry(piece, 1, self._to_machine)

    def _lost(self, cause: LinkError) -> None:
        self._inner = None
        self.on_lost(cause)

    def _impair(self, frame: bytes) -> list[bytes]:
        if self._happens("drop"):
            return []
        if self._happens("corrupt") and len(frame) > 1:
            broken = bytearray(frame)
            broken[self._rng.randrange(len(frame) - 1)] ^= 1 << self._rng.randrange(8)
            frame = bytes(broken)
        pieces = [frame, frame] if self._happens("duplicate") else [frame]
        if self._happens("junk"):
            pieces.insert(0, self._rng.randbytes(self._rng.randint(1, max(1, self._junk_bytes))))
        return pieces

    def _happens(self, name: str) -> bool:
        if self._next.get(name):
            self._next[name] -= 1
            return True
        return self._rng.random() < self._rates.get(name, 0.0)

    def _carry(self, data: bytes, direction: int, deliver: Callable[[bytes], None]) -> None:
        pieces = [data[i : i + 1] for i in range(len(data))] if self._split else [data]
        if not self._byte_time:
            for piece in pieces:
                self._loop.call_soon(deliver, piece)
            return
        at = max(self._loop.time(), self._free_at[direction])
        for piece in pieces:
            at += self._byte_time * len(piece)
            self._loop.call_at(at, deliver, piece)
        self._free_at[direction] = at

    def _to_box(self, data: bytes) -> None:
        if self._inner is not None:
            self._inner.write(data)

    def _to_machine(self, data: bytes) -> None:
        if self._inner is not None:
            self.on_bytes(data)


def _share(fault: InjectedFault) -> float:
    rate = fault.number("rate")
    if rate >= 1:
        raise BadFault(f"{fault.kind.name}: rate is a share below 1, not {rate:g}")
    return rate
