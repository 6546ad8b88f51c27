"""Replies of a link: each finds its question, within a deadline that learns the line."""

from __future__ import annotations

import asyncio

import pytest

from firmware_bridge import link as lk
from firmware_bridge import rtt_estimator as rt
from firmware_bridge.errors import LinkClosed, LinkError, ReplyTimeout
from tests.support.wire.links import (
    BenchAnswer,
    BenchEvent,
    BenchQuestion,
    LinkPair,
    outcome_of,
    settle,
)


async def test_the_deadline_is_on_the_reply_not_on_the_acknowledgment() -> None:
    pair = LinkPair()
    pair.device.withhold.add(BenchQuestion)
    loop = asyncio.get_running_loop()
    for n in range(5):
        pair.far.send_event(BenchEvent(n))  # the link is as lively as can be
    error = await outcome_of(pair.ask(1, 0.3))
    assert isinstance(error, ReplyTimeout)
    assert loop.time() == pytest.approx(0.3 + lk.REPLY_RTOS * rt.FIRST_RTO_S, abs=0.01)
    assert pair.host.down is None
    assert pair.host.counters.retransmitted == 0


@pytest.mark.parametrize("one_way", [0.001, 0.25])
async def test_the_deadline_of_a_reply_adapts_to_the_line(one_way: float) -> None:
    pair = LinkPair()
    pair.fates(lambda _: lambda _: one_way)
    for n in range(20):
        await pair.ask(n)
    await settle(1.0)
    loop = asyncio.get_running_loop()
    began, rto = loop.time(), pair.host.rto_s
    pair.device.withhold.add(BenchQuestion)
    assert isinstance(await outcome_of(pair.ask(1, 0.3)), ReplyTimeout)
    assert loop.time() - began == pytest.approx(0.3 + lk.REPLY_RTOS * rto, abs=0.01)


async def test_a_reply_that_thinks_within_its_patience_is_in_time() -> None:
    pair = LinkPair()
    for n in range(20):
        await pair.ask(n)
    pair.device.reply_delay_s = 0.9
    assert await pair.ask(1, 0.5) == BenchAnswer(1)  # 0.5 s and eight times the least retransmission time


async def test_a_late_reply_is_counted_and_never_credited_to_another_request() -> None:
    pair = LinkPair()
    for n in range(20):
        await pair.ask(n)
    pair.device.reply_delay_s = 5.0
    late = pair.ask(100, 0.3)
    assert isinstance(await outcome_of(late), ReplyTimeout)
    pair.device.reply_delay_s = 0.0
    pair.device.withhold.add(BenchQuestion)
    unanswered = [pair.ask(n, 10.0) for n in range(5)]
    await settle(4.9)
    assert pair.host.counters.late_replies == 1
    assert not any(waiter.done() for waiter in unanswered)
    assert isinstance(late.exception(), ReplyTimeout)
    pair.host.close()
    assert all([isinstance(await outcome_of(waiter), LinkError) for waiter in unanswered])


async def test_replies_in_another_order_find_their_own_questions() -> None:
    pair = LinkPair()
    asked: list[tuple[BenchQuestion, int]] = []
    pair.far.on_request = lambda message, seq: asked.append((message, seq))
    waiters = [pair.ask(n, 5.0) for n in range(6)]
    await settle()
    for message, seq in reversed(asked):
        pair.far.send_reply(seq, BenchAnswer(message.n))
    assert [await waiter for waiter in waiters] == [BenchAnswer(n) for n in range(6)]


async def test_a_reply_to_nothing_is_counted_and_harms_nobody() -> None:
    pair = LinkPair()
    pair.far.send_reply(0x4242, BenchAnswer(9))
    waiter = pair.ask(1)
    assert await waiter == BenchAnswer(1)
    assert pair.host.counters.late_replies == 1


async def test_a_second_reply_to_the_same_question_is_counted_and_dropped() -> None:
    pair = LinkPair()
    answer_twice = pair.far.on_request

    def twice(message: BenchQuestion, seq: int) -> None:
        answer_twice(message, seq)
        pair.far.send_reply(seq, BenchAnswer(-1))

    pair.far.on_request = twice
    assert await pair.ask(1) == BenchAnswer(1)
    await settle()
    assert pair.host.counters.late_replies == 1


async def test_replies_and_events_can_be_delivered_in_wire_order() -> None:
    pair = LinkPair()
    reported: list[object] = []
    pair.host.on_event = reported.append
    answer = pair.device._request

    def around(link: lk.Link, message: object, seq: int) -> None:
        link.send_event(BenchEvent(1))
        answer(link, message, seq)
        link.send_event(BenchEvent(2))

    pair.device._request = around  # type: ignore[method-assign]
    waiters = [pair.host.request(BenchQuestion(n), 1.0, on_end=reported.append) for n in (7, 8)]
    assert [await waiter for waiter in waiters] == [BenchAnswer(7), BenchAnswer(8)]
    assert reported == [BenchEvent(1), BenchAnswer(7), BenchEvent(2), BenchEvent(1), BenchAnswer(8), BenchEvent(2)]


async def test_a_reply_callback_is_called_for_a_missing_reply_too_and_never_after_it() -> None:
    pair = LinkPair()
    reported: list[object] = []
    pair.device.reply_delay_s = 60.0
    late = pair.host.request(BenchQuestion(1), 0.1, on_end=reported.append)
    assert isinstance(await outcome_of(late), ReplyTimeout)
    await settle(80.0)
    assert pair.host.counters.late_replies == 1
    pair.device.withhold.add(BenchQuestion)
    pair.host.request(BenchQuestion(2), 10.0, on_end=reported.append)  # no caller has to wait for it
    pair.host.close()
    assert [type(end) for end in reported] == [ReplyTimeout, LinkClosed]


async def test_a_reply_is_delivered_also_when_no_caller_waits_any_more() -> None:
    pair = LinkPair()
    reported: list[object] = []
    waiter = pair.host.request(BenchQuestion(1), 1.0, on_end=reported.append)
    waiter.cancel()
    await settle(1.0)
    assert reported == [BenchAnswer(1)]
