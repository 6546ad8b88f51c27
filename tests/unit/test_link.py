"""The link's delivery: in order and once under every line fault, with measured retransmission times."""

from __future__ import annotations

import asyncio

import pytest

from firmware_bridge import frame as fr
from firmware_bridge import link as lk
from firmware_bridge import rtt_estimator as rt
from firmware_bridge.errors import ReplyTimeout
from firmware_bridge.messages import encode
from tests.support.wire.links import (
    FATES,
    BenchAnswer,
    BenchEvent,
    BenchQuestion,
    FrameFate,
    LinkPair,
    kind_of,
    outcome_of,
    settle,
    taking_turns,
)


@pytest.mark.parametrize("name", FATES)
async def test_both_directions_arrive_in_order_and_once(name: str) -> None:
    pair = LinkPair()
    pair.fates(FATES[name])
    answers = []
    for n in range(40):
        pair.far.send_event(BenchEvent(n))
        answers.append(pair.ask(n, 60.0))
        if n % 7 == 6:
            await answers[-1]
    assert [await answer for answer in answers] == [BenchAnswer(n) for n in range(40)]
    await settle(20.0)
    assert pair.events == [BenchEvent(n) for n in range(40)]
    assert pair.device.received == [BenchQuestion(n) for n in range(40)]
    assert pair.host.down is pair.far.down is None


@pytest.mark.parametrize("name", FATES)
async def test_only_a_repeated_frame_carries_the_retransmit_mark(name: str) -> None:
    pair = LinkPair()
    pair.fates(FATES[name])
    answers = [pair.ask(n, 60.0) for n in range(20)]
    for answer in answers:
        await answer
    await settle(20.0)
    for port, link in ((pair.host_port, pair.host), (pair.device_port, pair.far)):
        seen: set[int] = set()
        marked = 0
        for frame in port.frames():
            if frame.type in (fr.REQUEST, fr.REPLY, fr.EVENT):
                assert bool(frame.flags & fr.RETRANSMIT) is (frame.seq in seen)
                marked += bool(frame.flags & fr.RETRANSMIT)
                seen.add(frame.seq)
            else:
                assert not frame.flags & fr.RETRANSMIT
        assert marked == link.counters.retransmitted


async def test_a_frame_doubled_by_the_line_is_refused_by_its_counter() -> None:
    pair = LinkPair()
    pair.host_port.fate = taking_turns(FrameFate.DUPLICATE)
    assert await pair.ask(1) == BenchAnswer(1)
    assert pair.device.received == [BenchQuestion(1)]
    assert (pair.far.replayed, pair.far.counters.duplicates) == (1, 0)


async def test_a_frame_repeated_after_a_lost_acknowledgment_is_suppressed_counted_and_acknowledged_again() -> None:
    pair = LinkPair()
    pair.device.withhold.add(BenchQuestion)
    pair.device_port.fate = taking_turns(FrameFate.DROP)  # the first acknowledgment
    waiter = pair.ask(1, 1.0)
    await settle(0.9)
    assert pair.device.received == [BenchQuestion(1)]
    assert pair.far.counters.duplicates == pair.host.counters.retransmitted == 1
    assert [frame.type for frame in pair.device_port.frames()] == [fr.ACK, fr.ACK]
    assert isinstance(await outcome_of(waiter), ReplyTimeout)
    assert pair.host.counters.retransmitted == 1


async def test_a_gap_is_counted_and_filled_by_repetition() -> None:
    pair = LinkPair()
    pair.host_port.fate = taking_turns(FrameFate.DROP)
    waiters = [pair.ask(n) for n in range(3)]
    await settle()
    assert pair.device.received == []
    assert pair.far.counters.gaps == 2
    assert [await waiter for waiter in waiters] == [BenchAnswer(0), BenchAnswer(1), BenchAnswer(2)]
    assert pair.device.received == [BenchQuestion(0), BenchQuestion(1), BenchQuestion(2)]


@pytest.mark.parametrize("lost", [{0}, {1}, {0, 1}, {0, 2}, {0, 3, 6}, {0, 1, 2, 3, 4, 5, 6}])
async def test_only_what_is_missing_is_repeated_and_the_first_of_it_before_its_time(lost: set[int]) -> None:
    pair = LinkPair()
    pair.fates(lambda _: lambda _: 0.005)
    for n in range(20):
        await pair.ask(n)
    pair.device.received.clear()
    pair.host_port.fate = taking_turns(*(FrameFate.DROP if n in lost else 0.005 for n in range(8)), after=0.005)
    began, rto = asyncio.get_running_loop().time(), pair.host.rto_s
    assert [await waiter for waiter in [pair.ask(n) for n in range(8)]] == [BenchAnswer(n) for n in range(8)]
    assert pair.device.received == [BenchQuestion(n) for n in range(8)]
    assert pair.host.counters.retransmitted == len(lost)
    assert pair.far._early == {}
    assert asyncio.get_running_loop().time() - began < 0.05 + 1.5 * rto * (len(lost) - 1)


async def test_a_frame_that_is_held_early_and_comes_again_is_delivered_once() -> None:
    pair = LinkPair()
    pair.host_port.fate = taking_turns(FrameFate.DROP)
    first, second = pair.ask(1), pair.ask(2)
    held = pair.host_port.frames()[1]
    for _ in range(3):  # its own copies, each with a fresh counter, as a repetition would have
        again = pair.host._sealer.seal(fr.RETRANSMIT, fr.REQUEST, held.seq, held.ack, held.re, held.payload)
        pair.host_port.push(fr.to_wire(*again))
    assert (await first, await second) == (BenchAnswer(1), BenchAnswer(2))
    assert pair.device.received == [BenchQuestion(1), BenchQuestion(2)]


async def test_frames_that_are_held_go_with_the_link() -> None:
    pair = LinkPair()
    pair.device_port.fate = taking_turns(FrameFate.DROP)
    for n in range(4):
        pair.far.send_event(BenchEvent(n))

    def close_at_once(message: BenchEvent) -> None:
        pair.events.append(message)
        pair.host.close()

    pair.host.on_event = close_at_once
    await settle(2.0)
    assert pair.events == [BenchEvent(0)]
    assert not pair.host._early


async def test_an_old_complaint_about_a_gap_repeats_nothing() -> None:
    pair = LinkPair()
    for n in range(20):
        await pair.ask(n)
    await settle(0.5)
    pair.device_port.fate = lambda _: FrameFate.DROP
    waiter = pair.ask(1)
    await settle(0.03)
    for missing in (fr.FIRST_SEQ + 3, fr.FIRST_SEQ + 19, fr.FIRST_SEQ + 21, fr.FIRST_SEQ + 40):
        pair.device_port.push(fr.to_wire(*pair.far._sealer.seal(0, fr.ACK, 0, missing, missing + 1, b"")))
    await settle(0.001)
    assert pair.host.counters.retransmitted == 0
    pair.host.close()
    await outcome_of(waiter)


async def test_frames_far_ahead_are_not_held() -> None:
    pair = LinkPair()
    payload = encode(BenchQuestion(1))
    for ahead in range(1, 3000, 7):
        far_off = pair.host._sealer.seal(0, fr.REQUEST, fr.FIRST_SEQ + ahead, fr.FIRST_SEQ, fr.NO_RE, payload)
        pair.host_port.push(fr.to_wire(*far_off))
    await settle()
    assert len(pair.far._early) < lk.URGENT_WINDOW
    assert pair.device.received == []
    assert pair.far.down is None


async def test_an_acknowledgment_of_a_repeated_frame_is_no_measurement() -> None:
    pair = LinkPair()
    pair.host_port.fate = taking_turns(FrameFate.DROP, after=0.1)
    pair.device_port.fate = lambda _: 0.1
    assert await pair.ask(1) == BenchAnswer(1)
    assert pair.host.counters.retransmitted == 1
    assert pair.host.round_trip_s == 0.0
    assert pair.host.rto_s >= rt.FIRST_RTO_S  # it may be patient until something is measured, never impatient
    assert await pair.ask(2) == BenchAnswer(2)
    assert pair.host.round_trip_s == pytest.approx(0.2, abs=rt.ACK_DELAY_S)


async def test_an_acknowledgment_that_waited_for_a_repetition_is_no_measurement_of_the_frames_behind_it() -> None:
    pair = LinkPair()
    pair.fates(lambda _: lambda _: 0.01)
    for n in range(30):
        await pair.ask(n)
    await settle(1.0)
    round_trip, rto = pair.host.round_trip_s, pair.host.rto_s
    pair.host_port.fate = taking_turns(FrameFate.DROP, after=0.01)
    for waiter in [pair.ask(n) for n in range(6)]:
        await waiter
    assert pair.host.counters.retransmitted >= 1
    assert pair.host.round_trip_s < 1.5 * round_trip
    assert pair.host.rto_s < 2.0 * rto


async def test_the_spacing_of_repetitions_doubles_and_begins_anew_after_an_acknowledgment() -> None:
    pair = LinkPair()
    loop, sent = asyncio.get_running_loop(), []

    def note(data: bytes) -> FrameFate:
        if kind_of(data) == fr.REQUEST:
            sent.append(loop.time())
        return FrameFate.DROP if len(sent) < 3 else FrameFate.DELIVER

    pair.host_port.fate = note
    assert await pair.ask(1) == BenchAnswer(1)
    assert [round(at, 3) for at in sent] == [0.0, 0.5, 1.5]
    assert await pair.ask(2) == BenchAnswer(2)
    pair.host_port.fate = lambda data: note(data) and FrameFate.DROP
    asked_at, sent[:] = loop.time(), []
    waiter = pair.ask(3)
    await settle(0.7)
    assert [round(at - asked_at, 3) for at in sent][:3] == [0.0, *(round(k * pair.host.rto_s, 3) for k in (1, 3))]
    pair.host.close()
    await outcome_of(waiter)


@pytest.mark.parametrize("one_way", [0.001, 0.05, 0.2, 0.9])
async def test_the_retransmission_time_learns_the_line(one_way: float) -> None:
    pair = LinkPair()
    pair.fates(lambda _: lambda _: one_way)
    for n in range(30):
        assert await pair.ask(n, 30.0) == BenchAnswer(n)
    assert pair.host.round_trip_s == pytest.approx(2 * one_way, rel=0.3, abs=rt.ACK_DELAY_S)
    assert pair.host.rto_s >= max(rt.MIN_RTO_S, 2 * one_way)
    assert pair.host.rto_s <= max(rt.MIN_RTO_S, 3 * one_way + 2 * rt.ACK_DELAY_S)
    settled = pair.host.counters.retransmitted
    for n in range(20):
        assert await pair.ask(n) == BenchAnswer(n)
    assert pair.host.counters.retransmitted == settled  # a known slow line is no reason to repeat


async def test_frames_that_have_not_left_the_port_are_not_repeated() -> None:
    pair = LinkPair()
    pair.host_port.backlog = 500
    pair.host_port.fate = lambda _: FrameFate.HOLD
    waiter = pair.ask(1)
    await settle(2.5)
    assert pair.host.counters.retransmitted == 0
    pair.host_port.backlog = 0
    pair.host_port.fate = lambda _: FrameFate.DELIVER
    assert await waiter == BenchAnswer(1)


async def test_sequence_numbers_wrap_without_a_stumble() -> None:
    pair = LinkPair()
    for n in range(0, 70_000, 10):
        batch = [pair.ask(n + i) for i in range(10)]
        if n % 1000 == 0:
            pair.far.send_event(BenchEvent(n))
        for i, waiter in enumerate(batch):
            assert await waiter == BenchAnswer(n + i)
    assert pair.events == [BenchEvent(n) for n in range(0, 70_000, 1000)]
    assert len(pair.device.received) == 70_000
    assert pair.host.counters.retransmitted == pair.host.counters.late_replies == 0
    assert len(pair.host._trip._departures) <= rt.REMEMBERED_SENDS  # nothing grows with the years
    assert not pair.host._questions


@pytest.mark.parametrize("name", ["some dropped", "some doubled", "some held", "slow"])
async def test_the_wrap_survives_a_bad_line(name: str) -> None:
    pair = LinkPair()
    start = 0x10000 - 10
    for one, other in ((pair.host, pair.far), (pair.far, pair.host)):
        one._next_seq = other._expected = start
    pair.fates(FATES[name])
    for n in range(30):
        pair.far.send_event(BenchEvent(n))
    answers = [pair.ask(n, 60.0) for n in range(30)]
    assert [await answer for answer in answers] == [BenchAnswer(n) for n in range(30)]
    await settle(30.0)
    assert pair.events == [BenchEvent(n) for n in range(30)]
    assert pair.device.received == [BenchQuestion(n) for n in range(30)]


async def test_an_acknowledgment_of_what_was_never_sent_changes_nothing() -> None:
    pair = LinkPair()
    pair.device.withhold.add(BenchQuestion)
    pair.device_port.fate = lambda _: FrameFate.DROP
    waiter = pair.ask(1, 1.0)
    for ack in (0x0000, 0x0101, 0x0103, 0x8000, 0xFFFF):
        pair.device_port.push(fr.to_wire(*pair.far._sealer.seal(0, fr.ACK, 0, ack, fr.NO_RE, b"")))
    await settle(0.6)
    assert pair.host.counters.retransmitted == 1  # still in doubt, so repeated
    pair.host.close()
    await outcome_of(waiter)


async def test_every_lost_frame_of_a_window_is_repeated_promptly_once_the_line_carries_again() -> None:
    pair = LinkPair()
    assert await pair.ask(0) == BenchAnswer(0)  # now the round trip is known
    pair.host_port.fate = taking_turns(FrameFate.DROP, FrameFate.DROP, FrameFate.DROP)
    began = asyncio.get_running_loop().time()
    answers = [pair.ask(n) for n in (1, 2, 3)]
    assert [await answer for answer in answers] == [BenchAnswer(1), BenchAnswer(2), BenchAnswer(3)]
    assert asyncio.get_running_loop().time() - began < 3 * rt.MIN_RTO_S  # not one heartbeat each
