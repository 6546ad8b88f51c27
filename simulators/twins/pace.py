"""When firmware reports progress: at a phase's first card, then at an interval, and before its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.device_clock import DeviceClock

# Interval between progress reports (device seconds): as often as a person can read.
PACE: Final = 0.5


class Pace:
    """Called at every card. `owed`: a card has arrived without a report; it is reported before the phase ends."""

    def __init__(self, clock: DeviceClock) -> None:
        self.owed = False
        self._clock = clock
        self._due = 0.0

    def begin(self) -> None:
        """A phase begins: its first card is reported at once."""
        self.owed, self._due = False, 0.0

    def arrived(self) -> bool:
        """A card arrived; return whether a report is due."""
        now = self._clock.now
        if now < self._due:
            self.owed = True
            return False
        self.owed, self._due = False, now + PACE
        return True

    def settled(self) -> bool:
        """End the phase; return whether a last report is due."""
        owed, self.owed = self.owed, False
        return owed
