"""The way back to service: no tick without its evidence or out of its turn, and the same state from its events."""

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
    st.Step.SENSOR_TEST: st.Tested(0, 1),
    st.Step.MOTOR_TEST: st.Tested(0, 0),
    st.Step.ONE_CARD: st.Moved(1),
    st.Step.FULL_DECK: st.Moved(53),
    st.Step.COUNT: st.Counted(53, TECHNICIAN),
    st.Step.RETURN: st.Returned(FLOOR, "floorperson"),
}


def way_of(*, service: bool = True, has_door: bool = True) -> tuple[st.Way, list[st.StepEvent]]:
    events: list[st.StepEvent] = [
        st.begin(4, "shuffler.1", TECHNICIAN, service=service, expected=53, has_door=has_door)
    ]
    way = st.replay(events)
    assert way is not None
    return way, events


def go(way: st.Way, events: list[st.StepEvent], *steps: st.Step) -> st.Way:
    for step in steps:
        if step is st.Step.CLEAR:
            for is_open in (True, False):
                way, more = st.take(way, st.DoorMoved(is_open), TECHNICIAN)
                assert more == []
        way, ticked = st.must_tick(way, step, PROOFS[step], FLOOR if step is st.Step.RETURN else TECHNICIAN)
        assert [tick.step for tick in ticked if isinstance(tick, st.Ticked)] == [step]
        events += ticked
    return way


def test_the_whole_way_ticks_in_order_and_ends() -> None:
    way, events = way_of()
    way = go(way, events, *st.SERVICE)
    assert way.next is None
    assert way.people == (TECHNICIAN, FLOOR)


@pytest.mark.parametrize("step", st.SERVICE)
@pytest.mark.parametrize("proof", st.SERVICE)
def test_no_step_ticks_by_the_evidence_of_another(step: st.Step, proof: st.Step) -> None:
    way, events = way_of()
    way = go(way, events, *st.SERVICE[: st.SERVICE.index(step)])
    way, _ = st.take(way, st.DoorMoved(False), TECHNICIAN)
    tests_both = {step, proof} == {st.Step.SENSOR_TEST, st.Step.MOTOR_TEST} and PROOFS[proof] == st.Tested(0, 0)
    if step is proof or tests_both:
        st.must_tick(way, step, PROOFS[proof], FLOOR)
    else:
        with pytest.raises(StepRefused):
            st.must_tick(way, step, PROOFS[proof], FLOOR)
        after, ticked = st.take(way, PROOFS[proof], FLOOR)
        assert (after.done, ticked) == (way.done, [])


@pytest.mark.parametrize("step", st.SERVICE[1:])
def test_no_step_ticks_before_its_turn(step: st.Step) -> None:
    way, _ = way_of()
    with pytest.raises(StepRefused, match="not the turn"):
        st.must_tick(way, step, PROOFS[step], FLOOR)


@pytest.mark.parametrize(
    ("step", "shown", "says"),
    [
        (st.Step.CLEAR, st.Emptied(), "nobody has opened the door"),
        (st.Step.PATH_EMPTY, st.Looked(("lift",)), "sensor lift is dark"),
        (st.Step.SENSOR_TEST, st.Tested(2, 0), "2 sensors"),
        (st.Step.MOTOR_TEST, st.Tested(0, 1), "1 motors"),
        (st.Step.ONE_CARD, st.Moved(2), "not one"),
        (st.Step.FULL_DECK, st.Moved(52), "53 should have"),
        (st.Step.COUNT, st.Counted(52, TECHNICIAN), "53 should be there"),
        (st.Step.RETURN, st.Returned("d-1", "dealer"), "not a dealer"),
        (st.Step.RETURN, st.Returned(TECHNICIAN, "floorperson"), "second person"),
    ],
)
def test_a_step_whose_evidence_is_bad_says_what_is_missing(step: st.Step, shown: st.Evidence, says: str) -> None:
    way, events = way_of()
    way = go(way, events, *st.SERVICE[: st.SERVICE.index(step)])
    with pytest.raises(StepRefused, match=says):
        st.must_tick(way, step, shown, FLOOR)


def test_one_self_test_ticks_sensors_and_motors() -> None:
    way, events = way_of()
    way = go(way, events, st.Step.CLEAR, st.Step.PATH_EMPTY)
    way, ticked = st.take(way, st.Tested(0, 0), TECHNICIAN)
    assert [tick.step for tick in ticked if isinstance(tick, st.Ticked)] == [st.Step.SENSOR_TEST, st.Step.MOTOR_TEST]


def test_a_new_fault_begins_the_way_anew_and_an_open_door_undoes_what_it_can_disturb() -> None:
    way, events = way_of()
    way = go(way, events, *st.SERVICE[:5])
    opened, undone = st.take(way, st.DoorMoved(True), TECHNICIAN)
    assert opened.next is st.Step.PATH_EMPTY
    assert [type(event) for event in undone] == [st.Undone]
    jammed, undone = st.take(way, st.Faulted("Jam"), TECHNICIAN)
    assert (jammed.next, jammed.done) == (st.Step.CLEAR, ())
    assert undone == [st.Undone(4, st.Step.CLEAR, "the machine said Jam")]


def test_an_interruption_has_fewer_steps_than_a_fault_of_the_machine() -> None:
    way, events = way_of(service=False)
    way = go(way, events, *st.STAFF)
    assert way.next is None
    with pytest.raises(StepRefused, match="people of the table"):
        st.must_tick(way_of(service=False)[0], st.Step.SENSOR_TEST, st.Tested(0, 0), TECHNICIAN)


def test_after_every_event_the_way_can_be_taken_up_again_from_what_was_written() -> None:
    way, events = way_of()
    written = msgspec.json.Decoder(list[st.StepEvent])
    for step in st.SERVICE[:6]:
        way = go(way, events, step)
        again = st.replay(written.decode(msgspec.json.encode(events)))
        assert again is not None
        assert (again.done, again.people, again.began, again.next) == (way.done, way.people, way.began, way.next)
    way, undone = st.take(way, st.Faulted("Jam"), TECHNICIAN)
    again = st.replay(written.decode(msgspec.json.encode([*events, *undone])))
    assert again is not None
    assert again.done == ()


def test_a_machine_without_a_door_is_cleared_without_one() -> None:
    way, _ = way_of(has_door=False)
    assert st.must_tick(way, st.Step.CLEAR, st.Emptied(), TECHNICIAN)[0].done == (st.Step.CLEAR,)


def test_a_machines_own_events_are_the_evidence() -> None:
    assert st.evidence_of(sf.Completed(7, 53, 1000, sf.Mode.SHUFFLE, rejected=False)) == st.Moved(53)
    assert st.evidence_of(sf.Completed(7, 53, 1000, sf.Mode.SHUFFLE, rejected=True)) is None
    assert st.evidence_of(sf.SelfTested(7, 0b1010, 0b1)) == st.Tested(2, 1)
    assert st.evidence_of(sh.Door(True)) == st.DoorMoved(True)
    assert st.evidence_of(sh.Unbalanced(None, 53, 52)) == st.Faulted("Unbalanced")
    assert st.evidence_of(sf.Intake(True)) is None
    assert st.looked([Level("gate", True, 110, 500), Level("lift", True, 110, 500)]) == st.Looked(("lift",))
