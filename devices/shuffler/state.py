"""The known state of a shuffler, built up from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from devices.shuffler import messages as m
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger


class DeckEjected(msgspec.Struct, frozen=True):
    """The gate was opened on command: people have the cards now."""

    command: int


# All events of a shuffler's driver.
DriverEvent = m.Event | CommonEvent | DeckEjected
# The possible ends of a cycle or of a full count, and the failures of all other motions.
Ended = m.Completed | m.Counted | m.Incomplete | m.Jam | m.Stopped | m.Fault
# After these faults the count of cards inside is wrong.
_MISCOUNTED: Final = (m.Reason.DOUBLE_FEED, m.Reason.COUNTS_DISAGREE)
# Unknown while the machine is not connected, or after a command with an unknown outcome.
_UNKNOWN: Final[dict[str, None]] = {"inside": None, "behind_gate": None, "in_chute": None, "outside": None}
_BUSY: Final = {
    m.Phase.FEEDING: m.State.FEEDING,
    m.Phase.UNLOADING: m.State.UNLOADING,
    m.Phase.DELIVERING: m.State.DELIVERING,
}


class ShufflerView(DeviceView, frozen=True):
    """The last known state of one shuffler. `inside` is None if unknown."""

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
    counts_certain: bool = True  # False: a card may be inside that no count includes; only a report can end this
    continuous: bool = False  # it keeps its cards; the next two are only for such a machine
    in_chute: int | None = None
    outside: int | None = None  # delivered and not taken in again
    jogged: tuple[m.Jogged, ...] = ()  # the latest jog of each motor in each direction, in time order


def fold(view: ShufflerView, event: DriverEvent) -> ShufflerView:
    """Return the view after an event."""
    if isinstance(event, m.Progress):  # the most frequent event
        return _fold_progress(view, event)
    replace = msgspec.structs.replace
    match event:
        case LinkUp():
            continuous = m.CONTINUOUS in event.hello.capabilities
            return ShufflerView(connected=True, unsettled=view.unsettled, continuous=continuous)
        case LinkDown():
            return replace(view, connected=False, state=None, **_UNKNOWN)
        case Reported(inventory=m.Status() as status):
            return _fold_report(view, status)
        case OutcomeLost():
            return replace(view, counts_certain=False, unsettled=unsettled_after(view.unsettled, event), **_UNKNOWN)
        case Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case DeckEjected() | m.Inserted():
            return replace(view, state=m.State.IDLE, behind_gate=0)
        case m.Door():
            # A person may remove cards; an empty machine stays certain.
            return replace(view, door_open=event.open, inside=0 if view.inside == 0 else None)
        case m.Cleared():
            state = m.State.IDLE if event.behind_gate == 0 else m.State.READY
            return replace(
                view,
                state=state,
                inside=None,
                counts_certain=False,
                behind_gate=event.behind_gate,
                blocked=0,
                outside=None,
                ended=None,
            )
        case m.Completed() | m.Counted() | m.Incomplete() | m.Jam() | m.Stopped() | m.Fault():
            return _fold_end(view, event)
        case m.TakenIn() | m.Delivered() | m.StoreChanged():
            return _fold_store(view, event)
        case _:
            return _fold_jog(view, event) if isinstance(event, m.Jogged) else view


def _fold_jog(view: ShufflerView, event: m.Jogged) -> ShufflerView:
    """Return the view after a jog."""
    others = tuple(jog for jog in view.jogged if (jog.motor, jog.reverse) != (event.motor, event.reverse))
    return msgspec.structs.replace(view, jogged=(*others, event))


def _fold_report(view: ShufflerView, s: m.Status) -> ShufflerView:
    """Return the view from a machine's own status."""
    replace = msgspec.structs.replace
    if isinstance(s, m.Inventory):
        view = replace(view, in_chute=s.in_chute, outside=s.outside)
    return replace(
        view,
        state=s.state,
        mode=s.mode,
        door_open=s.door_open,
        inside=s.inside,
        counts_certain=s.inside is not None,
        behind_gate=s.behind_gate,
    )


def _fold_progress(view: ShufflerView, event: m.Progress) -> ShufflerView:
    """Return the view after cards have moved."""
    state, chute = _BUSY[event.phase], view.in_chute
    gate: int | None = event.left
    inside = m.cards_inside(event.entered, event.left) if view.counts_certain else None
    if not event.entered:  # cards leave that did not enter in this cycle: the machine is being emptied
        state, inside, gate = m.State.CLEARING, None, None
    elif event.phase is m.Phase.DELIVERING:  # unknown until the delivery ends: people draw cards meanwhile
        gate, chute = view.behind_gate, None
    return msgspec.structs.replace(
        view, phase=event.phase, state=state, entered=event.entered, left=event.left, inside=inside, behind_gate=gate,
        in_chute=chute, blocked=event.blocked, outside=None, ended=None,
    )  # fmt: skip


def _fold_store(view: ShufflerView, event: m.TakenIn | m.Delivered | m.StoreChanged) -> ShufflerView:
    """Return the view of a continuous shuffler after its counts changed."""
    replace = msgspec.structs.replace
    view = replace(view, inside=event.inside if view.counts_certain else None)
    if not isinstance(event, m.TakenIn):
        view = replace(view, in_chute=event.in_chute)
    if not isinstance(event, m.StoreChanged):
        view = replace(view, state=m.State.IDLE, outside=event.outside, blocked=0, ended=None)
    return view


def _fold_end(view: ShufflerView, event: Ended) -> ShufflerView:
    """Return the view after the end of a cycle, or of an emptying, which has no `entered` cards."""
    replace = msgspec.structs.replace
    view = replace(view, outside=None)  # unknown after a halt; a good count sets it
    match event:
        case m.Counted():
            return replace(view, state=m.State.IDLE, entered=event.count, left=0, behind_gate=0, blocked=0, ended=event,
                           inside=event.count if view.counts_certain else None, outside=event.outside)  # fmt: skip
        case m.Completed():
            return replace(view, state=m.State.READY, mode=event.mode, entered=event.count, left=event.count,
                           inside=0 if view.counts_certain else None, behind_gate=event.count, blocked=0,
                           ended=event)  # fmt: skip
        case m.Incomplete():
            return replace(view, state=m.State.HALTED, entered=event.cards_in, left=event.cards_out, inside=None,
                           counts_certain=False, behind_gate=None if view.continuous else event.cards_out,
                           ended=event)  # fmt: skip
        case m.Jam():
            bits = sum(1 << i for i, level in enumerate(event.levels) if level.blocked)
            return replace(view, state=m.State.HALTED, phase=event.phase, entered=event.entered, left=event.left,
                           inside=event.inside if view.counts_certain else None, blocked=bits, ended=event,
                           behind_gate=_at_gate(view, event))  # fmt: skip
        case m.Stopped() | m.Fault():
            sure = view.counts_certain and event.reason not in _MISCOUNTED
            counted = sure and not view.door_open  # a person may reach in
            return replace(view, state=m.State.HALTED, entered=event.entered, left=event.left, counts_certain=sure,
                           inside=m.cards_inside(event.entered, event.left) if counted else None, ended=event,
                           behind_gate=_at_gate(view, event))  # fmt: skip


def _at_gate(view: ShufflerView, event: m.Jam | m.Stopped | m.Fault) -> int | None:
    """Return how many cards are behind the gate after a halt; None if unknown."""
    if not event.entered:
        return None
    if isinstance(event, m.Jam):  # only a jam has the direction of the cards
        if event.is_sensor_blind and event.phase is not m.Phase.FEEDING:
            return None
        return 0 if event.phase is m.Phase.DELIVERING else event.left
    if isinstance(event, m.Fault) and event.reason in _MISCOUNTED and event.segment >= m.Segment.UNLOAD:
        return None  # the double card may be behind the gate already
    return None if view.continuous and event.left else event.left


def verdict(ended: Ended, expected: int) -> list[str]:
    """Return every reason why the cards are not a verified, shuffled deck or set; empty if they are."""
    match ended:
        case m.Counted():
            outside = f", {ended.outside} outside" if ended.outside else ""
            return [f"{ended.count} cards counted{outside}, {expected} expected"] if ended.count != expected else []
        case m.Completed():
            reasons = []
            if ended.count != expected:
                reasons.append(f"{ended.count} cards counted, {expected} expected")
            if ended.mode is not m.Mode.SHUFFLE:
                reasons.append(f"the cycle was {ended.mode.name}, which is not a shuffle")
            if ended.rejected:
                reasons.append("the machine identified the cards, and they are not a complete deck")
            return reasons
        case m.Incomplete() if ended.cards_in == ended.cards_out:
            return [f"{ended.cards_in} cards were counted in and out, but not from the expected compartments"]
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


def _accounted_for(status: m.Status) -> bool:
    """Return whether an idle machine knows where its cards are: none inside, or all counted."""
    if isinstance(status, m.Inventory):
        return status.inside is not None and status.in_chute is not None
    return status.inside == 0


def service_trigger(event: DriverEvent) -> ReportTrigger | None:
    """Return the service trigger of an event (`devices.service`), or None."""
    match event:
        case LinkUp():
            return "appear"
        case LinkDown():
            return "vanish"
        case Reported(inventory=m.Status() as status):
            if status.state in (m.State.HALTED, m.State.DOUBTFUL):
                return "fault"
            at_rest = status.state in (m.State.IDLE, m.State.READY) and _accounted_for(status)
            return "verify" if at_rest else None  # stays unverified until it is idle and reports
        case OutcomeLost() | m.Cleared():  # only a report shows whether all cards came out
            return "doubt"
        case _:
            return "fault" if has_failed(event) else None


def has_failed(event: object) -> bool:
    """Return whether an event reports that a motion or a test failed.

    The service state, the fault report and the return to service all use this.
    """
    match event:
        case m.Jam() | m.Fault() | m.Incomplete() | m.Stopped():
            return True
        case m.StoreChanged():
            return bool(event.reason)
        case m.SelfTested():
            return bool(event.bad_sensors or event.bad_motors)
        case m.Jogged():
            return not event.turned
        case _:
            return False
