"""Return steps in the core: a device with an open step does not return to service, by any request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devices.service import CLEARED, IN_SERVICE, UNVERIFIED
from table_controller.table import events as ev
from table_controller.table.core import Table
from table_controller.table.decisions import RequestRefused
from tests.support.core.ideal_table import FLOOR, TECH, IdealTable, commanded_acts, decisions_of

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision, Prompt

SLOT = "shuffler.1"
STEP = "clear: take every card off the path"


def faulted(floor: IdealTable) -> IdealTable:
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.ReturnStepChanged(SLOT, 4, STEP))
    return floor


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
    floor.step(ev.ReturnStepChanged(SLOT, 4, "count: count the deck by hand", testing=True))
    assert "count the deck" in next_step_of_refusal(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    floor.step(ev.ReturnStepChanged(SLOT, 4, ""))
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


def acknowledgement(floor: IdealTable) -> Prompt:
    """Complete an irregularity's steps up to a person's acknowledgment."""
    for _ in range(20):
        (prompt,) = [prompt for prompt in floor.prompts() if prompt.hold is not None]
        if prompt.kind == "acknowledge":
            return prompt
        floor.answer_prompt(prompt.kind)
    raise AssertionError("no acknowledgement was asked for")


def test_the_acknowledgement_of_an_irregularity_is_refused_and_its_question_stays() -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.IrregularityReported("shuffler_fault", FLOOR, slot=SLOT))
    floor.step(ev.ReturnStepChanged(SLOT, 4, STEP))
    prompt = acknowledgement(floor)
    assert floor.state.slots[SLOT].state == CLEARED
    answer = ev.Answer(prompt.id, prompt.choices[0], FLOOR)
    assert STEP in next_step_of_refusal(floor.step(answer))
    assert prompt.id in floor.state.prompts
    assert floor.state.slots[SLOT].state == CLEARED
    floor.step(ev.ReturnStepChanged(SLOT, 4, ""))
    floor.step(answer)
    assert prompt.id not in floor.state.prompts
    assert floor.state.slots[SLOT].state == UNVERIFIED


def test_a_machine_taken_out_of_service_does_not_block_the_table() -> None:
    floor = IdealTable("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.ReturnStepChanged(SLOT, 4, STEP))
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
