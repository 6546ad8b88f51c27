"""688a.5(b)(2) to (g): the cut that players are offered, its cover cards, the recut, and an idle table."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt
from tests.support.core.ideal_table import DEALER, IdealTable, commanded_acts, decisions_of, refusal_text
from tests.support.core.two_games import PAI_GOW, leave_unanswered, make_table
from tests.support.suite.clauses import clauses

_STOPS = ("cut", "first_arrival", "cover_back")


def at_the_cut(*, preshuffled: bool = False, machine: bool = False) -> IdealTable:
    """Return a table with a hand-shuffled stack before the dealer has entered who arrived first."""
    table = make_table(PAI_GOW, "manual_shoe", machine=machine)
    for slot in table.state.slots:
        table.play(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
    table.override = leave_unanswered(*_STOPS)
    table.play(ev.DeckReceived("blue", DEALER, preshuffled=preshuffled))
    return table


def in_the_game() -> IdealTable:
    """Return a table after one round with seats 1, 3 and 6 and another shuffle by hand."""
    table = make_table(PAI_GOW, "manual_shoe", machine=False).start("blue")
    table.override = leave_unanswered(*_STOPS)
    table.round()
    return table


@clauses("688a.5(b)(2)", "688a.5(c)")
@pytest.mark.parametrize("preshuffled", [False, True])
def test_a_stack_that_no_machine_shuffled_is_offered_to_be_cut(preshuffled: bool) -> None:
    table = at_the_cut(preshuffled=preshuffled)
    assert table.deck().state == mc.SHUFFLED
    assert "deck_not_ready" in table.keys("open_bets", deck="blue")
    assert "deck_not_ready" in table.keys("load", "shoe.1", "blue")
    table.answer_prompt("first_arrival", seats=(4,))
    asked = table.prompt("cut")
    assert asked.choices == ("cut", "decline")
    assert {"688a.5(b)(2)", "688a.5(c)"} <= set(asked.clauses)
    assert not table.prompts("put_in_shoe")


@clauses("688a.5(c)", "688a.5(d)", "688a.5(d)(1)")
def test_the_first_to_arrive_is_offered_the_cut_first_and_the_dealer_cuts_if_nobody_will() -> None:
    table = at_the_cut()
    assert not table.prompts("cut"), "first it is entered who came first"
    assert refusal_text(table.answer_prompt("first_arrival", seats=(4, 5))) == "enter one seat, 1 to 6"
    table.answer_prompt("first_arrival", seats=(4,))
    offered = []
    while table.prompt("cut").seat is not None:
        asked = table.prompt("cut")
        offered.append(asked.seat)
        assert "688a.5(d)(1)" in asked.clauses
        table.answer_prompt("cut", "decline")
    assert offered == [4, 6, 5, 3, 2, 1]
    assert table.prompt("cut").choices == ("cut",), "the dealer cannot decline"
    table.answer_prompt("cut")
    assert table.prompt("cover_back")


@clauses("688a.5(d)", "688a.5(d)(2)")
def test_later_the_far_right_is_offered_it_and_then_counterclockwise() -> None:
    table = in_the_game()
    offered = []
    while table.prompt("cut").seat is not None:
        assert "688a.5(d)(2)" in table.prompt("cut").clauses
        offered.append(table.prompt("cut").seat)
        table.answer_prompt("cut", "decline")
    assert offered == [6, 3, 1], "only who sits there"
    table.answer_prompt("cut", number=20)
    table.answer_prompt("cover_back")
    assert table.deck().state == mc.READY


@clauses("688a.5(e)/1")
def test_the_cut_is_at_least_ten_cards_from_either_end() -> None:
    table = at_the_cut()
    table.answer_prompt("first_arrival", seats=(1,))
    asked = table.prompt("cut")
    assert (asked.least, asked.most, asked.clauses[0]) == (10, 43, "688a.5(e)/1")
    for depth in (9, 44):
        assert refusal_text(table.answer_prompt("cut", number=depth)) == "enter a number from 10 to 43"
    assert table.deck().state == mc.SHUFFLED
    table.answer_prompt("cut", number=43)
    assert table.deck().cut


@clauses("688a.5(e)/2")
def test_one_cover_card_goes_to_the_rack_or_back_in_four_cards_above_the_bottom() -> None:
    for choice, number in (("rack", None), ("put_back", 4)):
        table = at_the_cut()
        table.answer_prompt("first_arrival", seats=(1,))
        table.answer_prompt("cut", number=20)
        asked = table.prompt("cover_back")
        assert (asked.choices, asked.clauses) == (("put_back", "rack"), ("688a.5(e)/2",))
        assert table.deck().state == mc.SHUFFLED
        for wrong in (3, 5):
            assert "a number from 4 to 4" in refusal_text(table.answer_prompt("cover_back", "put_back", number=wrong))
        table.answer_prompt("cover_back", choice, number=number)
        assert table.deck().state == mc.READY


@clauses("688a.5(f)")
def test_a_recut_is_offered_to_the_last_player_who_cut_and_then_to_the_next() -> None:
    table = in_the_game()
    table.answer_prompt("cut", "decline")
    assert table.prompt("cut").seat == 3
    table.answer_prompt("cut", number=20)
    table.answer_prompt("cover_back")
    table.settle()
    table.play_to(mc.BETTING)
    assert (
        refusal_text(table.step(ev.Ordered("recut", DEALER, deck="blue")))
        == "only a floorperson can order recut (688a.5(f))"
    )
    table.order("recut", deck="blue")
    assert (table.deck().state, table.deck().place) == (mc.SHUFFLED, "tray")
    offered = []
    while table.prompt("cut").seat is not None:
        offered.append(table.prompt("cut").seat)
        table.answer_prompt("cut", "decline")
    assert offered[0] == 3, "who cut last"
    assert offered[1:] == [1], "then the next who sits there, and nobody who was asked before"


@clauses("688a.5(f)")
def test_the_dealer_recuts_what_the_dealer_cut_and_nobody_recuts_after_the_first_card() -> None:
    table = in_the_game()
    for _ in range(3):
        table.answer_prompt("cut", "decline")
    table.answer_prompt("cut", number=20)
    table.answer_prompt("cover_back")
    table.order("recut", deck="blue")
    assert table.prompt("cut").choices == ("cut",)
    table.override = lambda _: None
    table.settle()
    table.play_to(mc.DEALING)
    assert refusal_text(table.order("recut", deck="blue")) == "recut: this deck is not cut and ready (688a.5(f))"


@clauses("688a.5(g)", "688a.5(g)(1)")
def test_at_an_idle_table_without_shuffler_the_cards_are_spread_washed_shuffled_and_cut() -> None:
    table = make_table(PAI_GOW, "manual_shoe", machine=False).start("blue")
    table.round()
    table.order("table_idle")
    assert (table.deck().state, table.deck().place) == (mc.INSPECTED, "tray"), "out of the shoe"
    assert "deck_not_ready" in table.reasons_against_opening()
    spread = table.prompt("opening/spread/dealer")
    assert spread.choices == ("face_down", "face_up")
    assert spread.clauses[:2] == ("688a.5(g)", "688a.5(g)(1)")
    asked = [p.kind for p in decisions_of(Prompt, table.settle())]
    assert asked[:3] == ["opening/first_look/first_player", "opening/wash/dealer", "opening/stack/dealer"]
    assert asked[3:] == ["hand_shuffle", "first_arrival", "cut", "cover_back", "put_in_shoe"]
    assert not table.reasons_against_opening()


@clauses("688a.5(g)", "688a.5(g)(2)")
@pytest.mark.parametrize("wish", ["undisputed", "look"])
def test_at_an_idle_table_with_shuffler_the_spread_deck_goes_in_and_the_stored_one_comes_out(wish: str) -> None:
    table = make_table(PAI_GOW, two_decks=True).start("blue", "red")
    assert (table.deck("blue").place, table.deck("red").place) == ("shoe.1", "shuffler.1/gate")
    table.order("table_idle")
    assert (table.deck("blue").state, table.deck("blue").place) == (mc.INSPECTED, "tray")
    assert "look_due" in table.keys("open_bets", deck="red")
    asked = table.prompt("stored_deck")
    assert (asked.deck, asked.clauses) == ("red", ("688a.5(g)", "688a.5(g)(2)"))
    decided = table.answer_prompt("stored_deck", wish)
    decided += table.settle()
    kinds = [(p.kind, p.deck) for p in decisions_of(Prompt, decided)]
    assert ("opening/wash/dealer", "blue") not in kinds, "the shuffler takes the place of the wash"
    assert ("opening/stack/dealer", "blue") in kinds
    assert commanded_acts(decided).count("shuffle") == (1 if wish == "undisputed" else 2)
    looked = [kind for kind, deck in kinds if deck == "red" and kind.startswith("opening/")]
    assert bool(looked) is (wish == "look")
    assert not table.reasons_against_opening()
    table.round()
    assert table.round_.number == 1
