"""The way back to service, step by step: a pure machine. A step ticks in its turn, by its evidence alone.

What has been done is a list of events, to be journaled; the state after an interruption is those events once more.
Who a person is, and how a machine is asked, is not known here. An interruption that people of the table may clear has
fewer steps than a fault of the machine: what was proved of its parts before still holds.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from firmware_bridge.errors import StepRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.diagnosis.dossier import Level


class Step(Enum):
    """What is done, in this order."""

    CLEAR = "take every card off the path, close the door, have the machine empty itself"
    PATH_EMPTY = "see that every sensor of the path is clear"
    SENSOR_TEST = "have the machine test its sensors"
    MOTOR_TEST = "have the machine run its motors"
    ONE_CARD = "send one card through"
    FULL_DECK = "send the whole deck through, in test mode"
    COUNT = "count the deck by hand"
    RETURN = "a second person returns it to service"


SERVICE: Final = tuple(Step)
STAFF: Final = (Step.CLEAR, Step.PATH_EMPTY, Step.COUNT, Step.RETURN)
# Who may return a machine to service.
RETURNS: Final = "floorperson"
# Sensors that look at piles, not at the path.
_PILES: Final = ("intake", "gate", "well", "slot")


# --- evidence ---------------------------------------------------------------------------------------------------------


class DoorMoved(msgspec.Struct, frozen=True, tag=True):
    """The door was opened or closed."""

    open: bool


class Emptied(msgspec.Struct, frozen=True, tag=True):
    """The machine found its path clear and emptied itself."""


class Looked(msgspec.Struct, frozen=True, tag=True):
    """The sensors were read; these of the path are dark."""

    dark: tuple[str, ...]


class Tested(msgspec.Struct, frozen=True, tag=True):
    """A self-test ended: how many sensors and motors did not pass."""

    bad_sensors: int
    bad_motors: int


class Moved(msgspec.Struct, frozen=True, tag=True):
    """Cards went through, as many out as in, and none was rejected."""

    cards: int


class Counted(msgspec.Struct, frozen=True, tag=True):
    """A person counted the deck by hand."""

    cards: int
    by: str


class Returned(msgspec.Struct, frozen=True, tag=True):
    """A person answers for the machine."""

    by: str
    role: str


class Faulted(msgspec.Struct, frozen=True, tag=True):
    """The machine halted again, or its link was lost: what was proved does not hold any more."""

    what: str


# What a machine or a person can show.
Evidence = DoorMoved | Emptied | Looked | Tested | Moved | Counted | Returned | Faulted


def evidence_of(event: Any) -> Evidence | None:
    """Return what an event of a shuffler or shoe shows; None if it shows nothing here."""
    match event:
        case sf.Door() | sh.Door():
            return DoorMoved(event.open)
        case sf.Cleared() | sh.Cleared():
            return Emptied()
        case sf.SelfTested() | sh.SelfTested():
            return Tested(event.bad_sensors.bit_count(), event.bad_motors.bit_count())
        case sf.Completed():
            return None if event.rejected else Moved(event.count)
        case sf.Counted() | sf.Delivered() | sh.Dispensed() | sh.Stub():
            return Moved(event.count)
        case sf.Jam() | sf.Fault() | sf.Incomplete() | sf.Stopped() | sh.Jam() | sh.Fault() | sh.Stopped():
            return Faulted(type(event).__name__)
        case sh.Unbalanced() | sh.ShortStack():
            return Faulted(type(event).__name__)
        case _:
            return None


def looked(levels: Iterable[Level]) -> Looked:
    """Return what sensor levels show of the path."""
    return Looked(tuple(x.sensor for x in levels if x.blocked and x.threshold and x.sensor not in _PILES))


# --- events -----------------------------------------------------------------------------------------------------------


class Began(msgspec.Struct, frozen=True, tag=True):
    """Somebody took a dossier up."""

    dossier: int
    slot: str
    by: str
    service: bool  # a fault of the machine; otherwise people of the table may clear it
    expected: int | None
    has_door: bool


class Ticked(msgspec.Struct, frozen=True, tag=True):
    """A step was done, and this is its evidence."""

    dossier: int
    step: Step
    by: str
    evidence: Evidence


class Undone(msgspec.Struct, frozen=True, tag=True):
    """Steps from this one on must be done again."""

    dossier: int
    step: Step
    why: str


# What is journaled of the way back.
StepEvent = Began | Ticked | Undone


class Way(msgspec.Struct, frozen=True):
    """How far one dossier's way back has come. `door`: opened and closed again since the last halt."""

    began: Began
    done: tuple[Step, ...] = ()
    people: tuple[str, ...] = ()  # everybody who ticked a step
    door: bool | None = None  # None: not touched; True: open; False: closed again

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of this way."""
        return SERVICE if self.began.service else STAFF

    @property
    def next(self) -> Step | None:
        """The step whose turn it is; None when the machine is back."""
        return next((step for step in self.steps if step not in self.done), None)


def begin(dossier: int, slot: str, by: str, *, service: bool, expected: int | None, has_door: bool) -> Began:
    """Take a dossier up."""
    return Began(dossier, slot, by, service, expected, has_door)


def replay(events: Iterable[StepEvent]) -> Way | None:
    """Return how far it has come, from what was journaled; None if nobody has begun."""
    way: Way | None = None
    for event in events:
        match event:
            case Began():
                way = Way(event)
            case Ticked() if way is not None:
                way = _after_tick(way, event)
            case Undone() if way is not None:
                way = _after_undo(way, event)
    return way


def take(way: Way, shown: Evidence, by: str) -> tuple[Way, list[StepEvent]]:
    """Take evidence: tick the steps whose turn it is and that it proves, or undo what it disproves."""
    number = way.began.dossier
    undo: Undone | None = None
    match shown:
        case Faulted():
            undo = Undone(number, Step.CLEAR, f"the machine said {shown.what}") if way.done else None
            way = msgspec.structs.replace(way, door=None)
        case DoorMoved():
            way = msgspec.structs.replace(way, door=shown.open)
            if shown.open and Step.PATH_EMPTY in way.done:
                undo = Undone(number, Step.PATH_EMPTY, "the door was opened")
        case Looked(dark=dark) if dark and Step.PATH_EMPTY in way.done and Step.RETURN not in way.done:
            undo = Undone(number, Step.PATH_EMPTY, f"sensor {dark[0]} is dark")
    if undo is not None:
        return _after_undo(way, undo), [undo]
    events: list[StepEvent] = []
    while way.next is not None and _lacking(way, way.next, shown) is None:
        tick = Ticked(number, way.next, by, shown)
        way = _after_tick(way, tick)
        events.append(tick)
        if not isinstance(shown, Tested):  # one test of the machine proves sensors and motors
            break
    return way, events


def must_tick(way: Way, step: Step, shown: Evidence, by: str) -> tuple[Way, list[StepEvent]]:
    """Tick one step by its evidence; StepRefused says what is missing."""
    if step not in way.steps:
        raise StepRefused(f"{step.name.lower()} is no step of this way: people of the table may clear it")
    if way.next is not step:
        turn = "all is done" if way.next is None else f"the next step is {way.next.name.lower()}: {way.next.value}"
        raise StepRefused(f"it is not the turn of {step.name.lower()}; {turn}")
    lacking = _lacking(way, step, shown)
    if lacking is not None:
        raise StepRefused(f"{step.name.lower()}: {lacking}")
    return take(way, shown, by)


def _after_tick(way: Way, tick: Ticked) -> Way:
    people = way.people if tick.by in way.people else (*way.people, tick.by)
    return msgspec.structs.replace(way, done=(*way.done, tick.step), people=people)


def _after_undo(way: Way, undo: Undone) -> Way:
    kept = way.steps[: way.steps.index(undo.step)]
    return msgspec.structs.replace(way, done=tuple(step for step in way.done if step in kept))


def wanted(way: Way, step: Step) -> str:
    """Return the evidence that a step needs, for people."""
    match step:
        case Step.CLEAR:
            return "the door opened and closed, then Cleared" if way.began.has_door else "Cleared"
        case Step.PATH_EMPTY:
            return "the machine's sensor levels, none of the path dark"
        case Step.SENSOR_TEST | Step.MOTOR_TEST:
            return "SelfTested, nothing bad"
        case Step.ONE_CARD:
            return "one card counted in and out"
        case Step.FULL_DECK | Step.COUNT:
            return f"{_deck(way)} cards"
        case Step.RETURN:
            return f"the credential of a {RETURNS} who ticked no step"


def _deck(way: Way) -> str:
    return "as many" if way.began.expected is None else str(way.began.expected)


def _lacking(way: Way, step: Step, shown: Evidence) -> str | None:
    """Return what is missing for a step to tick, or None if this proves it."""
    expected = way.began.expected
    match step, shown:
        case Step.CLEAR, Emptied():
            untouched = way.began.has_door and way.door is not False
            return "nobody has opened the door, cleared the path and closed it again" if untouched else None
        case Step.PATH_EMPTY, Looked():
            return f"sensor {shown.dark[0]} is dark" if shown.dark else None
        case Step.SENSOR_TEST, Tested():
            return f"{shown.bad_sensors} sensors did not pass" if shown.bad_sensors else None
        case Step.MOTOR_TEST, Tested():
            return f"{shown.bad_motors} motors did not pass" if shown.bad_motors else None
        case Step.ONE_CARD, Moved():
            return None if shown.cards == 1 else f"{shown.cards} cards went through, not one"
        case Step.FULL_DECK, Moved():
            return None if shown.cards == expected else f"{shown.cards} cards went through, {_deck(way)} should have"
        case Step.COUNT, Counted():
            return (
                None if shown.cards == expected else f"{shown.cards} cards were counted, {_deck(way)} should be there"
            )
        case Step.RETURN, Returned():
            if shown.role != RETURNS:
                return f"a {RETURNS} returns it to service, not a {shown.role}"
            same = shown.by in (*way.people, way.began.by)
            return f"{shown.by} has worked on it; a second person answers for it" if same else None
        case _:
            return f"it ticks by {wanted(way, step)}"
