"""Counts link drops, and decides how long the next link must stay up before it is reported as up.

The first drops are reported one by one. A link that keeps dropping goes on trial: it must stay up for the trial time
before its owner gets a link-up, and drops during a trial are only counted. For the owner it is down meanwhile.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# This many drops within the window (s) are reported one by one; then the link goes on trial.
LOUD: Final = 5
WINDOW: Final = 600.0
# Trial time (s): the first and the longest; it doubles with each reported drop. A link that drops right after every
# trial is therefore reported at most 30 times an hour. The owner can shorten trials while a person waits.
FIRST_TRIAL: Final = 10.0
LONGEST_TRIAL: Final = 120.0


class Falls:
    """The drops of one link since it was last steady. `counted`: drops during trials; `reported`: all others."""

    def __init__(self) -> None:
        self.is_flapping = False
        self.counted = 0
        self.reported = 0
        self._recent: deque[float] = deque(maxlen=LOUD)

    def fell(self, now: float, lived: float) -> bool:
        """Record the drop of a link that was up for `lived` seconds; return True if this drop starts a trial."""
        if lived >= WINDOW:
            self.steady()
        self.reported += 1
        self._recent.append(now)
        newly = not self.is_flapping and len(self._recent) == LOUD and now - self._recent[0] < WINDOW
        if newly:
            self.is_flapping, self.counted, self.reported = True, 0, 0
        return newly

    def fell_on_trial(self) -> int:
        """Record a drop during a trial; return how many there were."""
        self.counted += 1
        return self.counted

    def trial(self) -> float:
        """Return how long (s) the next link must stay up before its owner gets a link-up; 0 without a trial."""
        return min(LONGEST_TRIAL, FIRST_TRIAL * 2.0 ** min(self.reported, 16)) if self.is_flapping else 0.0

    def steady(self) -> None:
        """Forget all drops, after the link stayed up for the whole window."""
        self.is_flapping, self.counted, self.reported = False, 0, 0
        self._recent.clear()
