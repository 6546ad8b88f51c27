"""Sensor levels and transit times of machines that move cards: structs inside messages of several kinds."""

from __future__ import annotations

import msgspec

from firmware_bridge.messages import U16, U32


class OpticalLevel(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """One optical sensor: its light level (0-1023), and the level below which it counts as blocked."""

    blocked: bool
    level: U16
    threshold: U16

    @property
    def margin(self) -> int:
        """Distance of the level from its threshold; small means dust or a weak lamp."""
        return abs(self.level - self.threshold)

    @property
    def is_dim(self) -> bool:
        """Whether it counts as blocked, but is brighter than a card makes it: above a quarter of the threshold."""
        return self.blocked and self.level * 4 > self.threshold


class TransitTimes(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Transit times of one segment since power-up, in microseconds."""

    cards: U32
    mean: U32
    least: U32
    most: U32
    deviation: U32
    last: U32
