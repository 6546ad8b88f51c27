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
from simulators.virtual_time import VirtualLoop
from tests.support.greetings import HELLO, KEY, TRUST, Doorway, works
from tests.support.links import FATES, Fate, Told, kind_of, settle, taking_turns, timers

if TYPE_CHECKING:
    from firmware_bridge.link import Link


@pytest.mark.parametrize("name", FATES)
async def test_hands_are_shaken_over_every_line(name: str) -> None:
    door = Doorway()
    door.host_port.fate, door.machine.port.fate = FATES[name](0), FATES[name](1)
    try:
        link = await door.greet()
    except LinkError:  # three welcomes in a row can be lost; a supervisor would try again, too
        link = await door.greet(seed=2)
    assert await works(link)
    assert set(door.machine.roles) == {"table"}
    assert len(door.machine.alive) == 1
    door.close(link)


async def test_a_good_line_needs_five_frames() -> None:
    door = Doorway()
    link = await door.greet()
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
    door = Doorway(hello=msgspec.structs.replace(HELLO, **change))
    assert type(await door.reject()) is error
    await settle(1.0)
    assert door.machine.sessions == []


async def test_a_device_with_another_key_gets_no_session_and_never_sees_our_proof() -> None:
    door = Doorway(key=bytes(32))
    assert type(await door.reject()) is WrongKey
    assert len(door.host_port.frames()) == 1  # our hello
    assert door.machine.sessions == []


async def test_firmware_is_judged_only_after_the_device_proved_who_it_is() -> None:
    door = Doorway(key=bytes(32), hello=msgspec.structs.replace(HELLO, firmware="9.9"))
    assert type(await door.reject()) is WrongKey


async def test_an_approved_digest_of_another_kind_approves_nothing() -> None:
    door = Doorway()
    trust = msgspec.structs.replace(TRUST, approved=frozenset([ApprovedFirmware("shoe", "1.0", HELLO.digest)]))
    assert type(await door.reject(trust)) is FirmwareNotApproved


async def test_a_key_that_was_made_for_another_kind_of_machine_opens_nothing() -> None:
    door = Doorway()
    trust = msgspec.structs.replace(TRUST, keys={"S-1": DeviceKey("S-1", "shoe", KEY.key)})
    assert type(await door.reject(trust)) is WrongKind
    assert door.machine.sessions == []


async def test_a_device_refuses_a_host_that_cannot_prove_the_key() -> None:
    door = Doorway()
    # An attacker's host: it knows the protocol and skips the check of the device's proof, but has another key.
    thief = msgspec.structs.replace(TRUST, keys={"S-1": DeviceKey("S-1", "shuffler", bytes(32))})
    link = await door.greet()
    door.host_port.on_bytes = lambda _: None
    forged = Doorway(key=bytes(32))
    other = await forged.greet(thief)
    hello, proof = forged.host_port.frames()[:2]
    for frame in (hello, proof):
        door.host_port.push(fr.to_wire(frame.signed))
    await settle()
    refusals = [f for f in door.machine.port.frames() if f.payload[:2] == b"\x92\x06"]
    assert len(refusals) == 1
    assert len(door.machine.sessions) == 1
    door.close(link)
    forged.close(other)


async def test_a_host_that_is_refused_says_so() -> None:
    door = Doorway()
    machine = door.machine
    greeter = machine._greeter
    assert greeter is not None

    def change_key(_: bytes) -> Fate:
        if len(machine.port.written) == 2:  # hello and proof are out; now it expects another host
            greeter._key = bytes(32)
        return Fate.DELIVER

    machine.port.fate = change_key
    assert type(await door.reject()) is HostRefused
    assert machine.sessions == []


async def test_nobody_there_is_silence_after_all_attempts() -> None:
    door = Doorway()
    door.machine.halt()
    assert type(await door.reject()) is LinkSilent
    hellos = door.host_port.frames()
    assert len(hellos) == hs.MAX_STEPS
    assert len({frame.payload for frame in hellos}) == 1
    assert [bool(frame.flags & fr.RETRANSMIT) for frame in hellos] == [False] + [True] * (hs.MAX_STEPS - 1)
    waits = [min(hs.MAX_WAIT, hs.FIRST_WAIT * 2**attempt) for attempt in range(hs.MAX_STEPS)]
    assert asyncio.get_running_loop().time() == pytest.approx(sum(waits))


async def test_a_port_that_fails_during_the_handshake_is_the_cause() -> None:
    door = Doorway()
    door.machine.port.fate = lambda _: Fate.DROP
    asking = asyncio.ensure_future(door.reject())
    await settle(0.2)
    door.machine.port.close()
    assert type(await asking) is PortFailed


async def test_a_lost_welcome_is_said_again_and_opens_no_second_session() -> None:
    door = Doorway()
    door.machine.port.fate = taking_turns(Fate.DELIVER, Fate.DELIVER, Fate.DROP, Fate.DROP)
    link = await door.greet()
    assert await works(link)
    assert len(door.machine.sessions) == 1
    door.close(link)


async def test_a_device_that_gave_up_waiting_for_a_host_is_no_question_of_trust() -> None:
    door = Doorway()
    door.machine.port.fate = taking_turns(Fate.DELIVER, Fate.DELIVER, after=Fate.DROP)  # no welcome arrives
    asking = asyncio.ensure_future(door.reject())
    await settle(5.0)  # the device's session has ended in silence; the next proof comes too late
    assert door.machine.alive == []
    door.machine.port.fate = lambda _: Fate.DELIVER
    error = await asking
    assert isinstance(error, LinkError), error
    assert not isinstance(error, LinkSilent)
    link = await door.greet(seed=2)
    assert await works(link)
    door.close(link)


async def test_a_device_that_reboots_between_hello_and_proof_is_no_question_of_trust() -> None:
    door = Doorway()
    loop = asyncio.get_running_loop()

    def reboot_after_proof(_: bytes) -> Fate:
        if len(door.machine.port.written) == 2:
            loop.call_soon(door.machine.boot)
        return Fate.DELIVER

    door.machine.port.fate = reboot_after_proof
    assert type(await door.reject()) is SessionLost
    assert door.machine.sessions == []
    link = await door.greet(seed=2)
    assert await works(link)
    door.close(link)


async def test_a_repeated_hello_gets_the_same_answer_and_a_new_one_another() -> None:
    door = Doorway()
    link = await door.greet()
    hello = door.host_port.frames()[0]
    door.close(link)
    fresh = Doorway(seed=5)
    for _ in range(3):
        fresh.host_port.push(fr.to_wire(hello.signed))
        await settle()
    answers = [frame.payload for frame in fresh.machine.port.frames()]
    assert len(answers) == 6
    assert len(set(answers[::2])) == len(set(answers[1::2])) == 1
    link = await fresh.greet(seed=9)
    assert fresh.machine.port.frames()[6].payload not in answers
    fresh.close(link)


async def test_what_a_device_says_right_after_the_welcome_reaches_its_owner() -> None:
    door = Doorway()
    loop = asyncio.get_running_loop()

    def notify(link: Link, n: int = 0) -> None:
        """Send one event in each turn of the loop, so that some arrive while the host is between two steps."""
        link.event(Told(n))
        if n < 7:
            loop.call_soon(notify, link, n + 1)

    door.machine.on_session = notify
    link = await door.greet()
    reported: list[Any] = []
    link.on_event = reported.append  # in the same turn of the loop, as a supervisor does
    await settle(0.5)
    assert reported == [Told(n) for n in range(8)]
    assert link.counters.gaps == link.replayed == 0
    door.close(link)


async def test_a_port_that_fails_right_after_the_welcome_is_told_to_the_owner() -> None:
    door = Doorway()

    def send_and_die(link: Link) -> None:
        link.event(Told(1))
        door.machine.port.close()

    door.machine.on_session = send_and_die
    link = await door.greet()
    reported: list[Any] = []
    link.on_event = reported.append
    link.on_down = reported.append
    await settle(0.1)
    assert reported == [Told(1), link.down]
    assert isinstance(link.down, PortFailed)
    door.close()


async def test_a_second_host_that_proves_the_key_takes_over() -> None:
    door = Doorway()
    first = await door.greet()
    second = await door.greet(seed=2)
    assert await works(second)
    assert len(door.machine.sessions) == 2
    assert door.machine.alive == [door.machine.sessions[1]]
    assert isinstance(door.machine.sessions[0].down, LinkError)
    first.close()
    door.close(second)
    await settle()
    assert timers() == []


async def _under(fates: tuple[Fate, ...]) -> str:
    """Run one handshake; the first frames of both directions are treated like this."""
    door = Doorway()
    turn = taking_turns(*fates)
    door.host_port.fate = door.machine.port.fate = lambda data: Fate.DELIVER if data == b"\0" else turn(data)
    try:
        link = await door.greet()
    except LinkError as error:
        door.close()
        return error.code
    assert await works(link), fates
    assert len(door.machine.alive) == 1, fates
    door.close(link)
    return "session"


def _search(depth: int) -> dict[str, int]:
    counted: dict[str, int] = {}
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        for fates in product(Fate, repeat=depth):
            try:
                end = runner.run(_under(fates))
            except TrustError as error:
                raise AssertionError(f"a bad line passed for a question of trust: {fates}") from error
            counted[end] = counted.get(end, 0) + 1
    return counted


def test_whatever_happens_to_the_first_four_frames_hands_are_shaken() -> None:
    assert _search(4) == {"session": len(Fate) ** 4}


@pytest.mark.proof
def test_whatever_happens_to_the_first_six_frames_hands_are_shaken_or_the_line_is_blamed() -> None:
    counted = _search(6)
    print(f"handshakes: {sum(counted.values())} runs, {counted}")
    assert sum(counted.values()) == len(Fate) ** 6
    assert counted["session"] > 0.9 * len(Fate) ** 6
