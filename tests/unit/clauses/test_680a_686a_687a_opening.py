"""Seats, decks and their opening in Saigon 5 Card, Over/Under and DJ Wild: sections 2 to 4, clause by clause."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Deadline
from tests.support.core.chapters import (
    GAMES,
    bring_deck,
    each,
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
    commanded_acts,
    decisions_of,
    findings,
    refusal_text,
)
from tests.support.suite.clauses import clauses

CHAPTERS = {game: chapter for chapter, game in GAMES.items()}
HOUR = 3600.0


def objections(game: str, **raw: Any) -> tuple[str, ...]:
    with pytest.raises(BadSubmission) as caught:
        check_submission(edition(game), {"adjacent_boxes": 1, **raw})
    return caught.value.objections


def opening(floor: IdealTable, deck: str = "blue") -> list[str]:
    """Return the open questions of a deck's opening."""
    return [p.kind.removeprefix("opening/") for p in floor.prompts() if p.deck == deck]


# --- 2: seats ---------------------------------------------------------------------------------------------------------


@each("680a.2(a)", "686a.2(a)", "687a.2(a)")
def test_a_table_has_one_to_six_seats_and_no_wager_lies_elsewhere(game: str) -> None:
    clause = f"({CHAPTERS[game]}.2(a), X1)"
    for seats in (0, 7):
        (objection,) = objections(game, seats=seats)
        assert objection.startswith(f"seats = {seats}")
        assert objection.endswith(f"has 1 to 6 {clause}")
    floor = table_without_machines(game, seats=4).start().play_to(mc.BETTING)
    floor.step(ev.NoMoreBets(DEALER))
    for wrong in ((5,), (1, 7), (0,), (2, 2), ()):
        prompt = floor.prompt("seats").id
        assert "from 1 to 4" in refusal_text(floor.step(ev.Answer(prompt, "done", DEALER, seats=wrong)))
    floor.step(ev.Answer(floor.prompt("seats").id, "done", DEALER, seats=(4, 1)))
    assert floor.round_.seats == (1, 4)


# --- 3: decks ---------------------------------------------------------------------------------------------------------


@each("680a.3(a)", "686a.3(a)", "687a.3(a)")
def test_what_a_deck_is_made_of_is_asked_before_anything_else(game: str) -> None:
    floor = report_all_devices(table(game))
    cards = {"over_under": 312}.get(game, 53)
    floor.step(ev.DeckReceived("blue", DEALER))
    assert floor.state.book.total("blue") == cards
    prompt = floor.prompt("opening/composition")
    assert f"{CHAPTERS[game]}.3(a)" in prompt.clauses
    assert (prompt.role, prompt.choices, opening(floor)) == ("dealer", ("whole", "not_whole"), ["composition"])
    assert commanded_acts(floor.step(ev.CardsInserted("shuffler.1"))) == []
    decided = floor.answer_prompt("opening/composition", "not_whole")
    assert findings(decided, "not_whole")[0].deck == "blue"
    assert floor.deck().state == mc.REMOVED
    floor.start("red")
    assert floor.deck("red").state in (mc.READY, mc.SHUFFLED)


@each("680a.3(a)", "686a.3(a)", "687a.3(a)")
def test_a_preshuffled_deck_is_asked_what_it_is_made_of_as_well(game: str) -> None:
    floor = ignore(table_without_machines(game), "opening/composition")
    bring_deck(floor, preshuffled=True)
    assert open_prompt_kinds(floor) == ["opening/composition"]
    floor.answer_prompt("opening/composition", "not_whole")
    assert floor.deck().state == mc.REMOVED


@each("680a.3(a)", "686a.3(a)", "687a.3(a)")
def test_without_a_shuffler_there_is_one_deck(game: str) -> None:
    floor = table_without_machines(game).start()
    assert "plays with 1 deck" in refusal_text(floor.step(ev.DeckReceived("red", DEALER)))
    assert "red" not in floor.state.decks


@clauses("680a.3(a)")
def test_two_people_confirm_that_the_second_joker_is_out_of_play() -> None:
    floor = ignore(
        table_without_machines("saigon_5_card"), "opening/spare_joker/dealer", "opening/spare_joker/floorperson"
    )
    bring_deck(floor, two_jokers=True)
    assert sorted(opening(floor)) == ["spare_joker/dealer", "spare_joker/floorperson"]
    assert all(prompt.clauses == ("680a.3(a)",) for prompt in floor.prompts())
    floor.answer_prompt("opening/spare_joker/dealer")
    assert opening(floor) == ["spare_joker/floorperson"], "one word is not enough"
    floor.answer_prompt("opening/spare_joker/floorperson")
    assert opening(floor) == ["spread/dealer"]
    one = ignore(table_without_machines("saigon_5_card"), "opening/spread/dealer")
    assert opening(bring_deck(one)) == ["spread/dealer"], "a pack with one joker has none to spare"


@each("680a.3(b)", "687a.3(b)")
def test_two_decks_are_played_only_with_the_shuffler_in_use(game: str) -> None:
    clause = f"{CHAPTERS[game]}.3(b)"
    messages = objections(game, shuffler="none", two_decks=True)
    assert messages == (f"two decks need a shuffler that stores one of them ({clause})",)
    floor = table(game, two_decks=True).start("blue", "red")
    assert floor.reasons_against_opening() == set()
    floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    floor.clear_holds()
    floor.order("shuffle_by_hand")
    floor.settle()
    reasons = reasons_by_key(floor, "open_bets", deck="blue")
    assert reasons["two_decks_barred"] == clause
    floor.order("remove_deck", deck="red")
    floor.settle()
    assert floor.reasons_against_opening() == set(), "one deck, shuffled by hand, is lawful"


@clauses("686a.3(b)")
def test_a_batch_shuffler_needs_two_batches_and_stops_without_them() -> None:
    messages = objections("over_under", shuffler="batch", two_decks=False)
    assert messages == ("a batch shuffler needs two batches (686a.3(b), O12)",)
    floor = table("over_under").start("blue")
    reasons = reasons_by_key(floor, "load", "shoe.1", "blue")
    assert reasons["second_batch_missing"] == "686a.3(b)"
    assert "second_batch_missing" in floor.reasons_against_opening()
    floor.start("red")
    assert floor.reasons_against_opening() == set()


@clauses("686a.3(b)")
def test_a_table_with_one_batch_left_may_be_shuffled_by_hand() -> None:
    floor = table("over_under").start("blue")
    floor.order("shuffle_by_hand")
    floor.settle()
    assert floor.state.shuffling == "hand"
    assert "second_batch_missing" not in floor.reasons_against_opening()
    assert "deck_not_ready" not in floor.reasons_against_opening()


@each("680a.3(b)(1)", "686a.3(b)(1)", "686a.3(b)(2)", "687a.3(b)(1)")
def test_the_second_deck_has_another_color_and_the_dealer_confirms_it(game: str) -> None:
    floor = table(game, two_decks=True).start("blue")
    before = floor.table.snapshot()
    clause = {"over_under": "686a.3(b)(2)"}.get(game, f"{CHAPTERS[game]}.3(b)(1)")
    assert clause in refusal_text(floor.step(ev.DeckReceived("blue", DEALER)))
    assert floor.table.snapshot() == before
    floor.step(ev.DeckReceived("red", DEALER))
    prompt = floor.prompt("opening/composition")
    colors = {"over_under": {"686a.3(b)(1)", "686a.3(b)(2)"}}.get(game, {clause})
    assert colors <= set(prompt.clauses)
    assert floor.state.book.total("red") == floor.state.book.total("blue"), "both are of the same size"
    floor.answer_prompt("opening/composition", "not_whole")
    assert floor.deck("red").state == mc.REMOVED
    floor.start("red")
    assert "plays with 2 decks" in refusal_text(floor.step(ev.DeckReceived("green", DEALER)))


@each("680a.3(b)(2)", "686a.3(b)(3)", "687a.3(b)(2)")
def test_the_other_deck_stays_shuffled_in_the_shuffler_while_one_is_in_play(game: str) -> None:
    floor = table(game, two_decks=True).start("blue", "red")
    floor.play_to(mc.PLAYING)
    assert floor.round_.deck == "blue"
    red = floor.deck("red")
    assert red.place == "shuffler.1/gate", "shuffled, and inside"
    assert red.state in (mc.READY, mc.SHUFFLED)
    reasons = reasons_by_key(floor, "eject", "shuffler.1", "red")
    clause = {"over_under": "686a.3(b)(3)"}.get(game, f"{CHAPTERS[game]}.3(b)(2)")
    assert reasons == {"stored_deck": clause}
    floor.settle()
    place = {"over_under": "shuffler.1/gate"}.get(game, "shoe.1")
    assert floor.deck("red").place == place, "it comes out when the other one's turn is over: round or shoe"


@each("680a.3(b)(3)", "687a.3(b)(3)")
def test_two_decks_are_used_in_turn_and_none_twice_running(game: str) -> None:
    floor = table(game, two_decks=True).start("blue", "red")
    used = []
    for _ in range(5):
        floor.play_to(mc.PLAYING)
        used.append(floor.round_.deck)
        floor.settle()
    assert used == ["blue", "red", "blue", "red", "blue"]


@each("680a.3(b)(3)", "687a.3(b)(3)")
def test_the_deck_of_the_last_round_is_refused_though_it_alone_is_shuffled(game: str) -> None:
    floor = ignore(table(game, two_decks=True), "which_deck")
    floor.loads_shuffler = False
    floor.start("blue")
    floor.play(ev.CardsInserted("shuffler.1"))
    floor.round()
    floor.start("red")
    floor.play(ev.CardsInserted("shuffler.1"))
    floor.play(ev.Answer(floor.prompt("which_deck").id, "blue", DEALER))
    assert (floor.deck("blue").state, floor.deck("red").state) == (mc.READY, mc.STACKED)
    assert reasons_by_key(floor, "open_bets", deck="blue")["deck_used_last"] == f"{CHAPTERS[game]}.3(b)(3)"
    assert "deck_used_last" in floor.keys("load", "shoe.1", "blue")
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"


@each("680a.3(b)(2)", "686a.3(b)(3)", "687a.3(b)(2)")
def test_no_round_opens_while_the_other_deck_lies_outside_the_shuffler(game: str) -> None:
    floor = table(game, two_decks=True).start("blue")
    floor.loads_shuffler = False
    bring_deck(floor, "red")
    assert (floor.deck("blue").place, floor.deck("red").place) == ("shoe.1", "tray")
    clause = {"over_under": "686a.3(b)(3)"}.get(game, f"{CHAPTERS[game]}.3(b)(2)")
    assert reasons_by_key(floor, "open_bets", deck="blue")["other_deck_outside"] == clause
    floor.play(ev.CardsInserted("shuffler.1"))
    assert "other_deck_outside" not in floor.keys("open_bets", deck="blue")


@clauses("686a.3(b)(4)")
def test_batches_alternate_by_the_shoe_and_the_one_just_dealt_is_not_loaded() -> None:
    floor = table("over_under").start("blue", "red")
    used = []
    for shoe in range(3):
        for rounds in range(2):
            floor.play_to(mc.DEALING)
            used.append(floor.round_.deck)
            if rounds:
                floor.step(ev.CoverCardOut("shoe.1", 3))
            floor.settle()
        last = ("blue", "red")[shoe % 2]
        reasons = reasons_by_key(floor, "load", "shoe.1", last)
        assert reasons["deck_used_last"] == "686a.3(b)(4)"
    assert used == ["blue", "blue", "red", "red", "blue", "blue"]


@each("680a.3(b)(4)", "687a.3(b)(4)")
def test_two_decks_never_share_the_rack(game: str) -> None:
    floor = table(game, two_decks=True).start("blue", "red")
    floor.loads_shuffler = False
    ignore(floor, "rack_clear").round()
    assert (floor.deck("blue").place, floor.deck("red").place) == ("rack", "shoe.1")
    prompt = floor.prompt("rack_clear")
    assert (prompt.role, prompt.deck, prompt.clauses) == ("dealer", "blue", (f"{CHAPTERS[game]}.3(b)(4)",))
    assert reasons_by_key(floor, "open_bets", deck="red")["rack_taken"] == f"{CHAPTERS[game]}.3(b)(4)"
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    assert ("rack_taken" in floor.keys("collect", deck="red"), floor.keys("collect", deck="blue")) == (True, set())
    floor.answer_prompt("rack_clear")
    assert floor.deck("blue").place == "tray"
    assert "rack_taken" not in floor.reasons_against_opening() | floor.keys("collect", deck="red")
    floor.play(ev.CardsInserted("shuffler.1"))
    assert floor.reasons_against_opening() == set()


@clauses("686a.3(b)(5)")
def test_two_batches_never_share_the_rack() -> None:
    floor = ignore(table("over_under"), "rack_clear")
    floor.start("blue", "red")
    floor.loads_shuffler = False
    floor.play_to(mc.DEALING).step(ev.CoverCardOut("shoe.1", 3))
    floor.settle()
    assert floor.deck("blue").place == "rack"
    reasons = reasons_by_key(floor, "open_bets", deck="red")
    assert reasons["rack_taken"] == "686a.3(b)(5)"
    assert "rack_taken" in floor.keys("collect", deck="red")
    floor.answer_prompt("rack_clear")
    assert "rack_taken" not in floor.keys("collect", deck="red") | floor.reasons_against_opening()


@each("680a.3(c)", "686a.3(c)", "687a.3(c)")
def test_every_deck_has_its_timer_from_the_moment_it_is_received(game: str) -> None:
    floor = report_all_devices(table(game, two_decks=True))
    for deck in ("blue", "red"):
        timers = [(d.timer, d.seconds) for d in decisions_of(Deadline, floor.step(ev.DeckReceived(deck, DEALER)))]
        hours = (24,) if game == "over_under" else (4, 8)
        assert timers == [(f"deck_age/{deck}/{each_}", each_ * HOUR) for each_ in hours]


@each("680a.3(c)", "680a.3(c)(2)", "686a.3(c)", "687a.3(c)", "687a.3(c)(2)")
def test_an_aged_deck_finishes_its_round_and_begins_none(game: str) -> None:
    floor = table_without_machines(game).start()
    hours, clause = (24, "686a.3(c)") if game == "over_under" else (8, f"{CHAPTERS[game]}.3(c)(2)")
    floor.play_to(mc.PLAYING)
    if hours == 8:
        floor.step(ev.Due("deck_age/blue/4"))
    assert floor.settle() != []
    assert floor.reasons_against_opening() == set(), "four hours do not count for a shoe"
    floor.play_to(mc.PLAYING)
    decided = floor.step(ev.Due(f"deck_age/blue/{hours}"))
    assert findings(decided, "deck_expired")[0].deck == "blue"
    floor.settle()
    assert (floor.phase, floor.round_.number) == (mc.IDLE, 2), "the round goes on"
    reasons = reasons_by_key(floor, "open_bets", deck="blue")
    assert reasons["deck_expired"] == clause
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.order("remove_deck", deck="blue")
    floor.settle()
    bring_deck(floor, "green")
    assert floor.reasons_against_opening() == set()


@each("680a.3(c)(1)", "687a.3(c)(1)")
def test_a_deck_dealt_by_hand_is_changed_after_four_hours(game: str) -> None:
    floor = table(game, "hand").start()
    floor.step(ev.Due("deck_age/blue/4"))
    reasons = reasons_by_key(floor, "open_bets", deck="blue")
    assert reasons == {"deck_expired": f"{CHAPTERS[game]}.3(c)(1)"}


@each("680a.3(c)(1)", "687a.3(c)(1)")
def test_once_dealt_by_hand_four_hours_count_from_a_shoe_too(game: str) -> None:
    floor = table(game, "hand").start()
    floor.round()
    floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    floor.clear_holds()
    floor.order("shuffle_by_hand")
    floor.order("dealing_method", method="manual_shoe")
    floor.settle()
    assert floor.reasons_against_opening() == set()
    floor.step(ev.Due("deck_age/blue/4"))
    assert "deck_expired" in floor.reasons_against_opening()


# --- 4: opening -------------------------------------------------------------------------------------------------------


@each("680a.4(a)", "686a.4(a)", "687a.4(a)")
def test_the_dealer_inspects_the_floorperson_verifies_and_they_are_two(game: str) -> None:
    floor = report_all_devices(table(game))
    floor.loads_shuffler = False
    ignore(floor, "opening/inspect/dealer", "opening/verify_inspection/floorperson")
    bring_deck(floor)
    assert (opening(floor), floor.prompts()[0].clauses) == (["inspect/dealer"], (f"{CHAPTERS[game]}.4(a)",))
    floor.answer_prompt("opening/inspect/dealer")
    assert (opening(floor), floor.deck().state) == (["verify_inspection/floorperson"], mc.RECEIVED)
    verify = floor.prompt("opening/verify_inspection/floorperson")
    assert verify.clauses == (f"{CHAPTERS[game]}.4(a)",)
    for who in (DEALER, TECH):
        assert "floorperson" in refusal_text(floor.step(ev.Answer(verify.id, "whole", who)))
    same = ev.Person("floorperson", DEALER.credential)
    assert "another person" in refusal_text(floor.step(ev.Answer(verify.id, "whole", same)))
    floor.step(ev.CardsInserted("shuffler.1"))
    assert not floor.state.commands, "nothing is shuffled before both have confirmed"
    floor.step(ev.Answer(verify.id, "whole", FLOOR))
    assert floor.deck().state == mc.INSPECTED
    assert floor.deck().confirmed["verify_inspection/floorperson"] == FLOOR.credential


@each("680a.4(a)", "686a.4(a)", "687a.4(a)")
def test_a_defect_found_by_either_sends_the_deck_away(game: str) -> None:
    for step in ("opening/inspect/dealer", "opening/verify_inspection/floorperson"):
        floor = ignore(report_all_devices(table(game)), step)
        bring_deck(floor).answer_prompt(step, "not_whole")
        assert floor.deck().state == mc.REMOVED
        assert floor.reasons_against_opening() >= {"deck_not_ready"}


@each("680a.4(b)", "686a.4(b)", "687a.4(b)")
def test_the_cards_are_spread_for_the_first_player_before_they_are_mixed(game: str) -> None:
    floor = ignore(report_all_devices(table(game)), "opening/spread/dealer")
    bring_deck(floor)
    assert (opening(floor), floor.prompts()[0].clauses) == (["spread/dealer"], (f"{CHAPTERS[game]}.4(b)",))
    assert floor.deck().state == mc.INSPECTED
    floor.answer_prompt("opening/spread/dealer")
    assert opening(floor) == ["first_look/first_player"]
    assert floor.deck().state == mc.INSPECTED, "spread is not yet seen"


@each("680a.4(c)", "686a.4(c)", "687a.4(c)")
def test_look_wash_and_stack_come_in_this_order_and_the_shuffle_after_them(game: str) -> None:
    steps = ["first_look/first_player", "wash/dealer", "stack/dealer"]
    floor = ignore(report_all_devices(table(game)), *(f"opening/{step}" for step in steps))
    bring_deck(floor)
    for n, step in enumerate(steps):
        assert opening(floor) == [step]
        assert floor.prompts()[0].clauses == (f"{CHAPTERS[game]}.4(c)",)
        assert floor.deck().state == (mc.INSPECTED, mc.SHOWN, mc.SHOWN)[n]
        assert "shuffle" not in commanded_acts(floor.step(ev.CardsInserted("shuffler.1"))), (
            "nothing is shuffled before the stack"
        )
        floor.step(ev.IntakeEmptied("shuffler.1"))
        floor.answer_prompt(f"opening/{step}")
    assert floor.deck().state == mc.STACKED
    assert commanded_acts(floor.step(ev.CardsInserted("shuffler.1"))) == ["shuffle"]


@each("680a.4(c)", "686a.4(c)", "687a.4(c)")
def test_by_hand_too_nothing_is_shuffled_before_the_stack(game: str) -> None:
    floor = ignore(table_without_machines(game), "opening/wash/dealer", "hand_shuffle")
    bring_deck(floor)
    assert open_prompt_kinds(floor) == ["opening/wash/dealer"]
    floor.play(ev.Answer(floor.prompts()[0].id, "done", DEALER))
    assert open_prompt_kinds(floor) == ["hand_shuffle"]


@each("680a.4(d)", "686a.4(d)", "687a.4(d)")
def test_each_of_two_decks_goes_through_the_whole_opening_by_itself(game: str) -> None:
    floor = report_all_devices(table(game, two_decks=True))
    floor.step(ev.DeckReceived("blue", DEALER))
    floor.step(ev.DeckReceived("red", DEALER))
    second = next(p for p in floor.prompts("opening/composition") if p.deck == "red")
    assert f"{CHAPTERS[game]}.4(d)" in second.clauses
    floor.override = lambda d: [] if getattr(d, "deck", None) == "red" else None
    floor.settle()
    assert floor.deck("blue").state in (mc.READY, mc.SHUFFLED, mc.STACKED)
    assert (floor.deck("red").state, opening(floor, "red")) == (mc.RECEIVED, ["composition"])
    done = []
    floor.override = lambda _: None
    while opening(floor, "red"):
        (prompt,) = (p for p in floor.prompts() if p.deck == "red")
        done.append(prompt.kind.split("/")[1])
        (event,) = floor.answer(prompt)
        floor.step(event)
    assert done == ["composition", "inspect", "verify_inspection", "spread", "first_look", "wash", "stack"]
    assert floor.deck("red").state == mc.STACKED
