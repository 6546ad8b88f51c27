"""Detects steps of the wall clock by comparing it with the monotonic clock."""

from __future__ import annotations

from typing import Final, NamedTuple

# Wall and monotonic clock may differ by this much before it is a step (ns): more than the delay between two reads on a
# loaded computer, less than anybody would set by hand.
STEP_NS: Final = 100_000_000
# Time services slew a clock by at most 500 parts in a million; up to twice that is no step.
DRIFT: Final = 1000
# An anchor is compared with new readings for this long (ns), so that many small steps add up to one that is detected.
ANCHOR_NS: Final = 60_000_000_000


class ClockReading(NamedTuple):
    """Both clocks, read together (ns)."""

    wall_ns: int
    mono_ns: int


def step_between(before: ClockReading, now: ClockReading) -> int:
    """Return the step of the wall clock between two readings of one boot (ns, negative is back), or 0."""
    elapsed = now.mono_ns - before.mono_ns
    step = now.wall_ns - before.wall_ns - elapsed
    return step if abs(step) > STEP_NS + abs(elapsed) // DRIFT else 0


def compare_clocks(anchor: ClockReading, now: ClockReading) -> tuple[ClockReading, int]:
    """Compare a reading with the anchor. Returns the next anchor, and the step (ns) or 0."""
    step = step_between(anchor, now)
    return (now if step or now.mono_ns - anchor.mono_ns >= ANCHOR_NS else anchor), step


def set_back_ns(wall_ns: int, now_wall_ns: int) -> int:
    """Return how far (ns) the wall clock is before the last record of an earlier boot, or 0.

    The monotonic clock restarts with each boot, so across boots only a wall clock that was set back can be detected.
    """
    return max(0, wall_ns - now_wall_ns)
