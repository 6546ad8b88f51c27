"""Return steps in the core: a device with an open step does not return to service, by any request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devices.service import CLEARED, IN_SERVICE, UNVERIFIED
from table_controller.table import events as ev
from table_controller.table.core import Table
from table_controller.table.decisions import Refused
from tests.support.core import FLOOR, TECH, Floor, acts, of

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision, Prompt

SLOT = "shuffler.1"
STEP = "clear: take every card off the path"


def faulted(floor: Floor) -> Floor:
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.WayBack(SLOT, 4, STEP))
    return floor


def against(decided: list[Decision]) -> str:
    (refused,) = of(Refused, decided)
    (reason,) = [reason for reason in refused.reasons if reason.key == "steps_open"]
    return reason.evidence


def test_a_floorpersons_order_is_refused_by_name_of_the_next_step_until_all_are_done() -> None:
    floor = faulted(Floor("asia_poker").start())
    floor.step(ev.SlotOrdered(SLOT, "clear", TECH))
    assert f"next in dossier 4: {STEP}" in against(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    assert floor.state.slots[SLOT].state == CLEARED
    floor.step(ev.WayBack(SLOT, 4, "count: count the deck by hand", testing=True))
    assert "count the deck" in against(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    floor.step(ev.WayBack(SLOT, 4, ""))
    assert acts(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR))) == ["return_to_service"]


@pytest.mark.parametrize("procedure", ["repair", "vanish", "again"])
def test_no_other_way_leads_back(procedure: str) -> None:
    floor = faulted(Floor("asia_poker").start())
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
    assert against(floor.step(ev.SlotOrdered(SLOT, "acknowledge", FLOOR)))
    assert floor.state.slots[SLOT].state != IN_SERVICE


def acknowledgement(floor: Floor) -> Prompt:
    """Complete an irregularity's steps up to a person's acknowledgment."""
    for _ in range(20):
        (prompt,) = [prompt for prompt in floor.prompts() if prompt.hold is not None]
        if prompt.kind == "acknowledge":
            return prompt
        floor.say(prompt.kind)
    raise AssertionError("no acknowledgement was asked for")


def test_the_acknowledgement_of_an_irregularity_is_refused_and_its_question_stays() -> None:
    floor = Floor("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.Declared("shuffler_fault", FLOOR, slot=SLOT))
    floor.step(ev.WayBack(SLOT, 4, STEP))
    prompt = acknowledgement(floor)
    assert floor.state.slots[SLOT].state == CLEARED
    answer = ev.Answer(prompt.id, prompt.choices[0], FLOOR)
    assert STEP in against(floor.step(answer))
    assert prompt.id in floor.state.prompts
    assert floor.state.slots[SLOT].state == CLEARED
    floor.step(ev.WayBack(SLOT, 4, ""))
    floor.step(answer)
    assert prompt.id not in floor.state.prompts
    assert floor.state.slots[SLOT].state == UNVERIFIED


def test_a_machine_that_is_given_up_holds_nobody_at_the_table() -> None:
    floor = Floor("asia_poker").start("blue", "red")
    floor.step(ev.SlotChanged(SLOT, "fault"))
    floor.step(ev.WayBack(SLOT, 4, STEP))
    floor.step(ev.SlotOrdered(SLOT, "give_up", FLOOR))
    floor.clear_holds()
    assert not floor.state.holds
    assert floor.state.slots[SLOT].way is not None, "what was not proved is still to be proved"


def test_open_steps_are_part_of_the_state_that_a_restart_brings_back() -> None:
    floor = faulted(Floor("asia_poker").start())
    again = Table(floor.table.context.edition, floor.table.context.submission, {})
    again.restore(floor.table.snapshot())
    assert again.state.slots[SLOT].way == floor.state.slots[SLOT].way
    assert [reason.key for reason in again.permit("return_to_service", SLOT)] == ["not_cleared", "steps_open"]
