"""The seal against forgers: MACs, counters, directions, and the binding of session keys."""

from __future__ import annotations

import asyncio
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import frame as fr
from firmware_bridge import link as lk
from firmware_bridge import seal
from firmware_bridge.errors import NotSent, SessionExhausted
from firmware_bridge.framer import Framer
from firmware_bridge.messages import DeviceHello, HostHello, encode
from tests.support.wire.links import BenchAnswer, BenchEvent, LinkPair, outcome_of, settle, timers

KEY = bytes(range(32))
HOST_HELLO = HostHello("table", b"h" * 16)
DEVICE_HELLO = DeviceHello("shuffler", "S-1", "PB-S1", "1.0", b"f" * 32, ["counts"], 7, b"d" * 16)
# One other value for every field of both hellos; a field without one fails the test that counts them.
OTHER: dict[str, dict[str, Any]] = {
    "host": {"role": "bench", "challenge": b"H" * 16},
    "device": {
        "kind": "shoe",
        "serial": "S-2",
        "model": "PB-S2",
        "firmware": "1.1",
        "digest": b"F" * 32,
        "capabilities": [],
        "boot_id": 8,
        "challenge": b"D" * 16,
    },
}


def sealed(sealer: seal.Sealer, payload: bytes = b"\x92d\x01", type_: int = fr.EVENT) -> fr.Frame:
    """Seal one frame and read it back from its bytes on the wire."""
    (frame,) = Framer().feed(fr.to_wire(*sealer.seal(0, type_, 0x0101, 0x0102, fr.NO_RE, payload)))
    return frame


def derived(host: HostHello, device: DeviceHello, key: bytes = KEY) -> tuple[bytes, ...]:
    """Return all keys and proofs of one handshake."""
    bound = seal.transcript(encode(host), encode(device))
    session = seal.derive_session_keys(key, bound)
    return session.to_device, session.to_host, seal.device_proof(key, bound), seal.host_proof(key, bound)


@given(st.binary(max_size=fr.MAX_PAYLOAD))
def test_a_sealed_frame_opens_once_with_the_same_key(payload: bytes) -> None:
    opener = seal.Opener(KEY)
    frame = sealed(seal.Sealer(KEY), payload)
    assert frame.payload == payload
    assert opener.accepts(frame)
    assert not opener.accepts(frame)
    assert (opener.forged, opener.replayed) == (0, 1)


def test_no_bit_of_a_sealed_frame_can_be_changed() -> None:
    signed, mac = seal.Sealer(KEY).seal(0, fr.REQUEST, 0x0101, 0x0102, 0x0103, b"\x92d\x01")
    body = signed + mac
    opener = seal.Opener(KEY)
    tried = 0
    for bit in range(8 * len(body)):
        forged = bytearray(body)
        forged[bit // 8] ^= 1 << bit % 8
        for frame in Framer().feed(fr.to_wire(bytes(forged))):  # with a CRC that fits: made by a person, not by noise
            tried += 1
            assert not (frame.flags & fr.SEALED and opener.accepts(frame)), f"bit {bit}"
    assert tried > 8 * (len(body) - 2)  # all but some flips in version, flags and type reach the opener
    assert opener.accepts(sealed(seal.Sealer(KEY)))


@pytest.mark.parametrize("mac", [b"", bytes(8), b"\xff" * 8])
def test_a_guessed_mac_is_counted_as_forged(mac: bytes) -> None:
    opener = seal.Opener(KEY)
    frame = msgspec.structs.replace(sealed(seal.Sealer(KEY)), mac=mac)
    assert not opener.accepts(frame)
    assert opener.forged == 1


def test_a_forged_frame_does_not_move_the_counter() -> None:
    opener, sealer = seal.Opener(KEY), seal.Sealer(KEY)
    forger = seal.Sealer(bytes(32), counter=seal.MAX_COUNTER - 1)
    assert not opener.accepts(sealed(forger))
    assert opener.accepts(sealed(sealer))


def test_an_older_frame_is_refused_after_a_newer_one() -> None:
    opener, sealer = seal.Opener(KEY), seal.Sealer(KEY)
    first, second, third = sealed(sealer), sealed(sealer), sealed(sealer)
    assert opener.accepts(first)
    assert opener.accepts(third)
    assert not opener.accepts(second)
    assert opener.replayed == 1


def test_a_frame_reflected_to_its_writer_is_forged_there() -> None:
    session = seal.derive_session_keys(KEY, seal.transcript(b"host", b"device"))
    to_device = sealed(seal.Sealer(session.to_device))
    host_opener = seal.Opener(session.to_host)
    assert not host_opener.accepts(to_device)
    assert host_opener.forged == 1
    assert seal.Opener(session.to_device).accepts(to_device)


async def test_a_link_counts_reflected_and_replayed_frames_and_goes_on() -> None:
    pair = LinkPair()
    assert await pair.ask(1) == BenchAnswer(1)
    for frame in list(pair.host_port.written):
        pair.device_port.push(frame)  # back to the host that wrote it
        pair.host_port.push(frame)  # and once more to the device
    for frame in list(pair.device_port.written):
        pair.device_port.push(frame)
    before = len(pair.host_port.written), len(pair.device_port.written)
    await settle()
    assert before == (len(pair.host_port.written), len(pair.device_port.written))  # neither end sends anything
    assert (pair.host.forged, pair.far.forged) == (before[0], 0)
    assert (pair.host.replayed, pair.far.replayed) == (before[1], before[0])
    assert len(pair.device.received) == 1
    assert await pair.ask(2) == BenchAnswer(2)


def test_the_last_counter_is_never_passed() -> None:
    sealer, opener = seal.Sealer(KEY, counter=seal.MAX_COUNTER - 2), seal.Opener(KEY)
    assert opener.accepts(sealed(sealer))
    assert opener.accepts(sealed(sealer))
    for _ in range(3):
        with pytest.raises(SessionExhausted):
            sealed(sealer)


async def test_a_worn_out_session_ends_the_link_and_releases_who_asks() -> None:
    pair = LinkPair(counter=seal.MAX_COUNTER - 1)
    assert await pair.ask(1) == BenchAnswer(1)
    async with asyncio.timeout(60):
        error = await outcome_of(pair.ask(2))
    assert isinstance(error, SessionExhausted)
    await settle()
    assert isinstance(pair.host.down, SessionExhausted)
    assert [type(cause) for cause in pair.downs] == [SessionExhausted]
    assert isinstance(await outcome_of(pair.ask(3)), NotSent)
    pair.far.close()
    assert timers() == []


async def test_a_session_that_wears_out_while_the_queue_is_sent_releases_everybody() -> None:
    pair = LinkPair(counter=seal.MAX_COUNTER - 10)
    waiters = pair.fill_window(30)
    async with asyncio.timeout(60):
        errors = [await outcome_of(waiter) for waiter in waiters]
    assert all(isinstance(e, BenchAnswer | SessionExhausted | NotSent) for e in errors), errors
    assert isinstance(errors[-1], NotSent)
    assert isinstance(pair.host.down, SessionExhausted)
    assert len(pair.downs) == 1


async def test_a_session_that_wears_out_on_a_heartbeat_ends_the_link() -> None:
    pair = LinkPair(counter=seal.MAX_COUNTER)
    await settle(lk.HEARTBEAT_S + 0.1)
    assert isinstance(pair.host.down, SessionExhausted)


async def test_nothing_is_delivered_after_the_owner_was_notified_that_the_session_is_worn_out() -> None:
    pair = LinkPair(counter=seal.MAX_COUNTER - 8)
    reported: list[Any] = []
    pair.host.on_event = reported.append
    pair.host.on_down = reported.append
    waiters = pair.fill_window(9)  # the ninth waits; the first acknowledgment sends it, and there the counter ends
    for n in range(5):
        pair.far.send_event(BenchEvent(n))
    async with asyncio.timeout(60):
        for waiter in waiters:
            await outcome_of(waiter)
    await settle(0.1)
    assert isinstance(reported[-1], SessionExhausted), reported


def test_every_field_of_both_hellos_has_another_value_here() -> None:
    assert set(OTHER["host"]) == set(HostHello.__struct_fields__)
    assert set(OTHER["device"]) == set(DeviceHello.__struct_fields__)


@pytest.mark.parametrize(("end", "field"), [(end, field) for end, fields in OTHER.items() for field in fields])
def test_every_field_of_both_hellos_is_bound_into_both_keys_and_both_proofs(end: str, field: str) -> None:
    change = {field: OTHER[end][field]}
    host = msgspec.structs.replace(HOST_HELLO, **change) if end == "host" else HOST_HELLO
    device = msgspec.structs.replace(DEVICE_HELLO, **change) if end == "device" else DEVICE_HELLO
    for before, after in zip(derived(HOST_HELLO, DEVICE_HELLO), derived(host, device), strict=True):
        assert before != after


def test_keys_and_proofs_of_one_handshake_are_all_different_and_need_the_devices_key() -> None:
    ours, theirs = derived(HOST_HELLO, DEVICE_HELLO), derived(HOST_HELLO, DEVICE_HELLO, key=bytes(32))
    assert all(one[:16] != other[:16] for one, other in combinations(ours + theirs, 2))


@given(st.binary(max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_moving_the_border_between_the_hellos_changes_the_transcript(both: bytes, one: int, other: int) -> None:
    one, other = min(one, len(both)), min(other, len(both))
    same = seal.transcript(both[:one], both[one:]) == seal.transcript(both[:other], both[other:])
    assert same is (one == other)
