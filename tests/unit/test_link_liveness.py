"""Liveness of the link: heartbeats, silence, strangers, and every waiter released with the cause. No leftovers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from firmware_bridge import frame as fr
from firmware_bridge import link as lk
from firmware_bridge.errors import (
    BadMessage,
    LinkClosed,
    LinkError,
    LinkSilent,
    NotSent,
    PitboxError,
    PortFailed,
    SessionLost,
)
from firmware_bridge.messages import (
    DeviceHello,
    DeviceProof,
    HostHello,
    HostProof,
    Message,
    NoSession,
    Refuse,
    Welcome,
    encode,
)
from tests.support.wire.links import (
    BenchAnswer,
    BenchEvent,
    BenchQuestion,
    FrameFate,
    LinkPair,
    UnknownMessage,
    kind_of,
    outcome_of,
    settle,
    timers,
)

HELLO = DeviceHello("shuffler", "S-1", "PB-S1", "1.0", bytes(32), [], 1, bytes(16))


def unsealed(message: Message, type_: int = fr.HANDSHAKE) -> bytes:
    """Return a frame without a seal."""
    return fr.to_wire(fr.pack_header(0, type_, 0x0101, 0x0102, fr.NO_RE, 0) + encode(message))


async def test_an_idle_link_stays_up_for_hours_with_little_traffic() -> None:
    pair = LinkPair()
    await settle(2 * 3600.0)
    assert pair.host.down is pair.far.down is None
    assert await pair.ask(1) == BenchAnswer(1)
    per_second = (pair.host.counters.sent + pair.far.counters.sent) / (2 * 3600)
    assert 0.5 <= per_second <= 2.1  # a ping and its answer, each way, every two seconds
    assert pair.events == []


async def test_a_ping_is_answered_at_once() -> None:
    pair = LinkPair()
    pair.device_port.push(fr.to_wire(*pair.far._sealer.seal(0, fr.PING, 0, fr.FIRST_SEQ, fr.NO_RE, b"")))
    await settle()
    assert [frame.type for frame in pair.host_port.frames()] == [fr.ACK]


async def test_a_busy_link_needs_no_heartbeat() -> None:
    pair = LinkPair()
    for n in range(200):
        assert await pair.ask(n) == BenchAnswer(n)
        await asyncio.sleep(0.5)
    assert not [f for f in pair.host_port.frames() if f.type == fr.PING]


@pytest.mark.parametrize("after", [0.0, 1.7, 600.0])
async def test_a_silent_peer_is_noticed_after_the_silence_and_not_before(after: float) -> None:
    pair = LinkPair()
    await settle(after)
    received_until = asyncio.get_running_loop().time()
    pair.device_port.fate = lambda _: FrameFate.DROP
    await settle(lk.SILENCE_LIMIT_S - lk.HEARTBEAT_S - 0.1)
    assert pair.downs == []
    await settle(lk.HEARTBEAT_S + 0.2)
    assert [type(cause) for cause in pair.downs] == [LinkSilent]
    assert asyncio.get_running_loop().time() - received_until < lk.SILENCE_LIMIT_S + 0.2


async def test_a_peer_that_falls_silent_is_pinged_before_it_is_declared_lost() -> None:
    pair = LinkPair()
    pair.device_port.fate = lambda _: FrameFate.DROP
    await settle(lk.SILENCE_LIMIT_S + 0.1)
    pings = [frame for frame in pair.host_port.frames() if frame.type == fr.PING]
    knocks = (lk.SILENCE_LIMIT_S - lk.PROBE_AFTER_S) / lk.PROBE_EVERY_S
    assert knocks <= len(pings) <= knocks + 2
    assert isinstance(pair.host.down, LinkSilent)


async def test_noise_and_forgeries_are_no_sign_of_life() -> None:
    pair = LinkPair()
    old = list(pair.device_port.written)
    pair.device_port.fate = lambda _: FrameFate.DROP
    for _ in range(40):
        pair.device_port.push(b"\x13\x55\x00" + unsealed(HELLO) + b"".join(old))
        await settle(0.1)
    assert isinstance(pair.host.down, LinkSilent)


async def test_a_peer_that_receives_nothing_is_declared_lost_though_it_sends() -> None:
    pair = LinkPair()
    pair.host_port.fate = lambda data: FrameFate.DROP if kind_of(data) == fr.REQUEST else FrameFate.DELIVER
    error = await outcome_of(pair.ask(1, 600.0))
    assert isinstance(error, LinkSilent)
    assert lk.SILENCE_LIMIT_S < asyncio.get_running_loop().time() < 30.0  # after many attempts, not forever
    assert pair.host.counters.retransmitted >= 5
    assert pair.device.received == []


@pytest.mark.parametrize(
    ("cause", "seen"),
    [
        (PortFailed("unplugged"), PortFailed),
        (SessionLost("rebooted"), SessionLost),
        (BadMessage("nonsense"), LinkError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
async def test_a_failing_link_releases_every_waiter_with_the_cause(cause: PitboxError, seen: type[LinkError]) -> None:
    pair = LinkPair()
    waiters = pair.fill_window(lk.WINDOW + 5)
    pair.host.fail(cause)
    assert all(waiter.done() for waiter in waiters)
    errors = [await outcome_of(waiter) for waiter in waiters]
    assert [type(error) for error in errors] == [seen] * lk.WINDOW + [NotSent] * 5
    for error in errors:
        assert error is cause or error.__cause__ is cause
    assert pair.downs == [cause]
    after = await outcome_of(pair.ask(1))
    assert isinstance(after, NotSent)
    assert after.__cause__ is cause
    pair.far.close()


async def test_the_first_cause_stays_and_the_owner_is_notified_once() -> None:
    pair = LinkPair()
    first = PortFailed("unplugged")
    pair.host.fail(first)
    pair.host.fail(LinkSilent("later"))
    pair.host.close()
    pair.host.close()
    assert pair.downs == [first]
    assert pair.host.down is first
    pair.far.close()


async def test_closing_twice_is_harmless_and_silent() -> None:
    pair = LinkPair()
    pair.host.close()
    written = len(pair.host_port.written)
    pair.host.close()
    pair.host.send_event(BenchEvent(1))
    pair.host.send_reply(1, BenchAnswer(1))
    await settle(10.0)
    assert len(pair.host_port.written) == written
    assert [type(cause) for cause in pair.downs] == [LinkClosed]
    assert isinstance(pair.far.down, LinkSilent)


@pytest.mark.parametrize("moment", [0.0, 0.005, 0.4, 0.6, 1.2, 3.0])
async def test_no_timer_remains_after_a_failure_at_any_moment(moment: float) -> None:
    pair = LinkPair()
    pair.device.withhold.add(BenchQuestion)
    pair.host_port.fate = lambda _: FrameFate.DROP
    waiters = pair.fill_window(lk.WINDOW + 3)
    pair.far.send_event(BenchEvent(1))
    await settle(moment)
    pair.host.fail(PortFailed("unplugged"))
    pair.far.fail(PortFailed("unplugged"))
    assert timers() == []
    await settle(10.0)
    assert timers() == []
    for waiter in waiters:
        await outcome_of(waiter)


async def test_a_lost_port_ends_both_links() -> None:
    pair = LinkPair()
    waiter = pair.ask(1)
    pair.device_port.close()
    assert isinstance(await outcome_of(waiter), PortFailed)
    assert isinstance(pair.host.down, PortFailed)
    pair.far.close()


async def test_nothing_comes_out_of_a_link_that_is_down() -> None:
    pair = LinkPair()
    for n in range(5):
        pair.far.send_event(BenchEvent(n))

    def close_at_once(message: Any) -> None:
        pair.events.append(message)
        pair.host.close()

    pair.host.on_event = close_at_once
    await settle(2.0)
    assert pair.events == [BenchEvent(0)]


@pytest.mark.parametrize("to_host", [True, False])
async def test_an_authentic_but_unknown_message_ends_the_link(to_host: bool) -> None:
    pair = LinkPair()
    if to_host:
        pair.far.send_event(UnknownMessage(1))
        await settle()
        assert isinstance(pair.host.down, BadMessage)
        assert pair.events == []
    else:
        waiter = pair.host.request(UnknownMessage(1), 0.1)
        await settle()
        assert isinstance(pair.far.down, BadMessage)
        assert pair.device.received == []
        pair.host.close()
        await outcome_of(waiter)


@pytest.mark.parametrize("payload", [b"", b"\xc1", b"\x92\x65\xa1x", b"\x93\x65\x01\x02", b"\x91\x65", b"\xff" * 64])
async def test_an_authentic_payload_that_is_no_message_ends_the_link(payload: bytes) -> None:
    pair = LinkPair()
    frame = pair.far._sealer.seal(0, fr.EVENT, fr.FIRST_SEQ, fr.FIRST_SEQ, fr.NO_RE, payload)
    pair.device_port.push(fr.to_wire(*frame))
    await settle()
    assert isinstance(pair.host.down, BadMessage)
    assert pair.host.down.__cause__ is not None


async def test_a_device_may_not_ask() -> None:
    pair = LinkPair()
    waiter = pair.far.request(BenchAnswer(1), 0.1)
    await settle()
    assert isinstance(pair.host.down, BadMessage)
    pair.far.close()
    await outcome_of(waiter)


UNSEALED: list[Message] = [
    HELLO,
    DeviceProof(bytes(16)),
    Welcome(1),
    Refuse(315),
    HostHello("table", bytes(16)),
    HostProof(bytes(16)),
    BenchEvent(1),
    BenchAnswer(1),
    UnknownMessage(1),
]


@pytest.mark.parametrize("message", UNSEALED, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("type_", fr.TYPE_NAMES, ids=fr.TYPE_NAMES.get)
async def test_an_unsealed_frame_changes_nothing(message: Message, type_: int) -> None:
    pair = LinkPair()
    waiter = pair.ask(1)
    pair.device.withhold.add(BenchQuestion)
    written = len(pair.host_port.written), len(pair.device_port.written)
    pair.device_port.push(unsealed(message, type_))
    pair.host_port.push(unsealed(message, type_))
    await asyncio.sleep(0.001)
    assert (len(pair.host_port.written), len(pair.device_port.written)) == written
    assert pair.host.down is pair.far.down is None
    assert (pair.host.counters.unsealed, pair.far.counters.unsealed) == (1, 1)
    assert pair.events == []
    assert not waiter.done()
    pair.host.close()
    await outcome_of(waiter)


async def test_only_no_session_ends_a_session_without_a_seal() -> None:
    pair = LinkPair()
    waiter = pair.ask(1)
    pair.device_port.push(unsealed(NoSession(1)))
    await settle()
    assert isinstance(pair.host.down, SessionLost)
    assert waiter.exception() is None or isinstance(waiter.exception(), SessionLost)


async def test_a_handshake_frame_with_our_seal_acknowledges_nothing() -> None:
    """A late repeated welcome must not count as an acknowledgment once sequence numbers have wrapped."""
    pair = LinkPair()
    pair.host._next_seq = pair.far._expected = fr.FIRST_SEQ - 1  # as after 65,535 messages
    pair.host_port.fate = lambda _: FrameFate.DROP
    waiter = pair.ask(1)
    pair.device_port.push(fr.to_wire(*pair.far._sealer.seal(0, fr.HANDSHAKE, 0, fr.FIRST_SEQ, fr.NO_RE, b"")))
    await settle(0.1)
    pair.host_port.fate = lambda _: FrameFate.DELIVER
    assert await waiter == BenchAnswer(1)
    assert pair.host.counters.retransmitted == 1


async def test_a_message_that_no_frame_can_carry_is_refused_where_it_is_written() -> None:
    class Long(Message, frozen=True, tag=150):
        text: str

    pair = LinkPair()
    with pytest.raises(AssertionError):
        pair.host.request(Long("x" * fr.MAX_PAYLOAD), 1.0)
    assert await pair.ask(1) == BenchAnswer(1)


async def test_requests_made_inside_callbacks_are_served() -> None:
    pair = LinkPair()
    answers: list[asyncio.Future[Any]] = []
    pair.host.on_event = lambda event: answers.append(pair.ask(event.n))
    for n in range(30):
        pair.far.send_event(BenchEvent(n))
    await settle(1.0)
    assert [await answer for answer in answers] == [BenchAnswer(n) for n in range(30)]


async def test_a_request_made_while_the_link_goes_down_is_not_sent() -> None:
    pair = LinkPair()
    created: list[asyncio.Future[Any]] = []
    pair.host.on_down = lambda _: created.append(pair.ask(1))
    pair.host.close()
    assert isinstance(await outcome_of(created[0]), NotSent)
    pair.far.close()
    assert timers() == []
