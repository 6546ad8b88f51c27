"""The card paths of the machines, as docs/devices draws them: legs, segments, sensors, motors."""

from __future__ import annotations

from typing import Final, NamedTuple


class PathStretch(NamedTuple):
    """A segment, the sensor at its end (None where cards stop) and the motor that moves cards in it."""

    segment: str
    sensor: str | None
    motor: str


class Leg(NamedTuple):
    """A path through a machine, from a pile to the place where cards stop. `hidden`: where cards can slip out of sight.

    `gives_up`: the machine takes a pile for empty when no card arrives in time, so a late card counts as none.
    """

    start: str
    stretches: tuple[PathStretch, ...]
    end_place: str
    hidden: str | None = None
    gives_up: bool = False

    def index_of(self, segment: str) -> int:
        """Return the index of a segment on this leg."""
        return next(i for i, stretch in enumerate(self.stretches) if stretch.segment == segment)

    def before(self, segment: str) -> str | None:
        """Return the sensor at the start of a segment; None at the pile."""
        i = self.index_of(segment)
        return self.stretches[i - 1].sensor if i else None

    def after(self, sensor: str) -> PathStretch:
        """Return the stretch after a sensor."""
        return next(then for now, then in zip(self.stretches, self.stretches[1:], strict=False) if now.sensor == sensor)

    @property
    def sensors(self) -> tuple[str, ...]:
        """The sensors of the leg, in the order of the cards' movement."""
        return tuple(stretch.sensor for stretch in self.stretches if stretch.sensor is not None)

    def next_sensor(self, segment: str) -> str | None:
        """Return the sensor at the end of a segment; None if it has none."""
        return self.stretches[self.index_of(segment)].sensor


class CardPath(NamedTuple):
    """A machine's legs: into its store, and out of it."""

    legs: tuple[Leg, Leg]

    def leg_of(self, segment: str) -> int:
        """Return which leg a segment belongs to."""
        return next(n for n, leg in enumerate(self.legs) if any(s.segment == segment for s in leg.stretches))


SHUFFLER: Final = CardPath((
    Leg("intake", (
        PathStretch("feed", "feed", "feed"),
        PathStretch("bridge", "bridge", "transport"),
        PathStretch("lift", "lift", "transport"),
        PathStretch("shelf", None, "elevator"),
    ), "compartments", "behind the shelves"),
    Leg("compartments", (
        PathStretch("unload", "exit", "eject"),
        PathStretch("stack", "stack", "transport"),
        PathStretch("drop", None, "transport"),
    ), "gate", gives_up=True),
))  # fmt: skip
SHOE: Final = CardPath((
    Leg("intake", (
        PathStretch("feed", "feed", "feed"),
        PathStretch("store", None, "transport"),
    ), "well", "behind the well"),
    Leg("well", (
        PathStretch("draw", "draw", "draw"),
        PathStretch("exit", "exit", "transport"),
        PathStretch("drop", None, "transport"),
    ), "slot"),
))  # fmt: skip
PATHS: Final = {"shuffler": SHUFFLER, "shoe": SHOE}
# The capability of a shoe that the dealer draws from by hand: no motors, no leg into its store.
BY_HAND: Final = "draws"
