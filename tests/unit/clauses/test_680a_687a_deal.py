"""The deal of Saigon 5 Card and DJ Wild from a manual shoe, from the hand and from an automated shoe; sections 8 to 10.

The stub has a file of its own.
"""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Prompt
from tests.support.core.chapters import (
    GAMES,
    bring_deck,
    by_method,
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
    IdealTable,
    commanded_acts,
    decisions_of,
    found_irregularity,
    refusal_text,
)
from tests.support.suite.clauses import clauses

CHAPTERS = {game: chapter for chapter, game in GAMES.items()}
# The sections of the three dealing methods.
SECTION = {"manual_shoe": 8, "hand": 9, "automated_shoe": 10}


# --- into place -------------------------------------------------------------------------------------------------------


@by_method(
    "680a.8(a) 687a.8(a)", "680a.9(a)(2) 687a.9(a)(2)", "680a.10(a)(1) 687a.10(a)(1)",
)  # fmt: skip
def test_the_deck_goes_where_it_is_dealt_from_only_when_shuffle_and_cut_are_done(game: str, dealing: str) -> None:
    clause = {
        "manual_shoe": f"{CHAPTERS[game]}.8(a)", "hand": f"{CHAPTERS[game]}.9(a)(2)",
        "automated_shoe": f"{CHAPTERS[game]}.10(a)(1)",
    }[dealing]  # fmt: skip
    kind = "take_in_hand" if dealing == "hand" else "put_in_shoe"
    floor = ignore(report_all_devices(table(game, dealing)), "shuffle", kind)
    bring_deck(floor)
    assert (floor.deck().state, open_prompt_kinds(floor)) == (mc.IN_DEVICE, []), "not before the shuffle"
    if dealing != "hand":
        assert "deck_not_ready" in floor.keys("load", "shoe.1", "blue")
    ignore(floor, kind)
    floor.settle()
    prompt = floor.prompt(kind)
    assert (floor.deck().state, prompt.role, prompt.clauses) == (mc.READY, "dealer", (clause,))
    reasons = reasons_by_key(floor, "open_bets", deck="blue")
    assert reasons["not_in_place"] == clause
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.play(ev.Answer(prompt.id, "done", DEALER))
    assert floor.deck().place == ("hands" if dealing == "hand" else "shoe.1")
    assert floor.reasons_against_opening() == set()


@by_method("680a.8(a) 687a.8(a)", "", "")
def test_a_plain_shoe_is_loaded_only_with_cut_cards(game: str, dealing: str) -> None:
    floor = ignore(table_without_machines(game, dealing=dealing), "cut", "put_in_shoe")
    bring_deck(floor)
    assert open_prompt_kinds(floor) == ["cut"], "the shoe waits for the cut"
    floor.answer_prompt("cut", number=20)
    assert (open_prompt_kinds(floor), floor.prompt("put_in_shoe").clauses) == (
        ["put_in_shoe"],
        (f"{CHAPTERS[game]}.8(a)",),
    )
    assert "not_in_place" in floor.reasons_against_opening()


@by_method("", "", "680a.10(a)(1) 687a.10(a)(1)")
def test_an_automated_shoe_does_not_take_a_second_deck_or_one_that_nobody_ordered(game: str, dealing: str) -> None:
    floor = table(game, dealing, two_decks=True).start("blue", "red")
    assert "shoe_occupied" in floor.keys("load", "shoe.1", "red")
    empty = report_all_devices(table(game, dealing))
    unknown = found_irregularity(empty.step(ev.ShoeLoaded("shoe.1", 53)))
    assert (unknown.trigger, unknown.outcomes) == ("unknown_cards", ("ask_floorperson",))
    assert "any_irregularity" in empty.reasons_against_opening()


@each("680a.9(a)(1)", "687a.9(a)(1)")
def test_cards_are_dealt_by_hand_only_with_a_shuffler_that_works(game: str) -> None:
    clause = f"{CHAPTERS[game]}.9(a)(1)"
    with pytest.raises(BadSubmission) as caught:
        check_submission(edition(game), {"adjacent_boxes": 1, "dealing": "hand"})
    assert caught.value.objections == (f"dealing = hand needs an automated shuffler ({clause})",)
    floor = table(game, "hand").start()
    assert floor.reasons_against_opening() == set()
    floor.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    floor.clear_holds()
    floor.order("shuffle_by_hand")
    floor.settle()
    reasons = reasons_by_key(floor, "open_bets", deck="blue")
    assert reasons["hand_without_shuffler"] == clause
    assert refusal_text(floor.step(ev.OpenRound(DEALER))) == "open_bets"
    floor.order("dealing_method", method="manual_shoe")
    floor.settle()
    assert floor.reasons_against_opening() == set(), "from a shoe a manual shuffle is lawful"


@each("680a.9(a)(1)", "687a.9(a)(1)")
def test_a_dead_shoe_is_not_replaced_by_the_hand_without_a_shuffler(game: str) -> None:
    floor = table(game, "automated_shoe").start()
    for slot in ("shoe.1", "shuffler.1"):
        floor.step(ev.SlotOrdered(slot, "give_up", FLOOR))
        floor.clear_holds()
    floor.order("shuffle_by_hand")
    assert f"{CHAPTERS[game]}.9(a)(1)" in refusal_text(floor.order("dealing_method", method="hand"))
    assert floor.state.dealing == "automated_shoe"
    floor = table(game, "automated_shoe").start()
    floor.step(ev.SlotOrdered("shoe.1", "give_up", FLOOR))
    floor.clear_holds()
    floor.order("dealing_method", method="hand")
    assert floor.state.dealing == "hand", "with the shuffler in service the hand may stand in"


@by_method("", "680a.9(a)(2) 687a.9(a)(2)", "")
def test_the_deck_is_in_the_hand_for_one_round_and_taken_again_for_the_next(game: str, dealing: str) -> None:
    floor = table(game, dealing).start()
    for number in (1, 2, 3):
        floor.play_to(mc.DEALING)
        assert floor.deck().place == "hands"
        floor.settle()
        taken = [p for _, decided in floor.log for p in decided if getattr(p, "kind", None) == "take_in_hand"]
        assert len(taken) == number + 1


# --- no more bets -----------------------------------------------------------------------------------------------------


@by_method(
    "680a.8(b)/1 687a.8(b)/1", "680a.9(a)(3) 687a.9(a)(3)", "680a.10(a)(2) 687a.10(a)(2)",
)  # fmt: skip
def test_no_card_is_dealt_before_no_more_bets(game: str, dealing: str) -> None:
    clause = {"manual_shoe": "8(b)/1", "hand": "9(a)(3)", "automated_shoe": "10(a)(2)"}[dealing]
    floor = table(game, dealing).start()
    for phase in (mc.IDLE, mc.BETTING):
        floor.play_to(phase)
        assert floor.settle() == [], "no person is asked to deal, and no device is ordered to"
        assert (floor.phase, floor.round_.dealt, floor.state.commands) == (phase, 0, {})
        if dealing != "hand":
            act = "dispense" if dealing == "automated_shoe" else "start_round"
            assert reasons_by_key(floor, act, "shoe.1", "blue", cards=5)["not_dealing"] == f"{CHAPTERS[game]}.{clause}"
    before = len(floor.log)
    floor.play(ev.NoMoreBets(DEALER), until=lambda _: floor.phase == mc.PLAYING)
    prompts = [p for _, decided in floor.log[before:] for p in decided if isinstance(p, Prompt)]
    seats = next(prompt for prompt in prompts if prompt.kind == "seats")
    assert f"{CHAPTERS[game]}.{clause}" in seats.clauses
    assert floor.round_.dealt == 20


@by_method("680a.8(b)/1 687a.8(b)/1", "", "680a.10(a)(2) 687a.10(a)(2)")
def test_a_card_that_leaves_the_shoe_before_the_call_stops_the_table(game: str, dealing: str) -> None:
    floor = table(game, dealing).start().play_to(mc.BETTING)
    early = ev.CardsDrawn("shoe.1", 1) if dealing == "manual_shoe" else ev.StackOut("shoe.1", 5)
    trigger = "drawn_without_deal" if dealing == "manual_shoe" else "unordered_stack"
    assert found_irregularity(floor.step(early)).trigger == trigger
    floor.play(ev.NoMoreBets(DEALER))
    assert (floor.phase, floor.round_.dealt) == (mc.NO_MORE_BETS, 0)
    assert floor.prompt("choose").role == "floorperson"


# --- who gets what ----------------------------------------------------------------------------------------------------


def delivered(floor: IdealTable) -> list[int]:
    """Return the places of an automated shoe's stacks, in order; the dealer is 0."""
    places: list[int] = []
    while floor.phase == mc.DEALING:
        (id_, issued), *more = floor.state.commands.items()
        assert (issued.act, issued.number, more) == ("dispense", 5, [])
        floor.step(ev.StackOut("shoe.1", 5))
        assert floor.round_.in_slot is not None
        places.append(floor.round_.in_slot)
        assert commanded_acts(floor.step(ev.CommandEnded(id_, "done"))) == [], "the stack must be taken first"
        assert "stack_not_taken" in floor.keys("dispense", "shoe.1", "blue", cards=5)
        floor.step(ev.StackTaken("shoe.1"))
    return places


@by_method("", "", "680a.10(b) 687a.10(b) 687a.10(c)/1")
@pytest.mark.parametrize("seats", [(4,), (6, 2), (1, 2, 3, 4, 5, 6)])
def test_an_automated_shoe_gives_five_to_every_wagered_seat_from_the_far_left_and_last_to_the_dealer(
    game: str, dealing: str, seats: tuple[int, ...]
) -> None:
    floor = table(game, dealing).start()
    floor.seats = seats
    ignore(floor, "dispense").play_to(mc.DEALING)
    assert delivered(floor) == [*sorted(seats), 0]
    assert floor.state.book.balance("blue", "seats") == 5 * (len(seats) + 1)
    assert floor.phase == mc.STUB_CHECK


@by_method("", "", "680a.10(b) 687a.10(b)")
@pytest.mark.parametrize("cards", [4, 6])
def test_a_stack_that_is_not_five_is_not_delivered(game: str, dealing: str, cards: int) -> None:
    floor = ignore(table(game, dealing).start(), "dispense").play_to(mc.DEALING)
    assert "wrong_stack" in floor.keys("dispense", "shoe.1", "blue", cards=cards)
    assert found_irregularity(floor.step(ev.StackOut("shoe.1", cards))).trigger == "shoe_fault"
    assert floor.phase == mc.VOID


@by_method("680a.8(c) 687a.8(d) 687a.8(d)#2", "680a.9(b) 687a.9(c) 687a.9(d)", "")
@pytest.mark.parametrize("seats", [(4,), (6, 2), (1, 2, 3, 4, 5, 6)])
def test_by_hand_five_cards_go_to_every_wagered_seat_from_the_far_left_and_to_the_dealer(
    game: str, dealing: str, seats: tuple[int, ...]
) -> None:
    floor = table(game, dealing).start()
    floor.seats = seats
    ignore(floor, "dealt").play_to(mc.DEALING)
    prompt = floor.prompt("dealt")
    expected = {
        ("saigon_5_card", "manual_shoe"): ("680a.8(c)",),
        ("saigon_5_card", "hand"): ("680a.9(b)",),
        ("dj_wild", "manual_shoe"): ("687a.8(d)", "687a.8(d)#2"),
        ("dj_wild", "hand"): ("687a.9(c)", "687a.9(d)"),
    }[game, dealing]
    assert (prompt.role, prompt.clauses, prompt.seat) == ("dealer", expected, min(seats))
    assert floor.round_.to_deal == [*sorted(seats), 0]
    unit = {"saigon_5_card": "card", "dj_wild": "stack"}[game]
    method = floor.edition.method(dealing)
    assert method is not None
    assert method.unit == unit, "one card at a time, or a stack of five (W25)"
    assert floor.phase == mc.DEALING, "the dealer confirms the end"
    if dealing == "manual_shoe":
        floor.step(ev.CardsDrawn("shoe.1", 5 * (len(seats) + 1)))
    floor.step(ev.Answer(prompt.id, "done", DEALER))
    assert (floor.phase, floor.round_.dealt) == (mc.STUB_CHECK, 5 * (len(seats) + 1))
    assert floor.state.book.balance("blue", "seats") == 5 * (len(seats) + 1)


@by_method("680a.8(c) 687a.8(d) 687a.8(d)#2", "", "")
@pytest.mark.parametrize("drawn", [19, 21])
def test_a_manual_shoe_that_counts_must_have_seen_the_whole_deal_and_no_more(
    game: str, dealing: str, drawn: int
) -> None:
    floor = table(game, dealing).start()
    floor.override = lambda d: (
        [ev.CardsDrawn("shoe.1", drawn), ev.CommandEnded(d.id, "done")]
        if isinstance(d, Command) and d.act == "start_round"
        else None
    )
    floor.play_to(mc.NO_MORE_BETS)
    floor.play(*floor.answer(floor.prompt("seats")), until=lambda d: "drawn_differs" in str(d))
    assert floor.hold().trigger == "drawn_differs"
    before = floor.phase
    assert commanded_acts(floor.step(ev.Due("nothing"))) == []
    assert (before, open_prompt_kinds(floor)) == (floor.phase, ["choose"])
    assert floor.prompt("choose").role == "floorperson"


@by_method("680a.8(c) 687a.8(d)", "680a.9(b) 687a.9(c)", "680a.10(b) 687a.10(b)")
def test_a_seat_without_its_wager_gets_no_card(game: str, dealing: str) -> None:
    floor = table(game, dealing).start()
    floor.seats = (3, 5)
    floor.play_to(mc.PLAYING)
    assert floor.round_.dealt == 15
    assert floor.state.book.held["blue"] == {"seats": 15, "rack": 38}


@clauses("680a.10(b)", "687a.10(b)")
def test_no_further_stack_is_dispensed_than_the_seats_and_the_dealer_need() -> None:
    for game in ("saigon_5_card", "dj_wild"):
        floor = table(game, "automated_shoe").start()
        floor.play_to(mc.PLAYING)
        commands = [c for _, decided in floor.log for c in decisions_of(Command, decided) if c.act == "dispense"]
        assert [c.number for c in commands] == [5, 5, 5, 5]
        assert "not_dealing" in floor.keys("dispense", "shoe.1", "blue", cards=5)
