"""The way back to service, step by step: a pure machine. A step ticks in its turn, by its evidence alone.

What has been done is a list of events, to be journaled; the state after an interruption is those events once more.
Who a person is, and how a machine is asked, is not known here. An interruption that people of the table may clear has
fewer steps than a fault of the machine: what was proved of its parts before still holds. The way of a fault begins by
itself, and its first step ticks once a technician has taken it up.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from firmware_bridge.errors import StepRefused
from table_controller.diagnosis.card_paths import BY_HAND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.diagnosis.dossier import Dossier, Level


class Step(Enum):
    """What is done, in this order."""

    CLEAR = "take every card off the path, close the door, have the machine empty itself"
    PATH_EMPTY = "see that every sensor of the path is clear"
    SENSOR_TEST = "have the machine test its sensors"
    MOTOR_JOG = "turn every motor by itself"
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


class DoorMoved(msgspec.Struct, frozen=True, tag="DoorMoved"):
    """The door was opened or closed."""

    open: bool


class Emptied(msgspec.Struct, frozen=True, tag="Emptied"):
    """The machine found its path clear and emptied itself."""


class Looked(msgspec.Struct, frozen=True, tag="Looked"):
    """The sensors were read; these of the path are dark."""

    dark: tuple[str, ...]


class Tested(msgspec.Struct, frozen=True, tag="Tested"):
    """A self-test ended: how many sensors and motors did not pass."""

    bad_sensors: int
    bad_motors: int


class Jogged(msgspec.Struct, frozen=True, tag="Jogged"):
    """One motor was switched on by itself: what it drew (mA), and whether it turned."""

    motor: str
    reverse: bool
    current: int
    turned: bool


class Moved(msgspec.Struct, frozen=True, tag="Moved"):
    """Cards went through, as many out as in, and no deck was rejected."""

    cards: int


class Counted(msgspec.Struct, frozen=True, tag="Counted"):
    """A person counted the deck by hand."""

    cards: int
    by: str


class Returned(msgspec.Struct, frozen=True, tag="Returned"):
    """A person answers for the machine."""

    by: str
    role: str


class Faulted(msgspec.Struct, frozen=True, tag="Faulted"):
    """The machine halted again, or its link was lost: what was proved does not hold any more."""

    what: str


# What a machine or a person can show.
Evidence = DoorMoved | Emptied | Looked | Tested | Jogged | Moved | Counted | Returned | Faulted


def evidence_of(event: Any) -> Evidence | None:
    """Return what an event of a shuffler or shoe shows; None if it shows nothing here."""
    match event:
        case sf.Door() | sh.Door():
            return DoorMoved(event.open)
        case sf.Cleared() | sh.Cleared():
            return Emptied()
        case sf.SelfTested() | sh.SelfTested():
            return Tested(event.bad_sensors.bit_count(), event.bad_motors.bit_count())
        case sf.Jogged() | sh.Jogged():
            return Jogged(event.motor.name.lower(), event.reverse, event.current, event.turned)
        case sf.Completed():  # to a machine that reads faces one card is no deck, and does as well
            return None if event.rejected and event.count != 1 else Moved(event.count)
        case sf.Counted() | sf.Delivered() | sh.Dispensed() | sh.Stub() | sh.RoundEnded():
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


class Began(msgspec.Struct, frozen=True, tag="Began"):
    """A way began: by itself, with the dossier of a fault (`by` is empty then), or somebody took an interruption up."""

    dossier: int
    slot: str
    by: str
    service: bool  # a fault of the machine; otherwise people of the table may clear it
    expected: int | None
    has_door: bool
    motors: tuple[str, ...] = ()  # what is turned by itself; none: its firmware cannot, or it has no motor


class TakenUp(msgspec.Struct, frozen=True, tag="TakenUp"):
    """A technician goes on with it; the machine was in this mode, if it has any, and is brought back to it."""

    dossier: int
    by: str
    mode: str = ""


class Left(msgspec.Struct, frozen=True, tag="Left"):
    """Whoever went on with it has left; what was done stays done."""

    dossier: int
    by: str


class Shown(msgspec.Struct, frozen=True, tag="Shown"):
    """Part of a step's evidence was seen."""

    dossier: int
    by: str
    evidence: Evidence


class Ticked(msgspec.Struct, frozen=True, tag="Ticked"):
    """A step was done, and this is its evidence."""

    dossier: int
    step: Step
    by: str
    evidence: Evidence


class Undone(msgspec.Struct, frozen=True, tag="Undone"):
    """Steps from this one on must be done again."""

    dossier: int
    step: Step
    why: str


# What is journaled of the way back.
StepEvent = Began | TakenUp | Left | Shown | Ticked | Undone


class Way(msgspec.Struct, frozen=True):
    """How far one dossier's way back has come. `door`: opened and closed again since the last halt."""

    began: Began
    done: tuple[Step, ...] = ()
    people: tuple[str, ...] = ()  # everybody who took it up or ticked a step
    door: bool | None = None  # None: not touched; True: open; False: closed again
    jogged: tuple[str, ...] = ()  # motors that turned by themselves
    technician: str = ""  # who goes on with it now
    mode: str = ""  # the machine's before somebody took it up

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of this way."""
        return SERVICE if self.began.service else STAFF

    @property
    def next(self) -> Step | None:
        """The step whose turn it is; None when the machine is back."""
        return next((step for step in self.steps if step not in self.done), None)

    @property
    def open(self) -> str:
        """What is to be done next, in words; empty when the machine is back."""
        if self.next is None:
            return ""
        if self.began.service and not self.technician:
            return "begin: a technician takes it up"
        return f"{self.next.name.lower()}: {self.next.value}"


def begin(
    dossier: int,
    slot: str,
    by: str,
    *,
    service: bool,
    expected: int | None,
    has_door: bool,
    motors: tuple[str, ...] = (),
) -> Began:
    """Begin a way."""
    return Began(dossier, slot, by, service, expected, has_door, motors)


def begin_of(dossier: Dossier, by: str, *, service: bool) -> Began:
    """Begin the way of a dossier: what is asked on it depends on the machine."""
    machine = dossier.machine
    return begin(
        dossier.number, machine.slot, by, service=service, expected=dossier.account.expected,
        has_door=BY_HAND not in machine.capabilities, motors=motors_of(machine.kind, machine.capabilities),
    )  # fmt: skip


def motors_of(kind: str, capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return the motors of a machine that its firmware can turn one by one."""
    messages = {sf.KIND: sf, sh.KIND: sh}[kind]
    return tuple(motor.name.lower() for motor in messages.Motor) if messages.JOGS in capabilities else ()


def take_up(progress: Way, by: str, mode: str = "") -> tuple[Way, list[StepEvent]]:
    """Somebody goes on with a way; nothing that was done is lost."""
    if progress.technician == by:
        return progress, []
    event = TakenUp(progress.began.dossier, by, progress.mode if progress.technician else mode)
    return _after_taking_up(progress, event), [event]


def leave(progress: Way) -> tuple[Way, list[StepEvent]]:
    """Whoever goes on with a way leaves it."""
    if not progress.technician:
        raise StepRefused(f"nobody goes on with dossier {progress.began.dossier}")
    event = Left(progress.began.dossier, progress.technician)
    return msgspec.structs.replace(progress, technician=""), [event]


def replay(events: Iterable[StepEvent]) -> Way | None:
    """Return how far it has come, from what was journaled; None if nobody has begun."""
    progress: Way | None = None
    for event in events:
        match event:
            case Began():
                progress = Way(event)
            case TakenUp() if progress is not None:
                progress = _after_taking_up(progress, event)
            case Left() if progress is not None:
                progress = msgspec.structs.replace(progress, technician="")
            case Shown() if progress is not None:
                progress = _after_showing(progress, event.evidence)
            case Ticked() if progress is not None:
                progress = _after_tick(progress, event)
            case Undone() if progress is not None:
                progress = _after_undo(progress, event)
    return progress


def take(progress: Way, shown: Evidence, by: str) -> tuple[Way, list[StepEvent]]:
    """Take evidence: tick the steps whose turn it is and that it proves, or undo what it disproves.

    A fault of the machine needs a technician: before one has taken it up, nothing that the machine shows ticks a step.
    """
    number = progress.began.dossier
    undo = _disproved(progress, shown)
    if undo is not None:
        progress = _after_undo(progress, undo)
        return (_after_showing(progress, shown), [undo]) if isinstance(shown, DoorMoved) else (progress, [undo])
    if progress.began.service and not progress.technician:
        return progress, []
    events: list[StepEvent] = []
    before = progress
    progress = _after_showing(progress, shown)
    if progress != before and progress.next in (Step.CLEAR, Step.MOTOR_JOG):
        events.append(Shown(number, by, shown))
    while progress.next is not None and _lacking(progress, progress.next, shown) is None:
        tick = Ticked(number, progress.next, by, shown)
        progress = _after_tick(progress, tick)
        events.append(tick)
        if not isinstance(shown, Tested):  # where motors are not turned by themselves, one test proves both
            break
    return progress, events


def _disproved(progress: Way, shown: Evidence) -> Undone | None:
    """Return what evidence undoes, if it does."""
    number = progress.began.dossier
    match shown:
        case Faulted() if progress.done or progress.door is not None or progress.jogged:
            return Undone(number, Step.CLEAR, f"the machine said {shown.what}")
        case DoorMoved(open=True) if Step.PATH_EMPTY in progress.done:
            return Undone(number, Step.PATH_EMPTY, "the door was opened")
        case Looked(dark=dark) if dark and Step.PATH_EMPTY in progress.done and Step.RETURN not in progress.done:
            return Undone(number, Step.PATH_EMPTY, f"sensor {dark[0]} is dark")
        case Jogged(turned=False) if shown.motor in progress.jogged:
            return Undone(number, Step.MOTOR_JOG, f"motor {shown.motor} did not turn")
    return None


def must_tick(progress: Way, step: Step, shown: Evidence, by: str) -> tuple[Way, list[StepEvent]]:
    """Tick one step by its evidence; StepRefused says what is missing."""
    if step not in progress.steps:
        raise StepRefused(f"{step.name.lower()} is no step of this way: people of the table may clear it")
    if progress.next is not step:
        turn = (
            "all is done"
            if progress.next is None
            else f"the next step is {progress.next.name.lower()}: {progress.next.value}"
        )
        raise StepRefused(f"it is not the turn of {step.name.lower()}; {turn}")
    if progress.began.service and not progress.technician:
        raise StepRefused(f"{step.name.lower()}: nobody has taken dossier {progress.began.dossier} up (--step begin)")
    lacking = _lacking(progress, step, shown)
    if lacking is not None:
        raise StepRefused(f"{step.name.lower()}: {lacking}")
    return take(progress, shown, by)


def _after_tick(progress: Way, tick: Ticked) -> Way:
    people = progress.people if tick.by in progress.people else (*progress.people, tick.by)
    return msgspec.structs.replace(progress, done=(*progress.done, tick.step), people=people)


def _after_taking_up(progress: Way, event: TakenUp) -> Way:
    people = progress.people if event.by in progress.people else (*progress.people, event.by)
    return msgspec.structs.replace(progress, technician=event.by, people=people, mode=event.mode)


def _after_showing(progress: Way, shown: Evidence) -> Way:
    match shown:
        case DoorMoved():
            return msgspec.structs.replace(progress, door=shown.open)
        case Jogged(turned=True) if progress.next is Step.MOTOR_JOG and shown.motor not in progress.jogged:
            return msgspec.structs.replace(progress, jogged=(*progress.jogged, shown.motor))
    return progress


def _after_undo(progress: Way, undo: Undone) -> Way:
    kept = progress.steps[: progress.steps.index(undo.step)]
    done = tuple(step for step in progress.done if step in kept)
    return msgspec.structs.replace(
        progress, done=done, jogged=(), door=None if undo.step is Step.CLEAR else progress.door
    )


def wanted(progress: Way, step: Step) -> str:
    """Return the evidence that a step needs, for people."""
    match step:
        case Step.CLEAR:
            return "the door opened and closed, then Cleared" if progress.began.has_door else "Cleared"
        case Step.PATH_EMPTY:
            return "the machine's sensor levels, none of the path dark"
        case Step.SENSOR_TEST:
            return "SelfTested, no sensor bad"
        case Step.MOTOR_JOG if progress.began.motors:
            left = [motor for motor in progress.began.motors if motor not in progress.jogged]
            return f"Jogged, turned: {', '.join(left or progress.began.motors)}"
        case Step.MOTOR_JOG:
            return "its firmware turns no motor by itself: in its place SelfTested, no motor bad"
        case Step.ONE_CARD:
            return "one card counted in and out"
        case Step.FULL_DECK | Step.COUNT:
            return f"{_deck(progress)} cards"
        case Step.RETURN:
            return f"the credential of a {RETURNS} who ticked no step"


def _deck(progress: Way) -> str:
    return "as many" if progress.began.expected is None else str(progress.began.expected)


def _lacking(progress: Way, step: Step, shown: Evidence) -> str | None:
    """Return what is missing for a step to tick, or None if this proves it."""
    expected = progress.began.expected
    match step, shown:
        case Step.CLEAR, Emptied():
            untouched = progress.began.has_door and progress.door is not False
            return "nobody has opened the door, cleared the path and closed it again" if untouched else None
        case Step.PATH_EMPTY, Looked():
            return f"sensor {shown.dark[0]} is dark" if shown.dark else None
        case Step.SENSOR_TEST, Tested():
            return f"{shown.bad_sensors} sensors did not pass" if shown.bad_sensors else None
        case Step.MOTOR_JOG, Tested() if not progress.began.motors:
            return f"{shown.bad_motors} motors did not pass" if shown.bad_motors else None
        case Step.MOTOR_JOG, Jogged() if progress.began.motors:
            if not shown.turned:
                return f"motor {shown.motor} did not turn, and drew {shown.current} mA"
            left = [motor for motor in progress.began.motors if motor not in (*progress.jogged, shown.motor)]
            return f"not turned yet: {', '.join(left)}" if left else None
        case Step.ONE_CARD, Moved():
            return None if shown.cards == 1 else f"{shown.cards} cards went through, not one"
        case Step.FULL_DECK, Moved():
            return (
                None if shown.cards == expected else f"{shown.cards} cards went through, {_deck(progress)} should have"
            )
        case Step.COUNT, Counted():
            return (
                None
                if shown.cards == expected
                else f"{shown.cards} cards were counted, {_deck(progress)} should be there"
            )
        case Step.RETURN, Returned():
            if shown.role != RETURNS:
                return f"a {RETURNS} returns it to service, not a {shown.role}"
            same = shown.by in (*progress.people, progress.began.by)
            return f"{shown.by} has worked on it; a second person answers for it" if same else None
        case _:
            return f"it ticks by {wanted(progress, step)}"
