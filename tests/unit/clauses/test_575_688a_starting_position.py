"""575.5(g) and 688a.5(i): the starting position of every round, by dice, number or flat button."""

from __future__ import annotations

import pytest

from firmware_bridge.errors import BadSubmission
from table_controller.rulebook import check_submission
from table_controller.rulebook import edition as committed
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, RequestRefused
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, commanded_acts, decisions_of, findings
from tests.support.core.two_games import ASIA, both, end_with, leave_unanswered, make_table
from tests.support.suite.clauses import clauses

# The place of each position number, counted counterclockwise from the dealer (place 0): the far right is number two.
PLACES = {1: 0, 2: 6, 3: 5, 4: 4, 5: 3, 6: 2, 7: 1}


def rolled(table: IdealTable) -> None:
    """Play until the shaker is armed; nobody rolls."""
    table.override = end_with("arm_dice")
    if table.state.start == "rng":
        table.override = lambda decision: [] if isinstance(decision, Command) and decision.act == "draw" else None
    table.round()
    assert table.phase == mc.STARTING_POSITION


def first_place(table: IdealTable) -> int:
    """Return the place of the first stack before any stack has come out."""
    assert len(table.round_.to_deal) == 7
    return table.round_.to_deal[0]


@both("575.5(g)", "688a.5(i)")
@pytest.mark.parametrize(("start", "act"), [("shaker", "arm_dice"), ("rng", "draw")])
def test_every_round_has_its_own_starting_position_and_no_card_comes_before_it(game: str, start: str, act: str) -> None:
    table = make_table(game, start=start).start("blue")
    for number in (1, 2, 3):
        table.play(ev.OpenRound(DEALER))
        assert table.round_.start is None, "the last round's position is forgotten"
        reasons = {reason.key: reason.clause for reason in table.table.permit("dispense", "shoe.1", "blue", cards=7)}
        assert reasons["start_unknown"] == f"{table.edition.chapter}.5({'g' if game == ASIA else 'i'})"
        decided = table.play(ev.NoMoreBets(DEALER))
        done = commanded_acts(decided)
        assert done.count(act) == 1
        assert done.index(act) < done.index("dispense")
        assert (table.phase, table.round_.number) == (mc.IDLE, number)


@both("575.5(g)(1)(i)", "688a.5(i)(1)(i)")
def test_fewer_than_three_shakes_are_no_roll(game: str) -> None:
    table = make_table(game).start("blue")
    assert table.edition.dice is not None
    assert table.edition.dice.least_shakes == 3
    rolled(table)
    decided = table.step(ev.NoRollReported("shaker.1", "too_few_shakes"))
    (decisions,) = findings(decided, "no_roll")
    assert f"{table.edition.chapter}.5({'g' if game == ASIA else 'i'})(1)(i)" in decisions.text
    assert not commanded_acts(decided), "a shaker whose lid is off cannot be armed"
    asked = table.prompt("cover_shaker")
    assert (asked.role, asked.slot, asked.clauses) == ("dealer", "shaker.1", table.table.context.clauses("shakes"))
    assert commanded_acts(table.answer_prompt("cover_shaker")) == ["arm_dice"], "the dice are shaken again"
    assert table.round_.start is None
    assert not table.prompts("announce")


@both("575.5(g)(1)(ii)", "688a.5(i)(1)(ii)")
def test_the_dealer_announces_the_total_and_only_the_dices_own_total_counts(game: str) -> None:
    table = make_table(game).start("blue")
    rolled(table)
    table.step(ev.DiceRead("shaker.1", (2, 3, 5)))
    asked = table.prompt("announce")
    assert (asked.role, asked.least, asked.most) == ("dealer", 3, 18)
    assert asked.clauses == (f"{table.edition.chapter}.5({'g' if game == ASIA else 'i'})(1)(ii)",)
    assert table.round_.start is None, "the dice alone begin nothing"
    decided = table.answer_prompt("announce", number=11)
    assert table.phase == mc.STARTING_POSITION
    assert "dispense" not in commanded_acts(decided)
    assert table.hold("wrong_start_announced").outcomes == ("continue_round",)
    table.clear_holds()
    decided = table.answer_prompt("announce", number=10)
    assert table.phase == mc.DEALING
    assert commanded_acts(decided) == ["dispense"]


@both("575.5(g)(1)(iii)", "688a.5(i)(1)(iii)")
@pytest.mark.parametrize("total", range(3, 19))
def test_positions_are_counted_counterclockwise_from_the_dealer_wager_or_not(game: str, total: int) -> None:
    table = make_table(game).start("blue")
    table.seats = (4,)
    third = max(1, total - 12)
    second = max(1, min(6, total - third - 1))
    table.dice = (total - third - second, second, third)
    assert sum(table.dice) == total
    assert all(1 <= die <= 6 for die in table.dice)
    counted = [0, 6, 5, 4, 3, 2, 1, 0, 6, 5, 4, 3, 2, 1, 0, 6, 5, 4]
    table.play_to(mc.DEALING)
    assert first_place(table) == counted[total - 1]


@both("575.5(g)(1)(iv)", "688a.5(i)(1)(iv)")
def test_after_the_deal_the_shaker_is_covered_shaken_once_and_put_aside(game: str) -> None:
    table = make_table(game).start("blue")
    assert table.edition.dice is not None
    assert table.edition.dice.shakes_after_deal == 1
    table.override = leave_unanswered("park_shaker")
    table.play_to(mc.DEALING)
    assert not table.prompts("park_shaker"), "not before the deal is over"
    table.settle()
    asked = table.prompt("park_shaker")
    assert (asked.role, asked.slot) == ("dealer", "shaker.1")
    assert asked.clauses == (f"{table.edition.chapter}.5({'g' if game == ASIA else 'i'})(1)(iv)",)
    assert table.phase == mc.COMPLETE, "the round does not end before"
    assert "round_open" in table.reasons_against_opening()
    table.answer_prompt("park_shaker")
    table.settle()
    assert table.phase == mc.IDLE


@both("575.5(g)(1)(iv)", "688a.5(i)(1)(iv)")
def test_the_shaker_is_not_put_aside_before_the_stub_check_is_over(game: str) -> None:
    table = make_table(game).start("blue")
    table.seats = (1, 2, 3, 4, 5, 6)
    table.override = leave_unanswered("park_shaker", "stub", "hands_set")
    table.play_to(mc.STUB_CHECK)
    table.settle()
    assert table.phase == mc.STUB_CHECK
    assert table.prompts("stub")
    assert not table.prompts("park_shaker"), "counting the stub is part of the dealing procedures"
    table.answer_prompt("stub")
    assert table.phase == mc.PLAYING
    assert table.prompt("park_shaker").role == "dealer"


def void(table: IdealTable) -> None:
    """Void the round by a floorperson; people answer everything except for the shaker."""
    table.declare("other")
    table.answer_prompt("choose", "void")
    table.clear_holds()


@both("575.5(g)(1)(i)", "688a.5(i)(1)(i)")
@pytest.mark.parametrize("phase", [mc.STARTING_POSITION, mc.DEALING, mc.STUB_CHECK])
def test_after_a_round_void_with_the_lid_off_the_dealer_covers_the_shaker_before_the_next_roll(
    game: str, phase: str
) -> None:
    table = make_table(game).start("blue")
    table.override = leave_unanswered("cover_shaker", "announce")
    table.play_to(mc.BETTING)
    table.play(ev.NoMoreBets(DEALER), until=lambda d: isinstance(d, Command) and d.act == "arm_dice")
    table.override = leave_unanswered("cover_shaker")
    if phase != mc.STARTING_POSITION:
        table.play_to(phase)
    void(table)
    asked = table.prompt("cover_shaker")
    assert (asked.role, asked.slot) == ("dealer", "shaker.1")
    assert asked.clauses == (f"{table.edition.chapter}.5({'g' if game == ASIA else 'i'})(1)(i)",)
    table.settle()
    assert table.phase == mc.IDLE
    assert table.prompt("cover_shaker"), "the question outlives the round"
    assert "arm_dice" not in commanded_acts(table.step(ev.OpenRound(DEALER)))
    assert table.phase == mc.IDLE, "no round opens over an open shaker"
    table.answer_prompt("cover_shaker")
    table.override = lambda _: None
    table.settle()
    assert "arm_dice" in commanded_acts(table.round())
    assert table.phase == mc.IDLE


@both("575.5(g)(1)(i)", "688a.5(i)(1)(i)")
def test_after_a_round_void_with_the_shaker_put_aside_nobody_covers_it_again(game: str) -> None:
    table = make_table(game).start("blue")
    table.override = leave_unanswered("hands_set")
    table.play_to(mc.PLAYING)
    table.answer_prompt("park_shaker")
    void(table)
    assert not table.prompts("cover_shaker")


@both("575.13(b)", "688a.13(b)")
def test_after_dice_that_do_not_lie_flat_the_lid_goes_on_before_they_are_shaken_again(game: str) -> None:
    table = make_table(game).start("blue")
    table.override = leave_unanswered("cover_shaker", "announce")
    table.play_to(mc.BETTING)
    table.play(ev.NoMoreBets(DEALER))
    table.declare("dice_not_flat", slot="shaker.1")
    assert "arm_dice" not in commanded_acts(table.clear_holds()), "an open shaker cannot be armed"
    assert "arm_dice" in commanded_acts(table.answer_prompt("cover_shaker"))


@both("575.5(g)(2)", "688a.5(i)(2)")
@pytest.mark.parametrize("number", range(1, 8))
def test_the_generators_number_is_the_position(game: str, number: int) -> None:
    table = make_table(game, start="rng").start("blue")
    table.seats = (4,)
    rolled(table)
    decided = table.step(ev.NumberDrawn("rng.1", number))
    assert commanded_acts(decided) == ["dispense"]
    assert first_place(table) == PLACES[number]


@both("575.5(g)(2)", "688a.5(i)(2)")
@pytest.mark.parametrize("number", [0, 8])
def test_a_number_outside_of_one_to_seven_is_refused(game: str, number: int) -> None:
    table = make_table(game, start="rng").start("blue")
    rolled(table)
    decided = table.step(ev.NumberDrawn("rng.1", number))
    assert not commanded_acts(decided)
    assert table.round_.start is None
    assert (table.hold().trigger, table.prompt("choose").role) == ("wrong_number", "floorperson")


# --- the flat button, in 575 only -------------------------------------------------------------------------------------


@clauses("575.5(g)(3)")
def test_the_flat_button_begins_at_the_dealer_and_goes_clockwise_after_each_completed_round() -> None:
    table = make_table(ASIA, start="flat_button").start("blue")
    firsts = []
    table.override = lambda decision: (
        firsts.append(first_place(table))
        if isinstance(decision, Command) and decision.act == "dispense" and len(table.round_.to_deal) == 7
        else None
    )
    for _ in range(8):
        table.round()
    assert firsts == [0, 1, 2, 3, 4, 5, 6, 0], "from the dealer's left clockwise around, wager or not"


@clauses("575.5(g)(3)")
def test_a_void_round_leaves_the_button_where_it_is() -> None:
    table = make_table(ASIA, start="flat_button").start("blue")
    table.round()
    assert table.state.button == 7
    table.play_to(mc.PLAYING)
    table.declare("wrong_card_count")
    table.clear_holds()
    table.settle()
    assert (table.phase, table.state.button) == (mc.IDLE, 7)


@clauses("575.5(g)(3)")
def test_the_dealer_moves_the_button_before_cards_are_dealt() -> None:
    table = make_table(ASIA, start="flat_button")
    table.override = leave_unanswered("move_button")
    table.start("blue")
    table.round()
    assert table.phase == mc.STARTING_POSITION
    asked = table.prompt("move_button")
    assert (asked.role, asked.seat, asked.clauses) == ("dealer", 0, ("575.5(g)(3)",))
    assert "start_unknown" in table.keys("dispense", "shoe.1", "blue", cards=7)
    table.answer_prompt("move_button")
    assert table.phase == mc.DEALING


@clauses("575.5(g)(3)")
def test_the_flat_button_needs_shuffler_and_automated_shoe() -> None:
    for raw, lacking in (
        ({}, "an automated shuffler and an automated shoe"),
        ({"shuffler": "deck"}, "an automated shoe"),
        ({"dealing": "automated_shoe"}, "an automated shuffler"),
    ):
        with pytest.raises(BadSubmission, match=rf"flat_button needs {lacking} \(575\.5\(g\)\(3\)"):
            check_submission(committed(ASIA), {"adjacent_boxes": 1, "start": "flat_button", **raw})
    table = make_table(ASIA, start="flat_button").start("blue")
    assert not table.reasons_against_opening()
    table.step(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
    table.clear_holds()
    table.order("shuffle_by_hand")
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    assert ("button_barred", "575.5(g)(3)") in {(reason.key, reason.clause) for reason in no.reasons}
