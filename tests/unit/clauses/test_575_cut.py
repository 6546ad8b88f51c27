"""575.5(b)(2), (c), (d), (e): the dealer's cut after a manual shuffle, the recut, and an idle table."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Prompt
from tests.support.core.ideal_table import DEALER, IdealTable, commanded_acts, decisions_of, refusal_text
from tests.support.core.two_games import ASIA, leave_unanswered, make_table
from tests.support.suite.clauses import clauses


def waiting_for_the_cut(*, preshuffled: bool = False) -> IdealTable:
    """Return a table where a shuffled or delivered stack is in front of the dealer."""
    table = make_table(ASIA, "manual_shoe", machine=False)
    for slot in table.state.slots:
        table.play(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
    table.override = leave_unanswered("cut")
    table.play(ev.DeckReceived("blue", DEALER, preshuffled=preshuffled))
    return table


@clauses("575.5(b)(2)")
@pytest.mark.parametrize("preshuffled", [False, True])
def test_a_stack_that_no_machine_shuffled_is_cut_before_it_is_dealt(preshuffled: bool) -> None:
    table = waiting_for_the_cut(preshuffled=preshuffled)
    assert table.deck().state == mc.SHUFFLED
    asked = table.prompt("cut")
    assert "575.5(b)(2)" in asked.clauses
    assert not table.prompts("put_in_shoe")
    assert "deck_not_ready" in table.keys("open_bets", deck="blue")
    assert "deck_not_ready" in table.keys("load", "shoe.1", "blue")
    table.answer_prompt("cut")
    assert table.deck().state == mc.READY


@clauses("575.5(c)/1")
def test_the_dealer_cuts_at_least_ten_cards_below_the_top_and_then_loads_the_shoe() -> None:
    table = waiting_for_the_cut()
    asked = table.prompt("cut")
    assert (asked.role, asked.choices, asked.seat) == ("dealer", ("cut",), None), "nobody else is offered it"
    assert (asked.least, asked.most) == (10, 52)
    for depth in (0, 9, 53):
        assert refusal_text(table.answer_prompt("cut", number=depth)) == "enter a number from 10 to 52"
    assert table.deck().state == mc.SHUFFLED
    table.answer_prompt("cut", number=10)
    assert table.prompt("put_in_shoe").clauses == ("575.8(a)",)


@clauses("575.5(c)/2")
def test_after_the_cut_the_position_is_found_and_then_the_cards_are_dealt() -> None:
    table = waiting_for_the_cut()
    table.override = lambda _: None
    table.settle()
    assert {"start_unknown", "not_dealing"} <= table.keys("start_round", "shoe.1", "blue"), "no card comes before it"
    decided = table.round()
    assert commanded_acts(decided)[:2] == ["arm_dice", "start_round"]
    asked = [p.kind for p in decisions_of(Prompt, decided)]
    assert asked.index("announce") < asked.index("dealt")


@clauses("575.5(d)")
def test_a_floorperson_may_have_the_cards_recut_until_the_first_one_is_dealt() -> None:
    table = waiting_for_the_cut()
    assert refusal_text(table.order("recut", deck="blue")) == "recut: this deck is not cut and ready (575.5(d))"
    table.override = lambda _: None
    table.settle()
    assert (
        refusal_text(table.step(ev.Ordered("recut", DEALER, deck="blue")))
        == "only a floorperson can order recut (575.5(d))"
    )
    for phase in (mc.IDLE, mc.BETTING, mc.STARTING_POSITION):
        table.play_to(phase)
        table.order("recut", deck="blue")
        assert (table.deck().state, table.deck().place) == (mc.SHUFFLED, "tray")
        assert table.prompt("cut").seat is None
        assert {"deck_not_in_play", "not_dealing"} <= table.keys("start_round", "shoe.1", "blue")
        table.answer_prompt("cut")
        decided = table.answer_prompt("put_in_shoe")
        for command in decisions_of(Command, decided):
            for event in table.answer(command):
                table.step(event)
        assert table.deck().place == "shoe.1"
    table.play_to(mc.DEALING)
    assert refusal_text(table.order("recut", deck="blue")) == "recut: this deck is not cut and ready (575.5(d))"


@clauses("575.5(e)")
@pytest.mark.parametrize("machine", [False, True])
def test_at_an_idle_table_the_cards_are_spread_looked_at_washed_and_shuffled_again(machine: bool) -> None:
    table = make_table(ASIA, "manual_shoe", machine=machine, two_decks=machine)
    table.start(*(("blue", "red") if machine else ("blue",)))
    assert table.deck().place == "shoe.1"
    table.order("table_idle")
    assert (table.deck().state, table.deck().place) == (mc.INSPECTED, "tray"), "out of the shoe"
    assert "deck_not_ready" in table.keys("open_bets", deck="blue")
    assert not machine or "look_due" in table.keys("open_bets", deck="red")
    (spread,) = (p for p in table.prompts("opening/spread/dealer") if p.deck == "blue")
    assert (spread.choices, spread.clauses[0]) == (("face_down", "face_up"), "575.5(e)")
    decided = table.settle()
    asked = [p.kind for p in decisions_of(Prompt, decided) if p.deck == "blue"]
    steps = ["opening/first_look/first_player", "opening/wash/dealer", "opening/stack/dealer"]
    assert asked[:3] == steps
    assert commanded_acts(decided).count("shuffle") == (2 if machine else 0)
    assert ("cut" in asked) is ("hand_shuffle" in asked) is not machine
    assert not table.reasons_against_opening()
    if machine:
        red = [p.kind for p in decisions_of(Prompt, decided) if p.deck == "red"]
        assert red[:4] == ["opening/spread/dealer", *steps], "the stored deck comes out and is spread as well"


@clauses("575.5(e)")
def test_the_rack_is_emptied_too_and_a_table_in_play_is_not_idle() -> None:
    table = make_table(ASIA, "manual_shoe", machine=False).start("blue")
    table.play_to(mc.BETTING)
    assert refusal_text(table.order("table_idle")) == "table_idle: a round or an irregularity is open"
    table.override = leave_unanswered("hand_shuffle")
    table.play(ev.NoMoreBets(DEALER))
    assert table.deck().place == "rack"
    table.order("table_idle")
    assert (table.deck().state, table.deck().place) == (mc.INSPECTED, "tray")
