"""Counts link drops, and decides how long the next link must stay up before it is reported as up.

The first drops are reported one by one. A link that keeps dropping goes on trial: it must stay up for the trial time
before its owner gets a link-up, and drops during a trial are only counted. For the owner it is down meanwhile.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# This many drops within the window (s) are reported one by one; then the link goes on trial.
REPORTED_DROPS: Final = 5
DROP_WINDOW_S: Final = 600.0
# Trial time (s): the first and the longest; it doubles with each reported drop. A link that drops right after every
# trial is therefore reported at most 30 times an hour. The owner can shorten trials while a person waits.
FIRST_TRIAL_S: Final = 10.0
LONGEST_TRIAL_S: Final = 120.0


class LinkDrops:
    """The drops of one link since it was last steady. `unreported`: drops during trials; `reported`: all others."""

    def __init__(self) -> None:
        self.is_flapping = False
        self.unreported = 0
        self.reported = 0
        self._recent: deque[float] = deque(maxlen=REPORTED_DROPS)

    def record_drop(self, now: float, up_s: float) -> bool:
        """Record the drop of a link that was up for `up_s` seconds; return True if this drop starts a trial."""
        if up_s >= DROP_WINDOW_S:
            self.reset()
        self.reported += 1
        self._recent.append(now)
        newly = not self.is_flapping and len(self._recent) == REPORTED_DROPS and now - self._recent[0] < DROP_WINDOW_S
        if newly:
            self.is_flapping, self.unreported, self.reported = True, 0, 0
        return newly

    def record_trial_drop(self) -> int:
        """Record a drop during a trial; return how many there were."""
        self.unreported += 1
        return self.unreported

    def trial_s(self) -> float:
        """Return how long (s) the next link must stay up before its owner gets a link-up; 0 without a trial."""
        return min(LONGEST_TRIAL_S, FIRST_TRIAL_S * 2.0 ** min(self.reported, 16)) if self.is_flapping else 0.0

    def reset(self) -> None:
        """Forget all drops, after the link stayed up for the whole window."""
        self.is_flapping, self.unreported, self.reported = False, 0, 0
        self._recent.clear()
