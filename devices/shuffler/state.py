"""What is known of a shuffler, folded from its events. Pure: no clock, no link, and no rule of a game."""

from __future__ import annotations

import msgspec

from devices.report import LinkDown, LinkUp, Misread, Reported
from devices.shuffler import messages as m

# Everything that a shuffler's driver tells.
DriverEvent = m.Event | LinkUp | LinkDown | Reported | Misread
# How a cycle can end.
Ended = m.Completed | m.Incomplete | m.Jam | m.Stopped | m.Fault


class ShufflerView(msgspec.Struct, frozen=True):
    """The last known picture of one shuffler. `inside` is None when nobody knows."""

    connected: bool = False
    state: m.State | None = None
    mode: m.Mode | None = None
    door_open: bool = False
    phase: m.Phase = m.Phase.FEEDING
    entered: int = 0
    left: int = 0
    inside: int | None = None
    behind_gate: int | None = None
    blocked: int = 0  # bit per Sensor
    ended: Ended | None = None  # how the last cycle ended


def fold(view: ShufflerView, event: DriverEvent) -> ShufflerView:
    """Return the picture after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp():
            return ShufflerView(connected=True)
        case LinkDown():
            return replace(view, connected=False, state=None, inside=None, behind_gate=None)
        case Reported(inventory=m.Status() as s):
            return replace(view, state=s.state, mode=s.mode, door_open=s.door_open, inside=s.inside,
                           behind_gate=s.behind_gate)  # fmt: skip
        case m.Progress():
            busy = m.State.FEEDING if event.phase is m.Phase.FEEDING else m.State.UNLOADING
            if not event.entered:  # cards leave that this cycle did not bring in: the machine is being emptied
                return replace(view, state=m.State.CLEARING, phase=event.phase, entered=0, left=event.left, ended=None,
                               inside=None, behind_gate=None, blocked=event.blocked)  # fmt: skip
            return replace(view, state=busy, phase=event.phase, entered=event.entered, left=event.left, ended=None,
                           inside=event.entered - event.left, behind_gate=event.left,
                           blocked=event.blocked)  # fmt: skip
        case m.Completed():
            return replace(view, state=m.State.READY, mode=event.mode, entered=event.count, left=event.count, inside=0,
                           behind_gate=event.count, blocked=0, ended=event)  # fmt: skip
        case m.Incomplete():
            return replace(view, state=m.State.HALTED, entered=event.cards_in, left=event.cards_out, inside=None,
                           behind_gate=event.cards_out, ended=event)  # fmt: skip
        case m.Jam():
            bits = sum(1 << i for i, level in enumerate(event.levels) if level.blocked)
            return replace(view, state=m.State.HALTED, phase=event.phase, entered=event.entered, left=event.left,
                           inside=event.inside, behind_gate=event.left, blocked=bits, ended=event)  # fmt: skip
        case m.Stopped() | m.Fault():
            sure = event.reason is not m.Reason.DOUBLE_FEED  # then two cards were counted as one
            return replace(view, state=m.State.HALTED, entered=event.entered, left=event.left, behind_gate=event.left,
                           inside=event.entered - event.left if sure else None, ended=event)  # fmt: skip
        case m.Door():
            return replace(view, door_open=event.open)
        case m.Cleared():
            return replace(view, state=m.State.READY, inside=0, behind_gate=event.behind_gate, blocked=0, ended=None)
        case _:
            return view


def verdict(ended: Ended, expected: int) -> list[str]:
    """Return every reason why the cards behind the gate are not a verified, shuffled deck; none means they are."""
    match ended:
        case m.Completed():
            reasons = []
            if ended.count != expected:
                reasons.append(f"{ended.count} cards counted, {expected} expected")
            if ended.mode is not m.Mode.SHUFFLE:
                reasons.append(f"the cycle was {ended.mode.name}, which is not a shuffle")
            if ended.rejected:
                reasons.append("the machine identified a wrong card")
            return reasons
        case m.Incomplete():
            return [f"{ended.cards_in} cards went in and {ended.cards_out} came out"]
        case m.Jam():
            return [f"jammed in segment {ended.segment.name.lower()} at card {ended.card}, {ended.inside} cards inside"]
        case m.Stopped():
            return [f"stopped in mid-cycle ({ended.reason.name.lower()}), {ended.entered - ended.left} cards inside"]
        case m.Fault():
            return [f"{ended.reason.name.lower().replace('_', ' ')} in segment {ended.segment.name.lower()}"]


def service_trigger(event: DriverEvent) -> str | None:
    """Return what an event means for the slot's service state (`devices.service`), or None."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown():
            return "vanish"
        case Reported(inventory=m.Status() as status):
            if status.state in (m.State.HALTED, m.State.DOUBTFUL):
                return "fault"
            at_rest = status.state in (m.State.IDLE, m.State.READY) and status.inside == 0
            return "verify" if at_rest else None  # busy: it stays unverified until it rests and reports
        case Misread():
            return "doubt"
        case m.Jam() | m.Fault() | m.Incomplete() | m.Stopped():
            return "fault"
        case m.SelfTested() if event.bad_sensors or event.bad_motors:
            return "fault"
        case _:
            return None
