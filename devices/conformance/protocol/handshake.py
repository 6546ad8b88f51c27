"""HS: the handshake. Hello, proofs, Welcome, and everything that must not open a session."""

from __future__ import annotations

from hmac import compare_digest
from typing import Any, Final

import msgspec

from devices.conformance.bench import ConformanceBench, encode_with_extra_fields
from devices.conformance.raw_host import LINE_ALLOWANCE_S, QUIET_S, REPLY_WAIT_S, RawHost, ReceivedFrame, frames_text
from devices.conformance.requirements import Chapter, RequirementFailed, expect
from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.commands import GetReport
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import HostRefused
from firmware_bridge.link import HEARTBEAT_S
from firmware_bridge.messages import (
    DeviceHello,
    DeviceProof,
    HostHello,
    HostProof,
    NoSession,
    Refuse,
    Welcome,
    encode,
    tag_of,
)

CHAPTER: Final = Chapter("HS", "The handshake", "docs/protocol.md")
_RULES: Final = "The handshake"
# A wrong proof of the right size.
_WRONG: Final = bytes(range(seal.PROOF_SIZE))
# A sealed frame of no session.
_STRAY: Final = fr.to_wire(
    fr.pack_header(fr.SEALED, fr.PING, 0, fr.FIRST_SEQ, fr.NO_RE, fr.FIRST_COUNTER), bytes(fr.MAC_SIZE)
)
# How long (s) a device without a session must stay silent: more than a heartbeat.
_ALONE: Final = HEARTBEAT_S + 2 * LINE_ALLOWANCE_S


def _tag(received: ReceivedFrame) -> Any:
    """Return a payload's tag, read without any strictness."""
    try:
        return msgspec.msgpack.decode(received.frame.payload)[0]
    except (TypeError, IndexError, KeyError, ValueError, *UNDECODABLE):
        return None


@CHAPTER.requirement(1, _RULES)
async def hello(bench: ConformanceBench) -> None:
    """A HostHello is answered by a DeviceHello and then a DeviceProof, and by nothing else."""
    probe = bench.raw_host()
    since = len(probe.received)
    probe.send_unsealed(probe.fresh_hello())
    came = await probe.hello_frames(since)
    expect([_tag(received) for received in came] == [tag_of(DeviceHello), tag_of(DeviceProof)],
           "DeviceHello, then DeviceProof, and nothing else", frames_text(came))  # fmt: skip


@CHAPTER.requirement(2, "Messages", needs=("HS-01",))
async def limits(bench: ConformanceBench) -> None:
    """Every field of its hello is within its limits, including the 32 bytes of the digest."""
    probe = bench.raw_host()
    probe.send_unsealed(probe.fresh_hello())
    for received in await probe.unsealed_frames():
        kind: Any = DeviceHello if _tag(received) == tag_of(DeviceHello) else DeviceProof
        try:
            msgspec.msgpack.decode(received.frame.payload, type=kind)
        except UNDECODABLE as error:
            raise RequirementFailed(f"a {kind.__name__} as in the table of messages", str(error)) from None


@CHAPTER.requirement(3, _RULES, needs=("HS-02",))
async def proof(bench: ConformanceBench) -> None:
    """Its proof is right for both hellos and the device's key."""
    greeting = await bench.raw_host().greet()
    expect(compare_digest(greeting.proof, seal.device_proof(bench.key.key, greeting.bound)),
           "the proof that follows from this key file and both hellos (see the golden bytes for each step)",
           "another one: PB-311, the key is not the device's, or the proof is worked out in another way")  # fmt: skip


@CHAPTER.requirement(4, _RULES, needs=("HS-03",))
async def welcome(bench: ConformanceBench) -> None:
    """A right HostProof is answered by a sealed Welcome: the session is open."""
    await bench.raw_session()


@CHAPTER.requirement(5, _RULES, needs=("HS-02",))
async def fresh(bench: ConformanceBench) -> None:
    """Every new HostHello gets a new challenge."""
    probe = bench.raw_host()
    challenges = [(await probe.greet()).hello.challenge for _ in range(8)]
    expect(len(set(challenges)) == len(challenges), "eight different challenges",
           " ".join(challenge.hex() for challenge in challenges))  # fmt: skip


@CHAPTER.requirement(6, _RULES, needs=("HS-02",))
async def repeated_hello(bench: ConformanceBench) -> None:
    """A repeated HostHello gets the same answer again, with the same challenge."""
    probe = bench.raw_host()
    first = await probe.greet()
    again = await probe.greet(first.asked, fr.RETRANSMIT)
    expect(first.answered == again.answered, "the same hello, byte for byte", f"{first.hello} and then {again.hello}")
    expect(first.proof == again.proof, "the same proof", f"{first.proof.hex()} and then {again.proof.hex()}")


@CHAPTER.requirement(7, _RULES, needs=("HS-04",))
async def first_numbers(bench: ConformanceBench) -> None:
    """The Welcome has the first counter, and acknowledges the first sequence number."""
    frame = (await bench.raw_session()).welcomes[0].frame
    expect(frame.counter == fr.FIRST_COUNTER, f"counter {fr.FIRST_COUNTER:08x}", f"{frame.counter:08x}")
    expect(frame.ack == fr.FIRST_SEQ, f"ack {fr.FIRST_SEQ:04x}", f"{frame.ack:04x}")
    expect(frame.seq == 0 and frame.re == fr.NO_RE, "seq 0000 and re ffff", f"{frame.seq:04x} and {frame.re:04x}")


@CHAPTER.requirement(8, _RULES, needs=("HS-04",))
async def repeated_proof(bench: ConformanceBench) -> None:
    """A repeated HostProof gets a Welcome again, with the next counter; the session continues."""
    raw = await bench.raw_session()
    since = len(raw.host.received)
    raw.host.send_unsealed(HostProof(raw.greeting.host_proof), fr.RETRANSMIT)
    again = await raw.wait_until(lambda received: isinstance(received.message, Welcome), since=1)
    if again is None:
        raise RequirementFailed("a Welcome again", frames_text(raw.host.received[since:]))
    expect(again.frame.counter == raw.authentic[0].frame.counter + 1, "the next counter", f"{again.frame.counter:08x}")
    await raw.ask(GetReport())


@CHAPTER.requirement(9, _RULES, needs=("HS-04",))
async def wrong_proof(bench: ConformanceBench) -> None:
    """A wrong HostProof is answered by Refuse with reason 315 and opens nothing."""
    probe = bench.raw_host()
    greeting = await probe.greet()
    await _refused(probe, _WRONG)
    raw = await probe.open_session(greeting)  # nothing has changed: the right proof is still awaited
    expect(
        raw.welcomes[0].frame.counter <= fr.FIRST_COUNTER,
        "no session before the right proof",
        frames_text(raw.authentic),
    )


async def _refused(probe: RawHost, wrong: bytes) -> None:
    probe.send_unsealed(HostProof(wrong))
    came = await probe.listen(QUIET_S)
    spoken = [received for received in came if received.frame.type == fr.HANDSHAKE]
    refusals = [received.message for received in spoken if isinstance(received.message, Refuse)]
    expect(len(spoken) == len(refusals) == 1, "one Refuse to a proof that does not fit", frames_text(spoken))
    expect(refusals == [Refuse(HostRefused.number)], f"reason {HostRefused.number}", refusals)


@CHAPTER.requirement(10, _RULES, needs=("HS-04", "HS-09"))
async def replay(bench: ConformanceBench) -> None:
    """A challenge is valid for one session: a replayed handshake opens nothing."""
    first = await bench.raw_session()
    probe = bench.raw_host()
    second = await probe.greet(first.greeting.asked)
    expect(second.hello.challenge != first.greeting.hello.challenge, "a new challenge to the old hello", "the old one")
    # Another session now runs, so that the old proof is not a repetition of the one that opened it.
    await probe.open_session(await probe.greet())
    await probe.greet(first.greeting.asked)
    await _refused(probe, first.greeting.host_proof)


@CHAPTER.requirement(11, _RULES, needs=("HS-04",))
async def strangers(bench: ConformanceBench) -> None:
    """A running session continues while other hosts send hellos and wrong proofs."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    await raw.host.greet()
    raw.host.send_unsealed(HostProof(_WRONG))
    await raw.host.listen(LINE_ALLOWANCE_S)
    await raw.ask(GetReport())


@CHAPTER.requirement(12, _RULES, needs=("HS-04",))
async def takes_over(bench: ConformanceBench) -> None:
    """A new session ends the old one: frames of the old one have no effect."""
    old = await bench.raw_session()
    new = await bench.raw_session()
    place = len(new.host.received)
    old.host.write(fr.to_wire(*old.seal(fr.REQUEST, encode(GetReport()), seq=fr.FIRST_SEQ)))
    came = await new.host.listen(QUIET_S)
    expect(
        not [received for received in came if received.frame.type == fr.REPLY],
        "no answer to the old session",
        frames_text(came),
    )
    await new.ask(GetReport())
    expect(not new.unauthentic, "frames of the new session only", frames_text(new.host.received[place:]))


@CHAPTER.requirement(13, "Unsealed frames in a session", needs=("HS-04",))
async def no_session(bench: ConformanceBench) -> None:
    """A sealed frame without a session is answered by NoSession, every time."""
    probe = await bench.end_sessions()
    for _ in range(3):
        since = len(probe.received)
        probe.write(_STRAY)
        if await probe.wait_for_message(NoSession, REPLY_WAIT_S, since) is None:
            raise RequirementFailed("NoSession", frames_text(probe.received[since:]))


@CHAPTER.requirement(14, _RULES, needs=("HS-13",))
async def proof_out_of_nowhere(bench: ConformanceBench) -> None:
    """A HostProof with no session and no hello before it is answered by NoSession, not by Refuse."""
    probe = await bench.end_sessions()
    probe.send_unsealed(HostProof(_WRONG))
    came = await probe.unsealed_frames()
    expect(
        [type(received.message) for received in came] == [NoSession], "NoSession and nothing else", frames_text(came)
    )


@CHAPTER.requirement(15, "Unsealed frames in a session", needs=("HS-13",))
async def alone(bench: ConformanceBench) -> None:
    """Without a session it sends nothing by itself."""
    probe = await bench.end_sessions()
    came = await probe.listen(_ALONE)
    expect(not came, f"nothing for {_ALONE:g} s", frames_text(came))


@CHAPTER.requirement(16, "Messages", needs=("HS-01",))
async def unknown_role(bench: ConformanceBench) -> None:
    """A HostHello with an unknown role gets no answer."""
    probe = bench.raw_host()
    role = probe.fresh_hello().replace(b"bench", b"owner")
    await _unanswered(probe, role, "the role owner")


@CHAPTER.requirement(17, "Payloads", needs=("HS-01",))
async def misshapen_hello(bench: ConformanceBench) -> None:
    """A HostHello with an extra field or a challenge of the wrong size gets no answer."""
    probe = bench.raw_host()
    await _unanswered(
        probe, encode_with_extra_fields(HostHello("bench", bytes(range(16))), b"\xc0"), "a field too many"
    )
    short = msgspec.msgpack.encode([tag_of(HostHello), "bench", bytes(range(15))])
    await _unanswered(probe, short, "a challenge of 15 bytes")


async def _unanswered(probe: RawHost, payload: bytes, what: str) -> None:
    probe.send_unsealed(payload)
    came = await probe.unsealed_frames()
    expect(not came, f"no answer to a HostHello with {what}", frames_text(came))


@CHAPTER.requirement(18, _RULES, needs=("HS-13",))
async def boot_id(bench: ConformanceBench) -> None:
    """The boot id is the same in hello, Welcome, Report and NoSession until it restarts."""
    raw = await bench.raw_session()
    seen: dict[str, Any] = {"hello": raw.greeting.hello.boot_id}
    first = raw.welcomes[0].message
    seen["Welcome"] = first.boot_id if isinstance(first, Welcome) else None
    seen["Report"] = (await raw.ask(GetReport())).boot_id
    probe = await bench.end_sessions()
    probe.write(_STRAY)
    hint = await probe.wait_for_message(NoSession)
    seen["NoSession"] = hint.message.boot_id if hint is not None and isinstance(hint.message, NoSession) else None
    seen["the next hello"] = (await probe.greet()).hello.boot_id
    expect(len(set(seen.values())) == 1, "one boot id", ", ".join(f"{k}: {v}" for k, v in seen.items()))
