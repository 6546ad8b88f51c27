"""The handshake on good and bad lines: who gets a session and who is refused with which reason."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge import frame as fr
from firmware_bridge import handshake as hs
from firmware_bridge.errors import (
    CapabilityMissing,
    FirmwareNotApproved,
    HostRefused,
    LinkError,
    LinkSilent,
    PitboxError,
    PortFailed,
    SessionLost,
    TrustError,
    UnknownSerial,
    WrongKey,
    WrongKind,
)
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from simulators.engine.virtual_time import VirtualLoop
from tests.support.wire.handshakes import HELLO, KEY, TRUST, HandshakePair, is_answered
from tests.support.wire.links import FATES, BenchEvent, FrameFate, kind_of, settle, taking_turns, timers

if TYPE_CHECKING:
    from firmware_bridge.link import Link


@pytest.mark.parametrize("name", FATES)
async def test_the_handshake_succeeds_over_every_line(name: str) -> None:
    door = HandshakePair()
    door.host_port.fate, door.machine.port.fate = FATES[name](0), FATES[name](1)
    try:
        link = await door.shake_hands()
    except LinkError:  # three welcomes in a row can be lost; a supervisor would try again, too
        link = await door.shake_hands(seed=2)
    assert await is_answered(link)
    assert set(door.machine.roles) == {"table"}
    assert len(door.machine.alive) == 1
    door.close(link)


async def test_a_good_line_needs_five_frames() -> None:
    door = HandshakePair()
    link = await door.shake_hands()
    assert [kind_of(data) for data in door.host_port.written] == [0, fr.HANDSHAKE, fr.HANDSHAKE]
    assert [kind_of(data) for data in door.machine.port.written] == [fr.HANDSHAKE] * 3
    door.close(link)
    await settle()
    assert timers() == []


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"kind": "shoe"}, WrongKind),
        ({"serial": "S-2"}, UnknownSerial),
        ({"firmware": "1.1"}, FirmwareNotApproved),
        ({"digest": b"F" * 32}, FirmwareNotApproved),
    ],
)
async def test_a_device_that_is_not_expected_gets_no_session(change: dict[str, Any], error: type[PitboxError]) -> None:
    door = HandshakePair(hello=msgspec.structs.replace(HELLO, **change))
    assert type(await door.expect_rejection()) is error
    await settle(1.0)
    assert door.machine.sessions == []


async def test_a_device_with_another_key_gets_no_session_and_never_sees_our_proof() -> None:
    door = HandshakePair(key=bytes(32))
    assert type(await door.expect_rejection()) is WrongKey
    assert len(door.host_port.frames()) == 1  # our hello
    assert door.machine.sessions == []


async def test_firmware_is_judged_only_after_the_device_proved_who_it_is() -> None:
    door = HandshakePair(key=bytes(32), hello=msgspec.structs.replace(HELLO, firmware="9.9"))
    assert type(await door.expect_rejection()) is WrongKey


async def test_an_approved_digest_of_another_kind_approves_nothing() -> None:
    door = HandshakePair()
    trust = msgspec.structs.replace(TRUST, approved=frozenset([ApprovedFirmware("shoe", "1.0", HELLO.digest)]))
    assert type(await door.expect_rejection(trust)) is FirmwareNotApproved


async def test_a_device_that_lacks_a_needed_capability_gets_no_session() -> None:
    lacking = msgspec.structs.replace(TRUST, needs=frozenset(["inserts"]))
    refused = await HandshakePair().expect_rejection(lacking)
    assert type(refused) is CapabilityMissing
    assert "inserts" in str(refused)
    own = msgspec.structs.replace(TRUST, needs=frozenset(HELLO.capabilities))
    door = HandshakePair()
    assert own.needs, "the golden machine has capabilities"
    door.close(await door.shake_hands(own))


async def test_a_key_that_was_made_for_another_kind_of_machine_opens_nothing() -> None:
    door = HandshakePair()
    trust = msgspec.structs.replace(TRUST, keys={"S-1": DeviceKey("S-1", "shoe", KEY.key)})
    assert type(await door.expect_rejection(trust)) is WrongKind
    assert door.machine.sessions == []


async def test_a_device_refuses_a_host_that_cannot_prove_the_key() -> None:
    door = HandshakePair()
    # An attacker's host: it knows the protocol and skips the check of the device's proof, but has another key.
    thief = msgspec.structs.replace(TRUST, keys={"S-1": DeviceKey("S-1", "shuffler", bytes(32))})
    link = await door.shake_hands()
    door.host_port.on_bytes = lambda _: None
    forged = HandshakePair(key=bytes(32))
    other = await forged.shake_hands(thief)
    hello, proof = forged.host_port.frames()[:2]
    for frame in (hello, proof):
        door.host_port.push(fr.to_wire(frame.signed))
    await settle()
    refusals = [f for f in door.machine.port.frames() if f.payload[:2] == b"\x92\x06"]
    assert len(refusals) == 1
    assert len(door.machine.sessions) == 1
    door.close(link)
    forged.close(other)


async def test_a_refused_host_reports_the_refusal() -> None:
    door = HandshakePair()
    machine = door.machine
    greeter = machine._greeter
    assert greeter is not None

    def change_key(_: bytes) -> FrameFate:
        if len(machine.port.written) == 2:  # hello and proof are out; now it expects another host
            greeter._key = bytes(32)
        return FrameFate.DELIVER

    machine.port.fate = change_key
    assert type(await door.expect_rejection()) is HostRefused
    assert machine.sessions == []


async def test_nobody_there_is_silence_after_all_attempts() -> None:
    door = HandshakePair()
    door.machine.halt()
    assert type(await door.expect_rejection()) is LinkSilent
    hellos = door.host_port.frames()
    assert len(hellos) == hs.MAX_ATTEMPTS
    assert len({frame.payload for frame in hellos}) == 1
    assert [bool(frame.flags & fr.RETRANSMIT) for frame in hellos] == [False] + [True] * (hs.MAX_ATTEMPTS - 1)
    waits = [min(hs.MAX_RETRY_S, hs.FIRST_RETRY_S * 2**attempt) for attempt in range(hs.MAX_ATTEMPTS)]
    assert asyncio.get_running_loop().time() == pytest.approx(sum(waits))


async def test_a_port_that_fails_during_the_handshake_is_the_cause() -> None:
    door = HandshakePair()
    door.machine.port.fate = lambda _: FrameFate.DROP
    asking = asyncio.ensure_future(door.expect_rejection())
    await settle(0.2)
    door.machine.port.close()
    assert type(await asking) is PortFailed


async def test_a_lost_welcome_is_sent_again_and_opens_no_second_session() -> None:
    door = HandshakePair()
    door.machine.port.fate = taking_turns(FrameFate.DELIVER, FrameFate.DELIVER, FrameFate.DROP, FrameFate.DROP)
    link = await door.shake_hands()
    assert await is_answered(link)
    assert len(door.machine.sessions) == 1
    door.close(link)


async def test_a_device_that_gave_up_waiting_for_a_host_is_no_question_of_trust() -> None:
    door = HandshakePair()
    door.machine.port.fate = taking_turns(
        FrameFate.DELIVER, FrameFate.DELIVER, after=FrameFate.DROP
    )  # no welcome arrives
    asking = asyncio.ensure_future(door.expect_rejection())
    await settle(5.0)  # the device's session has ended in silence; the next proof comes too late
    assert door.machine.alive == []
    door.machine.port.fate = lambda _: FrameFate.DELIVER
    error = await asking
    assert isinstance(error, LinkError), error
    assert not isinstance(error, LinkSilent)
    link = await door.shake_hands(seed=2)
    assert await is_answered(link)
    door.close(link)


async def test_a_device_that_reboots_between_hello_and_proof_is_no_question_of_trust() -> None:
    door = HandshakePair()
    loop = asyncio.get_running_loop()

    def reboot_after_proof(_: bytes) -> FrameFate:
        if len(door.machine.port.written) == 2:
            loop.call_soon(door.machine.boot)
        return FrameFate.DELIVER

    door.machine.port.fate = reboot_after_proof
    assert type(await door.expect_rejection()) is SessionLost
    assert door.machine.sessions == []
    link = await door.shake_hands(seed=2)
    assert await is_answered(link)
    door.close(link)


async def test_a_repeated_hello_gets_the_same_answer_and_a_new_one_another() -> None:
    door = HandshakePair()
    link = await door.shake_hands()
    hello = door.host_port.frames()[0]
    door.close(link)
    fresh = HandshakePair(seed=5)
    for _ in range(3):
        fresh.host_port.push(fr.to_wire(hello.signed))
        await settle()
    answers = [frame.payload for frame in fresh.machine.port.frames()]
    assert len(answers) == 6
    assert len(set(answers[::2])) == len(set(answers[1::2])) == 1
    link = await fresh.shake_hands(seed=9)
    assert fresh.machine.port.frames()[6].payload not in answers
    fresh.close(link)


async def test_a_message_right_after_the_welcome_reaches_its_owner() -> None:
    door = HandshakePair()
    loop = asyncio.get_running_loop()

    def notify(link: Link, n: int = 0) -> None:
        """Send one event in each turn of the loop, so that some arrive while the host is between two steps."""
        link.send_event(BenchEvent(n))
        if n < 7:
            loop.call_soon(notify, link, n + 1)

    door.machine.on_session = notify
    link = await door.shake_hands()
    reported: list[Any] = []
    link.on_event = reported.append  # in the same turn of the loop, as a supervisor does
    await settle(0.5)
    assert reported == [BenchEvent(n) for n in range(8)]
    assert link.counters.gaps == link.replayed == 0
    door.close(link)


async def test_a_port_failure_right_after_the_welcome_is_reported_to_the_owner() -> None:
    door = HandshakePair()

    def send_and_die(link: Link) -> None:
        link.send_event(BenchEvent(1))
        door.machine.port.close()

    door.machine.on_session = send_and_die
    link = await door.shake_hands()
    reported: list[Any] = []
    link.on_event = reported.append
    link.on_down = reported.append
    await settle(0.1)
    assert reported == [BenchEvent(1), link.down]
    assert isinstance(link.down, PortFailed)
    door.close()


async def test_a_second_host_that_proves_the_key_takes_over() -> None:
    door = HandshakePair()
    first = await door.shake_hands()
    second = await door.shake_hands(seed=2)
    assert await is_answered(second)
    assert len(door.machine.sessions) == 2
    assert door.machine.alive == [door.machine.sessions[1]]
    assert isinstance(door.machine.sessions[0].down, LinkError)
    first.close()
    door.close(second)
    await settle()
    assert timers() == []


async def _under(fates: tuple[FrameFate, ...]) -> str:
    """Run one handshake; the first frames of both directions are treated like this."""
    door = HandshakePair()
    turn = taking_turns(*fates)
    door.host_port.fate = door.machine.port.fate = lambda data: FrameFate.DELIVER if data == b"\0" else turn(data)
    try:
        link = await door.shake_hands()
    except LinkError as error:
        door.close()
        return error.code
    assert await is_answered(link), fates
    assert len(door.machine.alive) == 1, fates
    door.close(link)
    return "session"


def _search(depth: int) -> dict[str, int]:
    counted: dict[str, int] = {}
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        for fates in product(FrameFate, repeat=depth):
            try:
                end = runner.run(_under(fates))
            except TrustError as error:
                raise AssertionError(f"a bad line passed for a question of trust: {fates}") from error
            counted[end] = counted.get(end, 0) + 1
    return counted


def test_the_handshake_succeeds_under_any_damage_to_the_first_four_frames() -> None:
    assert _search(4) == {"session": len(FrameFate) ** 4}


@pytest.mark.proof
def test_under_any_damage_to_the_first_six_frames_the_handshake_succeeds_or_the_line_is_blamed() -> None:
    counted = _search(6)
    print(f"handshakes: {sum(counted.values())} runs, {counted}")
    assert sum(counted.values()) == len(FrameFate) ** 6
    assert counted["session"] > 0.9 * len(FrameFate) ** 6
