"""What keeps simulated readings from being clean: noise of every reading, parts that differ, slow warmth. Seeded.

A part's own deviation is fixed when the machine is built, a reading's is drawn anew, warmth is a curve of device time.
None of it looks at a card, and none of it draws from the generator that moves cards: noise changes no shuffle.
"""

from __future__ import annotations

from math import exp, pi, sin
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# One reading of a motor's current, and how much motors of one model differ (standard deviation, share).
CURRENT: Final = 0.06
MOTORS: Final = 0.05
# The same for a sensor's light: lamps differ, and a reading flickers.
LIGHT: Final = 0.025
LAMPS: Final = 0.02
# A motor against a stuck card draws this share of its stall current: it depends on how the card is held.
HELD: Final = (0.75, 1.05)
# The room and the machine's own heat: how much they slow it (share) in how many seconds.
ROOM: Final = (0.01, 0.03)
ROOM_SECONDS: Final = (1_200.0, 5_400.0)
# Cold grease after power-up: by so much slower, gone with this time (s).
COLD: Final = 0.04
COLD_SECONDS: Final = 240.0


class Noise:
    """One machine's noise. `rng` only says which machine it is; it is left as it was."""

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
        """Return one reading of a motor's current; a motor that is off draws nothing."""
        if not milliamps:
            return 0
        return max(1, round(milliamps * self._motors[motor] * self._rng.gauss(1.0, CURRENT)))

    def held(self) -> float:
        """Return how much of its stall current a motor draws against the card that sticks now."""
        return self._rng.uniform(*HELD)

    def light(self, sensor: Any, level: int, threshold: int, *, blocked: bool) -> int:
        """Return one reading of a sensor's light. What the firmware calls dark or clear is the same reading."""
        read = min(1023, max(0, round(level * self._lamps[sensor] * self._rng.gauss(1.0, LIGHT))))
        return min(read, threshold - 1) if blocked else max(read, threshold)

    def slowness(self, now: float) -> float:
        """Return how many times as long as at its best everything takes at an instant of device time (s)."""
        room = self._room * (1 + sin(2 * pi * now / self._period + self._phase))
        return 1.0 + room + COLD * exp(-now / COLD_SECONDS)
