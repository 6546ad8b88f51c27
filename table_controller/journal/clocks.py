"""Whether the wall clock was stepped, told from the monotonic clock beside it. Pure: reads no clock, writes nothing."""

from __future__ import annotations

from typing import Final, NamedTuple

# Wall and monotonic clock may differ by this much before it is a step (ns): more than a loaded computer's delay
# between reading the one and the other, less than anybody would set by hand.
STEP_NS: Final = 100_000_000
# Time services speed a clock up or slow it down by at most 500 parts in a million; twice that is no step.
DRIFT: Final = 1000
# A pair of readings is compared for this long (ns), so that many small steps add up to one that is seen.
ANCHOR_NS: Final = 60_000_000_000


class Reading(NamedTuple):
    """Both clocks, read together (ns)."""

    wall_ns: int
    mono_ns: int


def step_between(before: Reading, now: Reading) -> int:
    """Return by how much the wall clock was stepped between two readings of one boot (ns, negative is back), or 0."""
    elapsed = now.mono_ns - before.mono_ns
    step = now.wall_ns - before.wall_ns - elapsed
    return step if abs(step) > STEP_NS + abs(elapsed) // DRIFT else 0


def watch(anchor: Reading, now: Reading) -> tuple[Reading, int]:
    """Compare a reading with the anchor. Returns the anchor to use next, and the step (ns) or 0."""
    step = step_between(anchor, now)
    return (now if step or now.mono_ns - anchor.mono_ns >= ANCHOR_NS else anchor), step


def back_since(wall_ns: int, now_wall_ns: int) -> int:
    """Return how far (ns) the wall clock stands before the last record of an earlier boot, or 0.

    Across boots the monotonic clock says nothing; only a clock that went back can be told from one that went on.
    """
    return max(0, wall_ns - now_wall_ns)
