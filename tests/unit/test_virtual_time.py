"""Virtual time that passes inside a callback: callbacks run in the same order as with the loop alone."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest

from simulators.engine.device_clock import DeviceClock, DeviceTimer
from simulators.engine.virtual_time import VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Log = list[tuple[str, float]]


class _LoopAlone(VirtualLoop):
    """A loop that never passes time inside a callback: every timer comes through its heap."""

    def advance(self, then: float) -> bool:
        return False


class _Watched(VirtualLoop):
    """A loop that counts how often time passed inside a callback."""

    passed = 0

    def advance(self, then: float) -> bool:
        gone_on = super().advance(then)
        self.passed += gone_on
        return gone_on


def _both(main: Callable[[Log], Awaitable[None]]) -> tuple[Log, int]:
    """Run on both loops, which must log the same calls; return the log and how often time passed inside."""

    async def run(log: Log) -> None:
        await main(log)

    alone, together = Log(), Log()
    with asyncio.Runner(loop_factory=_LoopAlone) as runner:
        runner.run(run(alone))
    with asyncio.Runner(loop_factory=_Watched) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, _Watched)
        runner.run(run(together))
    assert together == alone
    return together, loop.passed


def _chain(log: Log, clock: DeviceClock, name: str, steps: int, every: float) -> None:
    """Set a timer that sets the next."""
    loop = asyncio.get_running_loop()

    def step(left: int) -> None:
        log.append((name, loop.time()))
        if left:
            clock.after(every, lambda: step(left - 1))

    clock.after(every, lambda: step(steps - 1))


def test_a_machine_that_nobody_disturbs_goes_on_without_the_loop() -> None:
    async def main(log: Log) -> None:
        _chain(log, DeviceClock(), "card", 10, 0.04)
        await asyncio.sleep(1.0)
        log.append(("end", asyncio.get_running_loop().time()))

    log, passed = _both(main)
    assert [name for name, _ in log] == ["card"] * 10 + ["end"]
    assert passed == 9


def test_what_comes_before_or_at_the_same_instant_is_called_in_its_turn() -> None:
    async def main(log: Log) -> None:
        loop = asyncio.get_running_loop()
        clock = DeviceClock()
        loop.call_at(0.25, lambda: log.append(("set first", loop.time())))
        loop.call_at(0.5 + 4e-10, lambda: log.append(("a hair later", loop.time())))
        loop.call_at(0.625, lambda: log.append(("between", loop.time())))
        _chain(log, clock, "card", 4, 0.25)
        loop.call_at(0.25, lambda: log.append(("set last", loop.time())))
        await asyncio.sleep(2.0)

    log, passed = _both(main)
    assert [name for name, _ in log] == [
        "set first", "card", "set last", "card", "a hair later", "between", "card", "card",
    ]  # fmt: skip
    assert passed == 1, "only the last card had nobody before it"


def test_a_callback_scheduled_inside_a_callback_runs_before_time_passes() -> None:
    async def main(log: Log) -> None:
        loop = asyncio.get_running_loop()
        clock = DeviceClock()
        waited: asyncio.Future[None] = loop.create_future()

        def notify() -> None:
            loop.call_soon(lambda: log.append(("told", loop.time())))
            clock.after(0.5, lambda: log.append(("later", loop.time())))
            clock.after(0.25, lambda: waited.set_result(None))

        clock.after(0.25, notify)
        await waited
        log.append(("awake", loop.time()))
        await asyncio.sleep(1.0)

    log, _ = _both(main)
    assert log == [("told", 0.25), ("awake", 0.5), ("later", 0.75)]


def test_cancelled_timers_of_the_loop_and_of_the_machine_hold_nobody_up() -> None:
    async def main(log: Log) -> None:
        loop = asyncio.get_running_loop()
        clock = DeviceClock()
        timer, own = loop.call_at(0.375, log.append, ("never", 0.0)), list[DeviceTimer]()

        def cancel() -> None:
            timer.cancel()
            own[0].cancel()

        clock.after(0.25, cancel)
        own.append(clock.after(0.375, lambda: log.append(("never", 0.0))))
        clock.after(0.5, lambda: log.append(("card", loop.time())))
        await asyncio.sleep(1.0)

    log, passed = _both(main)
    assert log == [("card", 0.5)]
    assert passed == 1


def test_power_that_goes_inside_a_callback_ends_what_was_to_come() -> None:
    async def main(log: Log) -> None:
        loop = asyncio.get_running_loop()
        clock = DeviceClock()

        def cut() -> None:
            clock.stop()
            clock.after(0.5, lambda: log.append(("power", loop.time())))

        clock.after(0.25, cut)
        clock.after(0.375, lambda: log.append(("never", 0.0)))
        await asyncio.sleep(1.0)

    assert _both(main) == ([("power", 0.75)], 1)


def test_a_callback_that_fails_is_reported_and_the_machine_goes_on() -> None:
    async def main(log: Log) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, reported: log.append((repr(reported["exception"]), loop.time())))
        clock = DeviceClock()

        def fail() -> None:
            raise ValueError("torn")

        clock.after(0.25, lambda: log.append(("card", loop.time())))
        clock.after(0.5, fail)
        clock.after(0.75, lambda: log.append(("card", loop.time())))
        await asyncio.sleep(1.0)

    log, _ = _both(main)
    assert log == [("card", 0.25), ("ValueError('torn')", 0.5), ("card", 0.75)]


@pytest.mark.parametrize("loop_class", [VirtualLoop, _LoopAlone])
def test_a_loop_that_was_stopped_lets_no_time_pass(loop_class: type[VirtualLoop]) -> None:
    log = Log()

    async def main() -> None:
        clock = DeviceClock()
        clock.after(0.25, loop.stop)
        clock.after(1.25, loop.stop)
        _chain(log, clock, "card", 2, 0.5)

    with closing(loop_class()) as loop:
        loop.run_until_complete(main())
        loop.run_forever()
        assert (loop.time(), log) == (0.25, [])
        loop.run_forever()
        assert (loop.time(), log) == (1.25, [("card", 0.5), ("card", 1.0)])


async def test_while_somebody_waits_for_a_file_the_loop_looks_at_it_before_time_passes() -> None:
    loop, log = asyncio.get_running_loop(), Log()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        loop.add_reader(ours, lambda: log.append((ours.recv(9).decode(), loop.time())))
        clock = DeviceClock()
        clock.after(0.25, lambda: theirs.send(b"word"))  # type: ignore[arg-type]
        clock.after(0.5, lambda: log.append(("card", loop.time())))
        await asyncio.sleep(1.0)
        loop.remove_reader(ours)
    assert log == [("word", 0.25), ("card", 0.5)]


@pytest.mark.parametrize("seed", range(20))
def test_any_mix_of_machines_people_and_timers_keeps_the_order(seed: int) -> None:
    """Instants are on a coarse grid, so many are equal, and some are closer together than the loop's resolution."""

    async def main(log: Log) -> None:
        rng, loop = Random(seed), asyncio.get_running_loop()
        clocks = [DeviceClock(), DeviceClock(speed=2.0), DeviceClock()]
        timers: list[DeviceTimer] = []

        def later() -> float:
            return rng.randrange(12) / 16 + rng.choice([0.0, 0.0, 4e-10, 3e-9])

        def act(name: str) -> None:
            log.append((name, loop.time()))
            if loop.time() > 30.0:
                return
            for _ in range(rng.choice([0, 1, 1, 1, 2])):
                number = rng.randrange(len(clocks))
                timers.append(clocks[number].after(later(), partial(act, f"machine {number}")))
            match rng.randrange(12):
                case 0:
                    loop.call_soon(act, "soon")
                case 1:
                    loop.call_later(later(), act, "later")
                case 2:
                    rng.choice(timers or [DeviceTimer(0.0, 0, None, ())]).cancel()
                case 3:
                    clocks[2].stop()

        async def person(name: str) -> None:
            while loop.time() < 30.0:
                await asyncio.sleep(later() * 4)
                act(name)

        await asyncio.gather(*[person(f"person {number}") for number in range(2)])

    log, passed = _both(main)
    assert len(log) > 50
    assert passed > 10
