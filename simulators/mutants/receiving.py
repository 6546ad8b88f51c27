"""Mutants of receiving within a session (LK)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import frame as fr
from firmware_bridge.commands import Report
from firmware_bridge.link import URGENT_WINDOW
from simulators.mutants.mutant_tools import MutantGroup, each_link, each_seal, each_session, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()


@GROUP.mutant("LK-01")
def answers_twice(machine: SimulatedMachine) -> None:
    """A question about its state is answered twice."""

    def reply(_: Any, real: Callable[..., None], seq: int, message: Any) -> None:
        real(seq, message)
        if not hasattr(message, "command") and not isinstance(message, Report):
            real(seq, message)

    each_link(machine, "send_reply", reply)


@GROUP.mutant("LK-02", also="RT-08 RT-09")
def leaves_a_number_out(machine: SimulatedMachine) -> None:
    """It leaves a number out before its fourth report."""

    def spoil(link: Any) -> None:
        reports: list[Any] = []

        def reply(real: Callable[..., None], seq: int, message: Any) -> None:
            if isinstance(message, Report):
                reports.append(message)
                link._next_seq += len(reports) == 4
            real(seq, message)

        wrap(link, "send_reply", reply)

    each_session(machine, spoil)


def _late(machine: SimulatedMachine, fits: Callable[[Any], bool], seconds: float) -> None:
    def reply(_: Any, real: Callable[..., None], seq: int, message: Any) -> None:
        if fits(message):
            machine.clock.after(seconds, lambda: real(seq, message))
        else:
            real(seq, message)

    each_link(machine, "send_reply", reply)


@GROUP.mutant("LK-03")
def slow_answers(machine: SimulatedMachine) -> None:
    """It waits for 0.7 s before it reports its state."""
    _late(machine, lambda message: not hasattr(message, "command") and not isinstance(message, Report), 0.7)


@GROUP.mutant("LK-04")
def reply_acknowledges_too_little(machine: SimulatedMachine) -> None:
    """Its replies acknowledge everything but the request that they answer."""

    def change(fields: list[Any]) -> None:
        if fields[1] == fr.REPLY:
            fields[3] -= 1

    each_seal(machine, change)


@GROUP.mutant("LK-05", also="LK-10")
def drops_marked_requests(machine: SimulatedMachine) -> None:
    """It takes every marked frame for a duplicate."""

    def handle(link: Any, real: Callable[..., None], frame: fr.Frame, now: float) -> None:
        if frame.flags & fr.RETRANSMIT:
            link._acknowledge(now)
        else:
            real(frame, now)

    each_link(machine, "_take_sequenced", handle)


@GROUP.mutant("LK-06")
def carries_out_duplicates(machine: SimulatedMachine) -> None:
    """A request that comes twice is answered twice."""

    def handle(link: Any, real: Callable[..., None], frame: fr.Frame, now: float) -> None:
        behind = (frame.seq - link._expected) & 0xFFFF >= 0x8000
        real(frame, now)
        if behind and frame.type == fr.REQUEST:
            link.on_request(link._decode(frame.payload), frame.seq)

    each_link(machine, "_take_sequenced", handle)


@GROUP.mutant("LK-07", also="LK-09 LK-12")
def answers_out_of_order(machine: SimulatedMachine) -> None:
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


@GROUP.mutant("LK-08", also="FR-14")
def silent_about_gaps(machine: SimulatedMachine) -> None:
    """It holds early frames and does not report the gap."""

    def acknowledge(_: Any, real: Callable[..., None], now: float, held: int = fr.NO_RE) -> None:
        if held == fr.NO_RE:
            real(now)

    each_link(machine, "_acknowledge", acknowledge)


def _holds(machine: SimulatedMachine, room: int) -> None:
    def handle(link: Any, real: Callable[..., None], frame: fr.Frame, now: float) -> None:
        ahead = (frame.seq - link._expected) & 0xFFFF
        if 0 < ahead < room:
            link._early[frame.seq] = frame
            link._acknowledge(now, frame.seq)
        elif ahead:
            link._acknowledge(now)
        else:
            real(frame, now)

    each_link(machine, "_take_sequenced", handle)


@GROUP.mutant("LK-09")
def holds_four(machine: SimulatedMachine) -> None:
    """It has room for four early frames."""
    _holds(machine, 5)


@GROUP.mutant("LK-10")
def holds_anything(machine: SimulatedMachine) -> None:
    """It holds any early frame, however far ahead."""
    _holds(machine, 1000)


@GROUP.mutant("LK-11")
def numbered_pings(machine: SimulatedMachine) -> None:
    """Its pings have numbers."""

    def change(fields: list[Any]) -> None:
        if fields[1] == fr.PING:
            fields[2] = 1

    each_seal(machine, change)


class _Kept(dict[int, fr.Frame]):
    """Early frames that are never dropped."""

    def clear(self) -> None:
        """Keep them."""


@GROUP.mutant("LK-12")
def holds_over_sessions(machine: SimulatedMachine) -> None:
    """What it held early in one session is carried out in the next."""
    early = _Kept()
    each_session(machine, lambda link: setattr(link, "_early", early))


@GROUP.mutant("LK-13")
def no_lone_acknowledgement(machine: SimulatedMachine) -> None:
    """It acknowledges only by what it sends anyway."""

    def deliver(link: Any, real: Callable[..., None], frame: fr.Frame, now: float) -> None:
        real(frame, now)
        link._ack_due = 0.0

    each_link(machine, "_deliver", deliver)
