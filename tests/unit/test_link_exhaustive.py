"""Exhaustive search over everything that a line can do to the first frames of a short exchange.

The exchange: two questions, two events, one actuation with its later end, all begun at once; undisturbed it is about a
dozen frames. Each of N frames in a row, both directions together, is delivered, dropped, doubled, corrupted or held
until after the next one: 5 to the power of N exchanges, each in virtual time until everything has ended.
"""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import pytest

from firmware_bridge.commands import CommandTracker, Outcome, Settled
from firmware_bridge.errors import PitboxError
from simulators.engine.virtual_time import run_virtual
from tests.support.wire.links import (
    BenchAnswer,
    BenchEvent,
    BenchMove,
    BenchQuestion,
    FrameFate,
    LinkPair,
    actuate,
    outcome_of,
    taking_turns,
)

COMMAND = 7
# A lost frame costs a few retransmission times, doubled; after this long (s) everything must have ended.
LONG_ENOUGH = 60.0


class Exchange:
    """One run with its queries, events and actuation, and their results."""

    def __init__(self, fates: tuple[FrameFate, ...]) -> None:
        self.pair = LinkPair()
        turn = taking_turns(*fates)
        self.pair.host_port.fate = self.pair.device_port.fate = turn
        self.commands = CommandTracker()
        self.events: list[Any] = []
        self.pair.host.on_event = self._event
        self.pair.device.move_time_s = 0.02

    def _event(self, message: Any) -> None:
        if isinstance(message, Settled):
            self.commands.record_settled(message)
        else:
            self.events.append(message)

    async def run(self) -> list[Any]:
        """Run the exchange; return the two replies and the command's end, or the errors in their place."""
        pair = self.pair
        asked = [pair.ask(1, 0.3), pair.ask(2, 0.3)]
        moved = actuate(self.commands, pair.host, BenchMove(COMMAND), COMMAND)
        pair.far.send_event(BenchEvent(1))
        pair.far.send_event(BenchEvent(2))
        async with asyncio.timeout(LONG_ENOUGH):
            ends = [await outcome_of(waiter) for waiter in (*asked, moved)]
            while pair.host._unacked or pair.far._unacked:  # noqa: ASYNC110 - the clock is virtual
                await asyncio.sleep(0.25)
        pair.host.close()
        pair.far.close()
        return ends

    def check(self, ends: list[Any]) -> str:
        """Assert every guarantee of the link; return the kind of its end."""
        device = self.pair.device
        assert self.events == [BenchEvent(1), BenchEvent(2)]
        for n, end in zip((1, 2), ends[:2], strict=True):
            assert end == BenchAnswer(n) or isinstance(end, PitboxError)
        assert device.received[:2] == [BenchQuestion(1), BenchQuestion(2)]
        assert device.received.count(BenchMove(COMMAND)) == 1
        assert device.executed.count(COMMAND) <= 1
        end = ends[2]
        if isinstance(end, Settled):
            assert (end.command, end.outcome) == (COMMAND, Outcome.DONE)
            assert device.executed == [COMMAND]
        else:
            assert isinstance(end, PitboxError)
        failed = [type(e).__name__ for e in ends if isinstance(e, PitboxError)]
        return " ".join(failed) or "all answered"


async def _one(fates: tuple[FrameFate, ...]) -> str:
    exchange = Exchange(fates)
    return exchange.check(await exchange.run())


def search(depth: int, after: int = 0) -> dict[str, int]:
    """Run every combination of fates for `depth` frames, after some that are delivered; return how they ended."""
    counted: dict[str, int] = {}
    unseen: list[Any] = []

    async def every() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
        mine = asyncio.current_task()
        for fates in product(FrameFate, repeat=depth):
            try:
                end = await _one((FrameFate.DELIVER,) * after + fates)
                assert asyncio.all_tasks() == {mine}, "something is left over from this exchange"
            except Exception as error:
                raise AssertionError(f"under {[fate.name for fate in fates]}") from error
            assert not unseen, f"under {[fate.name for fate in fates]}: {unseen}"
            counted[end] = counted.get(end, 0) + 1

    run_virtual(every())
    return counted


def test_under_any_damage_to_the_first_frames_everything_is_answered_once() -> None:
    assert search(5) == {"all answered": len(FrameFate) ** 5}


@pytest.mark.parametrize("after", [4, 6, 8, 10, 12])
def test_under_any_damage_to_three_later_frames_everything_is_answered_once(after: int) -> None:
    assert search(3, after) == {"all answered": len(FrameFate) ** 3}


@pytest.mark.proof
@pytest.mark.parametrize("after", [3, 6, 9, 12])
def test_under_any_damage_to_six_later_frames_nothing_is_lost_doubled_or_mixed_up(after: int) -> None:
    counted = search(6, after)
    runs = sum(counted.values())
    print(f"link fates after {after} good frames: {runs} exchanges, {counted}")
    assert runs == len(FrameFate) ** 6
    assert counted["all answered"] > 0.99 * runs


@pytest.mark.proof
def test_under_any_damage_to_many_frames_nothing_is_lost_doubled_or_mixed_up() -> None:
    counted = search(7)
    runs = sum(counted.values())
    print(f"link fates: {runs} exchanges, {counted}")
    assert runs == len(FrameFate) ** 7
    assert counted["all answered"] > 0.99 * runs
