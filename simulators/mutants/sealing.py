"""Mutants of the seal (SE): openers that accept too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import frame as fr
from simulators.mutants.mutant_tools import MutantGroup, each_boot, each_session, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()


class HoledOpener:
    """An opener whose two judgements, on MAC and counter, can be replaced."""

    def __init__(self, real: Any) -> None:
        self.fresh: Callable[[], Any] = real._fresh
        self.last = 0
        self.forged = self.replayed = 0
        self.authentic: Callable[[fr.Frame], bool] = self.fits
        self.new: Callable[[fr.Frame], bool] = lambda frame: frame.counter > self.last

    def mac_of(self, signed: bytes) -> bytes:
        """Return the MAC that a frame should have."""
        digest = self.fresh()
        digest.update(signed)
        return bytes(digest.digest())

    def fits(self, frame: fr.Frame) -> bool:
        """Return whether a frame has the right MAC."""
        return self.mac_of(frame.signed) == frame.mac

    def accepts(self, frame: fr.Frame) -> bool:
        """Accept or reject a frame, with the replaced checks."""
        if not self.authentic(frame) or not self.new(frame):
            return False
        self.last = frame.counter
        return True


def _holed(machine: SimulatedMachine, pierce: Callable[[HoledOpener], None]) -> None:
    def spoil(link: Any) -> None:
        opener = HoledOpener(link._opener)
        pierce(opener)
        link._opener = opener

    each_session(machine, spoil)


@GROUP.mutant("SE-01")
def counter_by_two(machine: SimulatedMachine) -> None:
    """Its counter grows by two."""

    def spoil(link: Any) -> None:
        def seal(real: Callable[..., Any], *frame: Any) -> Any:
            sealed = real(*frame)
            link._sealer.counter += 1
            return sealed

        wrap(link._sealer, "seal", seal)

    each_session(machine, spoil)


@GROUP.mutant("SE-02")
def seven_bytes_of_mac(machine: SimulatedMachine) -> None:
    """It compares only the first seven bytes of a MAC."""

    def pierce(opener: HoledOpener) -> None:
        opener.authentic = lambda frame: opener.mac_of(frame.signed)[:7] == frame.mac[:7]

    _holed(machine, pierce)


@GROUP.mutant("SE-02", also="HS-12 SE-03 SE-04 HB-06")
def no_mac(machine: SimulatedMachine) -> None:
    """It does not look at the MAC at all."""
    _holed(machine, lambda opener: setattr(opener, "authentic", lambda _: True))


@GROUP.mutant("SE-03", also="HB-06")
def no_mac_without_payload(machine: SimulatedMachine) -> None:
    """It does not look at the MAC of frames without a payload."""

    def pierce(opener: HoledOpener) -> None:
        opener.authentic = lambda frame: not frame.payload or opener.fits(frame)

    _holed(machine, pierce)


@GROUP.mutant("SE-04")
def flag_outside_the_mac(machine: SimulatedMachine) -> None:
    """Its MAC leaves the RETRANSMIT flag out."""

    def pierce(opener: HoledOpener) -> None:
        def authentic(frame: fr.Frame) -> bool:
            unmarked = bytes([frame.signed[0] & ~fr.RETRANSMIT]) + frame.signed[1:]
            return frame.mac in (opener.mac_of(frame.signed), opener.mac_of(unmarked))

        opener.authentic = authentic

    _holed(machine, pierce)


@GROUP.mutant("SE-05", also="HB-06")
def last_counter_again(machine: SimulatedMachine) -> None:
    """A frame with the last counter again is taken."""
    _holed(machine, lambda opener: setattr(opener, "new", lambda frame: frame.counter >= opener.last))


@GROUP.mutant("SE-06")
def counters_in_any_order(machine: SimulatedMachine) -> None:
    """It accepts every counter that it has not seen before."""

    def pierce(opener: HoledOpener) -> None:
        seen: set[int] = set()

        def new(frame: fr.Frame) -> bool:
            known = frame.counter in seen
            seen.add(frame.counter)
            return not known

        opener.new = new

    _holed(machine, pierce)


@GROUP.mutant("SE-07")
def no_large_gaps(machine: SimulatedMachine) -> None:
    """A counter that jumps by more than 255 is taken for an attack."""

    def pierce(opener: HoledOpener) -> None:
        opener.new = lambda frame: (
            opener.last < frame.counter and (not opener.last or frame.counter - opener.last < 256)
        )

    _holed(machine, pierce)


@GROUP.mutant("SE-08")
def opens_its_own_frames(machine: SimulatedMachine) -> None:
    """It takes frames that were sealed with its own key."""

    def spoil(link: Any) -> None:
        opener = HoledOpener(link._opener)
        own = HoledOpener(link._sealer)
        opener.authentic = lambda frame: opener.fits(frame) or own.fits(frame)
        opener.new = lambda frame: own.fits(frame) or frame.counter > opener.last
        link._opener = opener

    each_session(machine, spoil)


@GROUP.mutant("SE-09")
def unsealed_requests(machine: SimulatedMachine) -> None:
    """A request need not be sealed."""

    def spoil(link: Any) -> None:
        def unsealed(real: Callable[..., None], frame: fr.Frame) -> None:
            if frame.type == fr.REQUEST:
                link._take_sequenced(frame, link._loop.time())
            else:
                real(frame)

        wrap(link, "on_unsealed", unsealed)

    each_session(machine, spoil)


@GROUP.mutant("SE-10")
def obeys_sealed_hellos(machine: SimulatedMachine) -> None:
    """A HostHello under the session's own seal begins a new handshake."""

    def spoil(link: Any) -> None:
        def receive(real: Callable[..., None], frame: fr.Frame) -> None:
            sealed = frame.flags & fr.SEALED and frame.type == fr.HANDSHAKE
            if sealed and link._opener.accepts(frame):
                link.on_unsealed(replaced(frame, flags=0))
            else:
                real(frame)

        wrap(link, "receive", receive)

    each_session(machine, spoil)


@GROUP.mutant("SE-10")
def obeys_sealed_hellos_of_nobody(machine: SimulatedMachine) -> None:
    """Without a session it answers a sealed HostHello as if it were not sealed."""

    def spoil(greeter: Any) -> None:
        def receive(real: Callable[..., None], frame: fr.Frame) -> None:
            real(replaced(frame, flags=0) if frame.type == fr.HANDSHAKE else frame)

        wrap(greeter, "receive", receive)

    each_boot(machine, spoil)
