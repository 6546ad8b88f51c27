"""FR: frames. Noise and malformed frames are dropped without an answer, and the next frame is received."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Final

from devices.conformance.bench import replace_header_fields
from devices.conformance.raw_host import QUIET_S, frames_text, unsealed_frame
from devices.conformance.requirements import Chapter, expect
from firmware_bridge import frame as fr
from firmware_bridge.commands import GetReport
from firmware_bridge.messages import NoSession

if TYPE_CHECKING:
    from devices.conformance.bench import ConformanceBench
    from devices.conformance.raw_host import RawHost, RawSession

CHAPTER: Final = Chapter("FR", "Frames", "docs/protocol.md", needs=("HS-02",))
_A_FRAME: Final = "A frame"
_STUFFING: Final = "Stuffing"
# Bytes of noise, as in the device's checklist; the same in every run.
_NOISE: Final = Random("noise").randbytes(10_000)
# Between two bytes of a frame that comes in pieces (s): far more than a character's time, far less than a heartbeat.
_PAUSE: Final = 0.005


async def _dropped(probe: RawHost, wire: bytes, what: str) -> None:
    """A frame gets no answer, and the one after it does."""
    probe.write(wire)
    came = await probe.unsealed_frames()
    expect(not came, f"no answer to {what}", frames_text(came))
    await probe.greet()


async def _answered(probe: RawHost) -> None:
    """The one hello of this check is answered."""
    came = await probe.hello_frames(0)
    expect(len(came) == 2, "hello and proof", frames_text(came))


@CHAPTER.requirement(1, "A device's check list")
async def noise(bench: ConformanceBench) -> None:
    """After 10 kB of noise and a delimiter, a HostHello is answered."""
    probe = bench.raw_host()
    await probe.write_paced(_NOISE + b"\0")
    await probe.unsealed_frames()
    await probe.greet()


@CHAPTER.requirement(2, _STUFFING)
async def delimiters(bench: ConformanceBench) -> None:
    """Repeated delimiters are ignored."""
    probe = bench.raw_host()
    probe.write(b"\0\0\0" + fr.to_wire(unsealed_frame(probe.fresh_hello())))
    await _answered(probe)


@CHAPTER.requirement(3, _A_FRAME)
async def pieces(bench: ConformanceBench) -> None:
    """A frame may arrive byte by byte, with pauses."""
    probe = bench.raw_host()
    for byte in fr.to_wire(unsealed_frame(probe.fresh_hello())):
        probe.write(bytes([byte]))
        await asyncio.sleep(_PAUSE)
    await _answered(probe)


@CHAPTER.requirement(4, _A_FRAME)
async def crc(bench: ConformanceBench) -> None:
    """A frame with a wrong CRC is dropped without an answer."""
    probe = bench.raw_host()
    wire = bytearray(fr.to_wire(unsealed_frame(probe.fresh_hello())))
    wire[-2] = wire[-2] ^ 0x40 or 0x01
    await _dropped(probe, bytes(wire), "a frame whose CRC does not fit")


@CHAPTER.requirement(5, _STUFFING)
async def stuffing(bench: ConformanceBench) -> None:
    """A frame whose stuffing points past its end is dropped without an answer."""
    probe = bench.raw_host()
    wire = bytearray(fr.to_wire(unsealed_frame(probe.fresh_hello())))
    last = 0  # the length byte of the last piece
    while last + wire[last] < len(wire) - 1:
        last += wire[last]
    wire[last] += 1
    await _dropped(probe, bytes(wire), "a frame whose last length byte is one too high")


@CHAPTER.requirement(6, _STUFFING)
async def too_long(bench: ConformanceBench) -> None:
    """Input longer than the longest frame is dropped up to and including its delimiter."""
    probe = bench.raw_host()
    # A receiver that starts anew when its buffer is full finds the hello whole, if the buffer has one of these sizes.
    sizes = (*range(fr.MAX_WIRE - 3, fr.MAX_WIRE + 4), 576, 600, 640, 768, 1024, 2048)
    glued = b"".join(b"\x55" * size + fr.to_wire(unsealed_frame(probe.fresh_hello())) for size in sizes)
    await probe.write_paced(glued)
    await probe.unsealed_frames()
    came = [received for received in probe.received if not received.frame.flags & fr.SEALED]
    expect(not came, "no answer to a hello that is glued to too many bytes", frames_text(came))
    await probe.greet()


@CHAPTER.requirement(7, _A_FRAME)
async def version(bench: ConformanceBench) -> None:
    """A frame of another version is dropped without an answer."""
    probe = bench.raw_host()
    for other in (0, fr.VERSION + 1, 15):
        signed = replace_header_fields(unsealed_frame(probe.fresh_hello()), first=other << 4)
        await _dropped(probe, fr.to_wire(signed), f"version {other}")


@CHAPTER.requirement(8, _A_FRAME)
async def flags(bench: ConformanceBench) -> None:
    """A frame with an unknown flag is dropped without an answer."""
    probe = bench.raw_host()
    for flag in (4, 8):
        signed = replace_header_fields(unsealed_frame(probe.fresh_hello()), first=fr.VERSION << 4 | flag)
        await _dropped(probe, fr.to_wire(signed), f"flag {flag}")


@CHAPTER.requirement(9, _A_FRAME)
async def types(bench: ConformanceBench) -> None:
    """A frame of an unknown type is dropped without an answer."""
    probe = bench.raw_host()
    for type_ in (0, 7, 255):
        await _dropped(
            probe, fr.to_wire(replace_header_fields(unsealed_frame(probe.fresh_hello()), type=type_)), f"type {type_}"
        )


@CHAPTER.requirement(10, _A_FRAME, needs=("HS-13",))
async def too_short(bench: ConformanceBench) -> None:
    """A sealed frame that is too short for its MAC is dropped without an answer."""
    probe = await bench.end_sessions()
    signed = fr.pack_header(fr.SEALED, fr.PING, 0, fr.FIRST_SEQ, fr.NO_RE, fr.FIRST_COUNTER)
    await _dropped(probe, fr.to_wire(signed, bytes(fr.MAC_SIZE - 1)), "a sealed frame with seven bytes of MAC")


@CHAPTER.requirement(11, _A_FRAME)
async def numbers_unread(bench: ConformanceBench) -> None:
    """It ignores seq, ack, re and counter of an unsealed frame."""
    probe = bench.raw_host()
    probe.write(fr.to_wire(replace_header_fields(unsealed_frame(probe.fresh_hello()), seq=7, ack=8, re=9, counter=10)))
    await _answered(probe)


@CHAPTER.requirement(12, _A_FRAME)
async def numbers_unwritten(bench: ConformanceBench) -> None:
    """In its own unsealed frames seq, ack and counter are zero and re is 0xFFFF."""
    probe = bench.raw_host()
    probe.send_unsealed(probe.fresh_hello())
    for received in await probe.unsealed_frames():
        frame = received.frame
        numbers = (frame.seq, frame.ack, frame.re, frame.counter)
        expect(numbers == (0, 0, fr.NO_RE, 0), f"(0, 0, {fr.NO_RE}, 0) as seq, ack, re and counter", numbers)


@CHAPTER.requirement(13, _A_FRAME, needs=("HS-04",))
async def whole(bench: ConformanceBench) -> None:
    """It sends only whole frames, with correct stuffing and CRC."""
    raw = await bench.raw_session()
    for _ in range(4):
        await raw.ask(GetReport())
    await raw.host.listen(QUIET_S)
    counted = bench.transcript.framer.counters
    bad = counted.bad_crc + counted.bad_header + counted.bad_stuffing + counted.too_long
    expect(not bad, "nothing but frames", f"{bad} pieces that are no frames, {counted.frames} that are")


@CHAPTER.requirement(14, _STUFFING, needs=("HS-04", "HS-13"))
async def longest(bench: ConformanceBench) -> None:
    """It has room for the longest frame, 538 bytes on the wire: in a session, out of order, and without a session."""
    raw = await bench.raw_session()
    missing = raw.seq
    wire = _longest(raw, missing + 1)
    place = len(raw.authentic)
    await raw.host.write_paced(wire)
    received = await raw.wait_until(
        lambda received: received.frame.type == fr.ACK and received.frame.re == missing + 1, since=place
    )
    expect(received is not None, f"an ACK that reports {missing + 1:04x} as kept", frames_text(raw.authentic[place:]))
    raw.request(GetReport(), seq=missing)
    expect(
        not await raw.is_alive(),
        "the end of the session: the long frame is read whole, and is no message",
        "it continues",
    )
    probe = bench.raw_host()
    await probe.write_paced(wire)
    expect(
        await probe.wait_for_message(NoSession) is not None,
        "NoSession to the longest frame",
        frames_text(probe.received),
    )


def _longest(raw: RawSession, seq: int) -> bytes:
    """Return an authentic request whose frame is as long as any can be: no zero in it shortens the stuffing."""
    for filling in range(1, 256):
        wire = fr.to_wire(*raw.seal(fr.REQUEST, bytes([filling]) * fr.MAX_PAYLOAD, seq=seq))
        if len(wire) == fr.MAX_WIRE:
            return wire
    raise AssertionError("no filling gives the longest frame")
