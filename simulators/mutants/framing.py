"""Mutants of framing (FR): receivers that are too lenient, and senders that are not strict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import cobs
from firmware_bridge import frame as fr
from firmware_bridge.framer import Framer
from simulators.mutants.mutant_tools import Mistake, MutantGroup, Real, each_boot, method

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup()
row: Final = GROUP.row


class LenientFramer(Framer):
    """A framer each of whose steps can be replaced."""

    def __init__(self) -> None:
        super().__init__()
        self.unstuff: Callable[[bytes], bytes | None] = cobs.decode
        self.sum_fits: Callable[[bytes], bool] = fr.is_crc_valid
        self.parse: Callable[[bytes], fr.Frame | None] = fr.parse

    def _frame(self, stuffed: bytes) -> fr.Frame | None:
        if self._skipping or not stuffed or len(stuffed) >= fr.MAX_WIRE:
            return super()._frame(stuffed)
        body = self.unstuff(stuffed)
        if body is None or len(body) < fr.HEADER_SIZE + fr.CRC_SIZE or not self.sum_fits(body):
            return None
        return self.parse(body)


def framed_by(machine: Any, make: Callable[[], Framer]) -> None:
    """Receive with another framer."""
    each_boot(machine, lambda greeter: setattr(greeter._wire, "framer", make()))


def with_hole(**steps: Any) -> Mistake:
    """Replace steps of the framer."""

    def make() -> Framer:
        framer = LenientFramer()
        for name, step in steps.items():
            setattr(framer, name, step)
        return framer

    return lambda machine: framed_by(machine, make)


@GROUP.mutant("FR-01", also="FR-06")
def deaf_after_noise(machine: Any) -> None:
    """After 4 kB without a frame it ignores all bytes for five seconds."""

    class Deaf(Framer):
        noise, until = 0, 0.0

        def feed(self, chunk: bytes) -> list[fr.Frame]:
            frames = super().feed(chunk)
            self.noise = 0 if frames else self.noise + len(chunk)
            if self.noise > 4096:
                self.until = machine.clock.now + 5.0
            return [] if machine.clock.now < self.until else frames

    framed_by(machine, Deaf)


@GROUP.mutant("FR-02")
def delimiters_swallow_a_frame(machine: Any) -> None:
    """Three delimiters in a row swallow the next frame."""

    class Stumbling(Framer):
        empty = 0

        def _frame(self, stuffed: bytes) -> fr.Frame | None:
            if stuffed and self.empty >= 3:
                self.empty = 0
                return None
            self.empty = 0 if stuffed else self.empty + 1
            return super()._frame(stuffed)

    framed_by(machine, Stumbling)


@GROUP.mutant("FR-03")
def forgets_pieces(machine: Any) -> None:
    """A frame must come in one piece."""

    class Forgetful(Framer):
        def feed(self, chunk: bytes) -> list[fr.Frame]:
            self._buffer = b""
            return super().feed(chunk)

    framed_by(machine, Forgetful)


row("FR-04", "no-crc", "It does not look at the CRC.", with_hole(sum_fits=lambda _: True))


@GROUP.mutant("FR-05")
def stuffing_past_the_end(machine: Any) -> None:
    """Stuffing that points past the end is accepted."""

    def lenient(stuffed: bytes) -> bytes | None:
        body = cobs.decode(stuffed)
        if body is not None:
            return body
        place, out = 0, b""
        while place < len(stuffed):
            out += stuffed[place + 1 : place + stuffed[place]]
            place += stuffed[place] or 1
            if place < len(stuffed):
                out += b"\0"
        return out

    with_hole(unstuff=lenient)(machine)


@GROUP.mutant("FR-06", also="FR-14")
def starts_anew_in_the_middle(machine: Any) -> None:
    """When its buffer is full it starts anew in the middle of a frame."""

    class Restarting(Framer):
        def feed(self, chunk: bytes) -> list[fr.Frame]:
            frames = []
            for byte in chunk:
                if len(self._buffer) >= fr.MAX_WIRE - 1:
                    self._buffer = b""
                frames += super().feed(bytes([byte]))
            return frames

    framed_by(machine, Restarting)


def _parse_as(change: Callable[[bytearray], None]) -> Callable[[bytes], fr.Frame | None]:
    def parse(body: bytes) -> fr.Frame | None:
        changed = bytearray(body)
        change(changed)
        return fr.parse(bytes(changed))

    return parse


row("FR-07", "any-version", "Any version will do.",
    with_hole(parse=_parse_as(lambda body: body.__setitem__(0, fr.VERSION << 4 | body[0] & 0x0F))))  # fmt: skip
row("FR-08", "any-flag", "Unknown flags are ignored.",
    with_hole(parse=_parse_as(lambda body: body.__setitem__(0, body[0] & 0xF3))))  # fmt: skip
row("FR-09", "any-type", "An unknown type is taken for a handshake.",
    with_hole(parse=_parse_as(lambda body: body.__setitem__(1, body[1] if body[1] in fr.TYPE_NAMES else fr.HANDSHAKE))),
)  # fmt: skip


@GROUP.mutant("FR-10")
def short_mac(machine: Any) -> None:
    """A sealed frame need not have room for its MAC."""

    def parse(body: bytes) -> fr.Frame | None:
        if body[0] == fr.VERSION << 4 | fr.SEALED and len(body) < fr.HEADER_SIZE + fr.MAC_SIZE + fr.CRC_SIZE:
            return fr.parse(body[: fr.HEADER_SIZE] + bytes(fr.MAC_SIZE + fr.CRC_SIZE))
        return fr.parse(body)

    with_hole(parse=parse)(machine)


@GROUP.mutant("FR-11")
def reads_unsealed_numbers(machine: Any) -> None:
    """Unsealed frames with numbers in them are dropped."""

    def parse(body: bytes) -> fr.Frame | None:
        frame = fr.parse(body)
        if frame is None or frame.flags & fr.SEALED:
            return frame
        return frame if (frame.seq, frame.ack, frame.re, frame.counter) == (0, 0, fr.NO_RE, 0) else None

    with_hole(parse=parse)(machine)


def each_frame_out(send: Callable[..., None]) -> Mistake:
    """Send frames in another way; `send` gets the wire, the real function, signed bytes and MAC."""
    return method("greeter._wire.send", lambda wire, real, signed, mac=b"": send(wire, real, signed, mac))


row("FR-12", "numbers-unsealed-frames", "Its unsealed frames are numbered.",
    each_frame_out(lambda _, real, signed, mac: real(signed if mac else signed[:2] + b"\x01\x01" + signed[4:], mac)),
)  # fmt: skip


@GROUP.mutant("FR-13")
def noise_between_frames(machine: Any) -> None:
    """It sends noise between its frames."""

    def send(wire: Any, real: Real, signed: bytes, mac: bytes) -> None:
        wire.transport.write(b"\x05\x05noise\0")
        real(signed, mac)

    each_frame_out(send)(machine)


def room_for(size: int) -> Mistake:
    """Give it a receive buffer of so many bytes, delimiter included."""

    class Small(Framer):
        def _frame(self, stuffed: bytes) -> fr.Frame | None:
            return None if len(stuffed) >= size else super()._frame(stuffed)

    return lambda machine: framed_by(machine, Small)


row("FR-14", "small-buffer", "Its receive buffer has 256 bytes: longer frames are dropped.", room_for(256))
row("FR-14", "buffer-one-short", "Its receive buffer is one byte too short for the longest frame.",
    room_for(fr.MAX_WIRE - 1))  # fmt: skip
