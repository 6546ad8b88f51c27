"""Which steps a return to service has, in which order, and which evidence completes each: a state machine.

Every change is an event that is recorded; replaying the events restores the state after an interruption. A fault that
table staff may clear has fewer steps than a machine fault. The procedure of a machine fault begins automatically, and
its steps are completed only after a technician is assigned.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

import msgspec

from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from firmware_bridge.errors import StepRefused
from table_controller.diagnosis.card_paths import BY_HAND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.diagnosis.fault_report import FaultReport, Level


class ReturnStep(Enum):
    """The steps, in order. The texts are stored in files: do not change them."""

    CLEAR = "take every card off the path, close the door, have the machine empty itself"
    PATH_EMPTY = "see that every sensor of the path is clear"
    SENSOR_TEST = "have the machine test its sensors"
    MOTOR_JOG = "turn every motor by itself"
    ONE_CARD = "send one card through"
    FULL_DECK = "send the whole deck through, in test mode"
    COUNT = "count the deck by hand"
    RETURN = "a second person returns it to service"


SERVICE_STEPS: Final = tuple(ReturnStep)
STAFF_STEPS: Final = (ReturnStep.CLEAR, ReturnStep.PATH_EMPTY, ReturnStep.COUNT, ReturnStep.RETURN)
# Who may return a machine to service.
RETURNING_ROLE: Final = "floorperson"
# Sensors at piles, not on the path.
_PILES: Final = ("intake", "gate", "well", "slot")


# --- evidence ---------------------------------------------------------------------------------------------------------


class DoorMoved(msgspec.Struct, frozen=True, tag="DoorMoved"):
    """The door was opened or closed."""

    open: bool


class Emptied(msgspec.Struct, frozen=True, tag="Emptied"):
    """The machine's path was clear and it emptied itself."""


class SensorsRead(msgspec.Struct, frozen=True, tag="SensorsRead"):
    """The sensors were read; `dark` are the dark ones of the path."""

    dark: tuple[str, ...]


class Tested(msgspec.Struct, frozen=True, tag="Tested"):
    """A self-test ended: the number of failed sensors and motors."""

    bad_sensors: int
    bad_motors: int


class MotorJogged(msgspec.Struct, frozen=True, tag="MotorJogged"):
    """One motor was jogged: its current (mA), and whether it turned."""

    motor: str
    reverse: bool
    current: int
    turned: bool


class CardsMoved(msgspec.Struct, frozen=True, tag="CardsMoved"):
    """Cards passed through, as many out as in, and no deck was rejected."""

    cards: int


class DeckCounted(msgspec.Struct, frozen=True, tag="DeckCounted"):
    """A person counted the deck by hand."""

    cards: int
    by: str


class Returned(msgspec.Struct, frozen=True, tag="Returned"):
    """A person signed for the return to service."""

    by: str
    role: str


class FaultedAgain(msgspec.Struct, frozen=True, tag="FaultedAgain"):
    """The machine halted again, or its link was lost: earlier evidence is void."""

    what: str


# Evidence from a machine or a person.
Evidence = DoorMoved | Emptied | SensorsRead | Tested | MotorJogged | CardsMoved | DeckCounted | Returned | FaultedAgain


def evidence_of(event: object) -> Evidence | None:
    """Return the evidence in an event of a shuffler or shoe; None if there is none."""
    match event:
        case sf.Door() | sh.Door():
            return DoorMoved(event.open)
        case sf.Cleared() | sh.Cleared():
            return Emptied()
        case sf.SelfTested() | sh.SelfTested():
            return Tested(event.bad_sensors.bit_count(), event.bad_motors.bit_count())
        case sf.Jogged() | sh.Jogged():
            return MotorJogged(event.motor.name.lower(), event.reverse, event.current, event.turned)
        case sf.Completed():  # a machine that identifies cards rejects a single card, which is accepted here
            return None if event.rejected and event.count != 1 else CardsMoved(event.count)
        case sf.Counted() | sf.Delivered() | sh.Dispensed() | sh.Stub() | sh.RoundEnded():
            return CardsMoved(event.count)
        case sf.Jam() | sf.Fault() | sf.Incomplete() | sf.Stopped() | sh.Jam() | sh.Fault() | sh.Stopped():
            return FaultedAgain(type(event).__name__)
        case sh.Unbalanced() | sh.ShortStack():
            return FaultedAgain(type(event).__name__)
        case _:
            return None


def sensors_read(levels: Iterable[Level]) -> SensorsRead:
    """Return the evidence in sensor levels."""
    return SensorsRead(tuple(x.sensor for x in levels if x.blocked and x.threshold and x.sensor not in _PILES))


# --- events -----------------------------------------------------------------------------------------------------------


class ReturnBegan(msgspec.Struct, frozen=True, tag="ReturnBegan"):
    """The procedure began: automatically with a machine fault (`by` is empty), or by a person."""

    report: int
    slot: str
    by: str
    service: bool  # a machine fault; otherwise table staff may clear it
    expected: int | None
    has_door: bool
    motors: tuple[str, ...] = ()  # motors that can be jogged; none if the firmware cannot


class TechnicianAssigned(msgspec.Struct, frozen=True, tag="TechnicianAssigned"):
    """A technician was assigned; `mode` is the machine's mode before, to be restored at the end."""

    report: int
    by: str
    mode: str = ""


class TechnicianLeft(msgspec.Struct, frozen=True, tag="TechnicianLeft"):
    """The assigned technician left; completed steps are kept."""

    report: int
    by: str


class EvidenceShown(msgspec.Struct, frozen=True, tag="EvidenceShown"):
    """Part of a step's evidence arrived."""

    report: int
    by: str
    evidence: Evidence


class StepCompleted(msgspec.Struct, frozen=True, tag="StepCompleted"):
    """A step was completed by this evidence."""

    report: int
    step: ReturnStep
    by: str
    evidence: Evidence


class StepsUndone(msgspec.Struct, frozen=True, tag="StepsUndone"):
    """This step and all later ones must be done again."""

    report: int
    step: ReturnStep
    why: str


# The recorded events of a return to service.
ReturnEvent = ReturnBegan | TechnicianAssigned | TechnicianLeft | EvidenceShown | StepCompleted | StepsUndone


class ReturnProgress(msgspec.Struct, frozen=True):
    """The progress of one return to service. `door`: opened and closed again since the last halt."""

    began: ReturnBegan
    done: tuple[ReturnStep, ...] = ()
    people: tuple[str, ...] = ()  # all who were assigned or completed a step
    door: bool | None = None  # None: not opened; True: open; False: closed again
    jogged: tuple[str, ...] = ()  # motors that turned in a jog
    technician: str = ""  # the assigned technician
    mode: str = ""  # the machine's mode before the assignment

    @property
    def steps(self) -> tuple[ReturnStep, ...]:
        """The steps of this procedure."""
        return SERVICE_STEPS if self.began.service else STAFF_STEPS

    @property
    def next(self) -> ReturnStep | None:
        """The next step; None when the machine is back in service."""
        return next((step for step in self.steps if step not in self.done), None)

    @property
    def next_text(self) -> str:
        """The next step as text; empty when the machine is back in service."""
        if self.next is None:
            return ""
        if self.began.service and not self.technician:
            return "begin: a technician starts the return to service"
        return f"{self.next.name.lower()}: {self.next.value}"


def begin(
    report: int,
    slot: str,
    by: str,
    *,
    service: bool,
    expected: int | None,
    has_door: bool,
    motors: tuple[str, ...] = (),
) -> ReturnBegan:
    """Return the event that begins a procedure."""
    return ReturnBegan(report, slot, by, service, expected, has_door, motors)


def begin_of(report: FaultReport, by: str, *, service: bool) -> ReturnBegan:
    """Return the event that begins the procedure of a fault report; its details depend on the machine."""
    machine = report.machine
    return begin(
        report.number, machine.slot, by, service=service, expected=report.account.expected,
        has_door=BY_HAND not in machine.capabilities, motors=motors_of(machine.kind, machine.capabilities),
    )  # fmt: skip


def motors_of(kind: str, capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return the motors that the machine's firmware can jog."""
    messages = {sf.KIND: sf, sh.KIND: sh}[kind]
    return tuple(motor.name.lower() for motor in messages.Motor) if messages.JOGS in capabilities else ()


def assign_technician(progress: ReturnProgress, by: str, mode: str = "") -> tuple[ReturnProgress, list[ReturnEvent]]:
    """Assign a technician; completed steps are kept."""
    if progress.technician == by:
        return progress, []
    event = TechnicianAssigned(progress.began.report, by, progress.mode if progress.technician else mode)
    return _after_taking_up(progress, event), [event]


def leave_procedure(progress: ReturnProgress) -> tuple[ReturnProgress, list[ReturnEvent]]:
    """End the assignment of the technician."""
    if not progress.technician:
        raise StepRefused(f"no technician is assigned to fault report {progress.began.report}")
    event = TechnicianLeft(progress.began.report, progress.technician)
    return msgspec.structs.replace(progress, technician=""), [event]


def replay(events: Iterable[ReturnEvent]) -> ReturnProgress | None:
    """Return the progress from recorded events; None if there are none."""
    progress: ReturnProgress | None = None
    for event in events:
        match event:
            case ReturnBegan():
                progress = ReturnProgress(event)
            case TechnicianAssigned() if progress is not None:
                progress = _after_taking_up(progress, event)
            case TechnicianLeft() if progress is not None:
                progress = msgspec.structs.replace(progress, technician="")
            case EvidenceShown() if progress is not None:
                progress = _after_showing(progress, event.evidence)
            case StepCompleted() if progress is not None:
                progress = _after_tick(progress, event)
            case StepsUndone() if progress is not None:
                progress = _after_undo(progress, event)
    return progress


def apply_evidence(progress: ReturnProgress, shown: Evidence, by: str) -> tuple[ReturnProgress, list[ReturnEvent]]:
    """Apply evidence: complete the next steps that it proves, or undo the steps that it disproves.

    A machine fault needs a technician: before one is assigned, evidence completes no step.
    """
    number = progress.began.report
    undo = _disproved(progress, shown)
    if undo is not None:
        progress = _after_undo(progress, undo)
        return (_after_showing(progress, shown), [undo]) if isinstance(shown, DoorMoved) else (progress, [undo])
    if progress.began.service and not progress.technician:
        return progress, []
    events: list[ReturnEvent] = []
    before = progress
    progress = _after_showing(progress, shown)
    if progress != before and progress.next in (ReturnStep.CLEAR, ReturnStep.MOTOR_JOG):
        events.append(EvidenceShown(number, by, shown))
    while progress.next is not None and _lacking(progress, progress.next, shown) is None:
        tick = StepCompleted(number, progress.next, by, shown)
        progress = _after_tick(progress, tick)
        events.append(tick)
        if not isinstance(shown, Tested):  # without jogging, one self-test proves sensors and motors
            break
    return progress, events


def _disproved(progress: ReturnProgress, shown: Evidence) -> StepsUndone | None:
    """Return the event that undoes disproved steps; None if there are none."""
    number = progress.began.report
    match shown:
        case FaultedAgain() if progress.done or progress.door is not None or progress.jogged:
            return StepsUndone(number, ReturnStep.CLEAR, f"the machine reported {shown.what}")
        case DoorMoved(open=True) if ReturnStep.PATH_EMPTY in progress.done:
            return StepsUndone(number, ReturnStep.PATH_EMPTY, "the door was opened")
        case SensorsRead(dark=dark) if (
            dark and ReturnStep.PATH_EMPTY in progress.done and ReturnStep.RETURN not in progress.done
        ):
            return StepsUndone(number, ReturnStep.PATH_EMPTY, f"sensor {dark[0]} is dark")
        case MotorJogged(turned=False) if shown.motor in progress.jogged:
            return StepsUndone(number, ReturnStep.MOTOR_JOG, f"motor {shown.motor} did not turn")
    return None


def complete_step(
    progress: ReturnProgress, step: ReturnStep, shown: Evidence, by: str
) -> tuple[ReturnProgress, list[ReturnEvent]]:
    """Complete one step by its evidence; StepRefused names what is missing."""
    if step not in progress.steps:
        raise StepRefused(f"{step.name.lower()} is not a step here: table staff may clear this fault")
    if progress.next is not step:
        turn = (
            "all is done"
            if progress.next is None
            else f"the next step is {progress.next.name.lower()}: {progress.next.value}"
        )
        raise StepRefused(f"{step.name.lower()} is not the next step; {turn}")
    if progress.began.service and not progress.technician:
        raise StepRefused(
            f"{step.name.lower()}: no technician is assigned to fault report {progress.began.report} (--step begin)"
        )
    lacking = _lacking(progress, step, shown)
    if lacking is not None:
        raise StepRefused(f"{step.name.lower()}: {lacking}")
    return apply_evidence(progress, shown, by)


def _after_tick(progress: ReturnProgress, tick: StepCompleted) -> ReturnProgress:
    people = progress.people if tick.by in progress.people else (*progress.people, tick.by)
    return msgspec.structs.replace(progress, done=(*progress.done, tick.step), people=people)


def _after_taking_up(progress: ReturnProgress, event: TechnicianAssigned) -> ReturnProgress:
    people = progress.people if event.by in progress.people else (*progress.people, event.by)
    return msgspec.structs.replace(progress, technician=event.by, people=people, mode=event.mode)


def _after_showing(progress: ReturnProgress, shown: Evidence) -> ReturnProgress:
    match shown:
        case DoorMoved():
            return msgspec.structs.replace(progress, door=shown.open)
        case MotorJogged(turned=True) if progress.next is ReturnStep.MOTOR_JOG and shown.motor not in progress.jogged:
            return msgspec.structs.replace(progress, jogged=(*progress.jogged, shown.motor))
    return progress


def _after_undo(progress: ReturnProgress, undo: StepsUndone) -> ReturnProgress:
    kept = progress.steps[: progress.steps.index(undo.step)]
    done = tuple(step for step in progress.done if step in kept)
    return msgspec.structs.replace(
        progress, done=done, jogged=(), door=None if undo.step is ReturnStep.CLEAR else progress.door
    )


def required_evidence(progress: ReturnProgress, step: ReturnStep) -> str:
    """Return the evidence that a step needs, as text."""
    match step:
        case ReturnStep.CLEAR:
            return "the door opened and closed, then Cleared" if progress.began.has_door else "Cleared"
        case ReturnStep.PATH_EMPTY:
            return "the machine's sensor levels, no sensor of the path dark"
        case ReturnStep.SENSOR_TEST:
            return "SelfTested, no bad sensor"
        case ReturnStep.MOTOR_JOG if progress.began.motors:
            left = [motor for motor in progress.began.motors if motor not in progress.jogged]
            return f"Jogged, turned: {', '.join(left or progress.began.motors)}"
        case ReturnStep.MOTOR_JOG:
            return "its firmware cannot jog: SelfTested, no bad motor"
        case ReturnStep.ONE_CARD:
            return "one card counted in and out"
        case ReturnStep.FULL_DECK | ReturnStep.COUNT:
            return f"{_deck(progress)} cards"
        case ReturnStep.RETURN:
            return f"the signature of a {RETURNING_ROLE} who completed no other step"


def _deck(progress: ReturnProgress) -> str:
    return "as many" if progress.began.expected is None else str(progress.began.expected)


def _lacking(progress: ReturnProgress, step: ReturnStep, shown: Evidence) -> str | None:
    """Return what is missing to complete a step; None if the evidence proves it."""
    expected = progress.began.expected
    match step, shown:
        case ReturnStep.CLEAR, Emptied():
            untouched = progress.began.has_door and progress.door is not False
            return "nobody has opened the door, cleared the path and closed it again" if untouched else None
        case ReturnStep.PATH_EMPTY, SensorsRead():
            return f"sensor {shown.dark[0]} is dark" if shown.dark else None
        case ReturnStep.SENSOR_TEST, Tested():
            return f"{shown.bad_sensors} sensors did not pass" if shown.bad_sensors else None
        case ReturnStep.MOTOR_JOG, Tested() if not progress.began.motors:
            return f"{shown.bad_motors} motors did not pass" if shown.bad_motors else None
        case ReturnStep.MOTOR_JOG, MotorJogged() if progress.began.motors:
            if not shown.turned:
                return f"motor {shown.motor} did not turn, and drew {shown.current} mA"
            left = [motor for motor in progress.began.motors if motor not in (*progress.jogged, shown.motor)]
            return f"not turned yet: {', '.join(left)}" if left else None
        case ReturnStep.ONE_CARD, CardsMoved():
            return None if shown.cards == 1 else f"{shown.cards} cards went through, not one"
        case ReturnStep.FULL_DECK, CardsMoved():
            return (
                None if shown.cards == expected else f"{shown.cards} cards went through, {_deck(progress)} should have"
            )
        case ReturnStep.COUNT, DeckCounted():
            return (
                None
                if shown.cards == expected
                else f"{shown.cards} cards were counted, {_deck(progress)} should be there"
            )
        case ReturnStep.RETURN, Returned():
            if shown.role != RETURNING_ROLE:
                return f"a {RETURNING_ROLE} returns it to service, not a {shown.role}"
            same = shown.by.casefold() in {by.casefold() for by in (*progress.people, progress.began.by)}
            return f"{shown.by} has worked on it; a second person must sign" if same else None
        case _:
            return f"it needs {required_evidence(progress, step)}"
