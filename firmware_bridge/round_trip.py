"""Estimates the round-trip time of a line, and from it the retransmission timeout (RTO)."""

from __future__ import annotations

from typing import Final

# An acknowledgement waits this long (s) for a frame that can carry it: longer than firmware needs to answer a request,
# shorter than the smallest retransmission time.
ACK_DELAY: Final = 0.010
# Limits of the retransmission time (s): above the scheduling noise of a busy computer, below a person's patience.
MIN_RTO: Final = 0.060
MAX_RTO: Final = 2.0
# Before the first measurement (s): a 100-byte frame and its answer at 9600 baud take 0.2 s.
FIRST_RTO: Final = 0.500
# How many send times are remembered (a power of two) for the echo in acknowledgements: a window of frames, each with a
# few copies.
DEPARTURES: Final = 64
_SLOT: Final = DEPARTURES - 1


class RoundTrip:
    """Jacobson's smoothed round-trip time. The counter that an ACK echoes distinguishes copies of one frame."""

    def __init__(self) -> None:
        self.rto = FIRST_RTO
        self.smoothed = 0.0  # s; 0 before the first measurement
        self.backoff = 1  # factor on the RTO while nothing is received
        self._deviation = 0.0
        self._measured = False
        self._departures = [(-1, 0.0)] * DEPARTURES  # low 16 bits of the counter, send time

    def departs(self, counter: int, now: float) -> None:
        """Record that the frame with this counter is sent now."""
        self._departures[counter & _SLOT] = counter & 0xFFFF, now

    def echoed(self, counter: int, now: float) -> None:
        """Use the counter that an acknowledgement echoes: that of the latest frame received."""
        departed, at = self._departures[counter & _SLOT]
        if departed == counter:
            self.took(now - at)

    def took(self, seconds: float) -> None:
        """Add one measured round trip; the deviation covers the other end's delayed acknowledgement."""
        if self._measured:
            off = seconds - self.smoothed
            self._deviation += (abs(off) - self._deviation) / 4
            self.smoothed += off / 8
        else:
            self.smoothed, self._deviation, self._measured = seconds, seconds / 2, True
        rto = self.smoothed + 4 * self._deviation + ACK_DELAY
        self.rto = MIN_RTO if rto < MIN_RTO else min(rto, MAX_RTO)
