"""Estimates the round-trip time of a line, and from it the retransmission timeout (RTO)."""

from __future__ import annotations

from typing import Final

# An acknowledgment waits this long (s) for a frame that can carry it: longer than firmware needs to answer a request,
# shorter than the smallest retransmission time.
ACK_DELAY_S: Final = 0.010
# Limits of the retransmission time (s): above the scheduling noise of a busy computer, below a person's patience.
MIN_RTO_S: Final = 0.060
MAX_RTO_S: Final = 2.0
# Before the first measurement (s): a 100-byte frame and its answer at 9600 baud take 0.2 s.
FIRST_RTO_S: Final = 0.500
# How many send times are remembered (a power of two) for the echo in acknowledgments: a window of frames, each with a
# few copies.
REMEMBERED_SENDS: Final = 64
_SLOT: Final = REMEMBERED_SENDS - 1


class RttEstimator:
    """Jacobson's smoothed round-trip time. The counter that an ACK echoes distinguishes copies of one frame."""

    def __init__(self) -> None:
        self.rto_s = FIRST_RTO_S
        self.smoothed_s = 0.0  # s; 0 before the first measurement
        self.backoff = 1  # factor on the RTO while nothing is received
        self._deviation = 0.0
        self._measured = False
        self._departures = [(-1, 0.0)] * REMEMBERED_SENDS  # low 16 bits of the counter, send time

    def record_sent(self, counter: int, now: float) -> None:
        """Record that the frame with this counter is sent now."""
        self._departures[counter & _SLOT] = counter & 0xFFFF, now

    def record_echo(self, counter: int, now: float) -> None:
        """Use the counter that an acknowledgment echoes: that of the latest frame received."""
        departed, at = self._departures[counter & _SLOT]
        if departed == counter:
            self.add_sample(now - at)

    def add_sample(self, seconds: float) -> None:
        """Add one measured round trip; the deviation covers the other end's delayed acknowledgment."""
        if self._measured:
            off = seconds - self.smoothed_s
            self._deviation += (abs(off) - self._deviation) / 4
            self.smoothed_s += off / 8
        else:
            self.smoothed_s, self._deviation, self._measured = seconds, seconds / 2, True
        rto = self.smoothed_s + 4 * self._deviation + ACK_DELAY_S
        self.rto_s = MIN_RTO_S if rto < MIN_RTO_S else min(rto, MAX_RTO_S)
