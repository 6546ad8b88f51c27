"""Return steps in the core: a device with an open step does not return to service, by any request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from devices.service import CLEARED, FAULTED, IN_SERVICE, UNVERIFIED
from table_controller.table import decisions as d
from table_controller.table import events as ev
from table_controller.table import return_progress as rp
from table_controller.table import return_steps as st
from table_controller.table.core import Table
from table_controller.table.decisions import RequestRefused, StepsUndone
from table_controller.table.return_steps import Requirements
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, TECH, IdealTable, commanded_acts, decisions_of

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision, Prompt

SLOT = "shuffler.1"
STEP = "begin: a technician starts the return to service"
REQUIRES = Requirements(service=True, expected=53, has_door=False)
STAFF = Requirements(service=False, expected=53, has_door=False)
JOGGED = Requirements(service=True, expected=53, has_door=False, motors=("feed", "lift"))


def diagnosed(floor: IdealTable, requires: Requirements = REQUIRES) -> None:
    floor.step(ev.MachineHalted(SLOT, "jam", 77))
    floor.step(ev.FaultDiagnosed(SLOT, 4, "jam", requires))


def faulted(floor: IdealTable, requires: Requirements = REQUIRES) -> IdealTable:
    floor.step(ev.SlotChanged(SLOT, "fault"))
    diagnosed(floor, requires)
    return floor


def progress(floor: IdealTable) -> rp.ReturnProgress:
    procedure = floor.state.slots[SLOT].return_procedure
    assert isinstance(procedure, rp.ReturnProgress)
    return procedure


def complete(floor: IdealTable, *, until: st.ReturnStep | None = None) -> None:
    """Complete every step of the procedure, or those before one."""
    if progress(floor).began.service:
        floor.step(ev.ReturnTaken(SLOT, 4, TECH, REQUIRES, "shuffle"))
    for step in progress(floor).steps:
        if step is until:
            return
        floor.step(EVIDENCE[step])


EVIDENCE: Final[dict[st.ReturnStep, ev.Event]] = {
    st.ReturnStep.CLEAR: ev.EvidenceReported(SLOT, st.Emptied()),
    st.ReturnStep.PATH_EMPTY: ev.StepReported(SLOT, 4, st.ReturnStep.PATH_EMPTY, TECH, dark=()),
    st.ReturnStep.SENSOR_TEST: ev.EvidenceReported(SLOT, st.Tested(0, 0)),
    st.ReturnStep.MOTOR_JOG: ev.EvidenceReported(SLOT, st.Tested(0, 0)),
    st.ReturnStep.ONE_CARD: ev.EvidenceReported(SLOT, st.CardsMoved(1)),
    st.ReturnStep.FULL_DECK: ev.EvidenceReported(SLOT, st.CardsMoved(53)),
    st.ReturnStep.COUNT: ev.StepReported(SLOT, 4, st.ReturnStep.COUNT, TECH, cards=53),
    st.ReturnStep.RETURN: ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, FLOOR),
}


def refusal(decided: list[Decision]) -> str:
    (refused,) = decisions_of(RequestRefused, decided)
    return " ".join([refused.what, *(f"{reason.key}: {reason.text}" for reason in refused.reasons)])


def next_step_of_refusal(decided: list[Decision]) -> str:
    (refused,) = decisions_of(RequestRefused, decided)
    (reason,) = [reason for reason in refused.reasons if reason.key == "steps_open"]
    return reason.evidence


def test_a_floorpersons_order_is_refused_by_name_of_the_next_step_until_all_are_done() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    floor.step(ev.SlotOrdered(SLOT, "clear", TECH))
    assert f"next, in fault report 4: {STEP}" in next_step_of_refusal(
        floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR))
    )
    assert floor.state.slots[SLOT].state == CLEARED
    complete(floor, until=st.ReturnStep.COUNT)
    assert floor.state.slots[SLOT].is_testing
    assert "count the deck" in next_step_of_refusal(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    floor.step(EVIDENCE[st.ReturnStep.COUNT])
    floor.step(EVIDENCE[st.ReturnStep.RETURN])
    assert commanded_acts(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR))) == ["return_to_service"]


@pytest.mark.parametrize("procedure", ["repair", "vanish", "again"])
def test_no_other_request_returns_the_device(procedure: str) -> None:
    floor = faulted(IdealTable("asia_poker").start())
    if procedure == "repair":
        floor.step(ev.SlotOrdered(SLOT, "give_up", FLOOR))
        floor.clear_holds()
        floor.step(ev.SlotOrdered(SLOT, "repair", TECH))
    elif procedure == "vanish":
        floor.step(ev.SlotChanged(SLOT, "vanish"))
        floor.step(ev.SlotChanged(SLOT, "appear"))
        floor.step(ev.SlotChanged(SLOT, "verify"))
        floor.step(ev.SlotOrdered(SLOT, "clear", TECH))
    else:
        floor.state.slots[SLOT].state = UNVERIFIED
        floor.step(ev.SlotChanged(SLOT, "verify"))
        assert floor.state.slots[SLOT].state == UNVERIFIED, "a good report is no step"
    assert next_step_of_refusal(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    assert floor.state.slots[SLOT].state != IN_SERVICE


def acknowledgment(floor: IdealTable) -> Prompt:
    """Complete an irregularity's steps up to a person's acknowledgment."""
    for _ in range(20):
        (prompt,) = [prompt for prompt in floor.prompts() if prompt.hold is not None]
        if prompt.kind == "acknowledge":
            return prompt
        floor.answer_prompt(prompt.kind)
    raise AssertionError("no acknowledgment was asked for")


def test_the_acknowledgment_of_an_irregularity_is_refused_and_its_question_stays() -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.IrregularityReported("shuffler_fault", FLOOR, slot=SLOT))
    diagnosed(floor)
    prompt = acknowledgment(floor)
    assert floor.state.slots[SLOT].state == CLEARED
    answer = ev.Answer(prompt.id, prompt.choices[0], FLOOR)
    assert STEP in next_step_of_refusal(floor.step(answer))
    assert prompt.id in floor.state.prompts
    assert floor.state.slots[SLOT].state == CLEARED
    complete(floor)
    floor.step(answer)
    assert prompt.id not in floor.state.prompts
    assert floor.state.slots[SLOT].state == UNVERIFIED


def test_a_machine_taken_out_of_service_does_not_block_the_table() -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged(SLOT, "fault"))
    diagnosed(floor)
    floor.step(ev.SlotOrdered(SLOT, "give_up", FLOOR))
    floor.clear_holds()
    assert not floor.state.holds
    assert floor.state.slots[SLOT].return_procedure is not None, "what was not proved is still to be proved"


def test_open_steps_are_part_of_the_state_that_a_restart_brings_back() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    again = Table(floor.table.context.edition, floor.table.context.submission, {})
    again.restore(floor.table.snapshot())
    assert again.state.slots[SLOT].return_procedure == floor.state.slots[SLOT].return_procedure
    assert [reason.key for reason in again.permit("return_to_service", SLOT)] == ["not_cleared", "steps_open"]


# --- the procedure ----------------------------------------------------------------------------------------------------


def test_a_machine_is_kept_out_of_service_from_its_halt_on() -> None:
    floor = IdealTable("asia_poker").start()
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.MachineHalted(SLOT, "jam", 77))
    floor.step(ev.SlotOrdered(SLOT, "clear", TECH))
    assert "the box is recording the fault" in next_step_of_refusal(
        floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR))
    )
    assert "is recording a fault" in refusal(floor.step(ev.ReturnTaken(SLOT, 4, TECH, REQUIRES)))
    floor.step(ev.FaultDiagnosed(SLOT, 4, "jam", STAFF))
    assert floor.state.slots[SLOT].return_procedure is None, "people at the table resolve an interruption"
    assert commanded_acts(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR))) == ["return_to_service"]


def test_a_blocked_path_that_is_no_card_takes_a_machine_out_of_service() -> None:
    floor = IdealTable("asia_poker").start()
    for requires, state in ((STAFF, IN_SERVICE), (REQUIRES, FAULTED)):
        floor.step(ev.MachineHalted(SLOT, "path_blocked", 77))
        floor.step(ev.FaultDiagnosed(SLOT, 4, "path_blocked", requires))
        assert floor.state.slots[SLOT].state == state
        assert (floor.state.slots[SLOT].return_procedure is None) is (state == IN_SERVICE)


@pytest.mark.parametrize("step", st.SERVICE_STEPS)
def test_no_step_is_skipped_by_any_evidence_or_person(step: st.ReturnStep) -> None:
    floor = faulted(IdealTable("asia_poker").start())
    complete(floor, until=step)
    before = progress(floor)
    following = before.next
    assert following is not None
    for later in st.SERVICE_STEPS[st.SERVICE_STEPS.index(following) + 1 :]:
        if EVIDENCE[later] != EVIDENCE[following]:  # without jogging, one self-test proves sensors and motors
            floor.step(EVIDENCE[later])
            assert progress(floor).done == before.done
    for reported in st.ReturnStep:  # a person reports what only a machine can show
        floor.step(ev.StepReported(SLOT, 4, reported, TECH))
        assert progress(floor).done == before.done


def test_only_a_technician_begins_a_machine_fault_and_only_these_roles_work_on_one() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    for who in (DEALER, AUDITOR, FLOOR):
        assert "wrong_role: a technician" in refusal(floor.step(ev.ReturnTaken(SLOT, 4, who, REQUIRES)))
    assert "a technician must" in refusal(floor.step(ev.ReturnTaken(SLOT, 4, FLOOR, STAFF))), "as it began"
    assert "already has an open return to service, of report 4" in refusal(
        floor.step(ev.ReturnTaken(SLOT, 5, TECH, REQUIRES))
    )
    assert "no technician is assigned" in refusal(floor.step(ev.ReturnLeft(SLOT, 4, TECH)))
    complete(floor, until=st.ReturnStep.RETURN)
    for who in (DEALER, AUDITOR):
        assert "wrong_role" in refusal(floor.step(ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, who)))
        assert "wrong_role" in refusal(floor.step(ev.ReturnLeft(SLOT, 4, who)))
    assert "has not begun" in refusal(floor.step(ev.StepReported(SLOT, 5, st.ReturnStep.RETURN, FLOOR)))
    both = ev.Person("floorperson", "F9", TECH.identity)
    assert "second person" in refusal(floor.step(ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, both)))


def test_an_interruption_is_taken_up_by_table_staff_without_test_mode() -> None:
    floor = IdealTable("asia_poker").start()
    floor.step(ev.SlotChanged(SLOT, "fault"))
    assert not decisions_of(RequestRefused, floor.step(ev.ReturnTaken(SLOT, 4, FLOOR, STAFF)))
    assert not floor.state.slots[SLOT].is_testing
    for step in st.STAFF_STEPS[:-1]:
        floor.step(EVIDENCE[step])
    assert "second person" in refusal(floor.step(EVIDENCE[st.ReturnStep.RETURN])), "who began it does not return it"
    floor.step(ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, ev.Person("floorperson", "F9")))
    assert floor.state.slots[SLOT].return_procedure is None
    floor.state.slots[SLOT].state = IN_SERVICE
    assert "needs no return to service" in refusal(floor.step(ev.ReturnTaken(SLOT, 5, TECH, REQUIRES)))


@pytest.mark.parametrize("requires", [REQUIRES, STAFF])
def test_a_fault_during_the_procedure_of_an_interruption_has_a_procedure_of_its_own(requires: Requirements) -> None:
    floor = IdealTable("asia_poker").start()
    floor.step(ev.ReturnTaken(SLOT, 4, FLOOR, STAFF))  # even while the machine is in service
    floor.step(EVIDENCE[st.ReturnStep.CLEAR])
    floor.step(ev.SlotChanged(SLOT, "fault"))
    assert decisions_of(StepsUndone, floor.step(ev.MachineHalted(SLOT, "jam", 78)))
    assert "is recording a fault" in refusal(floor.step(ev.ReturnTaken(SLOT, 4, FLOOR, STAFF)))
    floor.step(ev.FaultDiagnosed(SLOT, 5, "jam", requires))
    assert (progress(floor).fault_report, progress(floor).began.service) == (5, requires.service)
    assert progress(floor).done == ()


def test_test_mode_ends_with_the_last_step_or_when_the_technician_leaves_and_names_the_mode_to_restore() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    began = floor.step(ev.ReturnTaken(SLOT, 4, TECH, REQUIRES, "shuffle"))
    assert decisions_of(d.TestModeChanged, began) == [d.TestModeChanged(SLOT, testing=True)]
    other = ev.Person("technician", "T9")
    assert not decisions_of(d.TestModeChanged, floor.step(ev.ReturnTaken(SLOT, 4, other, REQUIRES, "sort")))
    left = [d.TestModeChanged(SLOT, testing=False, mode="shuffle")]
    assert decisions_of(d.TestModeChanged, floor.step(ev.ReturnLeft(SLOT, 4, other))) == left
    complete(floor, until=st.ReturnStep.RETURN)
    assert decisions_of(d.TestModeChanged, floor.step(EVIDENCE[st.ReturnStep.RETURN])) == left


def test_a_new_halt_undoes_the_steps_and_begins_no_second_procedure() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    complete(floor, until=st.ReturnStep.FULL_DECK)
    floor.step(ev.SlotOrdered(SLOT, "clear", TECH))
    floor.step(ev.SlotChanged(SLOT, "fault"))
    assert floor.state.slots[SLOT].state == FAULTED, "a fault latches in test mode, too"
    floor.step(ev.MachineHalted(SLOT, "jam", 99))
    assert len(decisions_of(StepsUndone, floor.step(ev.EvidenceReported(SLOT, st.FaultedAgain("Jam"))))) == 1
    floor.step(ev.FaultDiagnosed(SLOT, 5, "jam", REQUIRES))
    assert (progress(floor).fault_report, progress(floor).done) == (4, ())


def test_the_steps_of_a_report_that_was_lost_begin_again() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    complete(floor, until=st.ReturnStep.RETURN)
    decided = floor.step(ev.FaultDiagnosed(SLOT, 4, "stopped", REQUIRES))
    assert decisions_of(d.TestModeChanged, decided) == [d.TestModeChanged(SLOT, testing=False, mode="shuffle")]
    assert (progress(floor).done, progress(floor).next_text) == ((), STEP)


def test_the_report_of_a_first_halt_does_not_end_the_recording_of_a_second() -> None:
    floor = IdealTable("asia_poker").start()
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.MachineHalted(SLOT, "jam", 77))
    floor.step(ev.MachineHalted(SLOT, "self_test", 99))
    floor.step(ev.FaultDiagnosed(SLOT, 4, "jam", STAFF, 77))
    assert floor.state.slots[SLOT].return_procedure == rp.FaultRecording("self_test", 99)
    floor.step(ev.SlotOrdered(SLOT, "clear", FLOOR))
    assert "is recording the fault" in next_step_of_refusal(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    floor.step(ev.FaultDiagnosed(SLOT, 5, "self_test", REQUIRES, 99))
    assert progress(floor).fault_report == 5


@pytest.mark.parametrize("order", [(77, 99), (99, 77)])
def test_a_machine_fault_among_two_halts_requires_its_steps_whichever_report_is_closed_first(
    order: tuple[int, int],
) -> None:
    floor = IdealTable("asia_poker").start()
    floor.step(ev.SlotChanged(SLOT, "fault"))
    for at_ns in (77, 99):
        floor.step(ev.MachineHalted(SLOT, "jam", at_ns))
    for at_ns in order:
        floor.step(ev.FaultDiagnosed(SLOT, at_ns, "jam", REQUIRES if at_ns == 77 else STAFF, at_ns))
    assert progress(floor).fault_report == 77


def test_a_failed_self_test_undoes_the_steps_that_an_earlier_one_proved_and_no_others() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    complete(floor, until=st.ReturnStep.SENSOR_TEST)
    before = progress(floor).done
    assert not decisions_of(StepsUndone, floor.step(ev.EvidenceReported(SLOT, st.Tested(1, 0))))
    assert progress(floor).done == before, "it completes no step, and disproves none"
    for step in (st.ReturnStep.SENSOR_TEST, st.ReturnStep.ONE_CARD):
        floor.step(EVIDENCE[step])
    for bad in (st.Tested(1, 0), st.Tested(0, 1)):
        complete(floor, until=st.ReturnStep.RETURN)
        assert len(decisions_of(StepsUndone, floor.step(ev.EvidenceReported(SLOT, bad)))) == 1
        assert progress(floor).done == ()


@pytest.mark.parametrize("absence", ["link", "box"])
def test_evidence_is_void_after_a_time_in_which_nobody_observed_the_machine(absence: str) -> None:
    floor = faulted(IdealTable("asia_poker").start())
    complete(floor, until=st.ReturnStep.RETURN)
    people = progress(floor).people
    gone = floor.step(ev.SlotChanged(SLOT, "vanish") if absence == "link" else ev.BoxStarted(2))
    assert "nobody observed the machine" in decisions_of(StepsUndone, gone)[0].why
    assert (progress(floor).done, progress(floor).people, progress(floor).technician) == ((), people, TECH.identity)
    floor.step(ev.SlotChanged(SLOT, "appear"))
    assert "the next step is clear" in refusal(floor.step(EVIDENCE[st.ReturnStep.RETURN]))
    assert not decisions_of(StepsUndone, floor.step(ev.SlotChanged(SLOT, "vanish"))), "nothing is left to undo"


def test_no_command_goes_to_a_machine_in_service_once_people_begin_its_steps_and_it_is_read_after_the_last() -> None:
    floor = IdealTable("asia_poker")
    floor.loads_shuffler = False
    floor.start("blue")
    floor.step(ev.ReturnTaken(SLOT, 4, FLOOR, STAFF))
    assert floor.state.slots[SLOT].state == UNVERIFIED
    assert not commanded_acts(floor.step(ev.CardsInserted(SLOT)))
    floor.step(ev.IntakeEmptied(SLOT))
    floor.step(ev.SlotChanged(SLOT, "verify"))
    assert floor.state.slots[SLOT].state == UNVERIFIED
    for step in st.STAFF_STEPS[:-1]:
        floor.step(EVIDENCE[step])
    signed = ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, ev.Person("floorperson", "F9"))
    assert commanded_acts(floor.step(signed)) == ["return_to_service"]


def test_the_people_of_a_procedure_are_all_whose_orders_proved_a_step() -> None:
    floor = faulted(IdealTable("asia_poker").start(), requires=JOGGED)
    complete(floor, until=st.ReturnStep.MOTOR_JOG)
    for motor, by in (("feed", "pat"), ("lift", "")):
        floor.step(ev.EvidenceReported(SLOT, st.MotorJogged(motor, False, 300, True), by))
    assert progress(floor).people == (TECH.identity, "pat")
    complete(floor, until=st.ReturnStep.RETURN)
    signed = ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, ev.Person("floorperson", "F2", "pat"))
    assert "a second person must sign" in refusal(floor.step(signed))


def test_the_end_of_a_test_is_refused_while_the_machine_has_something_against_it() -> None:
    floor = faulted(IdealTable("asia_poker").start())
    complete(floor, until=st.ReturnStep.RETURN)
    moving = "its last command has not ended"
    assert moving in refusal(floor.step(ev.StepReported(SLOT, 4, st.ReturnStep.RETURN, FLOOR, obstacle=moving)))
    assert moving in refusal(floor.step(ev.ReturnLeft(SLOT, 4, TECH, moving)))
    assert progress(floor).is_testing


# --- test mode --------------------------------------------------------------------------------------------------------

# Every report of cards that a shuffler or a shoe sends.
CARD_REPORTS: Final[tuple[ev.Event, ...]] = (
    ev.CardsInserted(SLOT), ev.CardsBehindGate(SLOT), ev.IntakeEmptied(SLOT), ev.DeckGivenOut(SLOT),
    ev.ShuffleEnded(SLOT, 53, shuffled=True), ev.ShuffleFailed(SLOT, 3, None), ev.DiscardsTakenIn(SLOT, 53),
    ev.StackInserted(SLOT, 53), ev.ShoeLoaded(SLOT, 53), ev.ShoeEmpty(SLOT), ev.StackOut(SLOT, 7),
    ev.StackTaken(SLOT), ev.CardsDrawn(SLOT, 49),
    ev.StubOut(SLOT, 4), ev.ShoeFault(SLOT, 3), ev.FaceUpSeen(SLOT), ev.CoverCardOut(SLOT),
)  # fmt: skip


def in_test_mode(floor: IdealTable) -> IdealTable:
    assert not decisions_of(RequestRefused, floor.step(ev.TestModeOrdered(SLOT, "begin", TECH, mode="shuffle")))
    return floor


@pytest.mark.parametrize("event", CARD_REPORTS, ids=lambda event: type(event).__name__)
def test_a_machine_in_test_mode_touches_no_card_deck_round_or_bet(event: ev.Event) -> None:
    floor = in_test_mode(IdealTable("asia_poker").start("blue"))
    before = floor.table.snapshot()
    assert floor.table.step(event) == []
    assert floor.table.snapshot() == before
    assert floor.table.ignores(event)


def test_no_doubt_ends_a_test_but_a_fault_does() -> None:
    floor = in_test_mode(IdealTable("asia_poker").start())
    for trigger in ("doubt", "verify", "vanish", "appear", "verify"):
        floor.step(ev.SlotChanged(SLOT, trigger))
        assert floor.state.slots[SLOT].tested_report == 0
        assert floor.state.slots[SLOT].state != IN_SERVICE
    decided = floor.step(ev.SlotChanged(SLOT, "fault"))
    assert decisions_of(d.TestModeChanged, decided) == [d.TestModeChanged(SLOT, testing=False)]
    assert (floor.state.slots[SLOT].state, floor.state.slots[SLOT].tested_report) == (FAULTED, None)
    assert not floor.table.ignores(ev.CardsInserted(SLOT))


def test_test_mode_is_a_technicians_and_needs_an_empty_machine_at_its_begin_and_end() -> None:
    floor = IdealTable("asia_poker").start()
    for who in (DEALER, FLOOR, AUDITOR):
        assert "wrong_role" in refusal(floor.step(ev.TestModeOrdered(SLOT, "begin", who)))
    obstacle = "cards are in its intake"
    assert obstacle in refusal(floor.step(ev.TestModeOrdered(SLOT, "begin", TECH, obstacle)))
    assert "not_tested" in refusal(floor.step(ev.TestModeOrdered(SLOT, "leave", TECH)))
    assert "not_testable" in refusal(floor.step(ev.TestModeOrdered("shaker.1", "begin", TECH)))
    in_test_mode(floor)
    assert "not_testable" in refusal(floor.step(ev.TestModeOrdered(SLOT, "begin", TECH)))
    assert obstacle in refusal(floor.step(ev.TestModeOrdered(SLOT, "leave", TECH, obstacle)))
    for who in (DEALER, FLOOR, AUDITOR):
        assert "wrong_role" in refusal(floor.step(ev.TestModeOrdered(SLOT, "leave", who)))
    decided = floor.step(ev.TestModeOrdered(SLOT, "leave", TECH))
    assert decisions_of(d.TestModeChanged, decided) == [d.TestModeChanged(SLOT, testing=False, mode="shuffle")]
    assert floor.state.slots[SLOT].state == UNVERIFIED
    floor.step(ev.SlotChanged(SLOT, "verify"))
    assert floor.state.slots[SLOT].state == IN_SERVICE


@pytest.mark.parametrize("state", ["unverified", "absent"])
def test_a_tested_machine_that_refused_to_move_for_no_card_has_a_fault_wherever_its_link_is(state: str) -> None:
    floor = in_test_mode(IdealTable("face_up_pai_gow").start())
    floor.step(ev.MachineHalted(SLOT, "path_blocked", 77))
    assert floor.state.slots[SLOT].is_testing
    if state == "absent":
        floor.step(ev.SlotChanged(SLOT, "vanish"))
    decided = floor.step(ev.FaultDiagnosed(SLOT, 4, "path_blocked", REQUIRES, 77))
    assert decisions_of(d.TestModeChanged, decided) == [d.TestModeChanged(SLOT, testing=False)]
    assert progress(floor).fault_report == 4
    floor.step(ev.SlotChanged(SLOT, "appear"))
    floor.step(ev.SlotChanged(SLOT, "verify"))
    assert floor.state.slots[SLOT].state != IN_SERVICE


def test_a_tested_machine_that_refused_to_move_for_a_card_is_tested_on_and_its_refusal_is_part_of_the_state() -> None:
    floor = in_test_mode(IdealTable("face_up_pai_gow").start())
    floor.step(ev.MachineHalted(SLOT, "path_blocked", 77))
    procedure = floor.state.slots[SLOT].return_procedure
    assert rp.recordings(procedure) == (rp.FaultRecording("path_blocked", 77),), "a start closes its report"
    floor.step(ev.FaultDiagnosed(SLOT, 4, "path_blocked", STAFF, 77))
    assert floor.state.slots[SLOT].is_testing
    assert rp.recordings(floor.state.slots[SLOT].return_procedure) == ()
    floor.step(ev.MachineHalted(SLOT, "path_blocked", 88))
    floor.step(ev.SlotChanged(SLOT, "fault"))  # while that is recorded
    assert floor.state.slots[SLOT].return_procedure == rp.FaultRecording("path_blocked", 88)


def test_test_mode_does_not_begin_with_cards_in_the_intake() -> None:
    floor = IdealTable("asia_poker")
    floor.loads_shuffler = False
    floor.start("blue", "red")
    floor.step(ev.CardsInserted(SLOT))
    assert floor.state.slots[SLOT].intake
    assert "holds_cards: cards are in its intake" in refusal(floor.step(ev.TestModeOrdered(SLOT, "begin", TECH)))


def test_test_mode_begins_only_where_the_permits_allow_it() -> None:
    floor = IdealTable("asia_poker").start("blue")
    floor.state.slots[SLOT].deck = "blue"
    assert "holds_cards" in refusal(floor.step(ev.TestModeOrdered(SLOT, "begin", TECH)))


def test_only_cards_of_a_machine_in_test_mode_are_ignored_and_its_next_fault_asks_nobody_about_cards() -> None:
    floor = faulted(IdealTable("asia_poker").start("blue", "red"))
    ignores = floor.table.ignores
    assert not ignores(ev.CardsInserted(SLOT)), "out of service, but not in test mode"
    floor.step(ev.ReturnTaken(SLOT, 4, TECH, REQUIRES, "shuffle"))
    assert ignores(ev.CardsInserted(SLOT))
    assert ignores(ev.SlotChanged(SLOT, "doubt"))
    assert not ignores(ev.SlotChanged(SLOT, "fault"))
    for other in floor.state.slots.keys() - {SLOT}:
        assert not ignores(ev.CardsInserted(other))
        assert not ignores(ev.SlotChanged(other, "doubt"))
    floor.state.slots[SLOT].deck = "blue"
    assert not decisions_of(d.HoldOpened, floor.step(ev.SlotChanged(SLOT, "fault")))
    floor.step(ev.ReturnLeft(SLOT, 4, TECH))
    assert not ignores(ev.CardsInserted(SLOT))
    assert decisions_of(d.HoldOpened, floor.step(ev.SlotChanged(SLOT, "fault")))
