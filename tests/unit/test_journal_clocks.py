"""Steps of the wall clock, detected by the monotonic clock."""

from __future__ import annotations

import pytest

from table_controller.journal.clocks import ANCHOR_NS, ClockReading, compare_clocks, set_back_ns, step_between

S = 1_000_000_000


@pytest.mark.parametrize(
    ("wall", "mono", "step"),
    [
        (10 * S, 10 * S, 0),
        (10 * S + S // 20, 10 * S, 0),  # a slow reading
        (10 * S + S // 2, 10 * S, S // 2),
        (-365 * 86400 * S, 10 * S, -365 * 86400 * S - 10 * S),
        (3600 * S + 3 * S, 3600 * S, 0),  # a time service that speeds the clock up
        (3600 * S - 5 * S, 3600 * S, -5 * S),
    ],
)
def test_a_step_is_distinguished_from_drift(wall: int, mono: int, step: int) -> None:
    before = ClockReading(1_700_000_000 * S, 55 * S)
    assert step_between(before, ClockReading(before.wall_ns + wall, before.mono_ns + mono)) == step


def test_many_small_steps_add_up_to_one_that_is_seen() -> None:
    anchor, seen = ClockReading(0, 0), []
    for number in range(1, 100):
        anchor, step = compare_clocks(anchor, ClockReading(number * (S + 30_000_000), number * S))
        seen.append(step)
    assert sum(map(bool, seen)) > 10
    assert anchor.mono_ns > 0


def test_the_anchor_moves_on_so_that_drift_does_not_add_up() -> None:
    anchor, _ = compare_clocks(ClockReading(0, 0), ClockReading(ANCHOR_NS // 2, ANCHOR_NS // 2))
    assert anchor == ClockReading(0, 0)
    anchor, step = compare_clocks(anchor, ClockReading(ANCHOR_NS, ANCHOR_NS))
    assert (anchor, step) == (ClockReading(ANCHOR_NS, ANCHOR_NS), 0)


def test_across_boots_only_a_step_back_is_detected() -> None:
    assert set_back_ns(100 * S, 40 * S) == 60 * S
    assert set_back_ns(100 * S, 140 * S) == 0
