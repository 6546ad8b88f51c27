"""The parts of a card path: what a machine declares of it, and one segment with its wear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from enum import IntEnum


class PathLayout(NamedTuple):
    """The parts of a machine's path, in the order in which a card passes them.

    A path has legs: each begins at a pile and ends with a segment of `last_segments`, where the card stops.
    """

    segments: type[IntEnum]
    sensors: type[IntEnum]
    motors: type[IntEnum]
    end_sensors: dict[Any, Any]  # the sensor at the end of each segment
    transit_s: dict[Any, float]  # transit time to that sensor (s), when the machine is new
    segment_motors: dict[Any, Any]  # the motor of each segment
    last_segments: tuple[Any, ...]

    def words(self, parts: type[IntEnum]) -> tuple[str, ...]:
        """Return the names of segments, sensors or motors in faults and places."""
        return tuple(part.name.lower() for part in parts)

    def leg(self, segment: int) -> int:
        """Return which leg of the path a segment belongs to."""
        return sum(segment > last for last in self.last_segments)


class PathSegment:
    """One segment of one machine's path: its place, motor, end sensor and wear."""

    def __init__(self, layout: PathLayout, segment: IntEnum, place: str) -> None:
        self.segment = segment
        self.place = place
        self.motor = layout.segment_motors[segment]
        self.sensor = layout.end_sensors.get(segment)  # a segment in which cards stop has none
        self.new_transit_s = layout.transit_s.get(segment, 0.0)  # transit time to that sensor (s), when new
        self.leg = layout.leg(segment)
        self.is_last = segment in layout.last_segments
        self.next: PathSegment  # set for all but the last
        self.mend()

    def mend(self) -> None:
        """Put new rollers in."""
        self.wear = 1.0  # factor on all times
        self.slip = 0.0  # share of cards that slip
