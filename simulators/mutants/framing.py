"""Mutants of framing (FR): receivers that are too lenient, and senders that are not strict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import cobs
from firmware_bridge import frame as fr
from firmware_bridge.framer import Framer
from simulators.mutants.mutant_tools import MutantGroup, each_boot, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()


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


def _with_framer(machine: SimulatedMachine, make: Callable[[], Framer]) -> None:
    each_boot(machine, lambda greeter: setattr(greeter._wire, "framer", make()))


def _with_hole(machine: SimulatedMachine, **steps: Any) -> None:
    def make() -> Framer:
        framer = LenientFramer()
        for name, step in steps.items():
            setattr(framer, name, step)
        return framer

    _with_framer(machine, make)


@GROUP.mutant("FR-01", also="FR-06")
def deaf_after_noise(machine: SimulatedMachine) -> None:
    """After 4 kB without a frame it ignores all bytes for five seconds."""

    class Deaf(Framer):
        noise, until = 0, 0.0

        def feed(self, chunk: bytes) -> list[fr.Frame]:
            frames = super().feed(chunk)
            self.noise = 0 if frames else self.noise + len(chunk)
            if self.noise > 4096:
                self.until = machine.clock.now + 5.0
            return [] if machine.clock.now < self.until else frames

    _with_framer(machine, Deaf)


@GROUP.mutant("FR-02")
def delimiters_swallow_a_frame(machine: SimulatedMachine) -> None:
    """Three delimiters in a row swallow the next frame."""

    class Stumbling(Framer):
        empty = 0

        def _frame(self, stuffed: bytes) -> fr.Frame | None:
            if stuffed and self.empty >= 3:
                self.empty = 0
                return None
            self.empty = 0 if stuffed else self.empty + 1
            return super()._frame(stuffed)

    _with_framer(machine, Stumbling)


@GROUP.mutant("FR-03")
def forgets_pieces(machine: SimulatedMachine) -> None:
    """A frame must come in one piece."""

    class Forgetful(Framer):
        def feed(self, chunk: bytes) -> list[fr.Frame]:
            self._buffer = b""
            return super().feed(chunk)

    _with_framer(machine, Forgetful)


@GROUP.mutant("FR-04")
def no_crc(machine: SimulatedMachine) -> None:
    """It does not look at the CRC."""
    _with_hole(machine, sum_fits=lambda _: True)


@GROUP.mutant("FR-05")
def stuffing_past_the_end(machine: SimulatedMachine) -> None:
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

    _with_hole(machine, unstuff=lenient)


@GROUP.mutant("FR-06", also="FR-14")
def starts_anew_in_the_middle(machine: SimulatedMachine) -> None:
    """When its buffer is full it starts anew in the middle of a frame."""

    class Restarting(Framer):
        def feed(self, chunk: bytes) -> list[fr.Frame]:
            frames = []
            for byte in chunk:
                if len(self._buffer) >= fr.MAX_WIRE - 1:
                    self._buffer = b""
                frames += super().feed(bytes([byte]))
            return frames

    _with_framer(machine, Restarting)


def _parse_as(change: Callable[[bytearray], None]) -> Callable[[bytes], fr.Frame | None]:
    def parse(body: bytes) -> fr.Frame | None:
        changed = bytearray(body)
        change(changed)
        return fr.parse(bytes(changed))

    return parse


@GROUP.mutant("FR-07")
def any_version(machine: SimulatedMachine) -> None:
    """Any version will do."""
    _with_hole(machine, parse=_parse_as(lambda body: body.__setitem__(0, fr.VERSION << 4 | body[0] & 0x0F)))


@GROUP.mutant("FR-08")
def any_flag(machine: SimulatedMachine) -> None:
    """Unknown flags are ignored."""
    _with_hole(machine, parse=_parse_as(lambda body: body.__setitem__(0, body[0] & 0xF3)))


@GROUP.mutant("FR-09")
def any_type(machine: SimulatedMachine) -> None:
    """An unknown type is taken for a handshake."""
    _with_hole(
        machine,
        parse=_parse_as(lambda body: body.__setitem__(1, body[1] if body[1] in fr.TYPE_NAMES else fr.HANDSHAKE)),
    )


@GROUP.mutant("FR-10")
def short_mac(machine: SimulatedMachine) -> None:
    """A sealed frame need not have room for its MAC."""

    def parse(body: bytes) -> fr.Frame | None:
        if body[0] == fr.VERSION << 4 | fr.SEALED and len(body) < fr.HEADER_SIZE + fr.MAC_SIZE + fr.CRC_SIZE:
            return fr.parse(body[: fr.HEADER_SIZE] + bytes(fr.MAC_SIZE + fr.CRC_SIZE))
        return fr.parse(body)

    _with_hole(machine, parse=parse)


@GROUP.mutant("FR-11")
def reads_unsealed_numbers(machine: SimulatedMachine) -> None:
    """Unsealed frames with numbers in them are dropped."""

    def parse(body: bytes) -> fr.Frame | None:
        frame = fr.parse(body)
        if frame is None or frame.flags & fr.SEALED:
            return frame
        return frame if (frame.seq, frame.ack, frame.re, frame.counter) == (0, 0, fr.NO_RE, 0) else None

    _with_hole(machine, parse=parse)


def _each_frame_out(machine: SimulatedMachine, send: Callable[..., None]) -> None:
    def spoil(greeter: Any) -> None:
        wrap(greeter._wire, "send", lambda real, signed, mac=b"": send(greeter._wire, real, signed, mac))

    each_boot(machine, spoil)


@GROUP.mutant("FR-12")
def numbers_unsealed_frames(machine: SimulatedMachine) -> None:
    """Its unsealed frames are numbered."""

    def send(_: Any, real: Callable[..., None], signed: bytes, mac: bytes) -> None:
        real(signed if mac else signed[:2] + b"\x01\x01" + signed[4:], mac)

    _each_frame_out(machine, send)


@GROUP.mutant("FR-13")
def noise_between_frames(machine: SimulatedMachine) -> None:
    """It sends noise between its frames."""

    def send(wire: Any, real: Callable[..., None], signed: bytes, mac: bytes) -> None:
        wire.transport.write(b"\x05\x05noise\0")
        real(signed, mac)

    _each_frame_out(machine, send)


def _room_for(machine: SimulatedMachine, size: int) -> None:
    """Give it a receive buffer of so many bytes, delimiter included."""

    class Small(Framer):
        def _frame(self, stuffed: bytes) -> fr.Frame | None:
            return None if len(stuffed) >= size else super()._frame(stuffed)

    _with_framer(machine, Small)


@GROUP.mutant("FR-14")
def small_buffer(machine: SimulatedMachine) -> None:
    """Its receive buffer has 256 bytes: longer frames are dropped."""
    _room_for(machine, 256)


@GROUP.mutant("FR-14")
def buffer_one_short(machine: SimulatedMachine) -> None:
    """Its receive buffer is one byte too short for the longest frame."""
    _room_for(machine, fr.MAX_WIRE - 1)
