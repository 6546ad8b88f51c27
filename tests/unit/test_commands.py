"""Actuations: done at most once, queried when in doubt, never resent; and the device's memory of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import commands as cm
from firmware_bridge.commands import Accepted, AskCommand, CommandMemory, CommandTracker, Outcome, Settled
from firmware_bridge.errors import (
    BadMessage,
    CommandFailed,
    CommandIdReused,
    CommandRefused,
    LinkError,
    LinkSilent,
    NotSent,
    OutcomeUnknown,
    PortFailed,
    QueueFull,
    Revoked,
)
from firmware_bridge.link import QUEUE_LIMIT, WINDOW
from tests.support.wire.links import (
    BenchAnswer,
    BenchEvent,
    BenchHalt,
    BenchMove,
    BenchQuestion,
    FrameFate,
    LinkPair,
    actuate,
    outcome_of,
    settle,
)

if TYPE_CHECKING:
    from firmware_bridge.messages import Message


class CommandBench:
    """A pair of links with the host's record of commands, as a driver joins them."""

    def __init__(self) -> None:
        self.pair = LinkPair()
        self.device = self.pair.device
        self.commands = CommandTracker()
        self.pair.host.on_event = self._event
        self.pair.host.on_down = self._down

    def _event(self, message: Message) -> None:
        if isinstance(message, Settled):
            self.commands.record_settled(message)
        elif isinstance(message, BenchEvent):
            self.commands.record_activity(message.n, asyncio.get_running_loop().time())

    def _down(self, cause: Exception) -> None:
        self.commands.release_waiters(cause if isinstance(cause, LinkError) else LinkError(str(cause)))

    def move(self, command: int = 7) -> asyncio.Task[Settled]:
        """Begin an actuation."""
        return actuate(self.commands, self.pair.host, BenchMove(command), command)

    async def end_of(self, command: int = 7) -> Any:
        """Run an actuation to its end."""
        return await outcome_of(self.move(command))

    def asked(self) -> int:
        """Return how often the device was queried about a command."""
        return len([m for m in self.device.received if isinstance(m, AskCommand)])

    def sent(self) -> int:
        """Return how often the device was ordered to move."""
        return len([m for m in self.device.received if isinstance(m, BenchMove)])


@pytest.mark.parametrize("seconds", [0.0, 0.001, 3.0, 9.9, 25.0])
async def test_a_command_is_done_once_and_its_end_is_reported(seconds: float) -> None:
    bench = CommandBench()
    bench.device.move_time_s = seconds
    assert await bench.end_of() == Settled(7, Outcome.DONE, 0)
    assert bench.device.executed == [7]
    assert bench.sent() == 1
    assert bench.asked() == int(seconds // cm.SETTLE_QUIET_S)


@pytest.mark.parametrize(("outcome", "error"), [(Outcome.REFUSED, CommandRefused), (Outcome.FAILED, CommandFailed)])
@pytest.mark.parametrize("later", [False, True])
async def test_a_devices_reason_reaches_the_caller(
    outcome: Outcome, error: type[CommandFailed | CommandRefused], later: bool
) -> None:
    bench = CommandBench()
    end = Settled(7, outcome, 433)
    bench.pair.far.on_request = lambda _, seq: bench.pair.far.send_reply(seq, Accepted(7) if later else end)
    task = bench.move()
    await settle(1.0)
    if later:
        bench.pair.far.send_event(end)
    failed = await outcome_of(task)
    assert type(failed) is error
    assert (failed.reason, failed.code) == (433, "PB-433")


@pytest.mark.parametrize("moving", [0.5, 20.0])
async def test_a_withheld_acceptance_is_asked_about_and_never_resent(moving: float) -> None:
    bench = CommandBench()
    bench.device.move_time_s = moving
    bench.device.withhold.add(BenchMove)
    assert await bench.end_of() == Settled(7, Outcome.DONE, 0)
    assert bench.device.executed == [7]
    assert bench.sent() == 1
    assert bench.asked() >= 1


async def test_a_withheld_acceptance_and_a_withheld_answer_leave_the_outcome_unknown() -> None:
    bench = CommandBench()
    bench.device.withhold |= {BenchMove, AskCommand}
    unknown = await bench.end_of()
    assert isinstance(unknown, OutcomeUnknown)
    assert unknown.command == 7
    assert isinstance(unknown.__cause__, LinkError)
    assert bench.device.executed == [7]
    assert (bench.sent(), bench.asked()) == (1, 1)


async def test_a_device_that_does_not_remember_leaves_the_outcome_unknown() -> None:
    bench = CommandBench()
    bench.device.withhold.add(BenchMove)
    task = bench.move()
    await settle(0.1)
    bench.device.memory = CommandMemory()
    unknown = await outcome_of(task)
    assert isinstance(unknown, OutcomeUnknown)
    assert bench.device.executed == [7]
    assert bench.sent() == 1


@pytest.mark.parametrize("seconds", [0.0, 0.2, 5.0, 15.0])
async def test_a_link_lost_in_the_middle_leaves_the_outcome_unknown_with_the_cause(seconds: float) -> None:
    bench = CommandBench()
    bench.device.move_time_s = None
    task = bench.move()
    await settle(seconds)
    cause = PortFailed("unplugged")
    bench.pair.host.fail(cause)
    unknown = await outcome_of(task)
    assert isinstance(unknown, OutcomeUnknown)
    assert unknown.__cause__ is cause
    assert unknown.command == 7
    assert len(bench.device.executed) <= 1


async def test_a_link_lost_before_the_acceptance_leaves_the_outcome_unknown_with_the_cause() -> None:
    bench = CommandBench()
    bench.pair.device_port.fate = lambda _: FrameFate.DROP
    unknown = await bench.end_of()
    assert isinstance(unknown, OutcomeUnknown)
    assert isinstance(unknown.__cause__, LinkSilent)
    assert bench.device.executed == [7]


async def test_a_broken_protocol_in_the_middle_leaves_the_outcome_unknown() -> None:
    bench = CommandBench()
    bench.device.move_time_s = None
    task = bench.move()
    await settle(0.1)
    bench.pair.host.fail(BadMessage("nonsense"))
    assert isinstance(await outcome_of(task), OutcomeUnknown)


async def test_a_command_that_never_left_the_queue_certainly_had_no_effect() -> None:
    bench = CommandBench()
    bench.pair.device_port.fate = lambda _: FrameFate.DROP
    asked = bench.pair.fill_window(WINDOW)
    task = bench.move()
    await settle()
    bench.pair.host.close()
    assert isinstance(await outcome_of(task), NotSent)
    assert isinstance(await bench.end_of(8), NotSent)
    assert bench.device.executed == []
    for waiter in asked:
        await outcome_of(waiter)


async def test_a_command_that_finds_no_room_certainly_had_no_effect() -> None:
    bench = CommandBench()
    asked = bench.pair.fill_window(WINDOW + QUEUE_LIMIT)
    task = actuate(bench.commands, bench.pair.host, BenchMove(7), 7)
    with pytest.raises(QueueFull):
        await task
    for waiter in asked:
        await waiter
    assert bench.device.executed == []


async def test_a_queued_command_that_a_stop_overtakes_certainly_had_no_effect() -> None:
    bench = CommandBench()
    bench.pair.device_port.fate = lambda _: FrameFate.DROP
    asked = bench.pair.fill_window(WINDOW)
    task = bench.move()
    await settle()
    stop = actuate(bench.commands, bench.pair.host, BenchHalt(8), 8, urgent=True)
    await settle()
    bench.pair.device_port.fate = lambda _: FrameFate.DELIVER
    assert isinstance(await outcome_of(task), Revoked)
    assert (await stop).outcome is Outcome.DONE
    for waiter in asked:
        await waiter
    assert bench.device.executed == [8]


@pytest.mark.parametrize("begin", [0.0, 0.1, 0.3, 1 / 3, 12.7, 1e5 / 7])
async def test_a_quiet_running_command_is_asked_about_and_given_up_after_the_last_ask(begin: float) -> None:
    bench = CommandBench()
    bench.device.move_time_s = None
    await asyncio.sleep(begin)
    began = asyncio.get_running_loop().time()
    unknown = await bench.end_of()
    assert isinstance(unknown, OutcomeUnknown)
    assert bench.asked() == cm.MAX_ASKS
    took = asyncio.get_running_loop().time() - began
    assert took == pytest.approx(cm.MAX_ASKS * cm.SETTLE_QUIET_S, abs=0.5)
    assert bench.device.executed == [7]


async def test_a_timer_that_fires_slightly_early_is_no_progress() -> None:
    bench = CommandBench()
    bench.device.move_time_s = None
    loop = asyncio.get_running_loop()
    for turn in range(1, 100):  # within the loop's resolution, so the quiet time's timer fires together with these
        loop.call_at(turn * cm.SETTLE_QUIET_S - 5e-10, lambda: None)
    async with asyncio.timeout(900):
        assert isinstance(await bench.end_of(), OutcomeUnknown)
    assert bench.asked() == cm.MAX_ASKS


async def test_a_command_with_progress_is_not_asked_about_however_long_it_takes() -> None:
    bench = CommandBench()
    bench.device.move_time_s = 300.0
    task = bench.move()
    while not task.done():
        await asyncio.sleep(9.0)
        bench.pair.far.send_event(BenchEvent(7))
    assert (await task).outcome is Outcome.DONE
    assert bench.asked() == 0


async def test_progress_after_a_long_quiet_starts_the_patience_again() -> None:
    bench = CommandBench()
    bench.device.move_time_s = 100.0
    task = bench.move()
    await settle(cm.SETTLE_QUIET_S * (cm.MAX_ASKS - 1) + 5.0)
    assert bench.asked() == cm.MAX_ASKS - 1
    bench.pair.far.send_event(BenchEvent(7))
    assert (await task).outcome is Outcome.DONE


async def test_a_missed_end_is_learned_by_asking() -> None:
    bench = CommandBench()
    bench.pair.host.on_event = lambda _: None  # its end arrives, and a bug in the driver loses it
    bench.device.move_time_s = 3.0
    assert await bench.end_of() == Settled(7, Outcome.DONE, 0)
    assert bench.asked() == 1


async def test_an_end_that_comes_before_the_acceptance_counts() -> None:
    bench = CommandBench()

    def end_first(_: Any, seq: int) -> None:
        bench.pair.far.send_event(Settled(7, Outcome.DONE, 0))
        bench.pair.far.send_reply(seq, Accepted(7))

    bench.pair.far.on_request = end_first
    assert await bench.end_of() == Settled(7, Outcome.DONE, 0)


async def test_the_end_of_one_command_is_not_the_end_of_another() -> None:
    bench = CommandBench()
    bench.device.move_time_s = None
    one, other = bench.move(7), bench.move(8)
    await settle(0.1)
    bench.pair.far.send_event(Settled(8, Outcome.DONE, 0))
    bench.pair.far.send_event(Settled(9, Outcome.FAILED, 1))
    assert (await other).command == 8
    assert not one.done()
    bench.pair.far.send_event(Settled(7, Outcome.FAILED, 433))
    assert isinstance(await outcome_of(one), CommandFailed)


@pytest.mark.parametrize(
    "reply", [Settled(8, Outcome.DONE, 0), Settled(8, Outcome.RUNNING, 0), Accepted(8), BenchAnswer(7)], ids=repr
)
async def test_an_answer_about_something_else_is_no_answer(reply: Message) -> None:
    bench = CommandBench()
    bench.pair.far.on_request = lambda _, seq: bench.pair.far.send_reply(seq, reply)
    assert isinstance(await bench.end_of(7), BadMessage)
    assert isinstance(await outcome_of(asyncio.ensure_future(bench.commands.ask(bench.pair.host, 7))), BadMessage)


async def test_the_same_id_again_executes_nothing_again() -> None:
    bench = CommandBench()
    for _ in range(3):
        assert await bench.end_of(7) == Settled(7, Outcome.DONE, 0)
    assert bench.sent() == 3
    assert bench.device.executed == [7]


async def test_the_same_id_twice_at_once_is_a_mistake_that_shows() -> None:
    bench = CommandBench()
    first = bench.move(7)
    await asyncio.sleep(0)
    with pytest.raises(AssertionError):
        await actuate(bench.commands, bench.pair.host, BenchMove(7), 7)
    assert (await first).outcome is Outcome.DONE


async def test_a_canceled_command_disturbs_nobody_and_can_be_asked_about() -> None:
    bench = CommandBench()
    bench.device.move_time_s = 1.0
    task, other = bench.move(7), bench.move(8)
    await settle(0.1)
    task.cancel()
    assert (await other).outcome is Outcome.DONE
    assert (await bench.commands.ask(bench.pair.host, 7)).outcome is Outcome.DONE
    assert bench.device.executed == [7, 8]
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await bench.pair.host.request(BenchQuestion(1), 1.0) == BenchAnswer(1)


@given(st.lists(st.integers(1, 60), min_size=30, unique=True), st.integers(1, 60), st.sampled_from(list(Outcome)[2:]))
def test_a_devices_memory_is_bounded_and_never_forgets_a_running_command(
    ids: list[int], running: int, outcome: Outcome
) -> None:
    memory = CommandMemory()
    assert memory.begin(running) is None
    for command in ids:
        if command != running and memory.begin(command) is None:
            memory.settle(command, outcome, 1)
        assert len(memory.recent()) <= cm.REMEMBERED
        assert memory.recall(running).outcome is Outcome.RUNNING
        assert memory.begin(running) == Settled(running, Outcome.RUNNING, 0)
    assert len(memory.recent()) == cm.REMEMBERED


def test_a_devices_memory_keeps_the_latest_oldest_first() -> None:
    memory = CommandMemory()
    for command in range(1, 40):
        memory.begin(command)
        memory.settle(command, Outcome.DONE)
    assert [settled.command for settled in memory.recent()] == list(range(40 - cm.REMEMBERED, 40))
    assert memory.recall(1).outcome is Outcome.UNKNOWN
    assert memory.recall(39) == Settled(39, Outcome.DONE, 0)


def test_an_id_that_comes_back_with_another_message_is_refused_and_changes_nothing() -> None:
    memory = CommandMemory()
    assert memory.begin(7, tag=1) is None
    assert memory.begin(7, tag=2) == Settled(7, Outcome.REFUSED, CommandIdReused.number)
    assert memory.begin(7, tag=1) == memory.recall(7) == Settled(7, Outcome.RUNNING, 0)
    memory.settle(7, Outcome.DONE)
    assert memory.begin(7, tag=2) == Settled(7, Outcome.REFUSED, CommandIdReused.number)
    assert memory.recent() == [Settled(7, Outcome.DONE, 0)]


def test_power_loss_interrupts_what_ran_and_nothing_else() -> None:
    memory = CommandMemory()
    memory.begin(1)
    memory.settle(1, Outcome.DONE)
    memory.begin(2)
    memory.begin(3)
    memory.settle(3, Outcome.REFUSED, 5)
    memory.fail_running(431)
    assert memory.recent() == [
        Settled(1, Outcome.DONE, 0),
        Settled(2, Outcome.FAILED, 431),
        Settled(3, Outcome.REFUSED, 5),
    ]
    assert memory.begin(2) == Settled(2, Outcome.FAILED, 431)  # and it is not begun again
