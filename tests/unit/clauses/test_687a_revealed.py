"""687a.13(d): cards revealed before the raises are placed; what is settled then, and what ends the settling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.ledger.money import DOLLAR
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetReturned, BetSettled, HoldOpened, RequestRefused, WagersReturned
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, FLOOR, decisions_of
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision

TABLE = "687a-progressive-1"
EXPOSED = ("cards_revealed_before_raise", "player_card_exposed", "dealer_card_exposed")


def expose(floor: BettingTable, trigger: str = "cards_revealed_before_raise") -> list[Decision]:
    """A card is exposed."""
    return floor.declare(trigger, seat=1 if trigger == "player_card_exposed" else None)


def in_the_deal(stacks: int, bets: tuple[int, ...] = (1, 3, 6)) -> BettingTable:
    """Return a deal from a shoe to seats 1, 3, 6 and the dealer after that many stacks."""
    floor = BettingTable(TABLE, bets=bets, dealing="automated_shoe", two_decks=True)
    floor.play_to(mc.DEALING)
    for _ in range(stacks):
        (command,) = (id_ for id_, issued in floor.state.commands.items() if issued.act == "dispense")
        floor.step(ev.StackOut("shoe.1", 5))
        floor.step(ev.CommandEnded(command, "done"))
        floor.step(ev.StackTaken("shoe.1"))
    return floor


# --- until the raises are placed --------------------------------------------------------------------------------------


@clauses("687a.13(d)", "687a.11(b)", "687a.11(d)")
@pytest.mark.parametrize("trigger", EXPOSED)
def test_with_every_raise_placed_an_exposed_card_is_the_floorpersons(trigger: str) -> None:
    floor = BettingTable(TABLE, bets=(1, 3))
    floor.play_to(mc.PLAYING)
    while floor.prompts("decide"):
        floor.answer_prompt("decide")
    assert floor.prompts("reveal"), "only the reveal is to come"
    (irregularity,) = decisions_of(HoldOpened, expose(floor, trigger))
    assert (irregularity.outcomes, irregularity.clauses) == (("ask_floorperson",), ("rule 2",))
    assert floor.phase == mc.PLAYING
    floor.clear_holds()  # the floorperson lets it go on
    floor.settle()
    assert {bet.outcome for _, decided in floor.log for bet in decisions_of(BetSettled, decided)} == {"lost"}
    assert floor.phase == mc.IDLE


@clauses("687a.13(d)")
@pytest.mark.parametrize("trigger", EXPOSED)
def test_with_one_player_still_to_decide_it_voids_the_round(trigger: str) -> None:
    floor = BettingTable(TABLE, bets=(1, 3))
    floor.play_to(mc.PLAYING)
    floor.answer_prompt("decide")
    floor.answer_prompt("decide", "fold")
    assert floor.prompt("decide").seat == 6
    (irregularity,) = decisions_of(HoldOpened, expose(floor, trigger))
    assert irregularity.clauses == ("687a.13(d)",)
    assert floor.phase == mc.VOID


# --- in the deal: hands that are complete are settled (W19) -----------------------------------------------------------


@clauses("687a.13(d)", "687a.11(f)(1)", "687a.11(f)(1)(i)", "687a.11(f)(1)(ii)")
def test_in_the_deal_a_complete_hand_is_settled_and_an_incomplete_one_goes_back_seat_by_seat() -> None:
    floor = in_the_deal(1)
    assert floor.round_.to_deal == [3, 6, 0]
    decided = expose(floor)
    (wagers,) = decisions_of(WagersReturned, decided)
    assert wagers.settled == ("progressive", "trips")
    assert not decisions_of(BetReturned, decided), "nobody has looked at the hands yet"
    asked = []
    while floor.prompts("hand_complete"):
        prompt = floor.prompt("hand_complete")
        assert (prompt.role, prompt.clauses) == ("floorperson", ("687a.13(d)",))
        assert not floor.prompts("progressive"), "no bet is settled before every hand is confirmed"
        asked.append((prompt.seat, prompt.choices))
        floor.answer_prompt("hand_complete")
    assert asked == [(1, ("complete",)), (3, ("incomplete",)), (6, ("incomplete",))], "the shoe has counted the stacks"
    returned = [back.seat for _, each in floor.log for back in decisions_of(BetReturned, each)]
    assert returned == [3, 6]
    assert floor.prompt("replacement").role == "dealer", "a joker is replaced in a void round too"
    assert not floor.prompts("progressive")
    before = floor.state.book.balance("blue", "replacement")
    floor.answer_prompt("replacement")
    assert floor.state.book.balance("blue", "replacement") == before + 1
    assert floor.prompt("progressive").seat == 1
    floor.answer_prompt("progressive", "four_of_a_kind")
    for kind in ("hit_hand", "hit_light", "hit_validate", "hit_pay"):
        assert not floor.prompts("optional_settled")
        floor.answer_prompt(kind)
    assert floor.prompts("optional_settled")
    assert floor.book.meters.paid_by_table == 300 * DOLLAR
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("687a.13(d)")
@pytest.mark.parametrize("stacks", [0, 2])
def test_which_hands_are_complete_follows_the_deal(stacks: int) -> None:
    floor = in_the_deal(stacks)
    expose(floor)
    while floor.prompts("hand_complete"):
        floor.answer_prompt("hand_complete")
    returned = [back.seat for _, each in floor.log for back in decisions_of(BetReturned, each)]
    assert returned == [1, 3, 6][stacks:]
    assert bool(floor.prompts("replacement")) is bool(stacks), "without a hand to settle no card is laid aside"
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("687a.13(d)")
def test_the_floorperson_decides_what_a_stack_in_the_delivery_slot_is() -> None:
    floor = in_the_deal(0)
    floor.step(ev.StackOut("shoe.1", 5))
    expose(floor)
    assert floor.prompt("hand_complete").choices == ("complete", "incomplete")


@clauses("687a.13(d)")
@pytest.mark.parametrize("dealing", ["manual_shoe", "hand"])
def test_the_floorperson_decides_which_hand_dealt_hands_were_complete(dealing: str) -> None:
    floor = BettingTable(TABLE, bets=(1, 3), dealing=dealing)
    floor.play_to(mc.DEALING)
    expose(floor)
    for seat, choice in ((1, "complete"), (3, "incomplete"), (6, "incomplete")):
        prompt = floor.prompt("hand_complete")
        assert (prompt.seat, prompt.choices) == (seat, ("complete", "incomplete"))
        decisions = floor.step(ev.Answer(prompt.id, choice, DEALER))
        assert decisions_of(RequestRefused, decisions), "the dealer does not decide it"
        floor.step(ev.Answer(prompt.id, choice, FLOOR))
    floor.answer_prompt("replacement")
    assert floor.prompt("progressive").seat == 1
    floor.settle()
    settled = [(bet.seat, bet.outcome) for _, each in floor.log for bet in decisions_of(BetSettled, each)]
    assert settled == [(1, "lost")]
    assert floor.phase == mc.IDLE


@clauses("687a.13(d)", "687a.11(f)(1)")
def test_before_the_replacement_card_lies_there_it_is_laid_before_bets_are_settled() -> None:
    floor = BettingTable(TABLE, bets=(1,), dealing="hand")
    floor.play_to(mc.STUB_CHECK)
    assert not floor.round_.replacement
    expose(floor)
    assert not floor.prompts("progressive")
    floor.answer_prompt("replacement")
    assert floor.prompts("progressive")
    assert not floor.prompts("hand_complete"), "every hand is complete after the deal"


# --- a further irregularity while a void round settles ----------------------------------------------------------------


@clauses("687a.13(c)", "687a.13(d)")
@pytest.mark.parametrize("hand", ["four_of_a_kind", "royal_flush"])
def test_a_wrong_count_ends_the_settling_and_every_wager_goes_back(hand: str) -> None:
    floor = BettingTable(TABLE, bets=(1, 3))
    before = floor.held()
    floor.play_to(mc.PLAYING)
    expose(floor)
    floor.answer_prompt("progressive", hand)
    for kind in ("hit_hand", "hit_light"):
        floor.answer_prompt(kind)
    decided = floor.declare("wrong_card_count", seat=3)
    (irregularity,) = decisions_of(HoldOpened, decided)
    assert irregularity.clauses == ("687a.13(c)",)
    assert [each.settled for each in decisions_of(WagersReturned, decided)] == [()]
    assert sorted(back.seat for back in decisions_of(BetReturned, decided)) == [1, 3]
    assert not [p for p in floor.prompts() if p.kind.startswith(("hit_", "progressive", "optional"))]
    assert floor.held() == before, "claims are withdrawn, and what the bets had added is out of the meter again"
    assert floor.hold("wrong_card_count").steps[:2] == ["wagers_reversed", "wagers_returned"], "by X18"
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("687a.13(c)")
def test_a_wrong_count_in_the_deal_also_ends_it_before_the_hands_are_confirmed() -> None:
    floor = in_the_deal(2)
    expose(floor)
    floor.answer_prompt("hand_complete")
    decided = floor.declare("wrong_card_count", seat=1)
    assert sorted(back.seat for back in decisions_of(BetReturned, decided)) == [1, 3, 6]
    assert not floor.prompts("hand_complete")
    floor.settle()
    assert floor.phase == mc.IDLE


@clauses("687a.13(c)")
def test_a_wrong_count_found_when_the_optional_wagers_are_settled_reverses_them() -> None:
    floor = BettingTable(TABLE, bets=(1,))
    before = floor.held()
    floor.play_to(mc.PLAYING)
    expose(floor)
    floor.answer_prompt("progressive", "four_of_a_kind")
    for kind in ("hit_hand", "hit_light", "hit_validate", "hit_pay"):
        floor.answer_prompt(kind)
    floor.until_asked("optional_settled").answer_prompt("optional_settled")
    assert floor.book.meters.paid_by_table == 300 * DOLLAR
    floor.declare("wrong_card_count", seat=1)
    assert floor.held() == before
    assert floor.book.meters.paid_by_table == 0
    floor.settle()
    assert floor.phase == mc.IDLE


def test_what_no_rule_names_stops_the_settling_until_the_floorperson_has_decided() -> None:
    floor = BettingTable(TABLE, bets=(1, 3))
    floor.play_to(mc.PLAYING)
    expose(floor)
    assert floor.prompts("progressive")
    floor.declare("other")
    assert not floor.prompts("progressive"), "no bet is settled while something is in doubt"
    assert not floor.prompts("optional_settled")
    floor.answer_prompt("choose", "continue")
    assert floor.prompts("progressive")
    floor.declare("shoe_short")
    decided = floor.answer_prompt("choose", "void")
    assert sorted(back.seat for back in decisions_of(BetReturned, decided)) == [1, 3]
    floor.settle()
    assert floor.phase == mc.IDLE


def test_a_shoe_that_stops_because_the_round_is_void_takes_no_won_wager_away() -> None:
    floor = in_the_deal(1)
    expose(floor)
    floor.step(ev.ShoeFault("shoe.1", 3))
    while floor.prompts("hand_complete"):
        floor.answer_prompt("hand_complete")
    assert [back.seat for _, each in floor.log for back in decisions_of(BetReturned, each)] == [3, 6]
    floor.answer_prompt("replacement")
    assert floor.prompt("progressive").seat == 1
    floor.settle()


def test_a_void_round_that_settles_nothing_takes_no_further_report() -> None:
    floor = table_at("dj_wild", "wild", mc.DEALING)
    floor.declare("wrong_card_count")
    assert decisions_of(RequestRefused, floor.declare("cards_revealed_before_raise"))
    assert decisions_of(RequestRefused, floor.declare("player_leaves", seat=1))
