"""The link's window and queue: bounded, urgent first, and a stop that revokes queued actuations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge import frame as fr
from firmware_bridge import link as lk
from firmware_bridge.errors import LinkClosed, NotSent, QueueFull, Revoked
from tests.support.wire.links import (
    BenchAnswer,
    BenchEvent,
    BenchHalt,
    BenchMove,
    BenchQuestion,
    FrameFate,
    LinkPair,
    kind_of,
    outcome_of,
    settle,
)

if TYPE_CHECKING:
    import asyncio

    from firmware_bridge.messages import Message

ROOM = lk.WINDOW + lk.QUEUE_LIMIT


def stopped(pair: LinkPair) -> None:
    """Drop everything from the device, so that the host's window stays full."""
    pair.device_port.fate = lambda _: FrameFate.DROP


def going(pair: LinkPair) -> None:
    """Let frames pass again."""
    pair.device_port.fate = lambda _: FrameFate.DELIVER


def sequenced(pair: LinkPair) -> list[fr.Frame]:
    """Return what the host wrote, without acknowledgments, heartbeats and repetitions."""
    expected = (fr.REQUEST, fr.REPLY, fr.EVENT)
    return [f for f in pair.host_port.frames() if f.type in expected and not f.flags & fr.RETRANSMIT]


def halt(pair: LinkPair, command: int) -> asyncio.Future[Any]:
    """Send an urgent stop."""
    return pair.host.request(BenchHalt(command), 0.5, urgent=True, actuation=True)


def move(pair: LinkPair, command: int) -> asyncio.Future[Any]:
    """Send an actuation."""
    return pair.host.request(BenchMove(command), 30.0, actuation=True)


async def end(pair: LinkPair, *waiters: asyncio.Future[Any]) -> list[Any]:
    """Close the host's end and wait for every result."""
    pair.host.close()
    return [await outcome_of(waiter) for waiter in waiters]


async def test_frames_are_written_in_the_call_that_asks_for_them() -> None:
    pair = LinkPair()
    waiter = pair.ask(1)
    assert len(pair.host_port.written) == 1
    assert await waiter == BenchAnswer(1)


async def test_no_more_than_a_window_is_on_the_way() -> None:
    pair = LinkPair()
    stopped(pair)
    waiters = pair.fill_window(20)
    assert len(sequenced(pair)) == lk.WINDOW
    assert pair.host.is_congested
    await end(pair, *waiters)


async def test_a_full_queue_refuses_and_sends_nothing() -> None:
    pair = LinkPair()
    waiters = pair.fill_window(ROOM)
    refused = [pair.ask(n) for n in range(3)]
    assert [type(await outcome_of(waiter)) for waiter in refused] == [QueueFull] * 3
    assert [await waiter for waiter in waiters] == [BenchAnswer(1000 + n) for n in range(ROOM)]
    await settle(1.0)
    assert pair.device.received == [BenchQuestion(1000 + n) for n in range(ROOM)]
    assert await pair.ask(7) == BenchAnswer(7)  # room again


async def test_a_device_is_notified_when_its_host_accepts_no_more_events() -> None:
    pair = LinkPair()
    for n in range(ROOM):
        pair.far.send_event(BenchEvent(n))
    with pytest.raises(QueueFull):
        pair.far.send_event(BenchEvent(ROOM))
    await settle(1.0)
    assert pair.events == [BenchEvent(n) for n in range(ROOM)]


async def test_a_reply_that_finds_no_room_ends_the_session_instead_of_the_program() -> None:
    pair = LinkPair()
    for n in range(ROOM):
        pair.far.send_event(BenchEvent(n))
    waiter = pair.ask(1)  # its own acknowledgment field shows that the host has received nothing yet
    await settle()
    assert isinstance(pair.far.down, QueueFull)
    await end(pair, waiter)


async def test_an_urgent_message_overtakes_what_is_queued_and_nothing_that_was_sent() -> None:
    pair = LinkPair()
    asked = pair.fill_window(lk.WINDOW + 10)
    urgent = halt(pair, 1)
    assert (await urgent).command == 1
    for waiter in asked:
        await waiter
    at = pair.device.received.index(BenchHalt(1))
    assert at == lk.WINDOW
    questions: list[Message] = [m for m in pair.device.received if isinstance(m, BenchQuestion)]
    assert questions == [BenchQuestion(1000 + n) for n in range(lk.WINDOW + 10)]


async def test_an_urgent_message_is_written_at_once_though_the_window_is_full() -> None:
    pair = LinkPair()
    stopped(pair)
    asked = pair.fill_window(ROOM)
    written = len(pair.host_port.written)
    urgent = [halt(pair, 1 + n) for n in range(lk.URGENT_WINDOW - lk.WINDOW)]
    assert len(pair.host_port.written) == written + len(urgent)
    await settle()
    assert pair.device.executed == [1, 2, 3, 4]
    await end(pair, *asked, *urgent)


async def test_an_urgent_message_has_its_own_room_when_queue_and_window_are_full() -> None:
    pair = LinkPair()
    stopped(pair)
    asked = pair.fill_window(ROOM)
    urgent = [halt(pair, 1 + n) for n in range(8)]
    assert not any(waiter.done() for waiter in urgent)  # QueueFull would be a stop that is not sent
    going(pair)
    assert [(await waiter).command for waiter in urgent] == list(range(1, 9))
    assert [await waiter for waiter in asked] == [BenchAnswer(1000 + n) for n in range(ROOM)]
    halts = [i for i, message in enumerate(pair.device.received) if isinstance(message, BenchHalt)]
    assert halts == list(range(lk.WINDOW, lk.WINDOW + 8))


async def test_urgent_messages_have_a_bound_too() -> None:
    pair = LinkPair()
    stopped(pair)
    waiters = [halt(pair, 1 + n) for n in range(500)]
    errors = [waiter.exception() for waiter in waiters if waiter.done()]
    assert len(errors) == 500 - lk.URGENT_WINDOW - lk.QUEUE_LIMIT
    assert all(isinstance(error, QueueFull) for error in errors)
    await end(pair, *waiters)


async def test_a_stop_revokes_queued_actuations_and_leaves_questions_alone() -> None:
    pair = LinkPair()
    sent = move(pair, 1)
    asked = pair.fill_window(lk.WINDOW + 1)
    queued = [move(pair, n) for n in (2, 3, 4)]
    stop = halt(pair, 9)
    assert [type(await outcome_of(waiter)) for waiter in queued] == [Revoked] * 3
    await stop
    await sent
    assert [await waiter for waiter in asked] == [BenchAnswer(1000 + n) for n in range(lk.WINDOW + 1)]
    await settle(10.0)
    assert pair.device.executed == [1, 9]


async def test_a_stop_does_not_revoke_another_stop_that_still_waits() -> None:
    pair = LinkPair()
    stopped(pair)
    waiters = [halt(pair, 1 + n) for n in range(lk.URGENT_WINDOW + 3)]
    going(pair)
    assert [(await waiter).command for waiter in waiters] == list(range(1, lk.URGENT_WINDOW + 4))
    assert pair.device.executed == list(range(1, lk.URGENT_WINDOW + 4))


async def test_a_refused_stop_still_revokes_queued_actuations() -> None:
    pair = LinkPair()
    stopped(pair)
    stops = [halt(pair, 1 + n) for n in range(lk.URGENT_WINDOW + lk.QUEUE_LIMIT)]
    queued = move(pair, 900)
    refused = halt(pair, 901)
    assert isinstance(refused.exception(), QueueFull)
    assert isinstance(await outcome_of(queued), Revoked)  # the motion is revoked even so
    await end(pair, *stops)


async def test_an_actuation_asked_for_after_the_stop_is_sent_after_it() -> None:
    pair = LinkPair()
    asked = pair.fill_window(lk.WINDOW + 3)
    stop, after = halt(pair, 1), move(pair, 2)
    await stop
    await after
    for waiter in asked:
        await waiter
    assert pair.device.executed == [1, 2]


async def test_a_canceled_request_that_still_waits_is_never_sent_and_disturbs_nobody() -> None:
    pair = LinkPair()
    asked = pair.fill_window(lk.WINDOW)
    queued = [move(pair, 1), move(pair, 2), move(pair, 3)]
    queued[1].cancel()
    await settle(40.0)
    assert [await waiter for waiter in asked] == [BenchAnswer(1000 + n) for n in range(lk.WINDOW)]
    assert [(await queued[i]).command for i in (0, 2)] == [1, 3]
    assert pair.device.executed == [1, 3]


async def test_a_canceled_request_that_was_sent_disturbs_nobody() -> None:
    pair = LinkPair()
    first, second, third = pair.ask(1), pair.ask(2), pair.ask(3)
    second.cancel()
    assert (await first, await third) == (BenchAnswer(1), BenchAnswer(3))
    assert pair.host.counters.late_replies == 1
    assert pair.device.received == [BenchQuestion(1), BenchQuestion(2), BenchQuestion(3)]


async def test_what_waits_longer_than_its_deadline_was_certainly_not_sent() -> None:
    pair = LinkPair()
    # Heartbeats pass, acknowledgments of our frames do not: the window stays full and the link alive.
    pair.host_port.fate = lambda data: FrameFate.DROP if kind_of(data) == fr.REQUEST else FrameFate.DELIVER
    asked = [pair.ask(n, 60.0) for n in range(lk.WINDOW)]
    queued = pair.host.request(BenchMove(1), 0.1, actuation=True)
    assert isinstance(await outcome_of(queued), NotSent)
    assert pair.host.down is None
    pair.host_port.fate = lambda _: FrameFate.DELIVER
    assert [await waiter for waiter in asked] == [BenchAnswer(n) for n in range(lk.WINDOW)]
    await settle(5.0)
    assert pair.device.executed == []


async def test_the_queue_keeps_its_order_over_any_burst() -> None:
    pair = LinkPair()
    waiters = []
    for n in range(300):
        waiters.append(pair.ask(n, 20.0))
        if n % 40 == 39:
            await settle(0.001)
    results = [await outcome_of(waiter) for waiter in waiters]
    assert results == [BenchAnswer(n) for n in range(300)]
    assert pair.device.received == [BenchQuestion(n) for n in range(300)]


async def test_closing_distinguishes_sent_from_queued() -> None:
    pair = LinkPair()
    stopped(pair)
    waiters = pair.fill_window(lk.WINDOW + 3)
    errors = await end(pair, *waiters)
    assert [type(error) for error in errors] == [LinkClosed] * lk.WINDOW + [NotSent] * 3
    assert all(isinstance(error.__cause__, LinkClosed) for error in errors[lk.WINDOW :])
    await settle(5.0)
    assert len(pair.device.received) == lk.WINDOW
