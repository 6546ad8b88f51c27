"""A machine's own clock on a computer that does not keep up: it is late, and never goes back."""

from __future__ import annotations

import asyncio
import time

import pytest

from simulators.engine.device_clock import DeviceClock


@pytest.mark.realtime
async def test_a_due_timer_that_has_not_run_holds_the_clock_for_outside_readers() -> None:
    clock, seen = DeviceClock(speed=100.0), list[float]()
    clock.after(1.0, lambda: seen.append(clock.now))  # due in 10 ms
    latest = clock.now + 1.0
    time.sleep(0.05)  # noqa: ASYNC251 - the computer is busy elsewhere
    seen.append(clock.now)  # a frame has arrived meanwhile and is handled first
    await asyncio.sleep(0.02)
    seen.append(clock.now)
    assert seen == sorted(seen), f"time went back: {seen}"
    assert seen[0] == seen[1] <= latest, "who looks from outside sees the instant that is still to come"
    assert seen[2] > 5.0


@pytest.mark.realtime
async def test_a_canceled_timer_does_not_hold_the_clock() -> None:
    clock = DeviceClock(speed=100.0)
    clock.after(1.0, lambda: None).cancel()
    time.sleep(0.05)  # noqa: ASYNC251
    assert clock.now >= 5.0


@pytest.mark.realtime
async def test_a_computer_that_is_busy_in_the_middle_of_a_hands_act_puts_no_time_between_its_parts() -> None:
    clock, seen = DeviceClock(speed=200.0), list[float]()

    def act() -> None:
        seen.append(clock.now)  # the sensor's edge
        time.sleep(0.02)  # the computer is busy elsewhere: 4 s of device time
        clock.after(0.1, lambda: seen.append(clock.now))  # the next edge, a tenth of a second after it

    clock.run_at_one_instant(act)
    await asyncio.sleep(0.05)
    assert seen[1] - seen[0] == pytest.approx(0.1)
    assert clock.now > 4.0, "and it goes on"
