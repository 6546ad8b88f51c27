"""The periodic face check: people inspect the faces after a number of rounds, and the deck waits for it."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Prompt
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of, findings, found_irregularity, refusal_text

EVERY = 2


def unchecked() -> IdealTable:
    """Return a table whose deck is due for its face check; the question is open."""
    floor = IdealTable("saigon_5_card", two_decks=False, face_check_rounds=EVERY)
    floor.start("blue")
    floor.override = lambda d: [] if isinstance(d, Prompt) and d.kind == "face_check" else None
    for _ in range(EVERY):
        assert not floor.prompts("face_check")
        floor.round()
    return floor


def test_the_faces_of_a_deck_are_looked_at_after_so_many_rounds_before_it_is_shuffled() -> None:
    floor = unchecked()
    assert floor.deck().state == mc.RACK
    assert floor.prompt("face_check").role == "floorperson"
    assert floor.keys("shuffle", "shuffler.1", "blue") >= {"faces_due"}
    assert floor.keys("open_bets", deck="blue") >= {"faces_due"}
    assert not decisions_of(Command, floor.step(ev.CardsInserted("shuffler.1")))
    assert "floorperson" in refusal_text(floor.answer_prompt("face_check", who=DEALER))
    decided = floor.answer_prompt("face_check", "whole")
    assert [c.act for c in decisions_of(Command, decided)] == ["shuffle"]
    assert findings(decided, "faces_seen")[0].deck == "blue"
    assert "faces_due" not in floor.keys("open_bets", deck="blue")
    assert floor.deck().rounds == []


def test_a_wrong_face_lists_every_round_since_faces_were_seen_and_follows_the_rule_of_a_wrong_count() -> None:
    floor = unchecked()
    assert floor.deck().rounds == [2], "the count of the second shuffle was right, and saw no face"
    decided = floor.answer_prompt("face_check", "not_whole")
    assert findings(decided, "affected_rounds")[0].rounds == (1, 2)
    assert findings(decided, "wrong_cards")[0].deck == "blue"
    assert found_irregularity(decided).trigger == "count_wrong"
    assert not floor.deck().verified


def test_nobody_is_asked_where_no_check_was_submitted() -> None:
    floor = IdealTable("saigon_5_card", two_decks=False).start("blue")
    for _ in range(7):
        floor.round()
    assert floor.phase == mc.IDLE
    assert not [p for _, decisions in floor.log for p in decisions_of(Prompt, decisions) if p.kind == "face_check"]
    assert floor.deck().unseen == []


def test_a_check_after_no_round_at_all_is_refused() -> None:
    with pytest.raises(BadSubmission, match="face_check_rounds = 0 must be at least 1"):
        IdealTable("saigon_5_card", face_check_rounds=0)
