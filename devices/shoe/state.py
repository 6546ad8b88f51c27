"""The known state of a shoe, built up from its events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.driver_events import CommonEvent, DeviceView, LinkDown, LinkUp, OutcomeLost, Reported, unsettled_after
from devices.shoe import messages as m
from firmware_bridge.commands import Settled

if TYPE_CHECKING:
    from devices.service import ReportTrigger


class ReleaseDropped(msgspec.Struct, frozen=True):
    """The shoe sent card values that nobody ordered, or that are impossible. The driver dropped them."""

    why: str


# All events of a shoe's driver. Card values are in CardsReleased alone, and never in the view.
DriverEvent = m.Event | CommonEvent | ReleaseDropped
# The possible ends of a command that moves cards, and faults without a command.
Ended = m.Loaded | m.Dispensed | m.ShortStack | m.Stub | m.Unbalanced | m.Jam | m.Stopped | m.Fault

_BUSY: Final = {
    m.Phase.LOADING: m.State.LOADING,
    m.Phase.DISPENSING: m.State.DISPENSING,
    m.Phase.STUB: m.State.COUNTING,
    m.Phase.CLEARING: m.State.CLEARING,
    m.Phase.DRAWING: m.State.DEALING,
}


class ShoeView(DeviceView, frozen=True):
    """The last known state of one shoe. A count is None if unknown."""

    state: m.State | None = None
    door_open: bool = False
    phase: m.Phase = m.Phase.LOADING
    moved: int = 0  # cards of this stack, this stub or this round
    left: int | None = None
    in_path: int | None = None
    drawn: int | None = None  # since loading
    in_intake: bool = False
    in_well: bool = False
    in_slot: bool = False
    stack: int | None = None  # cards of the last stack
    blocked: int = 0  # bit per Sensor
    ended: Ended | None = None  # how the last motion ended
    counts_certain: bool = True  # False: a card may be inside that no count includes; only a report can end this
    jogged: tuple[m.Jogged, ...] = ()  # the latest jog of each motor in each direction, in time order


def fold(view: ShoeView, event: DriverEvent) -> ShoeView:
    """Return the view after an event."""
    replace = msgspec.structs.replace
    if isinstance(event, m.Progress):  # the most frequent event
        return replace(view, state=_BUSY[event.phase], phase=event.phase, moved=event.moved,
                       left=event.left if view.counts_certain else None, in_path=None, blocked=event.blocked,
                       ended=None)  # fmt: skip
    match event:
        case LinkUp():
            return ShoeView(connected=True, unsettled=view.unsettled)
        case LinkDown():
            return replace(view, connected=False, state=None, left=None, in_path=None, drawn=None)
        case Reported(inventory=m.Status() as s):
            return replace(view, state=s.state, door_open=s.door_open, moved=s.moved, left=s.left, in_path=s.in_path,
                           drawn=s.drawn, in_intake=s.in_intake, in_well=s.in_well, in_slot=s.in_slot,
                           counts_certain=s.counts_certain)  # fmt: skip
        case OutcomeLost():
            return _in_doubt(replace(view, unsettled=unsettled_after(view.unsettled, event)))
        case Settled():
            return replace(view, unsettled=unsettled_after(view.unsettled, event))
        case m.Drawn() | m.RoundEnded() | m.Pile() | m.Door():
            return _fold_hands(view, event)
        case m.Cleared():
            return replace(_in_doubt(view), state=m.State.IDLE, blocked=0, ended=None)
        case m.Loaded() | m.Dispensed() | m.ShortStack() | m.Stub():
            return _fold_end(view, event)
        case m.Unbalanced() | m.Jam() | m.Fault() | m.Stopped():
            return _fold_halt(view, event)
        case m.Jogged():
            others = tuple(j for j in view.jogged if (j.motor, j.reverse) != (event.motor, event.reverse))
            return replace(view, jogged=(*others, event))
        case _:
            return view


def _in_doubt(view: ShoeView) -> ShoeView:
    return msgspec.structs.replace(view, left=None, in_path=None, drawn=None, counts_certain=False)


def _fold_hands(view: ShoeView, event: m.Drawn | m.RoundEnded | m.Pile | m.Door) -> ShoeView:
    """Return the view after a person did something at the shoe."""
    replace = msgspec.structs.replace
    match event:
        case m.Drawn():
            known = view if event.drawn is not None else _in_doubt(view)
            return replace(known, moved=event.moved if event.ordered else view.moved,
                           left=event.left if known.counts_certain else None,
                           drawn=event.drawn if known.counts_certain else None)  # fmt: skip
        case m.RoundEnded():
            return replace(view, state=m.State.READY, moved=0)
        case m.Door():  # a person may remove cards; an empty shoe stays certain
            reached = _in_doubt(view) if event.open and view.state is not m.State.IDLE else view
            return replace(reached, door_open=event.open)
        case m.Pile(place=m.Place.INTAKE):
            return replace(view, in_intake=event.cards)
        case m.Pile(place=m.Place.SLOT):
            return replace(view, in_slot=event.cards)
        case m.Pile():
            emptied = not event.cards and view.state in (m.State.READY, m.State.DEALING)
            return replace(view, in_well=event.cards, state=m.State.IDLE if emptied else view.state,
                           left=None if event.cards else view.left)  # fmt: skip


def _fold_end(view: ShoeView, event: m.Loaded | m.Dispensed | m.ShortStack | m.Stub) -> ShoeView:
    """Return the view after motion has ended normally."""
    drawn = None
    if isinstance(event, m.Stub):
        drawn = event.drawn
    elif isinstance(event, m.Loaded):
        drawn = 0 if event.count is None or event.left is None else event.count - event.left
    return msgspec.structs.replace(
        view,
        state=m.State.READY if view.in_well else m.State.IDLE,
        left=event.left if view.counts_certain else None,
        in_path=0 if view.counts_certain else None,
        drawn=drawn if view.counts_certain else None,
        blocked=0,
        ended=event,
        stack=event.count if isinstance(event, m.Dispensed) else None,
    )


def _fold_halt(view: ShoeView, event: m.Unbalanced | m.Jam | m.Fault | m.Stopped) -> ShoeView:
    """Return the view after a fault."""
    replace = msgspec.structs.replace
    if isinstance(event, m.Unbalanced):
        return replace(_in_doubt(view), state=m.State.HALTED, ended=event)
    state, bits, known = m.State.HALTED, view.blocked, view
    if isinstance(event, m.Jam):
        bits = sum(1 << i for i, level in enumerate(event.levels) if level.blocked)
    if event.phase is m.Phase.DRAWING or (not isinstance(event, m.Jam) and event.reason is m.Reason.DOUBLE_FEED):
        known = _in_doubt(view)  # a person handles the stuck card, or two cards were counted as one
    elif not isinstance(event, m.Jam) and event.reason is m.Reason.LIFTED_OUT:
        state = m.State.IDLE
    return replace(
        known,
        state=state,
        phase=event.phase,
        left=event.left if known.counts_certain else None,
        in_path=event.in_path if known.counts_certain else None,
        stack=None,
        blocked=bits,
        ended=event,
    )


def verdict(ended: Ended, expected: int) -> list[str]:
    """Return every reason why the cards are not as ordered; empty if they are.

    `expected`: the cards of the stack (Dispensed and what may end it), of the block (Loaded), or of the whole deck
    (Stub: all that came out since loading).
    """
    match ended:
        case m.Loaded():
            reasons = [] if ended.count is not None else ["the block was not counted"]
            if ended.count not in (None, expected):
                reasons.append(f"{ended.count} cards counted, {expected} expected")
            return reasons + _face_up(ended.face_up)
        case m.Dispensed():
            wrong = ended.count != expected
            return [f"{ended.count} cards dispensed, {expected} ordered"] * wrong + _face_up(ended.face_up)
        case m.Stub():
            if ended.drawn is None:
                return ["the total of cards that came out is unknown"]
            return [f"{ended.drawn} cards came out in all, {expected} expected"] * (ended.drawn != expected)
        case m.ShortStack():
            return [f"{ended.dispensed} of {ended.ordered} cards dispensed, then the well was empty"]
        case m.Unbalanced():
            return [f"{ended.loaded} cards went in and {ended.drawn} came out, which is not what the well shows"]
        case m.Jam():
            where = f"segment {ended.segment.name.lower()} at card {ended.card}"
            return [f"jammed in {where}, {_count(ended.in_path)} on the path, {_count(ended.left)} left"]
        case m.Stopped():
            why = ended.reason.name.lower().replace("_", " ")
            return [f"stopped after {ended.moved} cards ({why}), {_count(ended.in_path)} on the path"]
        case m.Fault():
            return [f"{ended.reason.name.lower().replace('_', ' ')} in segment {ended.segment.name.lower()}"]


def _face_up(cards: int) -> list[str]:
    return [f"{cards} of them {'is' if cards == 1 else 'are'} face up"] if cards else []


def _count(cards: int | None) -> str:
    return "an unknown number" if cards is None else str(cards)


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
            at_rest = status.state in (m.State.IDLE, m.State.READY, m.State.DEALING) and status.in_path == 0
            return (
                "verify" if at_rest and status.counts_certain else None
            )  # stays unverified until it is idle and certain
        case OutcomeLost() | m.Door(open=True) | m.Drawn(drawn=None) | m.Cleared():
            return "doubt"
        case ReleaseDropped():
            return "fault"
        case _:
            return "fault" if has_failed(event) else None


def has_failed(event: object) -> bool:
    """Return whether an event reports that a motion or a test failed.

    The service state, the fault report and the return to service all use this.
    """
    match event:
        case m.Jam() | m.Fault() | m.Stopped() | m.ShortStack() | m.Unbalanced():
            return True
        case m.SelfTested():
            return bool(event.bad_sensors or event.bad_motors)
        case m.Jogged():
            return not event.turned
        case _:
            return False
