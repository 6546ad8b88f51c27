"""PL: payloads. A malformed message ends the session; every valid encoding of a message is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.conformance.bench import UNKNOWN_TAG_PAYLOAD, encode_with_extra_fields
from devices.conformance.raw_host import QUIET_S, frames_text
from devices.conformance.requirements import Chapter, expect
from devices.frame_text import message_text
from firmware_bridge import frame as fr
from firmware_bridge.commands import Accepted, AskCommand, GetReport, Outcome, Settled
from firmware_bridge.messages import HandshakeToHost, encode, tag_of

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.raw_host import RawSession

CHAPTER: Final = Chapter("PL", "Payloads", "docs/protocol.md", needs=("HS-04",))
_PAYLOADS: Final = "Payloads"
_RECEIVING: Final = "Receiving a sealed frame"
_ENDS: Final = ("HS-13",)  # how the end of a session is seen
_ASK: Final = tag_of(AskCommand)


async def _ends(bench: ConformanceBench, payload: bytes, what: str) -> None:
    """Expect that a request with this payload ends the session without an answer."""
    raw = await bench.raw_session()
    await raw.ask(GetReport())
    raw.request(payload)
    place = len(raw.authentic)
    came = [
        *await raw.host.unsealed_frames(),
        *(received for received in raw.authentic[place:] if received.frame.type != fr.EVENT),
    ]
    expect(not came, f"no answer to {what}", frames_text(came))
    expect(not await raw.is_alive(), f"the end of the session after {what}", "it continues")


@CHAPTER.requirement(1, _RECEIVING, needs=_ENDS)
async def unknown_tag(bench: ConformanceBench) -> None:
    """A message with an unknown tag ends the session without an answer."""
    await _ends(bench, UNKNOWN_TAG_PAYLOAD, "an unknown tag")


@CHAPTER.requirement(2, _RECEIVING, needs=_ENDS)
async def no_message(bench: ConformanceBench) -> None:
    """A payload that is empty or not a msgpack array ends the session."""
    await _ends(bench, b"", "an empty payload")
    await _ends(bench, b"\xc1", "a byte that msgpack never uses")
    await _ends(bench, encode(GetReport())[1:], "a number in place of an array")


@CHAPTER.requirement(3, _PAYLOADS, needs=_ENDS)
async def too_many(bench: ConformanceBench) -> None:
    """A message with an extra field ends the session."""
    await _ends(bench, encode_with_extra_fields(GetReport(), b"\x00"), "GetReport with a field")
    await _ends(bench, encode_with_extra_fields(AskCommand(7), b"\xc0"), "AskCommand with two fields")


@CHAPTER.requirement(4, _PAYLOADS, needs=_ENDS)
async def too_few(bench: ConformanceBench) -> None:
    """A message with a missing field ends the session."""
    await _ends(bench, bytes([0x91, _ASK]), "AskCommand without its id")


@CHAPTER.requirement(5, _PAYLOADS, needs=_ENDS)
async def out_of_range(bench: ConformanceBench) -> None:
    """A value out of range ends the session."""
    await _ends(bench, bytes([0x92, _ASK, 0]), "the id 0")
    await _ends(bench, bytes([0x92, _ASK, 0xCF]) + (1 << 63).to_bytes(8, "big"), "the id 2^63")
    await _ends(bench, bytes([0x92, _ASK, 0xFF]), "the id -1")


@CHAPTER.requirement(6, _PAYLOADS, needs=_ENDS)
async def trailing(bench: ConformanceBench) -> None:
    """Bytes after the end of a message end the session."""
    await _ends(bench, encode(GetReport()) + b"\x00", "GetReport and one byte")
    await _ends(bench, encode(GetReport()) * 2, "two messages in one payload")


@CHAPTER.requirement(7, _PAYLOADS, needs=_ENDS)
async def wrong_type(bench: ConformanceBench) -> None:
    """A float or a bool in place of an integer ends the session."""
    await _ends(bench, msgspec.msgpack.encode([_ASK, 7.0]), "the id 7.0")
    await _ends(bench, msgspec.msgpack.encode([_ASK, True]), "the id true")


@CHAPTER.requirement(8, _RECEIVING, needs=_ENDS)
async def wrong_way(bench: ConformanceBench) -> None:
    """A message that only a device may send ends the session."""
    await _ends(bench, encode(Accepted(7)), "Accepted from the host")
    await _ends(bench, encode(Settled(7, Outcome.DONE, 0)), "Settled from the host")


@CHAPTER.requirement(9, "The link")
async def wrong_frame(bench: ConformanceBench) -> None:
    """A command in a frame that is not a REQUEST is not executed, whether a self-test or a Reset."""
    await bench.profile.bring_to_idle(bench)
    for make in (bench.profile.self_test, bench.profile.reset):
        for type_ in (fr.EVENT, fr.REPLY):
            command = bench.next_id()
            raw = await bench.raw_session()
            raw.send(type_, encode(make(command)), seq=raw.seq, re=fr.NO_RE)
            await raw.host.listen(QUIET_S)
            again = await (await bench.wait_for_device()).open_session()
            boots = (raw.greeting.hello.boot_id, again.greeting.hello.boot_id)
            expect(boots[0] == boots[1], "no restart", f"boot {boots[0]:08x} and then {boots[1]:08x}")
            settled = await again.ask(AskCommand(command))
            expect(settled == Settled(command, Outcome.UNKNOWN, 0), "the command unknown", settled)


@CHAPTER.requirement(10, _PAYLOADS)
async def long_forms(bench: ConformanceBench) -> None:
    """Every valid encoding of a value is accepted, not only the shortest."""
    raw = await bench.raw_session()
    wide = bytes([0xCF]) + (7).to_bytes(8, "big")
    for payload in (
        bytes([0x92, _ASK]) + wide,
        bytes([0x92, 0xCC, _ASK]) + wide[-1:],
        bytes([0xDC, 0, 2, _ASK, 7]),
        bytes([0xDD, 0, 0, 0, 2, 0xD1, 0, _ASK, 0xD3]) + wide[1:],
    ):
        settled = await raw.ask(payload)
        expect(isinstance(settled, Settled) and settled.command == 7, f"Settled to {payload.hex(' ')}", settled)


@CHAPTER.requirement(11, _PAYLOADS)
async def shortest(bench: ConformanceBench) -> None:
    """Its own messages use the shortest encoding, with all fields and no other."""
    raw = await bench.raw_session()
    for question in (GetReport(), AskCommand(1 << 40), *(asked for asked, _ in bench.profile.questions)):
        await raw.ask(question)
    handshakes = msgspec.msgpack.Decoder(HandshakeToHost)
    for payload in (raw.greeting.answered, raw.authentic[0].frame.payload):
        _canonical(payload, encode(handshakes.decode(payload)))
    for received in raw.sequenced():
        _canonical(received.frame.payload, encode(raw.decode(received)))


def _canonical(payload: bytes, written: bytes) -> None:
    expect(payload == written, f"{message_text(written)} in {len(written)} bytes", f"{len(payload)} bytes")


@CHAPTER.requirement(12, "Messages")
async def questions(bench: ConformanceBench) -> None:
    """Every request of its kind is answered with a matching reply."""
    raw: RawSession = await bench.raw_session()
    for question, answers in bench.profile.questions:
        reply = await raw.ask(question)
        names = " or ".join(answer.__name__ for answer in answers)
        expect(isinstance(reply, answers), f"{names} to {question!r}", reply)
