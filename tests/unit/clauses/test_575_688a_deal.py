"""575.8 to 575.10 and 688a.8 to 688a.10: the deal by each of the three methods, to every place, and the stub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission
from table_controller.rulebook import edition as committed
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Prompt, RequestRefused, StateChanged
from tests.support.core.ideal_table import DEALER, FLOOR, commanded_acts, decisions_of, found_irregularity, refusal_text
from tests.support.core.two_games import ASIA, both, each_method, end_with, leave_unanswered, make_table

if TYPE_CHECKING:
    from tests.support.core.ideal_table import IdealTable

DEALS = {"manual_shoe": "start_round", "hand": "dealt", "automated_shoe": "dispense"}


def kinds(decided: list[object]) -> list[str]:
    """Return the kinds of questions and commands, in order."""
    return [d.kind if isinstance(d, Prompt) else d.act for d in decided if isinstance(d, Prompt | Command)]


def holding(game: str, method: str, *stops: str) -> IdealTable:
    """Return a table where these questions stay unanswered."""
    table = make_table(game, method)
    table.override = leave_unanswered(*stops)
    return table.start("blue")


# --- into place -------------------------------------------------------------------------------------------------------


@each_method(("575.8(a)", "575.9(a)(2)", "575.10(a)(1)"), ("688a.8(a)", "688a.9(a)(2)", "688a.10(a)(1)"))
def test_the_shuffled_deck_is_put_where_it_is_dealt_from_and_no_other_is(game: str, method: str) -> None:
    table = holding(game, method, "put_in_shoe", "take_in_hand")
    kind = "take_in_hand" if method == "hand" else "put_in_shoe"
    asked = table.prompt(kind)
    section = {"manual_shoe": "8(a)", "hand": "9(a)(2)", "automated_shoe": "10(a)(1)"}[method]
    assert (asked.role, asked.deck, asked.clauses) == ("dealer", "blue", (f"{table.edition.chapter}.{section}",))
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    assert [(reason.key, reason.clause) for reason in no.reasons] == [("not_in_place", asked.clauses[0])]
    table.order("reshuffle", deck="blue")
    assert not table.prompts(kind), "a deck that is to be shuffled is not put in place"
    if method != "hand":
        assert {"deck_not_ready"} <= table.keys("load", "shoe.1", "red")
        table.clear_holds()
        assert table.deck().state == mc.STACKED
        assert "deck_not_ready" in table.keys("load", "shoe.1", "blue")


@both("575.9(a)(1)", "688a.9(a)(1)")
def test_cards_are_dealt_by_hand_only_with_an_automated_shuffler(game: str) -> None:
    edition = committed(game)
    with pytest.raises(BadSubmission, match=rf"needs an automated shuffler \({edition.chapter}\.9\(a\)\(1\)\)"):
        check_submission(edition, {"adjacent_boxes": 1, "dealing": "hand"})
    table = make_table(game, "hand").start("blue")
    table.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    table.clear_holds()
    table.order("shuffle_by_hand")
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    clause = f"{edition.chapter}.9(a)(1)"
    assert ("hand_without_shuffler", clause) in {(reason.key, reason.clause) for reason in no.reasons}
    shoe = make_table(game, "automated_shoe", machine=False).start("blue")
    shoe.step(ev.SlotOrdered("shoe.1", "give_up", FLOOR))
    shoe.clear_holds()
    assert f"it needs an automated shuffler in use ({clause}, X15)" in refusal_text(
        shoe.order("dealing_method", method="hand")
    )
    assert shoe.state.dealing == "automated_shoe"


# --- before the first card --------------------------------------------------------------------------------------------


@each_method(
    ("575.8(b)", "575.9(a)(3)/1", "575.10(a)(2)"),
    ("688a.8(b) 688a.8(c)", "688a.9(a)(3) 688a.9(b)/2", "688a.10(a)(2) 688a.10(b)"),
)
def test_no_more_bets_comes_first_then_the_position_then_the_first_card(game: str, method: str) -> None:
    table = make_table(game, method).start("blue")
    table.play(ev.OpenRound(DEALER))
    assert {"not_starting"} <= table.keys("arm_dice", "shaker.1", "blue")
    if method != "hand":
        act = "start_round" if method == "manual_shoe" else "dispense"
        assert {"not_dealing", "start_unknown"} <= table.keys(act, "shoe.1", "blue", cards=7)
    assert not table.prompts("dealt")
    assert not commanded_acts(table.step(ev.DiceRead("shaker.1", (1, 1, 1)))), "dice before the call count for nothing"
    assert table.round_.start is None
    decided = table.step(ev.NoMoreBets(DEALER))
    (asked,) = decisions_of(Prompt, decided)
    section = {"manual_shoe": "8(b)", "hand": "9(a)(3)", "automated_shoe": "10(a)(2)"}[method]
    section += "/1" * (game == ASIA and method == "hand")
    assert f"{table.edition.chapter}.{section}" in asked.clauses
    done = kinds([*decided, *table.settle()])
    assert done.index("seats") < done.index("arm_dice") < done.index("announce") < done.index(DEALS[method])
    moved = [d.state for _, out in table.log for d in out if isinstance(d, StateChanged) and d.what == "round"]
    assert moved[: moved.index(mc.DEALING) + 1] == [
        mc.BETTING, mc.NO_MORE_BETS, mc.LOCKED, mc.STARTING_POSITION, mc.DEALING
    ]  # fmt: skip


# --- the deal ---------------------------------------------------------------------------------------------------------


@both("575.10(b)", "688a.10(c)")
def test_seven_stacks_of_seven_go_clockwise_from_the_starting_position_to_everybody(game: str) -> None:
    table = make_table(game).start("blue")
    table.seats, table.dice = (2,), (1, 1, 3)  # number five: seat 3
    places: list[int | None] = []

    def taken(decision: object) -> list[ev.Event] | None:
        if isinstance(decision, Command) and decision.act == "dispense":
            assert decision.number == 7
            table.step(ev.StackOut("shoe.1", 7))
            places.append(table.round_.in_slot)
            assert "stack_not_taken" in table.keys("dispense", "shoe.1", "blue", cards=7)
            return [ev.CommandEnded(decision.id, "done"), ev.StackTaken("shoe.1")]
        return None

    table.override = taken
    table.round()
    assert places == [3, 4, 5, 6, 0, 1, 2]
    assert table.round_.number == 1


@both("575.10(b)", "688a.10(c)")
@pytest.mark.parametrize("cards", [6, 8])
def test_a_stack_of_other_than_seven_cards_stops_the_deal(game: str, cards: int) -> None:
    table = make_table(game).start("blue").play_to(mc.DEALING)
    assert "wrong_stack" in table.keys("dispense", "shoe.1", "blue", cards=cards)
    (dispensing,) = (id_ for id_, issued in table.state.commands.items() if issued.act == "dispense")
    decided = table.step(ev.StackOut("shoe.1", cards))
    assert (found_irregularity(decided).trigger, table.phase) == ("shoe_fault", mc.VOID)
    assert "dispense" not in commanded_acts(decided + table.step(ev.CommandEnded(dispensing, "done")))


@each_method(("575.8(c)", "575.9(b)", "575.10(b)"), ("688a.8(d)", "688a.9(c)", "688a.10(c)"))
def test_seven_cards_are_dealt_to_all_seven_places_wager_or_not(game: str, method: str) -> None:
    table = make_table(game, method).start("blue")
    table.seats = (2,)
    table.play_to(mc.STUB_CHECK)
    assert table.state.book.balance("blue", "seats") == table.round_.dealt == 49
    table.settle()
    method_clause = table.edition.method(method)
    assert method_clause is not None
    if method != "automated_shoe":
        (dealt,) = (p for _, out in table.log for p in decisions_of(Prompt, out) if p.kind == "dealt")
        assert dealt.seat == 5, "a total of ten is number three: the deal begins at seat 5"
        assert dealt.clauses == (method_clause.clause,)


@both("575.8(c)", "688a.8(d)")
@pytest.mark.parametrize("drawn", [48, 50])
def test_a_shoe_that_counts_must_have_seen_49_cards(game: str, drawn: int) -> None:
    table = make_table(game, "manual_shoe").start("blue")
    table.override = end_with("start_round", ev.CardsDrawn("shoe.1", drawn), asked=("choose",))
    table.round()
    assert table.hold("drawn_differs").this_round
    assert not table.prompts("stub")


# --- the stub ---------------------------------------------------------------------------------------------------------

_STUB = ("575.8(d)", "575.9(c)", "575.10(c)"), ("688a.8(e)", "688a.9(d)", "688a.10(d)")


@each_method(*_STUB)
def test_four_cards_are_left_after_every_deal_and_go_to_the_rack(game: str, method: str) -> None:
    table = make_table(game, method).start("blue")
    stops = ["stub"]
    table.override = leave_unanswered(*stops)
    for number in (1, 2, 3):
        table.round()
        assert (table.phase, table.round_.number) == (mc.STUB_CHECK, number), "in every round, counting shuffler or not"
        asked = table.prompt("stub")
        assert (asked.role, asked.number) == ("dealer", True)
        assert asked.clauses[0] == dict(zip(DEALS, _STUB[game != ASIA], strict=True))[method]
        assert not table.prompts("hands_set")
        table.answer_prompt("stub", number=4)
        assert table.state.book.balance("blue", "rack") == 4
        table.settle()
        assert table.phase == mc.IDLE


@each_method(*_STUB)
@pytest.mark.parametrize("left", [3, 5])
def test_another_number_is_counted_again_and_then_looked_into(game: str, method: str, left: int) -> None:
    table = holding(game, method, "stub", "finding")
    table.round()
    table.answer_prompt("stub", number=left)
    assert table.phase == mc.STUB_CHECK
    table.count_stub(left)
    asked = table.prompt("finding")
    assert asked.choices == ("not_misdealt", "misdealt_total_right", "misdealt_total_wrong")
    assert not table.prompts("hands_set")
    table.answer_prompt("finding", "not_misdealt")
    assert table.phase == mc.VOID
    assert table.hold("stub_wrong").outcomes == ("void_round", "return_wagers", "remove_deck")


@both("575.10(c)", "688a.10(d)")
def test_an_automated_shoe_gives_its_last_cards_out_and_its_own_count_is_compared(game: str) -> None:
    table = holding(game, "automated_shoe", "stub")
    decided = table.round()
    done = commanded_acts(decided)
    assert done.count("give_stub") == 1
    assert done.index("give_stub") > len(done) - 1 - done[::-1].index("dispense")
    assert table.prompt("stub")
    assert table.state.slots["shoe.1"].deck is None, "the shoe is empty"
    wrong = make_table(game).start("blue")
    wrong.override = end_with("give_stub", ev.StubOut("shoe.1", 3), asked=("stub", "finding"))
    wrong.round()
    wrong.answer_prompt("stub", number=3)
    assert wrong.prompt("finding"), "the shoe's count was the first; the dealer's is the second"


# --- stacks of empty places -------------------------------------------------------------------------------------------


@each_method(("575.8(f)", "575.9(e)", "575.10(e)"), ("688a.8(f)#2", "688a.9(f)", "688a.10(f)"))
def test_stacks_of_places_without_a_wager_are_racked_before_play(game: str, method: str) -> None:
    table = holding(game, method, "rack_unwagered")
    table.seats = (1, 3, 6)
    table.round()
    asked = table.prompt("rack_unwagered")
    section = {"manual_shoe": "8(f)", "hand": "9(e)", "automated_shoe": "10(e)"}[method]
    if game != ASIA:
        section = {"manual_shoe": "8(f)#2", "hand": "9(f)", "automated_shoe": "10(f)"}[method]
    assert (asked.role, asked.clauses) == ("dealer", (f"{table.edition.chapter}.{section}",))
    assert (table.phase, table.prompts("hands_set")) == (mc.STUB_CHECK, [])
    assert table.state.book.balance("blue", "rack") == 4
    table.answer_prompt("rack_unwagered")
    assert table.phase == mc.PLAYING
    assert table.state.book.balance("blue", "rack") == 4 + 3 * 7
    assert table.state.book.balance("blue", "seats") == 4 * 7
    table.settle()
    table.seats = (1, 2, 3, 4, 5, 6)
    assert "rack_unwagered" not in [p.kind for p in decisions_of(Prompt, table.round())], (
        "with six wagers there are none"
    )
