"""What machines that move cards tell of their sensors and segments: arrays inside messages of several kinds."""

from __future__ import annotations

import msgspec

from firmware_bridge.messages import U16, U32


class SensorLevel(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One sensor: light level (0-1023), the level below which it counts as blocked, and the margin to it."""

    blocked: bool
    level: U16
    threshold: U16

    @property
    def margin(self) -> int:
        """How far the level is from being misread; small means dust or a weak lamp."""
        return abs(self.level - self.threshold)

    @property
    def dim(self) -> bool:
        """It counts as dark, but is not as dark as a card makes it: more than a quarter of the threshold is left."""
        return self.blocked and self.level * 4 > self.threshold


class Transit(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Transit times of one segment since power-up, in microseconds."""

    cards: U32
    mean: U32
    least: U32
    most: U32
    deviation: U32
    last: U32
