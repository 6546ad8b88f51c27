"""Lets programs watch the frames of one slot while the box runs; costs one call a frame."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from devices.message_registry import all_messages
from firmware_bridge.capture import Blanker
from firmware_bridge.frame import HEADER_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable

    Watcher = Callable[[str, bool, bytes, bytes], None]


@cache
def _blanker() -> Blanker:
    return Blanker(all_messages())


def blank_cards(signed: bytes, mac: bytes) -> tuple[bytes, bytes, str]:
    """Return a frame with cards blanked, and the reason for blanking or an empty text."""
    why = _blanker().blank_reason(signed[HEADER_SIZE:])
    if not why:
        return signed, mac, ""
    return signed[:HEADER_SIZE] + _blanker().blank(signed[HEADER_SIZE:]), bytes(len(mac)), why


class FrameMonitor:
    """A capture with any number of `watchers`, which get slot, direction, frame and MAC."""

    def __init__(self, slot: str) -> None:
        self._slot = slot
        self.watchers: list[Watcher] = []

    def __call__(self, outgoing: bool, signed: bytes, mac: bytes) -> None:
        """Pass one frame to the watchers."""
        for watch in self.watchers:
            watch(self._slot, outgoing, signed, mac)
