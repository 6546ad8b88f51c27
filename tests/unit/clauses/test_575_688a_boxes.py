"""575.7(f) and 688a.7(f): one player on two adjacent boxes; 575.5(h) and 688a.5(j): the marker of the start."""

from __future__ import annotations

from typing import Any

import pytest

from table_controller.table import boxes
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, refusal_text
from tests.support.core.two_games import ASIA, PAI_GOW, both, leave_unanswered, make_table

MAIN = {ASIA: "asia_poker", PAI_GOW: "face_up_pai_gow_poker"}


def table_of(game: str, *stops: str, seats: tuple[int, ...] = (1, 2, 3, 5, 6), **choices: Any) -> IdealTable:
    """Return a table with two boxes a player; the named questions stay unanswered."""
    table = make_table(game, **{"adjacent_boxes": 2, **choices})
    table.seats = seats
    table.override = leave_unanswered(*stops)
    return table.start("blue")


def stopped_at_players(game: str, seats: tuple[int, ...] = (1, 2, 3, 5, 6)) -> IdealTable:
    """Return a round that waits for the boxes of its players."""
    table = table_of(game, "players", "larger_wager", "hand_placed", "hands_set", seats=seats)
    table.round()
    return table


# --- who has which boxes ----------------------------------------------------------------------------------------------


@both("575.7(f)", "688a.7(f)")
def test_no_card_is_dealt_before_the_boxes_of_every_player_are_entered(game: str) -> None:
    table = stopped_at_players(game)
    asked, clause = table.prompt("players"), table.edition.adjacent_boxes.clause
    assert (table.phase, asked.role, asked.clauses) == (mc.NO_MORE_BETS, "dealer", (clause,))
    assert "not_starting" in table.keys("arm_dice", "shaker.1", "blue")
    for seats, objection in (
        ((2,), f"enter the boxes of one player, 2 to 2 ({clause})"),
        ((1, 2, 3), f"enter the boxes of one player, 2 to 2 ({clause})"),
        ((), f"enter the boxes of one player, 2 to 2 ({clause})"),
        ((1, 3), f"seats 1, 3 are not adjacent ({clause})"),
        ((2, 2), f"seats 2, 2 are not adjacent ({clause})"),
        ((3, 4), f"seat 4 has no main wager ({table.table.context.clause('seats')})"),
    ):
        assert refusal_text(table.step(ev.Answer(asked.id, "done", DEALER, seats=seats))) == objection
    assert refusal_text(table.step(ev.Answer(asked.id, "nobody", FLOOR))) == "the dealer must answer this"
    table.step(ev.Answer(asked.id, "done", DEALER, seats=(3, 2)))
    again = table.prompt("players")
    taken = refusal_text(table.step(ev.Answer(again.id, "done", DEALER, seats=(1, 2))))
    assert taken == f"seat 2 is entered for another player already ({clause})"
    assert (table.phase, table.round_.players) == (mc.NO_MORE_BETS, {2: 2, 3: 2})
    table.step(ev.Answer(again.id, "nobody", DEALER))
    assert table.phase == mc.NO_MORE_BETS, "which wager is larger is not known"
    assert table.prompt("larger_wager").choices == ("seat_3", "seat_2", "equal")


@both("575.7(f)", "688a.7(f)")
def test_without_two_adjacent_wagers_or_where_one_box_is_the_limit_nobody_is_asked(game: str) -> None:
    for table in (stopped_at_players(game, (1, 3, 5)), table_of(game, "players", adjacent_boxes=1)):
        table.round()
        asked = [decision for _, decided in table.log for decision in decided]
        assert "players" not in [getattr(decision, "kind", "") for decision in asked]


# --- the order --------------------------------------------------------------------------------------------------------


@both("575.7(f)", "688a.7(f)")
@pytest.mark.parametrize(("larger", "order"), [("seat_2", [2, 3]), ("seat_3", [3, 2]), ("equal", [3, 2])])
def test_the_larger_wager_is_set_first_and_equal_ones_counterclockwise(
    game: str, larger: str, order: list[int]
) -> None:
    table = stopped_at_players(game)
    table.boxes = [(2, 3)]
    table.answer_prompt("players")
    table.answer_prompt("players", "nobody")
    assert refusal_text(table.answer_prompt("larger_wager", "seat_1")).startswith("'seat_1' is not an answer")
    table.answer_prompt("larger_wager", larger)
    for _ in range(40):
        if table.phase == mc.PLAYING and table.prompts("hand_placed"):
            break
        table.settle()
    first, second = order
    asked, clause = table.prompt("hand_placed"), table.edition.adjacent_boxes.clause
    assert (asked.seat, asked.role, asked.clauses) == (first, "dealer", (clause,))
    assert not table.prompts("hands_set"), "the dealer goes on only when both are set"
    assert not table.prompts("reveal")
    assert boxes.next_to_set(table.state) == {second: first}
    early = boxes.setting_objection(table.table.context, second)
    assert early == f"this player sets the hand of seat {first} before that of seat {second} ({clause})"
    assert boxes.setting_objection(table.table.context, first) is None
    assert boxes.setting_objection(table.table.context, 5) is None
    table.answer_prompt("hand_placed")
    assert table.prompt("hand_placed").seat == second
    assert boxes.next_to_set(table.state) == {}
    assert refusal_text(table.step(ev.Answer(asked.id, "done", DEALER))) == f"question {asked.id} is no longer open"
    table.answer_prompt("hand_placed")
    assert table.round_.hands_placed == order
    assert table.prompts("hands_set")


@both("575.7(f)", "688a.7(f)")
def test_two_players_set_at_the_same_time_each_in_order(game: str) -> None:
    table = table_of(game, "hand_placed")
    table.boxes = [(2, 3), (5, 6)]
    table.override = leave_unanswered("hand_placed")
    table.round()
    assert {prompt.seat for prompt in table.prompts("hand_placed")} == {3, 6}
    assert boxes.next_to_set(table.state) == {2: 3, 5: 6}
    table.round_.dead.append(3)
    assert boxes.next_to_set(table.state) == {5: 6}, "a hand that is out of the round is not waited for"


@both("575.7(f)", "688a.7(f)")
def test_entered_amounts_answer_which_wager_is_larger(game: str) -> None:
    table = stopped_at_players(game)
    table.round_.amounts[MAIN[game]] = {2: 1000, 3: 500, 5: 500, 6: 500}
    table.boxes = [(2, 3), (5, 6)]
    table.answer_prompt("players")
    table.answer_prompt("players")
    assert not table.prompts("larger_wager")
    assert table.round_.set_first == {2: 2, 5: 6}


@both("575.7(f)", "688a.7(f)")
def test_a_round_with_two_boxes_of_one_player_ends_like_any_other(game: str) -> None:
    table = table_of(game)
    table.boxes = [(5, 6)]
    table.round()
    assert (table.phase, table.round_.number) == (mc.IDLE, 1)
    table.round()
    assert (table.phase, table.round_.number) == (mc.IDLE, 2)


# --- the marker -------------------------------------------------------------------------------------------------------


@both("575.5(h)", "688a.5(j)")
@pytest.mark.parametrize("start", ["shaker", "rng"])
def test_where_a_marker_is_filed_no_card_is_dealt_before_it_is_at_the_start(game: str, start: str) -> None:
    table = make_table(game, start=start, start_marker=True)
    table.override = leave_unanswered("marker")
    table.start("blue")
    table.round()
    asked = table.prompt("marker")
    clause = {ASIA: "575.5(h)", PAI_GOW: "688a.5(j)"}[game]
    assert (table.phase, asked.role, asked.clauses) == (mc.STARTING_POSITION, "dealer", (clause,))
    assert asked.seat == {"shaker": 5, "rng": 4}[start], "the position that was found: number 3, or 4"
    assert "not_dealing" in table.keys("dispense", "shoe.1", "blue", cards=7)
    assert refusal_text(table.answer_prompt("marker", who=FLOOR)) == "the dealer must answer this"
    table.answer_prompt("marker")
    assert table.phase == mc.DEALING


@both("575.5(h)", "688a.5(j)")
def test_a_new_roll_moves_the_marker_and_without_the_choice_none_is_asked_for(game: str) -> None:
    table = make_table(game, start_marker=True)
    table.override = leave_unanswered("marker")
    table.start("blue")
    table.round()
    table.answer_prompt("marker")
    table.override = lambda _: None
    table.settle()
    table.override = leave_unanswered("marker")
    table.round()
    assert table.prompt("marker").seat is not None, "every round has its own start"
    plain = make_table(game).start("blue")
    plain.round()
    asked = [getattr(decision, "kind", "") for _, decided in plain.log for decision in decided]
    assert "marker" not in asked
