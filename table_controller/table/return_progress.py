"""The progress of a return to service: the recorded fault, the steps that are done and left, or the end of a test.

Pure: every change is a decision that is recorded. Replaying the decisions restores the progress.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from table_controller.table.decisions import (
    EvidenceShown,
    ReturnBegan,
    StepCompleted,
    StepsUndone,
    TechnicianAssigned,
    TechnicianLeft,
)
from table_controller.table.return_steps import (
    RETURNING_ROLE,
    SERVICE_STEPS,
    STAFF_STEPS,
    CardsMoved,
    DeckCounted,
    DoorMoved,
    Emptied,
    Evidence,
    FaultedAgain,
    MotorJogged,
    Returned,
    ReturnStep,
    SensorsRead,
    Tested,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.table.return_steps import Requirements

# The recorded decisions about one return to service, in the journal and with the fault report.
ReturnDecision = ReturnBegan | TechnicianAssigned | TechnicianLeft | EvidenceShown | StepCompleted | StepsUndone


class FaultRecording(msgspec.Struct, frozen=True, tag=True):
    """The machine halted, and the box records the fault. `at_ns` (wall clock) identifies the report.

    `fault_report` is that of a procedure that was open before: one begins again. An earlier version began it, or it
    was that of an interruption. `earlier` are halts before this one whose reports are not closed yet.
    """

    what: str
    at_ns: int
    fault_report: int = 0
    earlier: tuple[FaultRecording, ...] = ()

    @property
    def next_text(self) -> str:
        """The next step as text."""
        return "report: the box is recording the fault"

    @property
    def is_testing(self) -> bool:
        """Whether the machine is in test mode."""
        return False


class TestMode(msgspec.Struct, frozen=True, tag=True):
    """A machine without a fault is tested; `mode` is the machine's mode before, to be restored at the end.

    `refused`: it refused a motion, which is no fault yet, and the box records that.
    """

    __test__ = False  # not a test class of pytest

    technician: str
    mode: str = ""
    refused: FaultRecording | None = None

    @property
    def fault_report(self) -> int:
        """The number that means: no fault report."""
        return 0

    @property
    def next_text(self) -> str:
        """The next step as text."""
        return "test: a technician leaves test mode"

    @property
    def is_testing(self) -> bool:
        """Whether the machine is in test mode."""
        return True


class ReturnProgress(msgspec.Struct, frozen=True, tag=True):
    """The progress of one return to service. `door`: opened and closed again since the last halt."""

    began: ReturnBegan
    done: tuple[ReturnStep, ...] = ()
    people: tuple[str, ...] = ()  # all who were assigned or completed a step
    door: bool | None = None  # None: not opened; True: open; False: closed again
    jogged: tuple[str, ...] = ()  # motors that turned in a jog
    technician: str = ""  # the assigned technician; while there is one, the machine is in test mode
    mode: str = ""  # the machine's mode before the assignment

    @property
    def fault_report(self) -> int:
        """The number of its fault report."""
        return self.began.report

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

    @property
    def is_testing(self) -> bool:
        """Whether the machine is in test mode."""
        return bool(self.technician)


ReturnProcedure = FaultRecording | ReturnProgress | TestMode
Change = tuple[ReturnProgress, list[ReturnDecision]]


# --- faults that are being recorded -----------------------------------------------------------------------------------


def recordings(procedure: ReturnProcedure | None) -> tuple[FaultRecording, ...]:
    """Return the halts whose reports are not closed yet, the newest last."""
    match procedure:
        case FaultRecording():
            return (*procedure.earlier, msgspec.structs.replace(procedure, earlier=()))
        case TestMode(refused=FaultRecording() as refused):
            return recordings(refused)
        case _:
            return ()


def halted(recording: FaultRecording | None, what: str, at_ns: int) -> FaultRecording:
    """Return the recording after another halt: the newest one, with those before it."""
    before = 0 if recording is None else recording.fault_report
    return FaultRecording(what, at_ns, before, recordings(recording))


def diagnosed(recording: FaultRecording | None, at_ns: int) -> FaultRecording | None:
    """Return what is still being recorded when the report of one halt is closed; 0 closes all, as earlier versions."""
    left = [each for each in recordings(recording) if at_ns and each.at_ns not in (0, at_ns)]
    return msgspec.structs.replace(left[-1], earlier=tuple(left[:-1])) if left else None


# --- the steps --------------------------------------------------------------------------------------------------------


def began(report: int, slot: str, by: str, requires: Requirements) -> ReturnBegan:
    """Return the decision that begins a procedure: with the fault (`by` is empty), or by a person."""
    return ReturnBegan(report, slot, by, requires.service, requires.expected, requires.has_door, requires.motors)


def replay(decisions: Iterable[ReturnDecision]) -> ReturnProgress | None:
    """Return the progress from recorded decisions; None if there are none."""
    progress: ReturnProgress | None = None
    for each in decisions:
        match each:
            case ReturnBegan():
                progress = ReturnProgress(each)
            case TechnicianAssigned() if progress is not None:
                progress = _after_taking_up(progress, each)
            case TechnicianLeft() if progress is not None:
                progress = msgspec.structs.replace(progress, technician="")
            case EvidenceShown() if progress is not None:
                progress = _after_showing(progress, each.evidence, each.by)
            case StepCompleted() if progress is not None:
                progress = _after_tick(progress, each)
            case StepsUndone() if progress is not None:
                progress = _after_undo(progress, each)
    return progress


# --- people -----------------------------------------------------------------------------------------------------------


def assign_technician(progress: ReturnProgress, by: str, mode: str = "") -> Change:
    """Assign a technician; completed steps are kept."""
    if progress.technician == by:
        return progress, []
    decision = TechnicianAssigned(progress.began.report, by, progress.mode if progress.technician else mode)
    return _after_taking_up(progress, decision), [decision]


def leave_procedure(progress: ReturnProgress) -> Change:
    """End the assignment of the technician; completed steps are kept."""
    decision = TechnicianLeft(progress.began.report, progress.technician)
    return msgspec.structs.replace(progress, technician=""), [decision]


def objection(progress: ReturnProgress, step: ReturnStep, shown: Evidence | None) -> str:
    """Return why a person cannot complete a step by this evidence; empty if it does. None: the person shows none."""
    name, number = step.name.lower(), progress.began.report
    if step not in progress.steps:
        return f"{name} is not a step here: table staff may clear this fault"
    if progress.next is not step:
        following = progress.next
        turn = "all is done" if following is None else f"the next step is {following.name.lower()}: {following.value}"
        return f"{name} is not the next step; {turn}"
    if progress.began.service and not progress.technician:
        return f"{name}: no technician is assigned to fault report {number} (--step begin)"
    if shown is None:
        return f"{name} completes when the machine reports it: {required_evidence(progress, step)}"
    lacking = _lacking(progress, step, shown)
    return "" if lacking is None else f"{name}: {lacking}"


# --- evidence ---------------------------------------------------------------------------------------------------------


def apply_evidence(progress: ReturnProgress, shown: Evidence, by: str) -> Change:
    """Apply evidence: complete the next steps that it proves, or undo the steps that it disproves.

    A machine fault needs a technician: before one is assigned, evidence completes no step.
    """
    number = progress.began.report
    undo = _disproved(progress, shown)
    if undo is not None:
        progress = _after_undo(progress, undo)
        return (_after_showing(progress, shown, ""), [undo]) if isinstance(shown, DoorMoved) else (progress, [undo])
    if progress.began.service and not progress.technician:
        return progress, []
    decisions: list[ReturnDecision] = []
    after = _after_showing(progress, shown, "")
    if after != progress and progress.next in (ReturnStep.CLEAR, ReturnStep.MOTOR_JOG):
        decisions.append(EvidenceShown(number, by, shown))
        after = _with_person(after, by)
    progress = after
    while progress.next is not None and _lacking(progress, progress.next, shown) is None:
        tick = StepCompleted(number, progress.next, by, shown)
        progress = _after_tick(progress, tick)
        decisions.append(tick)
        if not isinstance(shown, Tested):  # without jogging, one self-test proves sensors and motors
            break
    return progress, decisions


def _disproved(progress: ReturnProgress, shown: Evidence) -> StepsUndone | None:
    """Return the event that undoes disproved steps; None if there are none."""
    number = progress.began.report
    match shown:
        case FaultedAgain() if progress.done or progress.door is not None or progress.jogged:
            return StepsUndone(number, ReturnStep.CLEAR, f"the machine reported {shown.what}")
        case Tested() if _has_failed_a_passed_test(progress, shown):
            return StepsUndone(number, ReturnStep.CLEAR, "the machine did not pass another self-test")
        case DoorMoved(open=True) if ReturnStep.PATH_EMPTY in progress.done:
            return StepsUndone(number, ReturnStep.PATH_EMPTY, "the door was opened")
        case SensorsRead(dark=dark) if (
            dark and ReturnStep.PATH_EMPTY in progress.done and ReturnStep.RETURN not in progress.done
        ):
            return StepsUndone(number, ReturnStep.PATH_EMPTY, f"sensor {dark[0]} is dark")
        case MotorJogged(turned=False) if shown.motor in progress.jogged:
            return StepsUndone(number, ReturnStep.MOTOR_JOG, f"motor {shown.motor} did not turn")
    return None


def _has_failed_a_passed_test(progress: ReturnProgress, shown: Tested) -> bool:
    """Return whether a self-test failed in what a completed step had proved: that is a new fault."""
    sensors = shown.bad_sensors and ReturnStep.SENSOR_TEST in progress.done
    return bool(sensors or (shown.bad_motors and (progress.jogged or ReturnStep.MOTOR_JOG in progress.done)))


def void_evidence(progress: ReturnProgress, why: str) -> Change:
    """Undo every step: nobody observed the machine."""
    if not (progress.done or progress.door is not None or progress.jogged):
        return progress, []
    undo = StepsUndone(progress.began.report, ReturnStep.CLEAR, why)
    return _after_undo(progress, undo), [undo]


def _with_person(progress: ReturnProgress, by: str) -> ReturnProgress:
    """Return the progress with a person who has worked on it."""
    known = not by or by in progress.people
    return progress if known else msgspec.structs.replace(progress, people=(*progress.people, by))


def _after_tick(progress: ReturnProgress, tick: StepCompleted) -> ReturnProgress:
    return _with_person(msgspec.structs.replace(progress, done=(*progress.done, tick.step)), tick.by)


def _after_taking_up(progress: ReturnProgress, event: TechnicianAssigned) -> ReturnProgress:
    return _with_person(msgspec.structs.replace(progress, technician=event.by, mode=event.mode), event.by)


def _after_showing(progress: ReturnProgress, shown: Evidence, by: str) -> ReturnProgress:
    progress = _with_person(progress, by)
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
            same = shown.by in (*progress.people, progress.began.by)
            return "this person has worked on it; a second person must sign" if same else None
        case _:
            return f"it needs {required_evidence(progress, step)}"
