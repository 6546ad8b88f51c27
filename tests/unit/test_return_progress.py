"""Return to service: no step completes without its evidence or out of turn; replayed events give the same state."""

from __future__ import annotations

import msgspec
import pytest

from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from firmware_bridge.errors import StepRefused
from table_controller.diagnosis import return_evidence
from table_controller.diagnosis.fault_report import Level
from table_controller.table import decisions as d
from table_controller.table import return_progress as rp
from table_controller.table import return_steps as st

TECHNICIAN, FLOOR = "t-7", "f-2"
PROOFS: dict[st.ReturnStep, st.Evidence] = {
    st.ReturnStep.CLEAR: st.Emptied(),
    st.ReturnStep.PATH_EMPTY: st.SensorsRead(()),
    st.ReturnStep.SENSOR_TEST: st.Tested(0, 0),
    st.ReturnStep.MOTOR_JOG: st.MotorJogged("eject", False, 310, True),
    st.ReturnStep.ONE_CARD: st.CardsMoved(1),
    st.ReturnStep.FULL_DECK: st.CardsMoved(53),
    st.ReturnStep.COUNT: st.DeckCounted(53, TECHNICIAN),
    st.ReturnStep.RETURN: st.Returned(FLOOR, "floorperson"),
}


MOTORS = ("feed", "transport", "elevator", "eject")


def complete_step(
    progress: rp.ReturnProgress, step: st.ReturnStep, shown: st.Evidence, by: str
) -> tuple[rp.ReturnProgress, list[rp.ReturnDecision]]:
    """Complete a step as a person does; raise StepRefused with the objection."""
    if objection := rp.objection(progress, step, shown):
        raise StepRefused(objection)
    return rp.apply_evidence(progress, shown, by)


def begun(*, motors: tuple[str, ...] = MOTORS) -> tuple[rp.ReturnProgress, list[rp.ReturnDecision]]:
    """Return a procedure that a fault began."""
    began = rp.began(4, "shuffler.1", "", st.Requirements(service=True, expected=53, has_door=True, motors=motors))
    procedure = rp.replay([began])
    assert procedure is not None
    return procedure, [began]


def way_of(
    *, service: bool = True, has_door: bool = True, motors: tuple[str, ...] = MOTORS
) -> tuple[rp.ReturnProgress, list[rp.ReturnDecision]]:
    """Return a procedure that a technician has taken over."""
    by = "" if service else TECHNICIAN
    requires = st.Requirements(service=service, expected=53, has_door=has_door, motors=motors)
    began = rp.began(4, "shuffler.1", by, requires)
    procedure, taken = (
        rp.assign_technician(rp.ReturnProgress(began), TECHNICIAN) if service else (rp.ReturnProgress(began), [])
    )
    return procedure, [began, *taken]


def go(procedure: rp.ReturnProgress, events: list[rp.ReturnDecision], *steps: st.ReturnStep) -> rp.ReturnProgress:
    for step in steps:
        if step is st.ReturnStep.CLEAR:
            for is_open in (True, False):
                procedure, more = rp.apply_evidence(procedure, st.DoorMoved(is_open), TECHNICIAN)
                assert more == [d.EvidenceShown(4, TECHNICIAN, st.DoorMoved(is_open))]
                events += more
        if step is st.ReturnStep.MOTOR_JOG:
            for motor in MOTORS[:-1]:
                procedure, more = rp.apply_evidence(procedure, st.MotorJogged(motor, False, 310, True), TECHNICIAN)
                assert not [event for event in more if isinstance(event, d.StepCompleted)], "every motor, not one"
                events += more
        procedure, ticked = complete_step(
            procedure, step, PROOFS[step], FLOOR if step is st.ReturnStep.RETURN else TECHNICIAN
        )
        assert [tick.step for tick in ticked if isinstance(tick, d.StepCompleted)] == [step]
        events += ticked
    return procedure


def test_all_steps_complete_in_order() -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE_STEPS)
    assert procedure.next is None
    assert procedure.people == (TECHNICIAN, FLOOR)


@pytest.mark.parametrize("step", st.SERVICE_STEPS)
@pytest.mark.parametrize("proof", st.SERVICE_STEPS)
def test_no_step_completes_by_the_evidence_of_another(step: st.ReturnStep, proof: st.ReturnStep) -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE_STEPS[: st.SERVICE_STEPS.index(step)])
    procedure, _ = rp.apply_evidence(procedure, st.DoorMoved(False), TECHNICIAN)
    if step is proof and step is not st.ReturnStep.MOTOR_JOG:
        complete_step(procedure, step, PROOFS[proof], FLOOR)
    else:
        with pytest.raises(StepRefused):
            complete_step(procedure, step, PROOFS[proof], FLOOR)
        after, ticked = rp.apply_evidence(procedure, PROOFS[proof], FLOOR)
        assert after.done == procedure.done
        assert not [event for event in ticked if isinstance(event, d.StepCompleted)]


@pytest.mark.parametrize("step", st.SERVICE_STEPS[1:])
def test_no_step_completes_before_its_turn(step: st.ReturnStep) -> None:
    procedure, _ = way_of()
    with pytest.raises(StepRefused, match="is not the next step"):
        complete_step(procedure, step, PROOFS[step], FLOOR)


@pytest.mark.parametrize(
    ("step", "shown", "message"),
    [
        (st.ReturnStep.CLEAR, st.Emptied(), "nobody has opened the door"),
        (st.ReturnStep.PATH_EMPTY, st.SensorsRead(("lift",)), "sensor lift is dark"),
        (st.ReturnStep.SENSOR_TEST, st.Tested(2, 0), "2 sensors"),
        (st.ReturnStep.MOTOR_JOG, st.Tested(0, 0), "Jogged, turned: feed, transport, elevator, eject"),
        (
            st.ReturnStep.MOTOR_JOG,
            st.MotorJogged("feed", False, 1150, False),
            "motor feed did not turn, and drew 1150 mA",
        ),
        (
            st.ReturnStep.MOTOR_JOG,
            st.MotorJogged("feed", True, 310, True),
            "not turned yet: transport, elevator, eject",
        ),
        (st.ReturnStep.ONE_CARD, st.CardsMoved(2), "not one"),
        (st.ReturnStep.FULL_DECK, st.CardsMoved(52), "53 should have"),
        (st.ReturnStep.COUNT, st.DeckCounted(52, TECHNICIAN), "53 should be there"),
        (st.ReturnStep.RETURN, st.Returned("d-1", "dealer"), "not a dealer"),
        (st.ReturnStep.RETURN, st.Returned(TECHNICIAN, "floorperson"), "second person"),
    ],
)
def test_a_step_with_bad_evidence_names_what_is_missing(step: st.ReturnStep, shown: st.Evidence, message: str) -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE_STEPS[: st.SERVICE_STEPS.index(step)])
    with pytest.raises(StepRefused, match=message):
        complete_step(procedure, step, shown, FLOOR)


def test_without_jog_one_self_test_completes_sensors_and_motors_and_the_step_states_it() -> None:
    procedure, events = way_of(motors=())
    procedure = go(procedure, events, st.ReturnStep.CLEAR, st.ReturnStep.PATH_EMPTY)
    assert "cannot jog: SelfTested" in rp.required_evidence(procedure, st.ReturnStep.MOTOR_JOG)
    held, ticked = rp.apply_evidence(procedure, st.Tested(0, 1), TECHNICIAN)
    assert held.next is st.ReturnStep.MOTOR_JOG
    with pytest.raises(StepRefused, match="1 motors"):
        complete_step(held, st.ReturnStep.MOTOR_JOG, st.Tested(0, 1), TECHNICIAN)
    procedure, ticked = rp.apply_evidence(procedure, st.Tested(0, 0), TECHNICIAN)
    assert [tick.step for tick in ticked if isinstance(tick, d.StepCompleted)] == [
        st.ReturnStep.SENSOR_TEST,
        st.ReturnStep.MOTOR_JOG,
    ]


def test_a_motor_that_stalls_after_it_turned_has_to_be_turned_again() -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE_STEPS[:4])
    procedure, undone = rp.apply_evidence(procedure, st.MotorJogged("feed", True, 1150, False), TECHNICIAN)
    assert undone == [d.StepsUndone(4, st.ReturnStep.MOTOR_JOG, "motor feed did not turn")]
    assert (procedure.next, procedure.jogged) == (st.ReturnStep.MOTOR_JOG, ())
    assert (
        rp.required_evidence(procedure, st.ReturnStep.MOTOR_JOG) == "Jogged, turned: feed, transport, elevator, eject"
    )


def test_no_step_completes_before_a_technician_takes_over() -> None:
    procedure, _ = begun()
    assert procedure.next_text == "begin: a technician starts the return to service"
    for shown in (st.DoorMoved(True), st.DoorMoved(False), st.Emptied()):
        procedure, events = rp.apply_evidence(procedure, shown, "")
        assert (procedure.done, procedure.door, events) == ((), None, [])
    with pytest.raises(StepRefused, match="no technician is assigned to fault report 4"):
        complete_step(procedure, st.ReturnStep.CLEAR, st.Emptied(), TECHNICIAN)


def test_a_person_who_took_part_cannot_be_the_second_person() -> None:
    procedure, events = begun()
    procedure, taken = rp.assign_technician(procedure, FLOOR, "shuffle")
    assert rp.assign_technician(procedure, FLOOR)[1] == []
    procedure, left = rp.leave_procedure(procedure)
    assert procedure.next_text.startswith("begin")
    procedure, again = rp.assign_technician(procedure, TECHNICIAN, "sort")
    events += [*taken, *left, *again]
    procedure = go(procedure, events, *st.SERVICE_STEPS[:-1])
    with pytest.raises(StepRefused, match="second person"):
        complete_step(procedure, st.ReturnStep.RETURN, st.Returned(FLOOR, "floorperson"), FLOOR)
    procedure, _ = complete_step(procedure, st.ReturnStep.RETURN, st.Returned("f-9", "floorperson"), "f-9")
    assert (procedure.next, procedure.next_text, procedure.mode) == (None, "", "sort")
    assert rp.replay(events) is not None


def test_a_new_fault_restarts_the_steps_and_an_open_door_undoes_the_steps_it_can_disturb() -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE_STEPS[:5])
    opened, undone = rp.apply_evidence(procedure, st.DoorMoved(True), TECHNICIAN)
    assert opened.next is st.ReturnStep.PATH_EMPTY
    assert [type(event) for event in undone] == [d.StepsUndone]
    jammed, undone = rp.apply_evidence(procedure, st.FaultedAgain("Jam"), TECHNICIAN)
    assert (jammed.next, jammed.done) == (st.ReturnStep.CLEAR, ())
    assert undone == [d.StepsUndone(4, st.ReturnStep.CLEAR, "the machine reported Jam")]


def test_an_interruption_has_fewer_steps_than_a_fault_of_the_machine() -> None:
    procedure, events = way_of(service=False)
    procedure = go(procedure, events, *st.STAFF_STEPS)
    assert procedure.next is None
    with pytest.raises(StepRefused, match="table staff"):
        complete_step(way_of(service=False)[0], st.ReturnStep.SENSOR_TEST, st.Tested(0, 0), TECHNICIAN)


def test_after_every_event_the_procedure_resumes_from_its_records() -> None:
    procedure, events = way_of()
    written = msgspec.json.Decoder(list[rp.ReturnDecision])
    for step in st.SERVICE_STEPS[:6]:
        procedure = go(procedure, events, step)
        assert rp.replay(written.decode(msgspec.json.encode(events))) == procedure
    procedure, undone = rp.apply_evidence(procedure, st.FaultedAgain("Jam"), TECHNICIAN)
    assert rp.replay(written.decode(msgspec.json.encode([*events, *undone]))) == procedure
    assert (procedure.done, procedure.door, procedure.jogged) == ((), None, ())


def test_a_machine_without_a_door_is_cleared_without_one() -> None:
    procedure, _ = way_of(has_door=False)
    assert complete_step(procedure, st.ReturnStep.CLEAR, st.Emptied(), TECHNICIAN)[0].done == (st.ReturnStep.CLEAR,)


def test_a_machines_own_events_are_the_evidence() -> None:
    assert return_evidence.evidence_of(sf.Completed(7, 53, 1000, sf.Mode.SHUFFLE, rejected=False)) == st.CardsMoved(53)
    assert return_evidence.evidence_of(sf.Completed(7, 53, 1000, sf.Mode.SHUFFLE, rejected=True)) is None
    assert return_evidence.evidence_of(sf.Completed(7, 1, 1000, sf.Mode.SHUFFLE, rejected=True)) == st.CardsMoved(1)
    assert return_evidence.evidence_of(sf.SelfTested(7, 0b1010, 0b1)) == st.Tested(2, 1)
    assert return_evidence.evidence_of(sh.Door(True)) == st.DoorMoved(True)
    jogged = sf.Jogged(7, sf.Motor.FEED, True, 310, True)
    assert return_evidence.evidence_of(jogged) == st.MotorJogged("feed", True, 310, True)
    assert return_evidence.motors_of("shuffler", [sf.COUNTS, sf.JOGS]) == MOTORS
    assert return_evidence.motors_of("shoe", [sh.DISPENSES]) == ()
    assert return_evidence.evidence_of(sh.Unbalanced(None, 53, 52)) == st.FaultedAgain("Unbalanced")
    assert return_evidence.evidence_of(sf.Intake(True)) is None
    assert return_evidence.dark_sensors([Level("gate", True, 110, 500), Level("lift", True, 110, 500)]) == ("lift",)
