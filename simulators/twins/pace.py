"""When firmware tells how far it is: with a phase's first card, then at a pace, and before its end. Sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.device_clock import DeviceClock

# A card is told if it arrives this long after the last one that was (device seconds): as often as a person can read.
PACE: Final = 0.5


class Pace:
    """Asked at every card. `owed`: a card has arrived that nobody was told of; it is told before the phase ends."""

    def __init__(self, clock: DeviceClock) -> None:
        self.owed = False
        self._clock = clock
        self._due = 0.0

    def begin(self) -> None:
        """A phase begins: its first card is told at once."""
        self.owed, self._due = False, 0.0

    def arrived(self) -> bool:
        """Take a card; True if it is time to tell."""
        now = self._clock.now
        if now < self._due:
            self.owed = True
            return False
        self.owed, self._due = False, now + PACE
        return True

    def settled(self) -> bool:
        """End the phase, well or not; True if something is still to be told."""
        owed, self.owed = self.owed, False
        return owed
