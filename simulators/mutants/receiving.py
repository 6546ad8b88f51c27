"""Mutants of receiving within a session (LK)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import frame as fr
from firmware_bridge.commands import Report
from firmware_bridge.link import URGENT_WINDOW
from simulators.mutants.mutant_tools import Mistake, MutantGroup, Real, each_session, method, sealed_as, wrap

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup()
row: Final = GROUP.row


@GROUP.method("link.send_reply", "LK-01")
def answers_twice(_: Any, real: Real, seq: int, message: Any) -> None:
    """A question about its state is answered twice."""
    real(seq, message)
    if not hasattr(message, "command") and (not isinstance(message, Report)):
        real(seq, message)


@GROUP.mutant("LK-02", also="RT-08 RT-09")
def leaves_a_number_out(machine: Any) -> None:
    """It leaves a number out before its fourth report."""

    def spoil(link: Any) -> None:
        reports: list[Any] = []

        def reply(real: Real, seq: int, message: Any) -> None:
            if isinstance(message, Report):
                reports.append(message)
                link._next_seq += len(reports) == 4
            real(seq, message)

        wrap(link, "send_reply", reply)

    each_session(machine, spoil)


@GROUP.mutant("LK-03")
def slow_answers(machine: Any) -> None:
    """It waits for 0.7 s before it reports its state."""

    def reply(_: Any, real: Real, seq: int, message: Any) -> None:
        if hasattr(message, "command") or isinstance(message, Report):
            real(seq, message)
        else:
            machine.clock.after(0.7, lambda: real(seq, message))

    method("link.send_reply", reply)(machine)


row("LK-04", "reply-acknowledges-too-little", "Its replies acknowledge everything but the request that they answer.",
    sealed_as(lambda fields: [*fields[:3], fields[3] - (fields[1] == fr.REPLY), *fields[4:]]))  # fmt: skip


@GROUP.method("link._take_sequenced", "LK-05", also="LK-10")
def drops_marked_requests(link: Any, real: Real, frame: fr.Frame, now: float) -> None:
    """It takes every marked frame for a duplicate."""
    if frame.flags & fr.RETRANSMIT:
        link._acknowledge(now)
    else:
        real(frame, now)


@GROUP.method("link._take_sequenced", "LK-06")
def carries_out_duplicates(link: Any, real: Real, frame: fr.Frame, now: float) -> None:
    """A request that comes twice is answered twice."""
    behind = (frame.seq - link._expected) & 0xFFFF >= 0x8000
    real(frame, now)
    if behind and frame.type == fr.REQUEST:
        link.on_request(link._decode(frame.payload), frame.seq)


@GROUP.mutant("LK-07", also="LK-09 LK-12")
def answers_out_of_order(machine: Any) -> None:
    """What comes early is answered early."""

    def spoil(link: Any) -> None:
        done: set[int] = set()

        def handle(_: Callable[..., None], frame: fr.Frame, now: float) -> None:
            ahead = (frame.seq - link._expected) & 0xFFFF
            if 0 < ahead < URGENT_WINDOW:
                expected = link._expected
                link._deliver(frame, now)
                link._expected = expected
                done.add(frame.seq)
                link._acknowledge(now, frame.seq)
                return
            if ahead:
                link._acknowledge(now)
                return
            link._deliver(frame, now)
            while link._expected in done:
                done.remove(link._expected)
                link._expected += 1

        wrap(link, "_take_sequenced", handle)

    each_session(machine, spoil)


@GROUP.method("link._acknowledge", "LK-08", also="FR-14")
def silent_about_gaps(_: Any, real: Real, now: float, held: int = fr.NO_RE) -> None:
    """It holds early frames and does not report the gap."""
    if held == fr.NO_RE:
        real(now)


def holds(room: int) -> Mistake:
    """Give it room for so many early frames, less one."""

    def handle(link: Any, real: Real, frame: fr.Frame, now: float) -> None:
        ahead = (frame.seq - link._expected) & 0xFFFF
        if 0 < ahead < room:
            link._early[frame.seq] = frame
            link._acknowledge(now, frame.seq)
        elif ahead:
            link._acknowledge(now)
        else:
            real(frame, now)

    return method("link._take_sequenced", handle)


row("LK-09", "holds-four", "It has room for four early frames.", holds(5))
row("LK-10", "holds-anything", "It holds any early frame, however far ahead.", holds(1000))
row("LK-11", "numbered-pings", "Its pings have numbers.",
    sealed_as(lambda fields: [*fields[:2], 1 if fields[1] == fr.PING else fields[2], *fields[3:]]))  # fmt: skip


class _Kept(dict[int, fr.Frame]):
    """Early frames that are never dropped."""

    def clear(self) -> None:
        """Keep them."""


@GROUP.mutant("LK-12")
def holds_over_sessions(machine: Any) -> None:
    """What it held early in one session is carried out in the next."""
    early = _Kept()
    each_session(machine, lambda link: setattr(link, "_early", early))


@GROUP.method("link._deliver", "LK-13")
def no_lone_acknowledgment(link: Any, real: Real, frame: fr.Frame, now: float) -> None:
    """It acknowledges only by what it sends anyway."""
    real(frame, now)
    link._ack_due = 0.0
