"""Mutants of the seal (SE): openers that accept too much."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from firmware_bridge import frame as fr
from simulators.mutants.mutant_tools import Mistake, MutantGroup, Real, each_session, method, replaced

GROUP: Final = MutantGroup()
row: Final = GROUP.row


class HoledOpener:
    """An opener whose two judgments, on MAC and counter, can be replaced."""

    def __init__(self, real: Any) -> None:
        self.fresh: Callable[[], Any] = real._fresh
        self.last = 0
        self.forged = self.replayed = 0
        self.seen: set[int] = set()
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


Hole = Callable[[HoledOpener, fr.Frame], bool]


def holed(authentic: Hole | None = None, new: Hole | None = None) -> Mistake:
    """Judge MAC or counter of a frame in another way; the functions get the opener and the frame."""

    def pierce(link: Any) -> None:
        opener = link._opener = HoledOpener(link._opener)
        if authentic is not None:
            opener.authentic = partial(authentic, opener)
        if new is not None:
            opener.new = partial(new, opener)

    return lambda machine: each_session(machine, pierce)


@GROUP.method("link._sealer.seal", "SE-01")
def counter_by_two(sealer: Any, real: Real, *frame: Any) -> Any:
    """Its counter grows by two."""
    sealed = real(*frame)
    sealer.counter += 1
    return sealed


row("SE-02", "seven-bytes-of-mac", "It compares only the first seven bytes of a MAC.",
    holed(lambda opener, frame: opener.mac_of(frame.signed)[:7] == frame.mac[:7]))  # fmt: skip
row("SE-02", "no-mac", "It does not look at the MAC at all.", holed(lambda *_: True), also="HS-12 SE-03 SE-04 HB-06")
row("SE-03", "no-mac-without-payload", "It does not look at the MAC of frames without a payload.",
    holed(lambda opener, frame: not frame.payload or opener.fits(frame)), also="HB-06")  # fmt: skip


def _fits_unmarked(opener: HoledOpener, frame: fr.Frame) -> bool:
    unmarked = bytes([frame.signed[0] & ~fr.RETRANSMIT]) + frame.signed[1:]
    return frame.mac in (opener.mac_of(frame.signed), opener.mac_of(unmarked))


row("SE-04", "flag-outside-the-mac", "Its MAC leaves the RETRANSMIT flag out.", holed(_fits_unmarked))
row("SE-05", "last-counter-again", "A frame with the last counter again is taken.",
    holed(new=lambda opener, frame: frame.counter >= opener.last), also="HB-06")  # fmt: skip


def _is_unseen(opener: HoledOpener, frame: fr.Frame) -> bool:
    known = frame.counter in opener.seen
    opener.seen.add(frame.counter)
    return not known


row("SE-06", "counters-in-any-order", "It accepts every counter that it has not seen before.", holed(new=_is_unseen))
row(
    "SE-07",
    "no-large-gaps",
    "A counter that jumps by more than 255 is taken for an attack.",
    holed(
        new=lambda opener, frame: opener.last < frame.counter and (not opener.last or frame.counter - opener.last < 256)
    ),
)


@GROUP.mutant("SE-08")
def opens_its_own_frames(machine: Any) -> None:
    """It takes frames that were sealed with its own key."""

    def spoil(link: Any) -> None:
        own = HoledOpener(link._sealer)
        opener = link._opener = HoledOpener(link._opener)
        opener.authentic = lambda frame: opener.fits(frame) or own.fits(frame)
        opener.new = lambda frame: own.fits(frame) or frame.counter > opener.last

    each_session(machine, spoil)


@GROUP.method("link.on_unsealed", "SE-09")
def unsealed_requests(link: Any, real: Real, frame: fr.Frame) -> None:
    """A request need not be sealed."""
    if frame.type == fr.REQUEST:
        link._take_sequenced(frame, link._loop.time())
    else:
        real(frame)


@GROUP.method("link.receive", "SE-10")
def obeys_sealed_hellos(link: Any, real: Real, frame: fr.Frame) -> None:
    """A HostHello under the session's own seal begins a new handshake."""
    sealed = frame.flags & fr.SEALED and frame.type == fr.HANDSHAKE
    if sealed and link._opener.accepts(frame):
        link.on_unsealed(replaced(frame, flags=0))
    else:
        real(frame)


row(
    "SE-10",
    "obeys-sealed-hellos-of-nobody",
    "Without a session it answers a sealed HostHello as if it were not sealed.",
    method(
        "greeter.receive",
        lambda _, real, frame: real(replaced(frame, flags=0) if frame.type == fr.HANDSHAKE else frame),
    ),
)
