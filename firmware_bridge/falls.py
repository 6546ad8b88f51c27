"""Counts how often a link falls, and decides how long the next one must hold before its owner is told. Pure: no clock.

The first falls are loud: each is reported. A link that goes on falling is on trial: it must hold for a while before the
owner hears that it is up, and falls during a trial are counted only. The owner has it as down meanwhile.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# So many falls within the window (s) are reported one by one; then the link is on trial.
LOUD: Final = 5
WINDOW: Final = 600.0
# A trial (s): the first, and the longest, doubling with each fall that is reported; so a link that falls again as soon
# as it is trusted is reported at most 30 times an hour. The owner may want shorter ones while somebody waits.
FIRST_TRIAL: Final = 10.0
LONGEST_TRIAL: Final = 120.0


class Falls:
    """One link's falls since it was last steady. `counted`: those of trials; `reported`: the others."""

    def __init__(self) -> None:
        self.is_flapping = False
        self.counted = 0
        self.reported = 0
        self._recent: deque[float] = deque(maxlen=LOUD)

    def fell(self, now: float, lived: float) -> bool:
        """A link fell that the owner knew, after `lived` seconds; return whether it is on trial from now on, newly."""
        if lived >= WINDOW:
            self.steady()
        self.reported += 1
        self._recent.append(now)
        newly = not self.is_flapping and len(self._recent) == LOUD and now - self._recent[0] < WINDOW
        if newly:
            self.is_flapping, self.counted, self.reported = True, 0, 0
        return newly

    def fell_on_trial(self) -> int:
        """A link fell that the owner never knew of; return how many such falls there were."""
        self.counted += 1
        return self.counted

    def trial(self) -> float:
        """How long (s) the next link must hold before its owner is told; 0: not at all."""
        return min(LONGEST_TRIAL, FIRST_TRIAL * 2.0 ** min(self.reported, 16)) if self.is_flapping else 0.0

    def steady(self) -> None:
        """The link has held for the window: forget what was before."""
        self.is_flapping, self.counted, self.reported = False, 0, 0
        self._recent.clear()
