"""Turns a byte stream into frames, with a bounded buffer; after an error it resynchronizes at the next delimiter."""

from __future__ import annotations

import msgspec

from firmware_bridge import cobs
from firmware_bridge.frame import MAX_WIRE, Frame, is_crc_valid, parse


class FramerCounters(msgspec.Struct):
    """An account of every received byte: bytes_in = bytes_framed + bytes_dropped + buffered bytes."""

    bytes_in: int = 0
    bytes_framed: int = 0
    bytes_dropped: int = 0
    frames: int = 0
    bad_stuffing: int = 0
    bad_crc: int = 0
    bad_header: int = 0
    too_long: int = 0


class Framer:
    """Takes chunks of any size and returns the whole frames in them; keeps at most MAX_WIRE bytes."""

    def __init__(self) -> None:
        self.counters = FramerCounters()
        self._buffer = b""
        self._skipping = False  # an overlong frame is being dropped until its delimiter

    @property
    def buffered(self) -> int:
        """How many bytes of an incomplete frame are buffered."""
        return len(self._buffer)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Add a chunk; return the frames that it completed, in order. Never raises."""
        counters = self.counters
        size = len(chunk)
        counters.bytes_in += size
        if chunk.find(b"\0") == size - 1 and size and not self._buffer and not self._skipping:  # one whole frame
            frame = self._frame(chunk[:-1])
            if frame is None:
                counters.bytes_dropped += size
                return []
            counters.frames += 1
            counters.bytes_framed += size
            return [frame]
        parts = (self._buffer + chunk).split(b"\0") if self._buffer else chunk.split(b"\0")
        partial = parts.pop()
        frames: list[Frame] = []
        framed = 0
        for stuffed in parts:
            frame = self._frame(stuffed)
            if frame is None:
                counters.bytes_dropped += len(stuffed) + 1
            else:
                framed += len(stuffed) + 1
                frames.append(frame)
        counters.frames += len(frames)
        counters.bytes_framed += framed
        if partial and (self._skipping or len(partial) >= MAX_WIRE):
            counters.too_long += not self._skipping
            counters.bytes_dropped += len(partial)
            self._skipping = True
            partial = b""
        self._buffer = partial
        return frames

    def _frame(self, stuffed: bytes) -> Frame | None:
        if self._skipping:
            self._skipping = False
            return None
        if not stuffed:  # an idle delimiter: legal, used to flush noise
            return None
        size = len(stuffed)
        if size >= MAX_WIRE:
            self.counters.too_long += 1
            return None
        body = stuffed[1:] if stuffed[0] == size else cobs.decode(stuffed)  # most frames: one block
        if body is None:
            self.counters.bad_stuffing += 1
            return None
        if not is_crc_valid(body):
            self.counters.bad_crc += 1
            return None
        frame = parse(body)
        if frame is None:
            self.counters.bad_header += 1
        return frame
