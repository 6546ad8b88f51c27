"""The handshake against people: recordings, reflections, a man in the middle, strangers. None gets a session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import frame as fr
from firmware_bridge.commands import Accepted, CommandMemory
from firmware_bridge.errors import HostRefused, LinkError, LinkSilent, TrustError, WrongKey
from firmware_bridge.framer import Framer
from firmware_bridge.messages import (
    DeviceHello,
    DeviceProof,
    HandshakeToDevice,
    HandshakeToHost,
    HostHello,
    HostProof,
    Message,
    decoder,
    encode,
)
from simulators.engine.virtual_time import run_virtual
from tests.support.wire.handshakes import HandshakePair, is_answered
from tests.support.wire.links import BenchMove, FrameFate, settle, timers
from tests.unit.test_seal import OTHER

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.link import Link

HANDSHAKES = decoder(HandshakeToDevice | HandshakeToHost)


async def recorded_session(door: HandshakePair) -> tuple[Link, list[bytes]]:
    """Run a session with one executed command; return every byte that its host wrote."""
    link = await door.shake_hands()
    reply = await link.request(BenchMove(7), 1.0, actuation=True)
    assert reply == Accepted(7)
    await settle(2.5)  # heartbeats and acknowledgments are in the recording as well
    assert door.machine.device.executed == [7]
    return link, list(door.host_port.written)


async def replay(door: HandshakePair, tape: list[bytes], *, at_once: bool) -> None:
    """Replay the recording to the device, frame by frame or in one piece."""
    for data in [b"".join(tape)] if at_once else tape:
        door.host_port.push(data)
        await settle(0.0 if at_once else 0.05)
    await settle(0.2)


def unsealed(message: Message) -> bytes:
    """Return a handshake frame without a seal."""
    return fr.to_wire(fr.pack_header(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + encode(message))


def rewriting(kind: type[Message], change: Callable[[Any], Message]) -> Callable[[bytes], bytes | FrameFate]:
    """Return a line that rewrites one kind of handshake message, with a matching CRC."""

    def fate(data: bytes) -> bytes | FrameFate:
        for frame in Framer().feed(data):
            if frame.type == fr.HANDSHAKE and not frame.flags & fr.SEALED:
                message = HANDSHAKES.decode(frame.payload)
                if isinstance(message, kind):
                    return unsealed(change(message))
        return FrameFate.DELIVER

    return fate


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "frame by frame"])
async def test_a_recording_played_while_the_session_lives_changes_nothing(at_once: bool) -> None:
    door = HandshakePair()
    link, tape = await recorded_session(door)
    await replay(door, tape, at_once=at_once)
    assert len(door.machine.sessions) == 1
    assert door.machine.device.executed == [7]
    assert link.down is None
    assert await is_answered(link)
    door.close(link)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "frame by frame"])
@pytest.mark.parametrize("memory", [True, False], ids=["memory kept", "memory gone"])
@pytest.mark.parametrize("how", ["closed", "silent", "rebooted", "taken over", "new machine"])
async def test_a_recording_played_after_the_session_opens_nothing_and_executes_nothing(
    how: str, memory: bool, at_once: bool
) -> None:
    door = HandshakePair()
    link, tape = await recorded_session(door)
    if how == "taken over":
        door.close(await door.shake_hands(seed=2))
        door.machine.boot()
    link.close()
    if how == "silent":
        await settle(10.0)
    elif how == "closed":
        door.machine.sessions[0].fail(LinkError("the cable was pulled"))
    elif how == "rebooted":
        door.machine.boot()
    elif how == "new machine":
        door = HandshakePair(seed=2)  # the same key, but it has never seen this host
    if not memory:
        door.machine.device.memory = CommandMemory()
    sessions, executed = len(door.machine.sessions), list(door.machine.device.executed)
    assert door.machine.alive == []
    await replay(door, tape, at_once=at_once)
    await replay(door, tape, at_once=at_once)
    assert len(door.machine.sessions) == sessions
    assert door.machine.device.executed == executed
    door.close()


async def test_a_recording_played_into_another_session_does_not_end_it() -> None:
    door = HandshakePair()
    old, tape = await recorded_session(door)
    old.close()
    link = await door.shake_hands(seed=2)
    await replay(door, tape, at_once=False)
    assert link.down is None
    assert await is_answered(link)
    assert len(door.machine.sessions) == 2
    assert door.machine.device.executed == [7]
    door.close(link)


async def test_a_replay_of_the_devices_half_is_not_accepted_as_the_device() -> None:
    door = HandshakePair()
    link, _ = await recorded_session(door)
    door.close(link)
    parrot = HandshakePair(seed=2)
    tape = list(door.machine.port.written)
    parrot.machine.halt()
    parrot.machine.port.on_bytes = lambda _: parrot.machine.port.push(b"".join(tape))
    assert type(await parrot.expect_rejection(seed=2)) is WrongKey
    assert len(parrot.host_port.frames()) == 1


async def test_an_echo_is_not_a_device() -> None:
    door = HandshakePair()
    door.machine.halt()
    door.machine.port.on_bytes = door.machine.port.push
    assert type(await door.expect_rejection()) is LinkSilent


async def test_a_devices_own_words_reflected_to_it_open_nothing() -> None:
    door = HandshakePair()
    link, _ = await recorded_session(door)
    written = list(door.machine.port.written)
    for data in written:
        door.host_port.push(data)
    await settle(0.2)
    assert link.down is None
    assert await is_answered(link)
    assert len(door.machine.sessions) == 1
    assert door.machine.alive[0].forged == len([f for f in door.machine.port.frames() if f.flags & fr.SEALED]) - 1
    door.close(link)


@pytest.mark.parametrize(("end", "field"), [(end, field) for end, fields in OTHER.items() for field in fields])
async def test_a_man_in_the_middle_who_changes_any_field_of_a_hello_ends_the_handshake(end: str, field: str) -> None:
    door = HandshakePair()
    change = {field: OTHER[end][field]}
    kind, port = (HostHello, door.host_port) if end == "host" else (DeviceHello, door.machine.port)
    port.fate = rewriting(kind, lambda message: msgspec.structs.replace(message, **change))
    assert isinstance(await door.expect_rejection(), TrustError)
    await settle(1.0)
    assert door.machine.sessions == []
    assert len(door.host_port.frames()) == 1  # the other end got no proof


async def test_a_man_in_the_middle_who_changes_a_proof_ends_the_handshake() -> None:
    door = HandshakePair()
    door.machine.port.fate = rewriting(DeviceProof, lambda _: DeviceProof(bytes(16)))
    assert type(await door.expect_rejection()) is WrongKey
    door = HandshakePair()
    door.host_port.fate = rewriting(HostProof, lambda _: HostProof(bytes(16)))
    assert type(await door.expect_rejection()) is HostRefused
    assert door.machine.sessions == []


async def test_a_welcome_from_a_man_in_the_middle_is_not_accepted() -> None:
    door = HandshakePair()
    other = HandshakePair(seed=3)
    link = await other.shake_hands(seed=3)
    tape = [data for data in other.machine.port.written if any(f.flags & fr.SEALED for f in Framer().feed(data))]
    other.close(link)

    def instead(data: bytes) -> bytes | FrameFate:
        sealed = any(f.flags & fr.SEALED for f in Framer().feed(data))
        return tape[0] if sealed else FrameFate.DELIVER

    door.machine.port.fate = instead
    assert isinstance(await door.expect_rejection(), LinkError)


async def test_a_strangers_hello_does_not_end_a_session() -> None:
    door = HandshakePair()
    link = await door.shake_hands()
    for n in range(50):
        door.host_port.push(unsealed(HostHello("table", bytes([n] * 16))))
        door.host_port.push(unsealed(HostProof(bytes([n] * 16))))
        await settle(0.1)
    assert link.down is None
    assert await is_answered(link)
    assert len(door.machine.sessions) == 1
    door.close(link)


async def test_a_strangers_hello_in_the_middle_of_a_handshake_delays_it_and_gains_nothing() -> None:
    door = HandshakePair()

    def cut_in(data: bytes) -> FrameFate:
        if len(door.machine.port.written) == 2:
            door.host_port.push(unsealed(HostHello("table", b"s" * 16)))
        return FrameFate.DELIVER

    door.machine.port.fate = cut_in
    assert type(await door.expect_rejection()) is HostRefused
    door.machine.port.fate = lambda _: FrameFate.DELIVER
    assert door.machine.sessions == []
    link = await door.shake_hands(seed=2)
    assert await is_answered(link)
    door.close(link)


async def test_a_proof_that_was_held_back_opens_a_session_in_which_nobody_can_speak() -> None:
    door = HandshakePair()
    held: list[bytes] = []

    def hold_proofs(data: bytes) -> FrameFate:
        if any(f.payload[:2] == b"\x92\x04" for f in Framer().feed(data)):
            held.append(data)
            return FrameFate.DROP
        return FrameFate.DELIVER

    door.host_port.fate = hold_proofs
    assert type(await door.expect_rejection()) is LinkSilent
    door.host_port.push(held[0])
    await settle(0.1)
    assert len(door.machine.sessions) == 1
    await settle(10.0)
    assert isinstance(door.machine.sessions[0].down, LinkSilent)
    assert door.machine.device.received == []
    door.host_port.fate = lambda _: FrameFate.DELIVER
    link = await door.shake_hands(seed=2)
    door.host_port.push(held[0])  # and it does not work twice, nor against a living session
    await settle(0.1)
    assert await is_answered(link)
    assert len(door.machine.sessions) == 2
    door.close(link)


@given(st.lists(st.one_of(st.binary(max_size=80), st.integers(1, 7).map(lambda tag: bytes([0x92, tag]) + b"\xc4\x10")),
                max_size=8), st.sampled_from(sorted(fr.TYPE_NAMES)), st.sampled_from([0, fr.RETRANSMIT]))  # fmt: skip
def test_no_unsealed_frame_breaks_either_end(payloads: list[bytes], type_: int, flags: int) -> None:
    async def main() -> None:
        errors: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
        door = HandshakePair()
        frames = [fr.to_wire(fr.pack_header(flags, type_, 1, 2, 3, 4) + payload) for payload in payloads]
        for data in frames:
            door.host_port.push(data)
        asking = asyncio.ensure_future(door.shake_hands())
        for data in frames:
            door.machine.port.push(data)
        link = await asking
        for data in frames:
            door.machine.port.push(data)
            door.host_port.push(data)
        assert await is_answered(link)
        door.close(link)
        await settle()
        assert timers() == []
        assert errors == []

    run_virtual(main())
