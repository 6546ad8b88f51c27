"""What is known of a shuffler, folded from its events. Pure: no clock, no link, and no rule of a game."""

from __future__ import annotations

import msgspec

from devices.report import LinkDown, LinkUp, Misread, Reported, Told, View, unsettled_after
from devices.shuffler import messages as m
from firmware_bridge.commands import Settled


class GivenOut(msgspec.Struct, frozen=True):
    """The gate was opened on command: what lay behind it is in people's hands."""

    command: int


# Everything that a shuffler's driver tells.
DriverEvent = m.Event | Told | GivenOut
# How a cycle can end.
Ended = m.Completed | m.Incomplete | m.Jam | m.Stopped | m.Fault


class ShufflerView(View, frozen=True):
    """The last known picture of one shuffler. `inside` is None when nobody knows."""

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
    sure: bool = True  # False: a card may be inside that no count shows; only a report says otherwise


def fold(view: ShufflerView, event: DriverEvent) -> ShufflerView:
    """Return the picture after an event."""
    replace = msgspec.structs.replace
    match event:
        case LinkUp():
            return ShufflerView(connected=True, unsettled=view.unsettled)
        case LinkDown():
            return replace(view, connected=False, state=None, inside=None, behind_gate=None)
        case Reported(inventory=m.Status() as s):
            return replace(view, state=s.state, mode=s.mode, door_open=s.door_open, inside=s.inside,
                           sure=s.inside is not None, behind_gate=s.behind_gate)  # fmt: skip
        case Misread():
            return replace(view, inside=None, sure=False, behind_gate=None,
                           unsettled=unsettled_after(view.unsettled, event))  # fmt: skip
        case Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case GivenOut():
            return replace(view, state=m.State.IDLE, behind_gate=0)
        case m.Progress():
            busy = m.State.FEEDING if event.phase is m.Phase.FEEDING else m.State.UNLOADING
            if not event.entered:  # cards leave that this cycle did not bring in: the machine is being emptied
                return replace(view, state=m.State.CLEARING, phase=event.phase, entered=0, left=event.left, ended=None,
                               inside=None, behind_gate=None, blocked=event.blocked)  # fmt: skip
            return replace(view, state=busy, phase=event.phase, entered=event.entered, left=event.left, ended=None,
                           inside=m.cards_inside(event.entered, event.left) if view.sure else None,
                           behind_gate=event.left, blocked=event.blocked)  # fmt: skip
        case m.Door():
            # Hands may take what is inside; where nothing was, nothing can be missed.
            return replace(view, door_open=event.open, inside=0 if view.inside == 0 else None)
        case m.Cleared():
            state = m.State.IDLE if event.behind_gate == 0 else m.State.READY
            return replace(view, state=state, inside=None, sure=False, behind_gate=event.behind_gate, blocked=0,
                           ended=None)  # fmt: skip
        case m.Completed() | m.Incomplete() | m.Jam() | m.Stopped() | m.Fault():
            return _fold_end(view, event)
        case _:
            return view


def _fold_end(view: ShufflerView, event: Ended) -> ShufflerView:
    """Return the picture after a cycle's end; without cards `entered` it was the end of emptying, which counts none."""
    replace = msgspec.structs.replace
    match event:
        case m.Completed():
            return replace(view, state=m.State.READY, mode=event.mode, entered=event.count, left=event.count,
                           inside=0 if view.sure else None, behind_gate=event.count, blocked=0,
                           ended=event)  # fmt: skip
        case m.Incomplete():
            return replace(view, state=m.State.HALTED, entered=event.cards_in, left=event.cards_out, inside=None,
                           sure=False, behind_gate=event.cards_out, ended=event)  # fmt: skip
        case m.Jam():
            bits = sum(1 << i for i, level in enumerate(event.levels) if level.blocked)
            return replace(view, state=m.State.HALTED, phase=event.phase, entered=event.entered, left=event.left,
                           inside=event.inside if view.sure else None, blocked=bits, ended=event,
                           behind_gate=event.left if event.entered else None)  # fmt: skip
        case m.Stopped() | m.Fault():
            sure = view.sure and event.reason is not m.Reason.DOUBLE_FEED  # then two cards were counted as one
            counted = sure and not view.door_open  # hands may be in it
            return replace(view, state=m.State.HALTED, entered=event.entered, left=event.left, sure=sure,
                           inside=m.cards_inside(event.entered, event.left) if counted else None, ended=event,
                           behind_gate=event.left if event.entered else None)  # fmt: skip


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
                reasons.append("the machine read the cards and they are not a whole deck")
            return reasons
        case m.Incomplete() if ended.cards_in == ended.cards_out:
            return [f"{ended.cards_in} cards were counted in and out, but not from where they were put"]
        case m.Incomplete():
            return [f"{ended.cards_in} cards went in and {ended.cards_out} came out"]
        case m.Jam():
            where = f"segment {ended.segment.name.lower()} at card {ended.card}"
            return [f"jammed in {where}, {_count(ended.inside)} cards inside"]
        case m.Stopped():
            inside = _count(m.cards_inside(ended.entered, ended.left))
            return [f"stopped in mid-cycle ({ended.reason.name.lower()}), {inside} cards inside"]
        case m.Fault():
            return [f"{ended.reason.name.lower().replace('_', ' ')} in segment {ended.segment.name.lower()}"]


def _count(cards: int | None) -> str:
    return "an unknown number of" if cards is None else str(cards)


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
