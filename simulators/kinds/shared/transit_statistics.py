"""Transit time statistics of the firmware: exact integer sums of microseconds."""

from __future__ import annotations

from collections import deque
from math import isqrt
from typing import TYPE_CHECKING, Any, Final

from devices.path_telemetry import TransitTimes

if TYPE_CHECKING:
    from enum import IntEnum

# A sensor's usual pulse is the mean of this many pulses; enough to smooth noise, few enough to follow wear.
_RECENT: Final = 20
# Until this many cards have passed, the pulse of a new machine is the usual one.
_ENOUGH: Final = 5


class _Sums:
    """Running sums of one segment."""

    def __init__(self) -> None:
        self.cards = self.total = self.squares = self.most = self.last = 0
        self.least = 0

    def transit(self) -> TransitTimes:
        if not self.cards:
            return TransitTimes(0, 0, 0, 0, 0, 0)
        mean = self.total // self.cards
        variance = max(0, self.squares // self.cards - mean * mean)
        return TransitTimes(self.cards, mean, self.least, self.most, isqrt(variance), self.last)


class TransitLog:
    """Transit times by segment and pulse lengths by sensor."""

    def __init__(self, segments: type[IntEnum], sensors: type[IntEnum], usual_passing: float) -> None:
        self._sums = {segment: _Sums() for segment in segments}
        self._pulses: dict[Any, deque[float]] = {sensor: deque(maxlen=_RECENT) for sensor in sensors}
        self._usual_passing = usual_passing

    def record_transit(self, segment: IntEnum, seconds: float) -> None:
        """Record a card's transit time through a segment."""
        sums, micros = self._sums[segment], round(seconds * 1e6)
        if micros < sums.least or not sums.cards:
            sums.least = micros
        sums.most = max(sums.most, micros)
        sums.cards += 1
        sums.total += micros
        sums.squares += micros * micros
        sums.last = micros

    def record_pulse(self, sensor: IntEnum, seconds: float) -> None:
        """Record the pulse of a whole card at a sensor."""
        self._pulses[sensor].append(seconds)

    def usual_pulse_s(self, sensor: IntEnum) -> float:
        """Return the usual pulse at a sensor."""
        pulses = self._pulses[sensor]
        return sum(pulses) / len(pulses) if len(pulses) >= _ENOUGH else self._usual_passing

    def segments(self) -> list[TransitTimes]:
        """Return the statistics of every segment, in order."""
        return [sums.transit() for sums in self._sums.values()]
