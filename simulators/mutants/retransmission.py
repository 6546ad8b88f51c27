"""Mutants of retransmission (RT), and of heartbeat and silence (HB)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge import frame as fr
from firmware_bridge.errors import LinkSilent, QueueFull
from firmware_bridge.link import HEARTBEAT_S, PROBE_AFTER_S, SILENCE_LIMIT_S
from simulators.mutants.mutant_tools import MutantGroup, each_link, each_seal, each_session, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()


@GROUP.mutant("RT-01", also="RT-11")
def never_again(machine: SimulatedMachine) -> None:
    """What is not acknowledged is never sent again."""
    each_link(machine, "_repeat_unacknowledged", lambda *_: None)


@GROUP.mutant("RT-02")
def unmarked_copies(machine: SimulatedMachine) -> None:
    """Its copies are not marked."""
    each_link(machine, "_transmit", lambda _link, real, out, _flags: real(out, 0))


@GROUP.mutant("RT-03")
def repeats_everything(machine: SimulatedMachine) -> None:
    """It repeats everything that is on its way."""

    def repeat(link: Any, real: Callable[..., None], now: float) -> None:
        repeated = link.counters.retransmitted
        real(now)
        if link.counters.retransmitted > repeated:
            for out in list(link._unacked)[1:]:
                link._transmit(out, fr.RETRANSMIT)

    each_link(machine, "_repeat_unacknowledged", repeat)


@GROUP.mutant("RT-04", also="SE-10 HB-02")
def copies_what_is_acknowledged(machine: SimulatedMachine) -> None:
    """It sends a copy of what has just been acknowledged."""

    def handle(link: Any, real: Callable[..., None], ack: int, now: float) -> None:
        before = list(link._unacked)
        real(ack, now)
        done = [out for out in before if out not in link._unacked]
        if done:
            machine.clock.after(0.4, lambda: link.down or link._transmit(done[-1], fr.RETRANSMIT))

    each_link(machine, "_take_ack", handle)


@GROUP.mutant("RT-05")
def takes_any_acknowledgement(machine: SimulatedMachine) -> None:
    """Any acknowledgment acknowledges everything."""

    def handle(link: Any, real: Callable[..., None], ack: int, now: float) -> None:
        if link._unacked and (ack - link._unacked[0].seq) & 0xFFFF in range(1, 0x8000):
            ack = link._unacked[-1].seq + 1
        real(ack, now)

    each_link(machine, "_take_ack", handle)


@GROUP.mutant("RT-06")
def ignores_gaps(machine: SimulatedMachine) -> None:
    """It does not understand reports of a gap."""
    each_link(machine, "_fill_gap", lambda *_: None)


@GROUP.mutant("RT-07")
def steady_copies(machine: SimulatedMachine) -> None:
    """It retransmits at a constant interval forever."""

    def repeat(link: Any, real: Callable[..., None], now: float) -> None:
        real(now)
        link._trip.backoff = 1

    each_link(machine, "_repeat_unacknowledged", repeat)


@GROUP.mutant("RT-08")
def hasty_copies(machine: SimulatedMachine) -> None:
    """On a quick line its copies come after 20 ms."""

    def spoil(link: Any) -> None:
        def took(real: Callable[..., None], seconds: float) -> None:
            real(seconds)
            link._trip.rto_s = 0.02

        wrap(link._trip, "add_sample", took)

    each_session(machine, spoil)


@GROUP.mutant("RT-09", also="LK-13 RT-10")
def wide_window(machine: SimulatedMachine) -> None:
    """32 frames are on their way before it waits."""

    def post(link: Any, real: Callable[..., None], out: Any, urgent: bool) -> None:
        if len(link._unacked) < 32:
            link._send(out)
        else:
            real(out, urgent)

    each_link(machine, "_post", post)


@GROUP.mutant("RT-10")
def endless_queue(machine: SimulatedMachine) -> None:
    """Its queue has no end."""

    def post(link: Any, real: Callable[..., None], out: Any, urgent: bool) -> None:
        try:
            real(out, urgent)
        except QueueFull:
            link._queue.append(out)

    each_link(machine, "_post", post)


@GROUP.mutant("RT-11")
def never_gives_up(machine: SimulatedMachine) -> None:
    """It never gives a frame up."""

    def repeat(link: Any, real: Callable[..., None], now: float) -> None:
        for out in link._unacked:
            out.first_sent_at = now
        real(now)

    each_link(machine, "_repeat_unacknowledged", repeat)


@GROUP.mutant("RT-12")
def copy_for_every_report(machine: SimulatedMachine) -> None:
    """Every report of a gap gets a copy of the missing frame, however many come."""

    def fill(link: Any, _: Callable[..., None], missing: int, __: float) -> None:
        if link._unacked and link._unacked[0].seq == missing:
            link._transmit(link._unacked[0], fr.RETRANSMIT)

    each_link(machine, "_fill_gap", fill)


# --- heartbeat and silence --------------------------------------------------------------------------------------------


@GROUP.mutant("HB-01", also="SE-05")
def ignores_pings(machine: SimulatedMachine) -> None:
    """It does not answer pings."""

    def receive(link: Any, real: Callable[..., None], frame: fr.Frame) -> None:
        if frame.type != fr.PING:
            real(frame)
        elif link._opener.accepts(frame):
            link._last_received = link._loop.time()

    each_link(machine, "receive", receive)


@GROUP.mutant("HB-01")
def echoes_another_frame(machine: SimulatedMachine) -> None:
    """Its ACK names another frame than the ping."""

    def change(fields: list[Any]) -> None:
        if fields[1] == fr.ACK:
            fields[2] ^= 1

    each_seal(machine, change)


@GROUP.mutant("HB-02")
def no_heartbeat(machine: SimulatedMachine) -> None:
    """It has no heartbeat."""
    each_link(machine, "_next_ping", lambda link, real, now: max(real(now), link._last_received + PROBE_AFTER_S))


@GROUP.mutant("HB-03")
def never_knocks(machine: SimulatedMachine) -> None:
    """It sends no early pings when its host is silent."""
    each_link(machine, "_next_ping", lambda link, *_: link._last_sent + HEARTBEAT_S)


def _silent_after(machine: SimulatedMachine, seconds: float) -> None:
    def tick(link: Any, real: Callable[[], None]) -> None:
        if link._loop.time() >= link._last_received + seconds:
            link.fail(LinkSilent("impatient"))
        else:
            real()

    each_link(machine, "_tick", tick)


@GROUP.mutant("HB-04", also="HB-03")
def impatient(machine: SimulatedMachine) -> None:
    """It takes its host for gone after 2.5 s."""
    _silent_after(machine, 2.5)


@GROUP.mutant("HB-05", also="HB-06")
def waits_for_ever(machine: SimulatedMachine) -> None:
    """It waits for its host forever."""

    def tick(link: Any, real: Callable[[], None]) -> None:
        last_received = link._last_received
        link._last_received = max(last_received, link._loop.time() - SILENCE_LIMIT_S + 0.001)
        real()

    each_link(machine, "_tick", tick)


@GROUP.mutant("HB-06")
def any_frame_is_life(machine: SimulatedMachine) -> None:
    """Any frame counts as a sign of life."""

    def receive(link: Any, real: Callable[..., None], frame: fr.Frame) -> None:
        link._last_received = link._loop.time()
        real(frame)

    each_link(machine, "receive", receive)
