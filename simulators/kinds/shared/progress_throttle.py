"""When firmware reports progress: at a phase's first card, then at an interval, and before its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simulators.engine.device_clock import DeviceClock

# Interval between progress reports (device seconds): as often as a person can read.
REPORT_INTERVAL_S: Final = 0.5


class ProgressThrottle:
    """Called at every card. `has_unreported_card`: a card has arrived that is reported before the phase ends."""

    def __init__(self, clock: DeviceClock) -> None:
        self.has_unreported_card = False
        self._clock = clock
        self._due = 0.0

    def begin(self) -> None:
        """A phase begins: its first card is reported at once."""
        self.has_unreported_card, self._due = False, 0.0

    def is_report_due(self) -> bool:
        """A card arrived; return whether a report is due."""
        now = self._clock.now
        if now < self._due:
            self.has_unreported_card = True
            return False
        self.has_unreported_card, self._due = False, now + REPORT_INTERVAL_S
        return True

    def end_phase(self) -> bool:
        """End the phase; return whether a last report is due."""
        owed, self.has_unreported_card = self.has_unreported_card, False
        return owed
