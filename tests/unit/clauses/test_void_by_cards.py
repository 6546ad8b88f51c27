"""Void rounds whose cards are known: which wagers go back, and which the cards still settle (687a.13(d))."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetReturned, BetSettled, WagerSettled, WagersReturned
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of, refusal_text
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

WILD = "687a-progressive-1"
PAI_GOW = "688a-progressive-1"
THREE = "9s 9h 9d 7s 4s"


def logged(floor: IdealTable) -> list[Decision]:
    """Return every decision of the table so far."""
    return [decision for _, decided in floor.log for decision in decided]


def exposed(floor: BettingTable, phase: str = mc.PLAYING) -> BettingTable:
    """Play to a phase, then report that cards were revealed before the raises."""
    floor.play_to(phase)
    floor.declare("cards_revealed_before_raise")
    return floor


def settled(floor: BettingTable, seat: int) -> tuple[WagerSettled, BetSettled]:
    """Settle the round; return what the cards decided about the bet of a seat, and its settlement."""
    floor.settle()
    assert floor.phase == mc.IDLE
    (by_cards,) = [each for each in logged(floor) if isinstance(each, WagerSettled) and each.seat == seat]
    (bet,) = [each for each in logged(floor) if isinstance(each, BetSettled) and each.seat == seat]
    return by_cards, bet


@clauses("687a.13(d)")
def test_the_cards_settle_the_progressive_of_a_void_round_and_the_rest_goes_back() -> None:
    floor = exposed(BettingTable(WILD, bets=(1, 3)))
    (back,) = decisions_of(WagersReturned, logged(floor))
    assert (back.settled, back.clauses) == (("progressive", "trips"), ("687a.13(d)",))
    floor.step(ev.HandEntered(1, THREE, DEALER))
    by_cards, bet = settled(floor, 1)
    assert (by_cards.result.wager, by_cards.result.outcome) == ("progressive", "wins")
    assert (by_cards.result.line, by_cards.result.paid_cents) == ("Three-of-a-Kind", 900)
    assert by_cards.result.clauses[0] == bet.clauses[0] == "687a.11(f)(1)(ii)"
    assert bet.outcome == "won"


@clauses("687a.13(d)")
def test_a_settled_wager_may_lose_in_a_void_round() -> None:
    floor = exposed(BettingTable(WILD, bets=(1, 3)))
    floor.step(ev.HandEntered(1, "9s 9h 8d 7s 4s", DEALER))
    by_cards, bet = settled(floor, 1)
    assert (by_cards.result.outcome, bet.outcome) == ("loses", "lost")


@clauses("687a.13(d)")
def test_a_hand_folded_before_the_reveal_is_settled_by_its_cards_all_the_same() -> None:
    floor = BettingTable(WILD, bets=(1, 3))
    floor.play_to(mc.PLAYING)
    floor.answer_prompt("decide", "fold")
    assert floor.round_.decided[1] == "fold"
    floor.declare("cards_revealed_before_raise")
    floor.step(ev.HandEntered(1, THREE, DEALER))
    by_cards, bet = settled(floor, 1)
    assert (by_cards.result.outcome, bet.outcome) == ("wins", "won"), "all hands are void, folded ones too"


@clauses("687a.13(d)")
@pytest.mark.parametrize("stacks", [0, 1])
def test_an_incomplete_hand_has_nothing_to_settle_and_a_complete_one_is_settled_by_its_cards(stacks: int) -> None:
    floor = BettingTable(WILD, bets=(1, 3), dealing="automated_shoe", two_decks=True)
    floor.play_to(mc.DEALING)
    for _ in range(stacks):
        (command,) = (id_ for id_, issued in floor.state.commands.items() if issued.act == "dispense")
        floor.step(ev.StackOut("shoe.1", 5))
        floor.step(ev.CommandEnded(command, "done"))
        floor.step(ev.StackTaken("shoe.1"))
    floor.declare("cards_revealed_before_raise")
    while floor.prompts("hand_complete"):
        floor.answer_prompt("hand_complete")
    assert [each.seat for each in decisions_of(BetReturned, logged(floor))] == [1, 3][stacks:]
    assert refusal_text(floor.step(ev.HandEntered(3, THREE, DEALER)))
    if stacks:
        floor.answer_prompt("replacement")
        floor.step(ev.HandEntered(1, THREE, DEALER))
        assert settled(floor, 1)[1].outcome == "won"
    else:
        floor.settle()
        assert not decisions_of(BetSettled, logged(floor))


@clauses("687a.13(d)", "687a.11(f)(1)")
def test_a_joker_needs_its_replacement_also_in_a_void_round() -> None:
    floor = exposed(BettingTable(WILD, bets=(1,)))
    floor.step(ev.HandEntered(1, "9s 9h Jk 7s 4s", DEALER))
    assert floor.prompt("progressive").proposals == (), "the joker gives way to a card that is not known"
    floor.step(ev.ReplacementEntered("9d", DEALER))
    by_cards, bet = settled(floor, 1)
    assert (by_cards.result.line, bet.outcome) == ("Three-of-a-Kind", "won")


@clauses("688a.13(g)", "687a.13(c)")
@pytest.mark.parametrize("table", [WILD, PAI_GOW])
def test_any_other_void_returns_every_wager_also_progressive_bets_in_the_tray(table: str) -> None:
    floor = BettingTable(table, bets=(1, 3))
    before = floor.held()
    floor.play_to(mc.DEALING)
    floor.declare("wrong_card_count", seat=1)
    (back,) = decisions_of(WagersReturned, logged(floor))
    assert (back.settled, back.seat) == ((), None)
    assert sorted(each.seat for each in decisions_of(BetReturned, logged(floor))) == [1, 3]
    floor.settle()
    assert not decisions_of(BetSettled, logged(floor))
    assert floor.held() == before


@clauses("575.13(h)", "680a.13(c)")
@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card"])
def test_a_void_without_a_progressive_returns_every_wager(game: str) -> None:
    floor = IdealTable(game).start("blue", "red").play_to(mc.DEALING)
    floor.declare("wrong_card_count", seat=floor.seats[0])
    (back,) = decisions_of(WagersReturned, logged(floor))
    assert (back.settled, back.seat, back.kept) == ((), None, ())


@clauses("688a.13(l)")
def test_a_jammed_shoe_returns_wagers_by_its_own_clause() -> None:
    floor = BettingTable(PAI_GOW, bets=(3,), dealing="automated_shoe")
    floor.play_to(mc.DEALING)
    floor.step(ev.ShoeFault("shoe.1", 3))
    (back,) = decisions_of(WagersReturned, logged(floor))
    assert (back.settled, back.clauses) == ((), ("688a.13(l)",))
    assert [each.seat for each in decisions_of(BetReturned, logged(floor))] == [3]
