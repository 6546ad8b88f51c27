"""How firmware tracks a card that a hand draws, slow or quick.

The time that a card covers the second sensor, divided by its time from the first sensor to the second, does not depend
on the speed of the hand, only on the card's length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shoe.messages import Segment, Sensor
from simulators.kinds.shared.card_tracker import SensorPulse, judge_pulse
from simulators.kinds.shoe.mechanics import TRANSIT
from simulators.world.path import PASSING_TIME_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.device_clock import DeviceClock, DeviceTimer

# A card's length in units of the distance between the two sensors.
USUAL_LENGTH: Final = PASSING_TIME_S / TRANSIT[Segment.EXIT]
# Time limit for drawing one card by hand (s); after it the card is stuck.
HAND_TIME: Final = 5.0


class HandDrawTracker:
    """Calls `began(again)` when a hand draws a card, `ended(pulse)` once it is out, `stuck(segment)` if it sticks.

    `again`: the card before has not ended, because a dark sensor did not detect that it left.
    """

    def __init__(
        self,
        clock: DeviceClock,
        began: Callable[[bool], None],
        ended: Callable[[SensorPulse], None],
        stuck: Callable[[Segment], None],
    ) -> None:
        self.is_drawing = False
        self._clock = clock
        self._began = began
        self._ended = ended
        self._stuck = stuck
        self._at: dict[Sensor, float] = {}
        self._alarm: DeviceTimer | None = None

    def edge(self, sensor: Sensor, blocked: bool) -> None:
        """Handle an edge at DRAW or EXIT that no motor caused."""
        if blocked:
            self._at[sensor] = self._clock.now
        if sensor is Sensor.DRAW and blocked:
            again, self.is_drawing = self.is_drawing, True
            self._at.pop(Sensor.EXIT, None)
            if not again:
                self._alarm = self._clock.after(HAND_TIME, self._late)
            self._began(again)
        elif sensor is Sensor.EXIT and not blocked and self.is_drawing:
            self.clear()
            travel_time = self._at[Sensor.EXIT] - self._at[Sensor.DRAW]
            self._ended(judge_pulse((self._clock.now - self._at[Sensor.EXIT]) / travel_time, USUAL_LENGTH))

    def clear(self) -> None:
        """Stop tracking: the card is out, or hands have taken it."""
        self.is_drawing = False
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _late(self) -> None:
        segment = Segment.DROP if Sensor.EXIT in self._at else Segment.EXIT
        self.clear()
        self._stuck(segment)
