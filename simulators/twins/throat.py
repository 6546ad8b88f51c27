"""How firmware follows a card that a hand draws. Hands are slow and quick; two sensors make a gauge of them.

How long a card covers the second sensor, compared with how long it took from the first one to the second, does not
depend on how fast it is drawn, only on how long it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shoe.messages import Segment, Sensor
from simulators.twins.watch import Pulse, judge
from simulators.world.path import PASSING
from simulators.world.shoe import TRANSIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.device_clock import DeviceClock, Timer

# A card's length in ways from the first sensor to the second.
USUAL: Final = PASSING / TRANSIT[Segment.EXIT]
# No hand takes longer to draw one card (s); one that lies there longer sticks.
HAND_TIME: Final = 5.0


class Throat:
    """Calls `began(again)` when a hand draws a card, `ended(pulse)` once it is out, `stuck(segment)` if it stays.

    `again`: the one before has not ended; it is past, and a dark sensor has not seen it go.
    """

    def __init__(
        self,
        clock: DeviceClock,
        began: Callable[[bool], None],
        ended: Callable[[Pulse], None],
        stuck: Callable[[Segment], None],
    ) -> None:
        self.under_way = False
        self._clock = clock
        self._began = began
        self._ended = ended
        self._stuck = stuck
        self._at: dict[Sensor, float] = {}
        self._alarm: Timer | None = None

    def edge(self, sensor: Sensor, blocked: bool) -> None:
        """Take an edge at DRAW or EXIT that no motor can have caused."""
        if blocked:
            self._at[sensor] = self._clock.now
        if sensor is Sensor.DRAW and blocked:
            again, self.under_way = self.under_way, True
            self._at.pop(Sensor.EXIT, None)
            if not again:
                self._alarm = self._clock.after(HAND_TIME, self._late)
            self._began(again)
        elif sensor is Sensor.EXIT and not blocked and self.under_way:
            self.clear()
            travel_time = self._at[Sensor.EXIT] - self._at[Sensor.DRAW]
            self._ended(judge((self._clock.now - self._at[Sensor.EXIT]) / travel_time, USUAL))

    def clear(self) -> None:
        """Expect nothing any more: the card is out, or hands have taken it."""
        self.under_way = False
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _late(self) -> None:
        segment = Segment.DROP if Sensor.EXIT in self._at else Segment.EXIT
        self.clear()
        self._stuck(segment)
