"""How long a line takes, and how long to wait before a frame is repeated. Pure: time is given, nothing is sent here."""

from __future__ import annotations

from typing import Final

# An acknowledgement waits this long (s) for a frame to ride on: longer than any firmware needs to answer a question,
# shorter than the least retransmission time.
ACK_DELAY: Final = 0.010
# Bounds of the retransmission time (s): above a busy machine's scheduling noise; below a person's patience.
MIN_RTO: Final = 0.060
MAX_RTO: Final = 2.0
# Before the first measurement (s): a 100-byte frame and its answer at 9600 baud take 0.2 s.
FIRST_RTO: Final = 0.500
# So many frames back (a power of two) departures are remembered, for the echo in acknowledgements: a window of frames,
# each with a few copies.
DEPARTURES: Final = 64
_SLOT: Final = DEPARTURES - 1


class RoundTrip:
    """Jacobson's smoothed round trip. Copies of one frame are told apart by the counter that an ACK echoes."""

    def __init__(self) -> None:
        self.rto = FIRST_RTO
        self.smoothed = 0.0  # s; 0 before the first measurement
        self.backoff = 1  # so many times as long is waited while nothing is heard
        self._deviation = 0.0
        self._measured = False
        self._departures = [(-1, 0.0)] * DEPARTURES  # the low half of the counter, and when

    def departs(self, counter: int, now: float) -> None:
        """Note that the frame with this counter leaves now."""
        self._departures[counter & _SLOT] = counter & 0xFFFF, now

    def echoed(self, counter: int, now: float) -> None:
        """An acknowledgement names the frame that arrived last."""
        departed, at = self._departures[counter & _SLOT]
        if departed == counter:
            self.took(now - at)

    def took(self, seconds: float) -> None:
        """Learn one round trip; the deviation covers the other end's delayed acknowledgement."""
        if self._measured:
            off = seconds - self.smoothed
            self._deviation += (abs(off) - self._deviation) / 4
            self.smoothed += off / 8
        else:
            self.smoothed, self._deviation, self._measured = seconds, seconds / 2, True
        rto = self.smoothed + 4 * self._deviation + ACK_DELAY
        self.rto = MIN_RTO if rto < MIN_RTO else min(rto, MAX_RTO)
