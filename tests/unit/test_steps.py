"""Return to service: no step completes without its evidence or out of turn; replayed events give the same state."""

from __future__ import annotations

import msgspec
import pytest

from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from firmware_bridge.errors import StepRefused
from table_controller.diagnosis import steps as st
from table_controller.diagnosis.dossier import Level

TECHNICIAN, FLOOR = "t-7", "f-2"
PROOFS: dict[st.Step, st.Evidence] = {
    st.Step.CLEAR: st.Emptied(),
    st.Step.PATH_EMPTY: st.Looked(()),
    st.Step.SENSOR_TEST: st.Tested(0, 0),
    st.Step.MOTOR_JOG: st.Jogged("eject", False, 310, True),
    st.Step.ONE_CARD: st.Moved(1),
    st.Step.FULL_DECK: st.Moved(53),
    st.Step.COUNT: st.Counted(53, TECHNICIAN),
    st.Step.RETURN: st.Returned(FLOOR, "floorperson"),
}


MOTORS = ("feed", "transport", "elevator", "eject")


def begun(*, motors: tuple[str, ...] = MOTORS) -> tuple[st.Way, list[st.StepEvent]]:
    """Return a procedure that a fault began."""
    began = st.begin(4, "shuffler.1", "", service=True, expected=53, has_door=True, motors=motors)
    procedure = st.replay([began])
    assert procedure is not None
    return procedure, [began]


def way_of(
    *, service: bool = True, has_door: bool = True, motors: tuple[str, ...] = MOTORS
) -> tuple[st.Way, list[st.StepEvent]]:
    """Return a procedure that a technician has taken over."""
    by = "" if service else TECHNICIAN
    began = st.begin(4, "shuffler.1", by, service=service, expected=53, has_door=has_door, motors=motors)
    procedure, taken = st.take_up(st.Way(began), TECHNICIAN) if service else (st.Way(began), [])
    return procedure, [began, *taken]


def go(procedure: st.Way, events: list[st.StepEvent], *steps: st.Step) -> st.Way:
    for step in steps:
        if step is st.Step.CLEAR:
            for is_open in (True, False):
                procedure, more = st.take(procedure, st.DoorMoved(is_open), TECHNICIAN)
                assert more == [st.Shown(4, TECHNICIAN, st.DoorMoved(is_open))]
                events += more
        if step is st.Step.MOTOR_JOG:
            for motor in MOTORS[:-1]:
                procedure, more = st.take(procedure, st.Jogged(motor, False, 310, True), TECHNICIAN)
                assert not [event for event in more if isinstance(event, st.Ticked)], "every motor, not one"
                events += more
        procedure, ticked = st.must_tick(procedure, step, PROOFS[step], FLOOR if step is st.Step.RETURN else TECHNICIAN)
        assert [tick.step for tick in ticked if isinstance(tick, st.Ticked)] == [step]
        events += ticked
    return procedure


def test_the_whole_way_ticks_in_order_and_ends() -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE)
    assert procedure.next is None
    assert procedure.people == (TECHNICIAN, FLOOR)


@pytest.mark.parametrize("step", st.SERVICE)
@pytest.mark.parametrize("proof", st.SERVICE)
def test_no_step_ticks_by_the_evidence_of_another(step: st.Step, proof: st.Step) -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE[: st.SERVICE.index(step)])
    procedure, _ = st.take(procedure, st.DoorMoved(False), TECHNICIAN)
    if step is proof and step is not st.Step.MOTOR_JOG:
        st.must_tick(procedure, step, PROOFS[proof], FLOOR)
    else:
        with pytest.raises(StepRefused):
            st.must_tick(procedure, step, PROOFS[proof], FLOOR)
        after, ticked = st.take(procedure, PROOFS[proof], FLOOR)
        assert after.done == procedure.done
        assert not [event for event in ticked if isinstance(event, st.Ticked)]


@pytest.mark.parametrize("step", st.SERVICE[1:])
def test_no_step_ticks_before_its_turn(step: st.Step) -> None:
    procedure, _ = way_of()
    with pytest.raises(StepRefused, match="not the turn"):
        st.must_tick(procedure, step, PROOFS[step], FLOOR)


@pytest.mark.parametrize(
    ("step", "shown", "message"),
    [
        (st.Step.CLEAR, st.Emptied(), "nobody has opened the door"),
        (st.Step.PATH_EMPTY, st.Looked(("lift",)), "sensor lift is dark"),
        (st.Step.SENSOR_TEST, st.Tested(2, 0), "2 sensors"),
        (st.Step.MOTOR_JOG, st.Tested(0, 0), "Jogged, turned: feed, transport, elevator, eject"),
        (st.Step.MOTOR_JOG, st.Jogged("feed", False, 1150, False), "motor feed did not turn, and drew 1150 mA"),
        (st.Step.MOTOR_JOG, st.Jogged("feed", True, 310, True), "not turned yet: transport, elevator, eject"),
        (st.Step.ONE_CARD, st.Moved(2), "not one"),
        (st.Step.FULL_DECK, st.Moved(52), "53 should have"),
        (st.Step.COUNT, st.Counted(52, TECHNICIAN), "53 should be there"),
        (st.Step.RETURN, st.Returned("d-1", "dealer"), "not a dealer"),
        (st.Step.RETURN, st.Returned(TECHNICIAN, "floorperson"), "second person"),
    ],
)
def test_a_step_whose_evidence_is_bad_says_what_is_missing(step: st.Step, shown: st.Evidence, message: str) -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE[: st.SERVICE.index(step)])
    with pytest.raises(StepRefused, match=message):
        st.must_tick(procedure, step, shown, FLOOR)


def test_where_no_motor_can_be_turned_by_itself_one_self_test_ticks_sensors_and_motors_and_the_step_says_so() -> None:
    procedure, events = way_of(motors=())
    procedure = go(procedure, events, st.Step.CLEAR, st.Step.PATH_EMPTY)
    assert "in its place SelfTested" in st.wanted(procedure, st.Step.MOTOR_JOG)
    held, ticked = st.take(procedure, st.Tested(0, 1), TECHNICIAN)
    assert held.next is st.Step.MOTOR_JOG
    with pytest.raises(StepRefused, match="1 motors"):
        st.must_tick(held, st.Step.MOTOR_JOG, st.Tested(0, 1), TECHNICIAN)
    procedure, ticked = st.take(procedure, st.Tested(0, 0), TECHNICIAN)
    assert [tick.step for tick in ticked if isinstance(tick, st.Ticked)] == [st.Step.SENSOR_TEST, st.Step.MOTOR_JOG]


def test_a_motor_that_stalls_after_it_turned_has_to_be_turned_again() -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE[:4])
    procedure, undone = st.take(procedure, st.Jogged("feed", True, 1150, False), TECHNICIAN)
    assert undone == [st.Undone(4, st.Step.MOTOR_JOG, "motor feed did not turn")]
    assert (procedure.next, procedure.jogged) == (st.Step.MOTOR_JOG, ())
    assert st.wanted(procedure, st.Step.MOTOR_JOG) == "Jogged, turned: feed, transport, elevator, eject"


def test_before_a_technician_takes_it_up_nothing_ticks() -> None:
    procedure, _ = begun()
    assert procedure.open == "begin: a technician takes it up"
    for shown in (st.DoorMoved(True), st.DoorMoved(False), st.Emptied()):
        procedure, events = st.take(procedure, shown, "")
        assert (procedure.done, procedure.door, events) == ((), None, [])
    with pytest.raises(StepRefused, match="nobody has taken dossier 4 up"):
        st.must_tick(procedure, st.Step.CLEAR, st.Emptied(), TECHNICIAN)


def test_whoever_took_it_up_has_worked_on_it_also_if_another_went_on() -> None:
    procedure, events = begun()
    procedure, taken = st.take_up(procedure, FLOOR, "shuffle")
    assert st.take_up(procedure, FLOOR)[1] == []
    procedure, left = st.leave(procedure)
    assert procedure.open.startswith("begin")
    with pytest.raises(StepRefused, match="nobody goes on"):
        st.leave(procedure)
    procedure, again = st.take_up(procedure, TECHNICIAN, "sort")
    events += [*taken, *left, *again]
    procedure = go(procedure, events, *st.SERVICE[:-1])
    with pytest.raises(StepRefused, match="second person"):
        st.must_tick(procedure, st.Step.RETURN, st.Returned(FLOOR, "floorperson"), FLOOR)
    procedure, _ = st.must_tick(procedure, st.Step.RETURN, st.Returned("f-9", "floorperson"), "f-9")
    assert (procedure.next, procedure.open, procedure.mode) == (None, "", "sort")
    assert st.replay(events) is not None


def test_a_new_fault_begins_the_way_anew_and_an_open_door_undoes_what_it_can_disturb() -> None:
    procedure, events = way_of()
    procedure = go(procedure, events, *st.SERVICE[:5])
    opened, undone = st.take(procedure, st.DoorMoved(True), TECHNICIAN)
    assert opened.next is st.Step.PATH_EMPTY
    assert [type(event) for event in undone] == [st.Undone]
    jammed, undone = st.take(procedure, st.Faulted("Jam"), TECHNICIAN)
    assert (jammed.next, jammed.done) == (st.Step.CLEAR, ())
    assert undone == [st.Undone(4, st.Step.CLEAR, "the machine said Jam")]


def test_an_interruption_has_fewer_steps_than_a_fault_of_the_machine() -> None:
    procedure, events = way_of(service=False)
    procedure = go(procedure, events, *st.STAFF)
    assert procedure.next is None
    with pytest.raises(StepRefused, match="people of the table"):
        st.must_tick(way_of(service=False)[0], st.Step.SENSOR_TEST, st.Tested(0, 0), TECHNICIAN)


def test_after_every_event_the_way_can_be_taken_up_again_from_what_was_written() -> None:
    procedure, events = way_of()
    written = msgspec.json.Decoder(list[st.StepEvent])
    for step in st.SERVICE[:6]:
        procedure = go(procedure, events, step)
        assert st.replay(written.decode(msgspec.json.encode(events))) == procedure
    procedure, undone = st.take(procedure, st.Faulted("Jam"), TECHNICIAN)
    assert st.replay(written.decode(msgspec.json.encode([*events, *undone]))) == procedure
    assert (procedure.done, procedure.door, procedure.jogged) == ((), None, ())


def test_a_machine_without_a_door_is_cleared_without_one() -> None:
    procedure, _ = way_of(has_door=False)
    assert st.must_tick(procedure, st.Step.CLEAR, st.Emptied(), TECHNICIAN)[0].done == (st.Step.CLEAR,)


def test_a_machines_own_events_are_the_evidence() -> None:
    assert st.evidence_of(sf.Completed(7, 53, 1000, sf.Mode.SHUFFLE, rejected=False)) == st.Moved(53)
    assert st.evidence_of(sf.Completed(7, 53, 1000, sf.Mode.SHUFFLE, rejected=True)) is None
    assert st.evidence_of(sf.Completed(7, 1, 1000, sf.Mode.SHUFFLE, rejected=True)) == st.Moved(1)
    assert st.evidence_of(sf.SelfTested(7, 0b1010, 0b1)) == st.Tested(2, 1)
    assert st.evidence_of(sh.Door(True)) == st.DoorMoved(True)
    assert st.evidence_of(sf.Jogged(7, sf.Motor.FEED, True, 310, True)) == st.Jogged("feed", True, 310, True)
    assert st.motors_of("shuffler", [sf.COUNTS, sf.JOGS]) == MOTORS
    assert st.motors_of("shoe", [sh.DISPENSES]) == ()
    assert st.evidence_of(sh.Unbalanced(None, 53, 52)) == st.Faulted("Unbalanced")
    assert st.evidence_of(sf.Intake(True)) is None
    assert st.looked([Level("gate", True, 110, 500), Level("lift", True, 110, 500)]) == st.Looked(("lift",))
