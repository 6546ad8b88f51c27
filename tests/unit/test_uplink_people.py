"""MQTT names people by their roles: no item of any step has a credential, not even in a sentence."""

from __future__ import annotations

import msgspec
import pytest

from table_controller.rulebook import GAMES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Decision, Finding, RequestRefused
from table_controller.uplink.event_mapping import map_step
from table_controller.uplink.event_types import FindingItem
from tests.support.core.all_inputs import PEOPLE, all_inputs
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import IdealTable

PHASES = (mc.IDLE, mc.BETTING, mc.DEALING, mc.PLAYING)


def credentials_in(event: ev.Event, decisions: list[Decision]) -> set[str]:
    """Return the credentials that the items of a step name."""
    published = msgspec.json.encode(map_step(event, decisions, 1).items).decode()
    return {who.credential for who in PEOPLE if who.credential in published}


@pytest.mark.parametrize("game", GAMES)
def test_no_item_of_any_input_has_a_credential(game: str) -> None:
    named = 0
    for phase in PHASES:
        floor = IdealTable(game)
        floor.bets = {1, 3}
        floor.start("blue", "red")
        floor.round()
        if phase != mc.IDLE:
            floor.play_to(phase)
        before = floor.table.snapshot()
        for event in all_inputs(floor):
            floor.table.restore(before)
            decisions = floor.table.step(event)
            assert credentials_in(event, decisions) == set(), (phase, event)
            texts = " ".join(
                each.text if isinstance(each, Finding) else each.what
                for each in decisions
                if isinstance(each, Finding | RequestRefused)
            )
            named += any(who.credential in texts for who in PEOPLE)
    assert named > 0, "no sentence of the journal named anybody: this test would show nothing"


def test_a_withdrawn_claim_is_published_with_the_role_of_who_answered() -> None:
    floor = BettingTable("687a-progressive-1").play_to_settling().until_asked("progressive")
    floor.answer_prompt("progressive", "three_of_a_kind")
    floor.until_asked("hit_hand")
    floor.answer_prompt("hit_hand", "not_winning")
    event, decisions = floor.log[-1]
    (finding,) = [each for each in decisions if isinstance(each, Finding) and each.kind == "claim_withdrawn"]
    (item,) = [each for each in map_step(event, decisions, 1).items if isinstance(each, FindingItem)]
    assert isinstance(event, ev.Answer)
    assert event.who.credential in finding.text
    assert item.text == finding.text.replace(event.who.credential, event.who.role)
