"""575.11 and 688a.11: players look, set and are settled one by one; surrender; when a hand goes to the rack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt
from tests.support.core.ideal_table import DEALER, FLOOR, commanded_acts, decisions_of, found_irregularity, refusal_text
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.core.two_games import ALL_WAGERS, ASIA, BONUS, PAI_GOW, both, leave_unanswered, make_table
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from tests.support.core.ideal_table import IdealTable


def side(game: str) -> dict[str, Any]:
    return BONUS if game == ASIA else ALL_WAGERS


def playing(game: str, *stops: str, side_seats: tuple[int, ...] = (), **choices: Any) -> IdealTable:
    """Return a table where seats 1, 3 and 6 have cards and the named questions stay unanswered."""
    table = make_table(game, **choices).start("blue")
    table.side = {("bonus" if game == ASIA else "ace_high"): side_seats}
    table.override = leave_unanswered(*stops)
    table.round()
    return table


@both("575.11(a)", "688a.11(a)")
def test_players_look_at_their_cards_only_after_deal_and_stub(game: str) -> None:
    table = make_table(game).start("blue")
    for phase in (mc.STARTING_POSITION, mc.DEALING, mc.STUB_CHECK):
        table.play_to(phase)
        assert not table.prompts("hands_set")
    table.play_to(mc.PLAYING)
    assert table.prompt("hands_set").role == "dealer"
    assert table.round_.stub_done


@both("575.11(a)(1) 575.11(a)(3)", "688a.11(a)(1) 688a.11(a)(3)")
def test_hands_are_set_once_and_then_nobody_touches_them(game: str) -> None:
    table = playing(game, "hands_set", "reveal")
    asked = table.prompt("hands_set")
    chapter = table.edition.chapter
    assert {f"{chapter}.11(a)(1)", f"{chapter}.11(a)(3)"} <= set(asked.clauses)
    assert not table.prompts("reveal"), "the dealer's hand waits for all players"
    table.answer_prompt("hands_set")
    assert table.prompt("reveal").clauses == (f"{chapter}.11(c)",)
    again = refusal_text(table.step(ev.Answer(asked.id, "done", DEALER)))
    assert again == f"question {asked.id} is no longer open"
    assert not table.prompts("hands_set")


@clauses("575.11(a)(1)")
def test_a_player_who_asks_is_shown_the_house_way() -> None:
    at = terms(ASIA)
    dealer = "Ks Kh 9d 7c | Qd Jc | 8d"
    advised = settle_round(at, seat(3, "As Ah Qs Qh Ts 6d 3c", asia_poker=2500), dealer=dealer)
    assert only_result(advised, "asia_poker").outcome == "wins", "the two pairs are split"
    kept = settle_round(at, seat(3, "As Ah Qs Qh | Ts 6d | 3c", asia_poker=2500), dealer=dealer)
    assert only_result(kept, "asia_poker").outcome == "loses"


@both("575.11(c)", "688a.11(c)")
def test_the_dealers_hand_is_set_after_all_players_and_before_any_is_settled(game: str) -> None:
    table = playing(game, "reveal")
    assert (table.phase, table.prompts("settled")) == (mc.PLAYING, [])
    assert "not_settling" in table.keys("pay")
    table.answer_prompt("reveal")
    assert table.phase == mc.SETTLING
    assert "not_settling" not in table.keys("pay")


@both("575.11(e)", "688a.11(e)")
def test_hands_are_shown_and_settled_from_the_far_right_counterclockwise(game: str) -> None:
    table = make_table(game).start("blue")
    table.seats = (1, 2, 4, 5, 6)
    asked = [p for p in decisions_of(Prompt, table.round()) if p.kind == "settled"]
    assert [p.seat for p in asked] == [6, 5, 4, 2, 1]
    assert {p.clauses[0] for p in asked} == {f"{table.edition.chapter}.11(e)"}


# --- surrender --------------------------------------------------------------------------------------------------------


@both("575.11(d)/1", "688a.11(d)/1")
def test_surrender_is_open_from_the_dealers_set_hand_until_the_own_one_is_shown(game: str) -> None:
    table = playing(game, "reveal", "settled")
    assert f"({table.edition.chapter}.11(d)/1)" in refusal_text(table.declare("surrender", seat=1)), "not yet"
    table.answer_prompt("reveal")
    asked = table.prompt("settled")
    assert (asked.seat, asked.choices) == (6, ("settled", "surrendered"))
    assert f"{table.edition.chapter}.11(d)/1" in asked.clauses
    table.answer_prompt("settled", "settled")
    assert "may not surrender now" in refusal_text(table.declare("surrender", seat=6)), "its hand was shown"
    assert "needs a seat whose hand is in play" in refusal_text(table.declare("surrender", seat=2))
    table.declare("surrender", seat=1)
    assert table.round_.surrendered == [1], "at once, though seat 3 is next"
    table.answer_prompt("surrender_collected")
    assert table.prompt("surrender_count").seat == 1


@both("575.11(d)/1", "688a.11(d)/1")
def test_a_player_with_a_side_wager_may_not_surrender(game: str) -> None:
    table = playing(game, "settled", side_seats=(6,), **side(game))
    asked = table.prompt("settled")
    assert (asked.seat, asked.choices) == (6, ("settled",))
    assert "may not surrender now" in refusal_text(table.declare("surrender", seat=6))
    assert "is not an answer to this question" in refusal_text(table.answer_prompt("settled", "surrendered"))
    table.answer_prompt("settled")
    table.answer_prompt("side_settled")
    assert (table.prompt("settled").seat, table.prompt("settled").choices) == (3, ("settled", "surrendered"))


@clauses("688a.11(d)/1")
@pytest.mark.parametrize("wager", ["ace_high", "fortune", "progressive"])
def test_any_of_the_three_side_wagers_bars_surrender(wager: str) -> None:
    table = make_table(PAI_GOW, **ALL_WAGERS).start("blue")
    table.side, table.bets = ({}, {6}) if wager == "progressive" else ({wager: (6,)}, set())
    table.override = leave_unanswered("settled")
    table.round()
    assert table.prompt("settled").seat == 6
    assert table.prompt("settled").choices == ("settled",)


@both("575.11(d)/1 575.7(e)", "688a.11(d)/1 688a.7(e)")
def test_side_wagers_are_entered_before_the_deal_and_only_for_seats_in_the_round(game: str) -> None:
    table = make_table(game, **side(game)).start("blue")
    table.override = lambda decision: [] if getattr(decision, "kind", "").startswith("side_wagers/") else None
    decided = table.round()
    assert (table.phase, "arm_dice" in commanded_acts(decided)) == (mc.NO_MORE_BETS, False)
    name = "bonus" if game == ASIA else "ace_high"
    kind = f"side_wagers/{name}"
    no = refusal_text(table.answer_prompt(kind, "done", seats=(2,)))
    cited = "575.7(e)" if game == ASIA else "688a.7(e)(1), 688a.7(e), 688a.1:Ace High Bonus Wager"
    assert no == f"seat 2 has no main wager, so it cannot have a side wager ({table.edition.chapter}.7(d), {cited})"
    table.answer_prompt(kind, "done", seats=(3,))
    assert table.round_.side_wagers == {name: [3]}


@both("575.11(d)/2", "688a.11(d)/2")
def test_a_surrendered_wager_is_collected_at_once_before_its_hand_is_counted(game: str) -> None:
    table = playing(game, "settled", "surrender_collected", "surrender_count")
    table.answer_prompt("settled", "surrendered")
    asked = table.prompt("surrender_collected")
    assert (asked.seat, asked.role, asked.clauses) == (6, "dealer", (f"{table.edition.chapter}.11(d)/2",))
    assert not table.prompts("settled")
    assert not table.prompts("surrender_count")
    assert "the dealer must answer this" in refusal_text(table.step(ev.Answer(asked.id, "done", FLOOR)))
    table.answer_prompt("surrender_collected")
    assert table.prompt("surrender_count").seat == 6


@both("575.11(d)/2", "688a.11(d)/2")
def test_a_surrendered_hand_is_counted_face_down_before_it_is_racked(game: str) -> None:
    table = playing(game, "settled", "surrender_count")
    before = table.state.book.balance("blue", "rack")
    table.answer_prompt("settled", "surrendered")
    table.answer_prompt("surrender_collected")
    asked = table.prompt("surrender_count")
    assert (asked.seat, asked.number, asked.clauses) == (6, True, (f"{table.edition.chapter}.11(d)/2",))
    assert not table.prompts("settled"), "at once, before the next hand"
    assert table.state.book.balance("blue", "rack") == before
    table.answer_prompt("surrender_count", number=7)
    assert table.state.book.balance("blue", "rack") == before + 7
    assert table.prompt("settled").seat == 3
    table.answer_prompt("settled", "surrendered")
    table.answer_prompt("surrender_collected")
    decided = table.answer_prompt("surrender_count", number=6)
    assert (found_irregularity(decided).trigger, table.phase) == ("wrong_card_count", mc.VOID)


# --- into the rack ----------------------------------------------------------------------------------------------------


@both("575.11(g)", "688a.11(g)")
def test_a_settled_hand_goes_to_the_rack_unless_a_side_wager_still_needs_it(game: str) -> None:
    table = playing(game, "settled", "side_settled", side_seats=(3,), **side(game))
    rack = table.state.book.balance("blue", "rack")
    assert f"{table.edition.chapter}.11(g)" in table.prompt("settled").clauses
    table.answer_prompt("settled")
    assert table.state.book.balance("blue", "rack") == rack + 7, "seat 6 has no other wager"
    assert table.prompt("settled").seat == 3
    table.answer_prompt("settled")
    assert table.state.book.balance("blue", "rack") == rack + 7
    asked = table.prompt("side_settled")
    assert (asked.seat, asked.role) == (3, "dealer")
    assert not table.prompts("settled"), "one hand after the other"
    table.answer_prompt("side_settled")
    assert table.state.book.balance("blue", "rack") == rack + 14
    assert table.prompt("settled").seat == 1


@clauses("688a.11(i)")
def test_all_side_wagers_of_a_player_are_settled_before_the_hand_is_racked() -> None:
    table = playing(PAI_GOW, "settled", "side_settled", side_seats=(6,), **ALL_WAGERS)
    rack = table.state.book.balance("blue", "rack")
    table.answer_prompt("settled")
    asked = table.prompt("side_settled")
    assert {"688a.11(h)/1", "688a.11(i)"} <= set(asked.clauses)
    assert table.state.book.balance("blue", "rack") == rack
    table.answer_prompt("side_settled")
    assert table.state.book.balance("blue", "rack") == rack + 7
