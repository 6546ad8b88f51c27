"""How firmware tracks the card that moves along its path: transit times, pulse lengths, late cards."""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from simulators.kinds.shared.transit_statistics import TransitLog
from simulators.world.path import PASSING_TIME_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import IntEnum

    from devices.path_telemetry import OpticalLevel
    from simulators.engine.device_clock import DeviceClock, DeviceTimer
    from simulators.world.path_layout import PathLayout

# A card that needs this many times its usual transit time is late.
LATE_FACTOR: Final = 3.0
# A pulse longer or shorter than the sensor's average by these factors is two cards, or part of one.
TOO_LONG: Final = 1.3
TOO_SHORT: Final = 0.7


class SensorPulse(Enum):
    """What passed a sensor, by the length of its pulse."""

    CARD = "one whole card"
    TWO = "longer than a card"
    PART = "shorter than a card"


def judge_pulse(length: float, usual: float) -> SensorPulse:
    """Return what passed, by the length of its pulse; both in the same unit."""
    if length > usual * TOO_LONG:
        return SensorPulse.TWO
    return SensorPulse.PART if length < usual * TOO_SHORT else SensorPulse.CARD


def is_sensor_blind(layout: PathLayout, levels: list[OpticalLevel], segment: IntEnum) -> bool:
    """Return whether the sensor that should detect a card's arrival (or departure, in a last segment) is blind."""
    if segment in layout.end_sensors:
        comes: OpticalLevel = levels[layout.end_sensors[segment]]
        return comes.blocked
    goes: OpticalLevel = levels[layout.end_sensors[layout.segments(segment - 1)]]
    return goes.is_dim


class CardTracker:
    """`on_late(segment)` is called when the expected card did not pass a segment in time."""

    def __init__(self, layout: PathLayout, clock: DeviceClock, on_late: Callable[[Any], None]) -> None:
        self.log = TransitLog(layout.segments, layout.sensors, PASSING_TIME_S)
        self._layout = layout
        self._clock = clock
        self._on_late = on_late
        self._ended = {sensor: segment for segment, sensor in layout.end_sensors.items()}
        self._following = dict(pairwise(layout.segments))
        self._since = 0.0
        self._front_at: dict[Any, float] = {}
        self._timer: DeviceTimer | None = None
        self._waits = {segment: self._usual(segment) * LATE_FACTOR for segment in layout.segments}
        self.awaited: Any = None  # the segment whose end is expected

    def _usual(self, segment: IntEnum) -> float:
        return self._layout.transit_s.get(segment, PASSING_TIME_S)

    def shorten_wait(self, segment: IntEnum, share: float) -> None:
        """Wait in a segment for a share of the usual time only, as faulty firmware does."""
        self._waits[segment] = self._usual(segment) * share

    def skipped(self, sensor: IntEnum) -> bool:
        """Return whether a leading edge comes at a sensor before the expected sensor detected the card."""
        end: int | None = self._layout.end_sensors.get(self.awaited)
        return end is not None and end < sensor

    @property
    def waited_s(self) -> float:
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

    def leading_edge(self, sensor: IntEnum) -> None:
        """A leading edge: the card came through one segment and is in the next."""
        ended, now = self._ended[sensor], self._clock.now
        self.log.record_transit(ended, now - self._since)
        self._front_at[sensor] = now
        following = self._following[ended]
        self.alarm(self._waits[following], self._on_late, following)
        self._since, self.awaited = now, following

    def trailing_edge(self, sensor: IntEnum) -> SensorPulse:
        """A trailing edge: return what passed, and record a whole card."""
        length = self._clock.now - self._front_at[sensor]
        pulse = judge_pulse(length, self.log.usual_pulse_s(sensor))
        if pulse is SensorPulse.CARD:
            self.log.record_pulse(sensor, length)
            following = self._following[self._ended[sensor]]
            if following in self._layout.last_segments:
                self.log.record_transit(following, length)
        return pulse

    def ended_at(self, sensor: IntEnum) -> IntEnum:
        """Return the segment that ends at a sensor."""
        segment: IntEnum = self._ended[sensor]
        return segment
