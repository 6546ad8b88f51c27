"""Mutants of retransmission (RT), and of heartbeat and silence (HB)."""

from __future__ import annotations

from typing import Any, Final

from firmware_bridge import frame as fr
from firmware_bridge.errors import LinkSilent, QueueFull
from firmware_bridge.link import HEARTBEAT_S, PROBE_AFTER_S, SILENCE_LIMIT_S
from simulators.mutants.mutant_tools import MutantGroup, Real, method, sealed_as

GROUP: Final = MutantGroup()
row: Final = GROUP.row


row("RT-01", "never-again", "What is not acknowledged is never sent again.",
    method("link._repeat_unacknowledged", lambda *_: None), also="RT-11")  # fmt: skip
row("RT-02", "unmarked-copies", "Its copies are not marked.",
    method("link._transmit", lambda _link, real, out, _flags: real(out, 0)))  # fmt: skip


@GROUP.method("link._repeat_unacknowledged", "RT-03")
def repeats_everything(link: Any, real: Real, now: float) -> None:
    """It repeats everything that is on its way."""
    repeated = link.counters.retransmitted
    real(now)
    if link.counters.retransmitted > repeated:
        for out in list(link._unacked)[1:]:
            link._transmit(out, fr.RETRANSMIT)


@GROUP.mutant("RT-04", also="SE-10 HB-02")
def copies_what_is_acknowledged(machine: Any) -> None:
    """It sends a copy of what has just been acknowledged."""

    def handle(link: Any, real: Real, ack: int, now: float) -> None:
        before = list(link._unacked)
        real(ack, now)
        done = [out for out in before if out not in link._unacked]
        if done:
            machine.clock.after(0.4, lambda: link.down or link._transmit(done[-1], fr.RETRANSMIT))

    method("link._take_ack", handle)(machine)


@GROUP.method("link._take_ack", "RT-05")
def takes_any_acknowledgment(link: Any, real: Real, ack: int, now: float) -> None:
    """Any acknowledgment acknowledges everything."""
    if link._unacked and (ack - link._unacked[0].seq) & 0xFFFF in range(1, 0x8000):
        ack = link._unacked[-1].seq + 1
    real(ack, now)


row("RT-06", "ignores-gaps", "It does not understand reports of a gap.", method("link._fill_gap", lambda *_: None))


@GROUP.method("link._repeat_unacknowledged", "RT-07")
def steady_copies(link: Any, real: Real, now: float) -> None:
    """It retransmits at a constant interval forever."""
    real(now)
    link._trip.backoff = 1


@GROUP.method("link._trip.add_sample", "RT-08")
def hasty_copies(trip: Any, real: Real, seconds: float) -> None:
    """On a quick line its copies come after 20 ms."""
    real(seconds)
    trip.rto_s = 0.02


@GROUP.method("link._post", "RT-09", also="LK-13 RT-10")
def wide_window(link: Any, real: Real, out: Any, urgent: bool) -> None:
    """32 frames are on their way before it waits."""
    if len(link._unacked) < 32:
        link._send(out)
    else:
        real(out, urgent)


@GROUP.method("link._post", "RT-10")
def endless_queue(link: Any, real: Real, out: Any, urgent: bool) -> None:
    """Its queue has no end."""
    try:
        real(out, urgent)
    except QueueFull:
        link._queue.append(out)


@GROUP.method("link._repeat_unacknowledged", "RT-11")
def never_gives_up(link: Any, real: Real, now: float) -> None:
    """It never gives a frame up."""
    for out in link._unacked:
        out.first_sent_at = now
    real(now)


@GROUP.method("link._fill_gap", "RT-12")
def copy_for_every_report(link: Any, _: Real, missing: int, __: float) -> None:
    """Every report of a gap gets a copy of the missing frame, however many come."""
    if link._unacked and link._unacked[0].seq == missing:
        link._transmit(link._unacked[0], fr.RETRANSMIT)


# --- heartbeat and silence --------------------------------------------------------------------------------------------


@GROUP.method("link.receive", "HB-01", also="SE-05")
def ignores_pings(link: Any, real: Real, frame: fr.Frame) -> None:
    """It does not answer pings."""
    if frame.type != fr.PING:
        real(frame)
    elif link._opener.accepts(frame):
        link._last_received = link._loop.time()


row("HB-01", "echoes-another-frame", "Its ACK names another frame than the ping.",
    sealed_as(lambda fields: [*fields[:2], fields[2] ^ (fields[1] == fr.ACK), *fields[3:]]))  # fmt: skip
row("HB-02", "no-heartbeat", "It has no heartbeat.",
    method("link._next_ping", lambda link, real, now: max(real(now), link._last_received + PROBE_AFTER_S)))  # fmt: skip
row("HB-03", "never-knocks", "It sends no early pings when its host is silent.",
    method("link._next_ping", lambda link, *_: link._last_sent + HEARTBEAT_S))  # fmt: skip


@GROUP.method("link._tick", "HB-04", also="HB-03")
def impatient(link: Any, real: Real) -> None:
    """It takes its host for gone after 2.5 s."""
    if link._loop.time() >= link._last_received + 2.5:
        link.fail(LinkSilent("impatient"))
    else:
        real()


@GROUP.method("link._tick", "HB-05", also="HB-06")
def waits_for_ever(link: Any, real: Real) -> None:
    """It waits for its host forever."""
    last_received = link._last_received
    link._last_received = max(last_received, link._loop.time() - SILENCE_LIMIT_S + 0.001)
    real()


@GROUP.method("link.receive", "HB-06")
def any_frame_is_life(link: Any, real: Real, frame: fr.Frame) -> None:
    """Any frame counts as a sign of life."""
    link._last_received = link._loop.time()
    real(frame)
