"""Wagers of Saigon 5 Card and DJ Wild: what is required, what may be offered, when they close; section 7."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.errors import BadHand, BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.chapters import (
    GAMES,
    each,
    ignore,
    open_prompt_kinds,
    reasons_by_key,
    table,
    table_without_machines,
)
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, TECH, commanded_acts, findings, refusal_text
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

CHAPTERS = {game: chapter for chapter, game in GAMES.items()}
# Five cards of a player and of the dealer, and the wagers that a hand must have.
HANDS = {"saigon_5_card": ("Ks Qs Js 5s 2s", "Kh Kd Kc 8s 7h"), "dj_wild": ("9s 9h 9d 7s 4s", "Qd Jc 8c 6c 4d")}
REQUIRED: dict[str, dict[str, int]] = {
    "saigon_5_card": {"ante": 500},
    "dj_wild": {"ante": 500, "blind": 500, "raise": 1000},
}


def plain(game: str, **choices: Any) -> SettlementTerms:
    rules = edition(game)
    return SettlementTerms(rules, check_submission(rules, {"adjacent_boxes": 1, **choices}))


def objection(at: SettlementTerms, game: str, **wagers: int) -> str:
    cards, dealer = HANDS[game]
    with pytest.raises(BadHand) as caught:
        settle_round(at, seat(1, cards, **wagers), dealer=dealer)
    return str(caught.value)


# --- what must and what may be wagered --------------------------------------------------------------------------------


@each("680a.1:Ante Wager", "680a.7(d)(1)", "687a.1:Ante Wager", "687a.1:Blind Wager")
def test_nobody_is_dealt_in_before_the_required_wagers_are_entered(game: str) -> None:
    floor = ignore(table(game).start(), "seats").play_to(mc.NO_MORE_BETS)
    prompt = floor.prompt("seats")
    assert (prompt.role, prompt.clauses[0]) == ("dealer", f"{CHAPTERS[game]}.7(d)(1)")
    reasons = reasons_by_key(floor, "dispense", "shoe.1", "blue", cards=5)
    assert reasons["seats_not_entered"] == f"{CHAPTERS[game]}.7(d)(1)"
    floor.settle()
    assert (floor.phase, floor.round_.dealt) == (mc.NO_MORE_BETS, 0)
    floor.play(ev.Answer(prompt.id, "done", DEALER, seats=(5, 2)), until=lambda _: floor.phase == mc.PLAYING)
    assert floor.round_.dealt == 3 * 5, "two seats and the dealer"


@clauses("680a.1:Ante Wager", "687a.1:Ante Wager", "687a.1:Blind Wager")
@pytest.mark.parametrize(
    ("game", "wager", "name"),
    [("saigon_5_card", "ante", "Ante"), ("dj_wild", "ante", "Ante"), ("dj_wild", "blind", "Blind")],
)
def test_a_hand_without_a_required_wager_is_not_settled(game: str, wager: str, name: str) -> None:
    remaining = {key: cents for key, cents in REQUIRED[game].items() if key != wager}
    assert f"no {name} Wager ({CHAPTERS[game]}.7(d)(1))" in objection(terms(game), game, **remaining)


@each("680a.1:Ante Wager", "680a.7(d)(1)", "687a.1:Ante Wager", "687a.1:Blind Wager")
def test_without_any_wager_the_round_ends_before_a_card(game: str) -> None:
    floor = ignore(table(game).start(), "seats").play_to(mc.NO_MORE_BETS)
    floor.play(ev.Answer(floor.prompt("seats").id, "nobody", DEALER))
    assert (floor.phase, floor.deck().state) == (mc.IDLE, mc.READY)
    assert "dispense" not in [act for _, decided in floor.log for act in commanded_acts(decided)]


OPTIONAL = [
    pytest.param("saigon_5_card", "bonus", 4500, None, "680a.7(d)(2)", marks=clauses("680a.1:Bonus Wager"), id="bonus"),
    pytest.param(
        "dj_wild", "trips", 1800, "687a-trips-DJWT-04", "687a.7(d)(3)", marks=clauses("687a.1:Trips Bonus Wager"),
        id="trips",
    ),
    pytest.param(
        "dj_wild", "bad_beat", 0, "687a-badbeat-DJWBB-01", "687a.7(d)(4)",
        marks=clauses("687a.1:Two-Way Bad Beat Bonus Wager"), id="bad_beat",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("game", "wager", "paid", "paytable", "clause"), OPTIONAL)
def test_an_option_is_taken_where_it_is_offered_and_forced_on_nobody(
    game: str, wager: str, paid: int, paytable: str | None, clause: str
) -> None:
    cents, (cards, dealer) = 300, HANDS[game]
    assert clause in objection(plain(game), game, **REQUIRED[game], **{wager: cents}), "not offered, not taken"
    offered: dict[str, Any] = {"wagers": [wager]} | ({"paytables": {wager: paytable}} if paytable else {})
    at = plain(game, **offered)
    without = settle_round(at, seat(1, cards, **REQUIRED[game]), dealer=dealer)
    assert wager not in {each_.wager for each_ in without}
    assert [each_.outcome for each_ in without] == [
        each_.outcome for each_ in settle_round(plain(game), seat(1, cards, **REQUIRED[game]), dealer=dealer)
    ]
    also = only_result(settle_round(at, seat(1, cards, **REQUIRED[game], **{wager: cents}), dealer=dealer), wager)
    assert (also.paid_cents, also.outcome) == (paid, "wins" if paid else "loses")
    assert "Wager" in objection(at, game, **{wager: cents}), "an option does not stand in for what is required"


@each("680a.7(a)", "687a.7(a)")
def test_by_entering_the_seats_the_dealer_confirms_chips_and_no_cash(game: str) -> None:
    floor = ignore(table_without_machines(game).start(), "seats").play_to(mc.NO_MORE_BETS)
    prompt = floor.prompt("seats")
    assert "chips_only" in prompt.evidence
    assert f"{CHAPTERS[game]}.7(a)" in prompt.clauses
    for who in (FLOOR, TECH, AUDITOR):
        assert "the dealer must answer this" in refusal_text(floor.step(ev.Answer(prompt.id, "done", who, seats=(1,))))
    assert floor.round_.seats == ()


@each("680a.7(b)/1", "687a.7(b)/1")
def test_only_seated_players_wager_and_their_seats_are_bound_until_the_round_ends(game: str) -> None:
    floor = ignore(table_without_machines(game).start(), "seats", "dealt").play_to(mc.NO_MORE_BETS)
    prompt = floor.prompt("seats")
    assert ("seated" in prompt.evidence, f"{CHAPTERS[game]}.7(b)/1" in prompt.clauses) == (True, True)
    floor.play(ev.Answer(prompt.id, "done", DEALER, seats=(2, 4)))
    assert "no longer open" in refusal_text(floor.step(ev.Answer(prompt.id, "done", DEALER, seats=(2, 4, 6))))
    assert (open_prompt_kinds(floor), floor.round_.seats) == (["dealt"], (2, 4))
    floor.override = lambda _: None
    floor.play_to(mc.PLAYING)
    assert "needs a seat whose hand is in play" in refusal_text(floor.declare("player_leaves", seat=3))
    floor.declare("player_leaves", seat=4)
    left = floor.prompt("player_left")
    assert (left.role, left.seat, left.choices) == ("floorperson", 4, ("abandoned", "plays_on"))
    assert "the floorperson must answer this" in refusal_text(floor.step(ev.Answer(left.id, "abandoned", DEALER)))
    ignore(floor, "player_left")
    floor.settle()
    assert floor.phase == mc.SETTLING, "the round does not end over the head of a player who left"
    decided = floor.answer_prompt("player_left", "abandoned")
    assert f"({CHAPTERS[game]}.7(b)/2)" in findings(decided, "abandoned")[0].text
    floor.settle()
    assert floor.phase == mc.IDLE


# --- when wagers close ------------------------------------------------------------------------------------------------


@each("680a.7(c)", "687a.7(c)")
def test_after_the_call_nothing_is_placed_raised_or_withdrawn(game: str) -> None:
    floor = ignore(table_without_machines(game).start(), "seats", "dealt").play_to(mc.BETTING)
    for who in (FLOOR, TECH):
        assert "only the dealer can call" in refusal_text(floor.step(ev.NoMoreBets(who)))
    assert floor.phase == mc.BETTING
    floor.play(ev.NoMoreBets(DEALER))
    assert floor.phase == mc.NO_MORE_BETS
    assert "no bets are open" in refusal_text(floor.step(ev.NoMoreBets(DEALER)))
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    first = floor.prompt("seats").id
    floor.play(ev.Answer(first, "done", DEALER, seats=(1, 2)))
    for changed in ((1, 2, 3), (1,)):
        assert "no longer open" in refusal_text(floor.step(ev.Answer(first, "done", DEALER, seats=changed)))
    floor.override = lambda _: None
    for phase in (mc.DEALING, mc.STUB_CHECK, mc.PLAYING, mc.SETTLING):
        floor.play_to(phase)
        assert (floor.round_.seats, floor.prompts("seats")) == ((1, 2), [])
        assert "no bets are open" in refusal_text(floor.step(ev.NoMoreBets(DEALER)))
    reasons = reasons_by_key(floor, "open_bets", deck="blue")
    assert reasons["round_open"] == f"{CHAPTERS[game]}.7(c)"


# --- adjacent boxes ---------------------------------------------------------------------------------------------------


@each("680a.7(e)", "687a.7(e)")
def test_the_limit_of_adjacent_boxes_per_player_is_stated_and_shown_at_every_entry(game: str) -> None:
    clause = f"{CHAPTERS[game]}.7(e)"
    with pytest.raises(BadSubmission) as caught:
        check_submission(edition(game), {})
    assert caught.value.objections == (f"adjacent_boxes must be stated ({clause})",)
    for boxes in (0, 7):
        with pytest.raises(BadSubmission, match=rf"adjacent_boxes = {boxes} must be 1 to 6"):
            check_submission(edition(game), {"adjacent_boxes": boxes})
    for boxes in (1, 3):
        floor = ignore(table_without_machines(game, adjacent_boxes=boxes).start(), "seats").play_to(mc.NO_MORE_BETS)
        prompt = floor.prompt("seats")
        assert f"boxes_at_most_{boxes}" in prompt.evidence
        assert clause in prompt.clauses
