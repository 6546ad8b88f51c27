"""Noise of simulated readings: noise of every reading, differences between parts, slow temperature changes. Seeded.

A part's deviation is fixed when the machine is built, a reading's is drawn each time, temperature is a curve of device
time. None of it draws from the generator that moves cards: noise changes no shuffle.
"""

from __future__ import annotations

from math import exp, pi, sin
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# Noise of one reading of a motor's current, and how much motors of one model differ (standard deviation, share).
CURRENT: Final = 0.06
MOTORS: Final = 0.05
# The same for a sensor's light: lamps differ, and a reading flickers.
LIGHT: Final = 0.025
LAMPS: Final = 0.02
# A motor blocked by a stuck card draws this share of its stall current, depending on how the card is held.
STUCK_CURRENT_SHARE: Final = (0.75, 1.05)
# Room temperature and the machine's own heat: slowness (share) and period (s).
ROOM: Final = (0.01, 0.03)
ROOM_SECONDS: Final = (1_200.0, 5_400.0)
# Cold grease after power-up: slowness (share) and time constant (s).
COLD: Final = 0.04
COLD_SECONDS: Final = 240.0


class SensorNoise:
    """The noise of one machine. `rng` only seeds it; its state is not changed."""

    def __init__(self, rng: Random, motors: Iterable[Any], sensors: Iterable[Any]) -> None:
        same = Random()
        same.setstate(rng.getstate())
        self._rng = Random(same.random())
        self._motors = {motor: self._rng.gauss(1.0, MOTORS) for motor in motors}
        self._lamps = {sensor: self._rng.gauss(1.0, LAMPS) for sensor in sensors}
        self._room = self._rng.uniform(*ROOM)
        self._period = self._rng.uniform(*ROOM_SECONDS)
        self._phase = self._rng.uniform(0.0, 2 * pi)

    def current(self, motor: Any, milliamps: int) -> int:
        """Return one reading of a motor's current; zero if the motor is off."""
        if not milliamps:
            return 0
        return max(1, round(milliamps * self._motors[motor] * self._rng.gauss(1.0, CURRENT)))

    def stuck_current_share(self) -> float:
        """Return the share of its stall current that a motor draws, blocked by the card that sticks now."""
        return self._rng.uniform(*STUCK_CURRENT_SHARE)

    def light(self, sensor: Any, level: int, threshold: int, *, blocked: bool) -> int:
        """Return one reading of a sensor's light, consistent with `blocked`."""
        read = min(1023, max(0, round(level * self._lamps[sensor] * self._rng.gauss(1.0, LIGHT))))
        return min(read, threshold - 1) if blocked else max(read, threshold)

    def slowness(self, now: float) -> float:
        """Return the factor by which all motion is slower than at best, at an instant of device time (s)."""
        room = self._room * (1 + sin(2 * pi * now / self._period + self._phase))
        return 1.0 + room + COLD * exp(-now / COLD_SECONDS)
