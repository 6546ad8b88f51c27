"""SE: the seal. Frames that are forged or replayed have no effect, and get no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.conformance.bench import replace_header_fields
from devices.conformance.raw_host import QUIET_S, REPLY_WAIT_S, frames_text, unsealed_frame
from devices.conformance.requirements import Chapter, expect
from firmware_bridge import frame as fr
from firmware_bridge.commands import GetReport
from firmware_bridge.messages import HostProof, NoSession, encode

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.raw_host import RawSession

CHAPTER: Final = Chapter("SE", "The seal", "docs/protocol.md", needs=("HS-04",))
_SEAL: Final = "The seal"
_REPORT: Final = encode(GetReport())


async def _no_effect(raw: RawSession, wire: bytes, what: str) -> None:
    """Bytes get no answer of any kind, and the session continues with the number that they tried to use."""
    place = len(raw.host.received)
    raw.host.write(wire)
    await raw.host.listen(QUIET_S)
    came = [received for received in raw.host.received[place:] if received.frame.type not in (fr.PING, fr.EVENT)]
    expect(not came, f"no answer to {what}", frames_text(came))


@CHAPTER.requirement(1, _SEAL)
async def counters(bench: ConformanceBench) -> None:
    """Every frame of a session is sealed, and its counter is one higher than the previous one."""
    raw = await bench.raw_session()
    for _ in range(4):
        await raw.ask(GetReport())
        await raw.ask(bench.profile.question)
    expect(not raw.unauthentic, "no sealed frame without the session's MAC", frames_text(raw.unauthentic))
    frames = raw.host.received
    open_frames = [
        received for received in frames[frames.index(raw.authentic[0]) :] if not received.frame.flags & fr.SEALED
    ]
    expect(not open_frames, "no unsealed frame within a session", frames_text(open_frames))
    seen = [received.frame.counter for received in raw.authentic]
    expect(
        seen == list(range(seen[0], seen[0] + len(seen))), "counters without a gap", " ".join(f"{c:08x}" for c in seen)
    )


@CHAPTER.requirement(2, _SEAL)
async def forged(bench: ConformanceBench) -> None:
    """A request with a wrong MAC has no effect and gets no answer."""
    raw = await bench.raw_session()
    signed, mac = raw.seal(fr.REQUEST, _REPORT, seq=raw.seq)
    await _no_effect(raw, fr.to_wire(signed, bytes([mac[0] ^ 1]) + mac[1:]), "a MAC with a flipped first bit")
    signed, mac = raw.seal(fr.REQUEST, _REPORT, seq=raw.seq)
    await _no_effect(raw, fr.to_wire(signed, mac[:-1] + bytes([mac[-1] ^ 0x80])), "a MAC with a flipped last bit")
    await raw.ask(GetReport())


@CHAPTER.requirement(3, _SEAL)
async def forged_ping(bench: ConformanceBench) -> None:
    """A PING or ACK with a wrong MAC has no effect."""
    raw = await bench.raw_session()
    signed, _ = raw.seal(fr.PING)
    await _no_effect(raw, fr.to_wire(signed, bytes(fr.MAC_SIZE)), "a PING with a MAC of zeros")
    await raw.ask(GetReport())


@CHAPTER.requirement(4, _SEAL)
async def covered(bench: ConformanceBench) -> None:
    """The MAC covers flags, type and all numbers: a frame with any of them changed has no effect."""
    raw = await bench.raw_session()
    changes = {
        "the RETRANSMIT flag": {"first": fr.VERSION << 4 | fr.SEALED | fr.RETRANSMIT},
        "the type": {"type": fr.PING},
        "seq": {"seq": raw.seq + 1},
        "ack": {"ack": raw.expected + 1},
        "re": {"re": raw.seq},
        "the counter": {"counter": raw.counter + 500},
    }
    for what, change in changes.items():
        signed, mac = raw.seal(fr.REQUEST, _REPORT, seq=raw.seq)
        await _no_effect(raw, fr.to_wire(replace_header_fields(signed, **change), mac), f"a frame with {what} changed")
    await raw.ask(GetReport())


@CHAPTER.requirement(5, _SEAL)
async def replayed(bench: ConformanceBench) -> None:
    """A replayed frame has no effect and gets no answer."""
    raw = await bench.raw_session()
    for type_, payload, seq in ((fr.REQUEST, _REPORT, raw.seq), (fr.PING, b"", 0)):
        place = len(raw.authentic)
        wire = raw.send(type_, payload, seq=seq)
        answered = await raw.wait_until(lambda received: received.frame.type in (fr.REPLY, fr.ACK), REPLY_WAIT_S, place)
        expect(answered is not None, "an answer to the first one", "none")
        await raw.host.listen(QUIET_S)
        await _no_effect(raw, wire, "the same bytes a second time")


@CHAPTER.requirement(6, _SEAL)
async def late(bench: ConformanceBench) -> None:
    """A frame with a counter below the last one is rejected, even if it never arrived before."""
    raw = await bench.raw_session()
    held = fr.to_wire(*raw.seal(fr.REQUEST, _REPORT, seq=raw.seq + 1))
    await raw.ask(GetReport())
    await raw.host.listen(QUIET_S)
    await _no_effect(raw, held, "a frame that comes after one with a higher counter")
    await raw.ask(GetReport())


@CHAPTER.requirement(7, _SEAL)
async def gaps(bench: ConformanceBench) -> None:
    """Gaps between counters are accepted."""
    raw = await bench.raw_session()
    for step in (2, 1000, 0x01000000):
        raw.counter += step
        await raw.ask(GetReport())


@CHAPTER.requirement(8, _SEAL)
async def reflected(bench: ConformanceBench) -> None:
    """Its own frames, sent back to it, have no effect."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    raw.ping()
    await raw.host.listen(QUIET_S)
    for received in raw.authentic[1:]:
        await _no_effect(raw, fr.to_wire(received.frame.signed, received.frame.mac), f"its own {received}")
    await raw.ask(GetReport())


@CHAPTER.requirement(9, "Unsealed frames in a session")
async def open_request(bench: ConformanceBench) -> None:
    """An unsealed request has no effect within a session."""
    raw = await bench.raw_session()
    signed = replace_header_fields(
        unsealed_frame(_REPORT, 0, fr.REQUEST), seq=raw.seq, ack=raw.expected, counter=raw.counter
    )
    await _no_effect(raw, fr.to_wire(signed), "a request without a seal")
    await raw.ask(GetReport())


@CHAPTER.requirement(10, "Unsealed frames in a session", needs=("HS-13",))
async def sealed_hello(bench: ConformanceBench) -> None:
    """A sealed HostHello or HostProof is not obeyed: it is ignored in a session, and gets NoSession without one."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    for payload in (raw.host.fresh_hello(), encode(HostProof(raw.greeting.host_proof))):
        signed, mac = raw.seal(fr.HANDSHAKE, payload)
        await _no_effect(raw, fr.to_wire(signed, bytes(fr.MAC_SIZE)), "a handshake message with a forged seal")
        await _no_effect(raw, fr.to_wire(signed, mac), "a handshake message under the session's own seal")
    await raw.ask(GetReport())
    probe = await bench.end_sessions()
    signed, mac = raw.seal(fr.HANDSHAKE, probe.fresh_hello())
    probe.write(fr.to_wire(signed, mac))
    came = await probe.unsealed_frames()
    expect(
        [type(received.message) for received in came] == [NoSession], "NoSession and nothing else", frames_text(came)
    )
