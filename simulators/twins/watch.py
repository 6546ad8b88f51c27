"""How firmware tracks the card that moves along its path: transit times, pulse lengths, late cards."""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from simulators.twins.statistics import TransitLog
from simulators.world.path import PASSING

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum

    from devices.gauges import SensorLevel
    from simulators.device_clock import DeviceClock, Timer
    from simulators.world.path import Layout

# A card that needs this many times its usual transit time is late.
PATIENCE: Final = 3.0
# A pulse longer or shorter than the sensor's average by these factors is two cards, or part of one.
TOO_LONG: Final = 1.3
TOO_SHORT: Final = 0.7


class Pulse(Enum):
    """What passed a sensor, by the length of its pulse."""

    CARD = "one whole card"
    TWO = "longer than a card"
    PART = "shorter than a card"


def judge(length: float, usual: float) -> Pulse:
    """Return what passed, by the length of its pulse; both in the same unit."""
    if length > usual * TOO_LONG:
        return Pulse.TWO
    return Pulse.PART if length < usual * TOO_SHORT else Pulse.CARD


def blind(layout: Layout, levels: list[SensorLevel], segment: IntEnum) -> bool:
    """Return whether the sensor that should detect a card's arrival (or departure, in a last segment) is blind."""
    if segment in layout.ends:
        comes: SensorLevel = levels[layout.ends[segment]]
        return comes.blocked
    goes: SensorLevel = levels[layout.ends[layout.segments(segment - 1)]]
    return goes.dim


class PathWatch:
    """`on_late(segment)` is called when the expected card did not pass a segment in time."""

    def __init__(self, layout: Layout, clock: DeviceClock, on_late: Callable[[Any], None]) -> None:
        self.log = TransitLog(layout.segments, layout.sensors, PASSING)
        self._layout = layout
        self._clock = clock
        self._on_late = on_late
        self._ended = {sensor: segment for segment, sensor in layout.ends.items()}
        self._following = dict(pairwise(layout.segments))
        self._since = 0.0
        self._front_at: dict[Any, float] = {}
        self._timer: Timer | None = None
        self._waits = {segment: self._usual(segment) * PATIENCE for segment in layout.segments}
        self.awaited: Any = None  # the segment whose end is expected

    def _usual(self, segment: IntEnum) -> float:
        return self._layout.transit.get(segment, PASSING)

    def hurry(self, segment: IntEnum, share: float) -> None:
        """Wait in a segment for a share of the usual time only, as faulty firmware does."""
        self._waits[segment] = self._usual(segment) * share

    def skipped(self, sensor: IntEnum) -> bool:
        """Return whether a leading edge comes at a sensor before the expected sensor detected the card."""
        end: int | None = self._layout.ends.get(self.awaited)
        return end is not None and end < sensor

    @property
    def waited(self) -> float:
        """Time since the firmware expects the next edge (s)."""
        return max(0.0, self._clock.now - self._since) if self.awaited is not None else 0.0

    def expect(self, segment: IntEnum, ready: float = 0.0) -> None:
        """Expect a card through a segment within PATIENCE times the usual; `ready`: delay of its start (s)."""
        self.alarm(ready + self._waits[segment], self._on_late, segment)
        self._since, self.awaited = self._clock.now, segment

    def alarm(self, seconds: float, call: Callable[..., None], *args: Any) -> None:
        """Call once after so many device seconds, unless a later call replaces it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._clock.after(seconds, call, *args)

    def stop(self) -> None:
        """Stop tracking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def front(self, sensor: IntEnum) -> None:
        """A leading edge: the card came through one segment and is in the next."""
        ended, now = self._ended[sensor], self._clock.now
        self.log.transit(ended, now - self._since)
        self._front_at[sensor] = now
        following = self._following[ended]
        self.alarm(self._waits[following], self._on_late, following)
        self._since, self.awaited = now, following

    def back(self, sensor: IntEnum) -> Pulse:
        """A trailing edge: return what passed, and record a whole card."""
        length = self._clock.now - self._front_at[sensor]
        pulse = judge(length, self.log.passing(sensor))
        if pulse is Pulse.CARD:
            self.log.passed(sensor, length)
            following = self._following[self._ended[sensor]]
            if following in self._layout.rests:
                self.log.transit(following, length)
        return pulse

    def ended_at(self, sensor: IntEnum) -> IntEnum:
        """Return the segment that ends at a sensor."""
        segment: IntEnum = self._ended[sensor]
        return segment
