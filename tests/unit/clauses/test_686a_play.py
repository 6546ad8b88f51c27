"""Wagers of Over/Under, one card, a decision, two cards, and settling player by player; sections 6 and 7 (e) to (i)."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.errors import BadHand, BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, HoldOpened, WagersReturned
from tests.support.core.chapters import (
    bring_deck,
    continuous,
    ignore,
    open_prompt_kinds,
    reasons_by_key,
    report_all_devices,
    table,
    table_without_machines,
)
from tests.support.core.ideal_table import (
    DEALER,
    FLOOR,
    TECH,
    IdealTable,
    decisions_of,
    found_irregularity,
    refusal_text,
)
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses


def step_by_step(floor: IdealTable, *kinds: str) -> list[tuple[str, int | None]]:
    """Answer these questions one by one, and nothing else; return the kinds and seats."""
    given = []
    while floor.prompts() and (prompt := floor.prompts()[0]).kind in kinds:
        given.append((prompt.kind, prompt.seat))
        for event in floor.answer(prompt):
            floor.step(event)
    return given


# --- section 6: wagers ------------------------------------------------------------------------------------------------


@clauses("686a.6(d)", "686a.1:Ante Wager")
def test_a_seat_takes_part_only_with_its_ante() -> None:
    floor = ignore(table_without_machines("over_under").start(), "seats", "dealt").play_to(mc.NO_MORE_BETS)
    floor.settle()
    assert (open_prompt_kinds(floor), floor.prompt("seats").clauses[0], floor.round_.dealt) == (
        ["seats"],
        "686a.6(d)",
        0,
    )
    floor.answer_prompt("seats", seats=(5, 2))
    assert floor.round_.to_deal == [2, 5], "nobody else gets a card, and the dealer has no hand"
    devices = ignore(table("over_under").start("blue", "red"), "seats").play_to(mc.NO_MORE_BETS)
    assert reasons_by_key(devices, "start_round", "shoe.1", "blue")["seats_not_entered"] == "686a.6(d)"
    with pytest.raises(BadHand, match=r"no Ante Wager \(686a.6\(d\)\)"):
        settle_round(terms("over_under"), seat(1, "2s 3s 4s", over_23=500))


@clauses("686a.6(d)", "686a.1:Ante Wager")
def test_without_any_ante_the_round_ends_before_a_card() -> None:
    floor = ignore(table_without_machines("over_under").start(), "seats").play_to(mc.NO_MORE_BETS)
    floor.play(ev.Answer(floor.prompt("seats").id, "nobody", DEALER))
    assert (floor.phase, floor.round_.dealt, floor.deck().state) == (mc.IDLE, 0, mc.READY)


@clauses("686a.6(e)", "686a.1:Bonus Wager")
def test_the_bonus_is_optional_where_it_is_offered_and_needs_an_ante() -> None:
    rules = edition("over_under")
    plain = SettlementTerms(rules, check_submission(rules, {"adjacent_boxes": 1}))
    offered = SettlementTerms(rules, check_submission(rules, {"adjacent_boxes": 1, "wagers": ["bonus"]}))
    hand: dict[str, int] = {"ante": 500, "under_18": 500}
    with pytest.raises(BadHand, match=r"not offered at this table \(686a.6\(e\), 686a.1:Bonus Wager\)"):
        settle_round(plain, seat(1, "2s 2h 2d", **hand, bonus=100))
    with pytest.raises(BadHand, match="no Ante Wager"):
        settle_round(offered, seat(1, "2s 2h 2d", bonus=100))
    assert only_result(settle_round(offered, seat(1, "2s 2h 2d", **hand, bonus=100)), "bonus").paid_cents == 5000
    assert {each.wager for each in settle_round(offered, seat(1, "2s 2h 2d", **hand))} == {"ante", "under_18"}


@clauses("686a.6(a)")
def test_a_verbal_wager_counts_when_the_dealer_has_confirmed_and_converted_the_cash() -> None:
    floor = ignore(table_without_machines("over_under").start(), "seats").play_to(mc.NO_MORE_BETS)
    prompt = floor.prompt("seats")
    assert ("cash_converted" in prompt.evidence, "chips_only" in prompt.evidence) == (True, False)
    assert "seated" not in prompt.evidence, "this chapter does not ask for a seat"
    assert "686a.6(a)" in prompt.clauses
    for who in (FLOOR, TECH):
        assert "the dealer must answer this" in refusal_text(floor.step(ev.Answer(prompt.id, "done", who, seats=(1,))))


@clauses("686a.6(b)")
def test_who_sat_out_a_round_waits_for_the_shuffle_or_is_readmitted() -> None:
    floor = table_without_machines("over_under", mid_shoe_entry_ban=True).start()
    floor.seats = (1, 3, 6)
    floor.round()
    floor.seats = (1, 6)
    floor.round()
    ignore(floor, "seats").play_to(mc.NO_MORE_BETS)
    for barred in (3, 4):  # who paused, and who came later
        answer = ev.Answer(floor.prompt("seats").id, "done", DEALER, seats=(1, barred))
        refusal = refusal_text(floor.step(answer))
        assert (
            refusal == f"seat {barred} sat out a round: wait for the shuffle, or a floorperson readmits it (686a.6(b))"
        )
    assert "floorperson" in refusal_text(floor.step(ev.Ordered("readmit", DEALER, seat=3)))
    assert "no such seat" in refusal_text(floor.order("readmit", seat=9))
    floor.order("readmit", seat=3)
    floor.play(
        ev.Answer(floor.prompt("seats").id, "done", DEALER, seats=(1, 3)), until=lambda _: floor.phase == mc.DEALING
    )
    assert floor.round_.seats == (1, 3)
    floor.override = lambda _: None
    floor.step(ev.CoverCardOut(seat=3))
    floor.settle()
    floor.seats = (2, 4)
    floor.round()
    assert (floor.phase, floor.round_.seats) == (mc.IDLE, (2, 4)), "after the shuffle everybody may wager"


@clauses("686a.6(b)")
def test_the_ban_is_a_choice_in_the_submission() -> None:
    floor = table_without_machines("over_under").start()
    for seats in ((1, 3), (1,), (3, 5)):
        floor.seats = seats
        floor.play_to(mc.PLAYING)
        assert floor.round_.seats == seats
        floor.settle()
    with pytest.raises(BadSubmission, match="mid_shoe_entry_ban"):
        check_submission(edition("dj_wild"), {"adjacent_boxes": 1, "mid_shoe_entry_ban": True})


@clauses("686a.6(c)/1")
def test_ante_and_bonus_close_with_the_first_card() -> None:
    floor = table("over_under").start("blue", "red").play_to(mc.BETTING)
    assert reasons_by_key(floor, "start_round", "shoe.1", "blue")["not_dealing"] == "686a.6(c)/1"
    early = found_irregularity(floor.step(ev.CardsDrawn("shoe.1", 1)))
    assert early.trigger == "drawn_without_deal", "a card that is drawn while wagers are open stops the table"
    floor = table("over_under").start("blue", "red").play_to(mc.BETTING)
    for who in (FLOOR, TECH):
        assert "only the dealer can call" in refusal_text(floor.step(ev.NoMoreBets(who)))
    ignore(floor, "dealt")
    floor.play(ev.NoMoreBets(DEALER))
    assert (floor.phase, floor.round_.seats) == (mc.DEALING, (1, 3, 6))
    assert "no bets are open" in refusal_text(floor.step(ev.NoMoreBets(DEALER)))
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    assert floor.prompts("seats") == []


@clauses("686a.6(c)/2")
def test_a_wager_stays_until_it_is_decided_even_of_a_player_who_leaves() -> None:
    floor = ignore(table_without_machines("over_under").start(), "seats").play_to(mc.NO_MORE_BETS)
    prompt = floor.prompt("seats")
    assert "686a.6(c)/2" in prompt.clauses
    floor.play(ev.Answer(prompt.id, "done", DEALER, seats=(1, 3)), until=lambda _: floor.phase == mc.PLAYING)
    assert "no longer open" in refusal_text(floor.step(ev.Answer(prompt.id, "done", DEALER, seats=(1,))))
    floor.override = lambda _: None
    floor.declare("player_leaves", seat=3)
    left = floor.prompt("player_left")
    assert (left.role, left.choices, left.clauses) == ("floorperson", ("plays_on",), ("686a.6(c)/2",))
    floor.settle()
    assert [event.choice for event, _ in floor.log if isinstance(event, ev.Answer)].count("settled") == 2


@clauses("686a.6(f)")
def test_the_limit_of_adjacent_boxes_per_player_is_stated_and_shown_at_every_entry() -> None:
    with pytest.raises(BadSubmission) as caught:
        check_submission(edition("over_under"), {})
    assert caught.value.objections == ("adjacent_boxes must be stated (686a.6(f))",)
    for boxes in (0, 7):
        with pytest.raises(BadSubmission, match=rf"adjacent_boxes = {boxes} must be 1 to 6 \(686a.6\(f\)\)"):
            check_submission(edition("over_under"), {"adjacent_boxes": boxes})
    floor = ignore(table_without_machines("over_under", adjacent_boxes=2).start(), "seats").play_to(mc.NO_MORE_BETS)
    assert ("boxes_at_most_2" in floor.prompt("seats").evidence, "686a.6(f)" in floor.prompt("seats").clauses) == (
        True, True,
    )  # fmt: skip


# --- section 7: one card, a decision, two more ------------------------------------------------------------------------


@clauses("686a.7(e)")
@pytest.mark.parametrize("seats", [(4,), (6, 2), (1, 2, 3, 4, 5, 6)])
def test_one_card_goes_to_every_box_with_an_ante_from_the_far_left(seats: tuple[int, ...]) -> None:
    floor = ignore(table_without_machines("over_under").start(), "dealt")
    floor.seats = seats
    floor.play_to(mc.DEALING)
    prompt = floor.prompt("dealt")
    assert (prompt.role, prompt.seat, prompt.clauses) == ("dealer", min(seats), ("686a.7(e)",))
    assert floor.round_.to_deal == sorted(seats)
    floor.step(ev.Answer(prompt.id, "done", DEALER))
    assert (floor.phase, floor.round_.dealt) == (mc.PLAYING, len(seats))
    assert floor.edition.hand.player_face_up


@clauses("686a.7(e)")
@pytest.mark.parametrize("drawn", [2, 4])
def test_a_shoe_that_counts_must_have_seen_one_card_for_every_box(drawn: int) -> None:
    floor = table("over_under").start("blue", "red")
    floor.override = lambda d: (
        [ev.CardsDrawn("shoe.1", drawn), ev.CommandEnded(d.id, "done")]
        if isinstance(d, Command) and d.act == "start_round"
        else None
    )
    floor.play_to(mc.NO_MORE_BETS)
    floor.play(*floor.answer(floor.prompt("seats")), until=lambda d: "drawn_differs" in str(d))
    assert floor.hold().trigger == "drawn_differs"
    assert (open_prompt_kinds(floor), floor.prompt("choose").role) == (["choose"], "floorperson")


@clauses("686a.7(f)", "686a.7(g)")
def test_everybody_decides_from_the_far_left_before_any_further_card() -> None:
    floor = table_without_machines("over_under").start()
    floor.seats = (5, 1, 3)
    floor.play_to(mc.PLAYING)
    for number, choice in ((1, "over_23"), (3, "surrender"), (5, "under_18")):
        prompt = floor.prompt("decide")
        assert (open_prompt_kinds(floor), prompt.seat) == (["decide"], number)
        assert prompt.choices == ("over_23", "under_18", "surrender")
        assert prompt.clauses == ("686a.7(f)", "686a.7(g)")
        assert floor.round_.dealt == 3, "no additional card before all have decided"
        floor.answer_prompt("decide", choice)
        if choice == "surrender":
            floor.answer_prompt("surrender_collected")
    assert (floor.phase, floor.round_.decided) == (mc.SETTLING, {1: "over_23", 3: "surrender", 5: "under_18"})


@clauses("686a.7(g)(3)", "686a.7(g)#2", "686a.1:Surrender")
def test_a_surrendered_ante_is_collected_at_once_and_no_other_player_is_asked_before() -> None:
    floor = table_without_machines("over_under", wagers=["bonus"]).start()
    floor.seats = (5, 1, 3)
    floor.play_to(mc.PLAYING)
    assert "may not surrender now (686a.7(g))" in refusal_text(floor.declare("surrender", seat=3)), "only in its turn"
    floor.answer_prompt("decide", "surrender")
    prompt = floor.prompt("surrender_collected")
    assert (open_prompt_kinds(floor), prompt.seat, prompt.role) == (["surrender_collected"], 1, "dealer")
    assert prompt.clauses == ("686a.7(g)(3)", "686a.7(g)#2")
    for who in (FLOOR, TECH):
        assert "the dealer must answer this" in refusal_text(floor.step(ev.Answer(prompt.id, "done", who)))
    floor.answer_prompt("surrender_collected")
    assert (open_prompt_kinds(floor), floor.prompt("decide").seat) == (["decide"], 3)
    floor.answer_prompt("decide", "over_23")
    assert (open_prompt_kinds(floor), floor.prompt("decide").seat) == (["decide"], 5), (
        "who stays in the round pays nothing"
    )
    floor.answer_prompt("decide", "surrender")
    assert floor.phase == mc.PLAYING, "no additional card before the last Ante is collected"
    floor.answer_prompt("surrender_collected")
    given = step_by_step(floor, "additional_cards", "settled")
    assert [seat for kind, seat in given if kind == "additional_cards"] == [1, 3, 5], "also who surrendered"
    assert floor.phase == mc.IDLE


@clauses("686a.7(h)", "686a.7(i)", "686a.1:Hand")
def test_each_player_in_turn_gets_two_more_cards_also_after_a_surrender_and_is_settled_and_racked() -> None:
    floor = table_without_machines("over_under").start()
    floor.seats = (5, 1, 3)
    floor.play_to(mc.PLAYING)
    for choice in ("over_23", "surrender", "under_18"):
        floor.answer_prompt("decide", choice)
        if choice == "surrender":
            floor.answer_prompt("surrender_collected")
    racked = floor.state.book.balance("blue", "rack")
    for done, number in enumerate((1, 3, 5)):
        assert (open_prompt_kinds(floor), floor.prompt("additional_cards").seat) == (["additional_cards"], number)
        assert floor.prompt("additional_cards").clauses == ("686a.7(h)",)
        floor.answer_prompt("additional_cards")
        assert floor.round_.dealt == 3 + 2 * (done + 1)
        assert (open_prompt_kinds(floor), floor.prompt("settled").seat) == (["settled"], number), (
            "settled before the next player"
        )
        assert floor.prompt("settled").clauses == ("686a.7(i)",)
        floor.answer_prompt("settled")
        assert floor.state.book.balance("blue", "rack") == racked + 3 * (done + 1), "racked before the next player"
    assert (floor.phase, floor.round_.number) == (mc.IDLE, 1)
    assert floor.state.book.balance("blue", "seats") == 0


@clauses("686a.1:Hand")
def test_a_hand_is_three_cards_and_the_dealer_has_none() -> None:
    at = terms("over_under")
    for cards in ("2s 3s", "2s 3s 4s 5s"):
        with pytest.raises(BadHand, match="a hand has 3"):
            settle_round(at, seat(1, cards, ante=500, over_23=500))
    with pytest.raises(BadHand, match="the hand has 0"):
        settle_round(at, seat(1, "2s 3s 4s", ante=500, over_23=500), dealer="5s 6s 7s")
    floor = table("over_under").start("blue", "red")
    floor.seats = (2, 4)
    floor.round()
    kinds = {getattr(d, "kind", None) for _, decided in floor.log for d in decided}
    assert "reveal" not in kinds
    assert not floor.state.holds
    assert floor.state.book.held["blue"] == {"shoe.1": 312 - 1 - 6, "rack": 1 + 6}


@clauses("686a.1:Hand")
@pytest.mark.parametrize("more", [-1, 1])
def test_a_shoe_that_counts_other_than_three_cards_for_a_hand_stops_the_round(more: int) -> None:
    floor = table("over_under").start("blue", "red")
    floor.seats = (2, 4)
    floor.play_to(mc.SETTLING)
    prompt = floor.prompt("additional_cards")
    floor.step(ev.CardsDrawn("shoe.1", floor.round_.drawn + 2 + more))
    decided = floor.step(ev.Answer(prompt.id, "done", DEALER))
    assert [one.trigger for one in decisions_of(HoldOpened, decided)] == ["drawn_differs"]
    assert not floor.prompts("settled"), "nobody is settled before the floorperson has decided"


@clauses("686a.7(h)")
def test_a_shoe_that_counts_must_have_seen_the_two_cards_of_every_player() -> None:
    floor = table("over_under").start("blue", "red").play_to(mc.SETTLING)
    prompt = floor.prompt("additional_cards")
    floor.step(ev.CardsDrawn("shoe.1", 4))
    decided = floor.step(ev.Answer(prompt.id, "done", DEALER))
    assert found_irregularity(decided).trigger == "drawn_differs", "one card for two"
    assert open_prompt_kinds(floor) == ["choose"]


@clauses("686a.7(h)", "686a.7(e)")
def test_a_continuous_shuffler_brings_one_card_for_every_box_and_then_two_for_each_player() -> None:
    floor = report_all_devices(continuous())
    bring_deck(floor)
    floor.round()
    commands: list[Any] = [c for _, decided in floor.log for c in decisions_of(Command, decided) if c.act == "dispense"]
    assert [c.number for c in commands] == [1, 3, 2, 2, 2], "after the one to burn"


@clauses("686a.7(i)")
def test_players_are_settled_from_the_far_left_and_the_next_round_waits_for_the_last() -> None:
    floor = table_without_machines("over_under").start()
    floor.seats = (6, 2, 4)
    floor.play_to(mc.SETTLING)
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    given = step_by_step(floor, "additional_cards", "settled")
    assert given == [(kind, number) for number in (2, 4, 6) for kind in ("additional_cards", "settled")]
    assert floor.reasons_against_opening() == set()


# --- section 9(c): a dead hand ----------------------------------------------------------------------------------------


def dead_hand(**choices: Any) -> tuple[IdealTable, WagersReturned]:
    """Return a table where seat 3 got no additional cards and its player chose a dead hand."""
    floor = table_without_machines("over_under", wagers=["bonus"], **choices).start().play_to(mc.SETTLING)
    floor.declare("additional_cards_missed", seat=3)
    (back,) = decisions_of(WagersReturned, floor.answer_prompt("choose", "dead_hand"))
    return floor, back


@clauses("686a.9(c)")
def test_a_dead_hand_gets_every_wager_back_where_the_submission_has_it_so() -> None:
    floor, back = dead_hand()
    assert (back.seat, back.clauses, back.kept) == (3, ("686a.9(c)",), ())
    assert floor.prompt("wagers_returned").seat == 3


@clauses("686a.9(c)")
def test_a_dead_hand_gets_the_ante_alone_back_where_the_submission_has_it_so() -> None:
    floor, back = dead_hand(settings={"dead_hand_returns": "ante"})
    assert (back.seat, back.clauses, back.kept) == (3, ("686a.9(c)",), ("over_23", "bonus"))
    assert not floor.prompts("wagers_returned"), "not every wager goes back"
    prompt = floor.prompt("ante_returned")
    assert (prompt.seat, prompt.role, prompt.clauses) == (3, "dealer", ("686a.9(c)",))
    floor.answer_prompt("ante_returned")
    confirms = floor.prompt("acknowledge")
    assert (confirms.role, confirms.evidence) == ("floorperson", ("hand_confirmed",))
    assert "the floorperson must answer this" in refusal_text(
        floor.step(ev.Answer(confirms.id, "acknowledged", DEALER))
    )
    floor.answer_prompt("acknowledge")
    assert 3 in floor.round_.dead
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("686a.9(c)")
def test_a_void_round_returns_every_wager_where_a_dead_hand_gets_only_the_ante() -> None:
    floor = (
        table_without_machines("over_under", wagers=["bonus"], settings={"dead_hand_returns": "ante"})
        .start()
        .play_to(mc.SETTLING)
    )
    floor.declare("other")
    (back,) = decisions_of(WagersReturned, floor.answer_prompt("choose", "void"))
    assert (back.seat, back.kept) == (None, ())
    assert floor.prompt("wagers_returned")
