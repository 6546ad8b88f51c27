"""High Card: what the table asks, refuses and checks by the clauses of chapter 999a that no irregularity needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import BadHand, BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt, RequestRefused
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    NO_MACHINES,
    IdealTable,
    commanded_acts,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.core.settled_rounds import seat, settle_round, terms
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

GAME = "new_game"
STATED: dict[str, Any] = {"adjacent_boxes": 1}


def by_hand() -> IdealTable:
    """A table without machines: people shuffle, cut, deal and count."""
    return IdealTable(GAME, dealing="manual_shoe", **NO_MACHINES)


def stopped_at(table: IdealTable, kind: str) -> IdealTable:
    """Leave the next question of a kind without an answer."""
    table.override = lambda decision: [] if isinstance(decision, Prompt) and decision.kind == kind else None
    return table


def refusals(event: ev.Event, table: IdealTable) -> dict[str, str]:
    """The reasons against an event, with their clauses."""
    refused = decisions_of(RequestRefused, table.step(event))
    return {reason.key: reason.clause for each in refused for reason in each.reasons}


def asked_in(decided: list[Decision]) -> list[str]:
    """The kinds of the questions among decisions."""
    return [prompt.kind for prompt in decisions_of(Prompt, decided)]


@clauses("999a.2(a)", "999a.7(e)", "999a.8(b)")
@pytest.mark.parametrize(
    ("choices", "clause"),
    [
        ({"adjacent_boxes": 1, "seats": 7}, r"999a\.2\(a\)"),
        ({}, r"999a\.7\(e\)"),
        ({"adjacent_boxes": 1, "dealing": "hand"}, r"999a\.8\(b\)"),
    ],
)
def test_a_submission_outside_the_chapter_is_refused(choices: dict[str, Any], clause: str) -> None:
    assert check_submission(edition(GAME), STATED).seats == 6
    with pytest.raises(BadSubmission, match=clause):
        check_submission(edition(GAME), choices)


@clauses("999a.1:Ante Wager")
def test_nobody_plays_against_the_dealer_without_an_ante() -> None:
    with pytest.raises(BadHand, match="no Ante Wager"):
        settle_round(terms(GAME), seat(1, "As", lucky_card=500), dealer="Kd")


@pytest.mark.parametrize(
    ("kind", "cited"),
    [
        pytest.param("opening/composition", {"999a.3(a)"}, marks=clauses("999a.3(a)")),
        pytest.param("opening/inspect/dealer", {"999a.4(a)"}, marks=clauses("999a.4(a)")),
        pytest.param("opening/wash/dealer", {"999a.4(b)"}, marks=clauses("999a.4(b)")),
        pytest.param("hand_shuffle", {"999a.5(a)"}, marks=clauses("999a.5(a)")),
        pytest.param("cut", {"999a.5(c)"}, marks=clauses("999a.5(c)")),
        pytest.param("put_in_shoe", {"999a.8(a)"}, marks=clauses("999a.8(a)")),
    ],
)
def test_no_round_opens_before_a_step_of_the_deck_is_confirmed(kind: str, cited: set[str]) -> None:
    table = stopped_at(by_hand(), kind).start("blue")
    assert cited <= set(table.prompt(kind).clauses)
    assert refusal_text(table.step(ev.OpenRound(DEALER))) == "open_bets"
    assert table.phase == mc.IDLE


@pytest.mark.parametrize(
    ("kind", "cited"),
    [
        pytest.param(
            "seats", {"999a.7(a)", "999a.7(b)/1", "999a.7(d)(1)"},
            marks=clauses("999a.7(a)", "999a.7(b)/1", "999a.7(d)(1)"),
        ),
        pytest.param("dealt", {"999a.8(c)"}, marks=clauses("999a.8(c)")),
        pytest.param("reveal", {"999a.9(a)"}, marks=clauses("999a.9(a)")),
    ],
)  # fmt: skip
def test_a_round_waits_for_the_people_at_the_table(kind: str, cited: set[str]) -> None:
    table = stopped_at(by_hand().start("blue"), kind)
    table.round()
    assert cited <= set(table.prompt(kind).clauses)
    assert table.phase not in (mc.IDLE, mc.COMPLETE)
    table.override = lambda _: None
    table.answer_prompt(kind, seats=(1, 3) if kind == "seats" else ())
    table.settle()
    assert table.phase == mc.IDLE


@clauses("999a.8(d)")
def test_the_stub_of_every_fifth_round_is_counted_where_nothing_else_counts() -> None:
    table = by_hand().start("blue")
    asked = ["stub" in asked_in(table.round()) for _ in range(5)]
    assert asked == [False, False, False, False, True]


@clauses("999a.3(b)", "999a.3(b)(1)")
def test_a_second_deck_needs_a_shuffler_and_another_color() -> None:
    alone = by_hand().start("blue")
    assert "plays with 1 deck" in refusal_text(alone.step(ev.DeckReceived("red", DEALER)))
    both = IdealTable(GAME, two_decks=True).start("blue")
    assert "999a.3(b)(1)" in refusal_text(both.step(ev.DeckReceived("Blue", DEALER)))
    both.start("red")
    assert set(both.state.decks) == {"blue", "red"}


@clauses("999a.3(c)")
def test_a_deck_is_changed_after_its_hours() -> None:
    table = IdealTable(GAME).start("blue")
    assert not findings(table.step(ev.Due("deck_age/blue/4")), "deck_expired"), "four hours are for the hand"
    assert findings(table.step(ev.Due("deck_age/blue/8")), "deck_expired")
    table.settle()
    assert refusals(ev.OpenRound(DEALER), table)["deck_expired"] == "999a.3(c)"


@clauses("999a.4(c)")
def test_a_preshuffled_deck_is_cut_and_not_spread() -> None:
    table = stopped_at(by_hand(), "cut")
    asked = asked_in(table.play(ev.DeckReceived("blue", DEALER, preshuffled=True)))
    assert "cut" in asked
    assert not {"opening/inspect/dealer", "opening/spread/dealer", "opening/wash/dealer"} & set(asked)


@clauses("999a.5(d)")
def test_an_idle_table_shows_its_deck_again() -> None:
    table = stopped_at(by_hand().start("blue"), "opening/spread/dealer")
    table.play(ev.Ordered("table_idle", FLOOR))
    assert "999a.5(d)" in table.prompt("opening/spread/dealer").clauses
    assert refusal_text(table.step(ev.OpenRound(DEALER))) == "open_bets"


@clauses("999a.5(e)")
def test_a_device_that_shuffles_lifts_the_cut() -> None:
    table = IdealTable(GAME).start("blue")
    table.round()
    decided = [each for _, decisions in table.log for each in decisions]
    assert "shuffle" in commanded_acts(decided)
    assert "cut" not in asked_in(decided)


@clauses("999a.7(b)/2")
def test_the_floorperson_decides_about_the_wagers_of_a_player_who_leaves() -> None:
    table = stopped_at(by_hand().start("blue"), "reveal")
    table.round()
    table.declare("player_leaves", seat=3)
    assert table.prompt("player_left").role == "floorperson"
    assert refusal_text(table.answer_prompt("player_left", who=DEALER)) == "the floorperson must answer this"


@clauses("999a.7(c)")
def test_no_bets_are_taken_after_the_dealer_has_called_no_more() -> None:
    table = stopped_at(by_hand().start("blue"), "reveal")
    table.round()
    assert refusal_text(table.step(ev.NoMoreBets(DEALER))).startswith("no more bets: no bets are open")
    assert refusals(ev.OpenRound(DEALER), table)["round_open"] == "999a.7(c)"
