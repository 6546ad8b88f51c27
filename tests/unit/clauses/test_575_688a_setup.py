"""575.2 and 688a.2: seats, the methods for the starting position, who holds the shaker, its dice and their age."""

from __future__ import annotations

import pytest

from devices.shaker import messages as shaker
from firmware_bridge.errors import BadSubmission
from table_controller.controller.device_events import translate
from table_controller.rulebook import check_submission
from table_controller.rulebook import edition as committed
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Command, Deadline, RequestRefused
from tests.support.core.ideal_table import DEALER, FLOOR, commanded_acts, decisions_of, findings, refusal_text
from tests.support.core.two_games import ASIA, both, end_with, leave_unanswered, make_table

OTHER_DEALER = ev.Person("dealer", "D2")


@both("575.2(a)", "688a.2(a)")
def test_seven_stacks_of_seven_and_a_stub_of_four_fit_six_seats_only(game: str) -> None:
    edition = committed(game)
    assert check_submission(edition, {"adjacent_boxes": 1}).seats == 6
    for seats in (1, 5, 7):
        with pytest.raises(BadSubmission, match=rf"exactly 6 \({edition.chapter}\.2\(a\)"):
            check_submission(edition, {"adjacent_boxes": 1, "seats": seats})
    table = make_table(game).start()
    assert table.edition.cards.count == 7 * 7 + 4
    table.play(ev.OpenRound(DEALER))
    table.step(ev.NoMoreBets(DEALER))
    clause = f"{edition.chapter}.2(a)"
    message = f"enter at least one seat from 1 to 6, each once ({clause})"
    assert refusal_text(table.answer_prompt("seats", seats=(1, 7))) == message


@both("575.2(c)", "688a.2(c)")
def test_one_known_method_for_the_starting_position_is_in_use_and_changes_between_rounds_only(game: str) -> None:
    edition = committed(game)
    known = {start.name for start in edition.starts}
    assert known == {"shaker", "rng"} | ({"flat_button"} if game == ASIA else set())
    if game != ASIA:
        with pytest.raises(BadSubmission, match=r"688a\.2\(c\)"):
            check_submission(edition, {"adjacent_boxes": 1, "start": "flat_button"})
    table = make_table(game)
    table.table = Table(edition, table.table.context.submission, {**table.slots, "rng.1": "rng"})
    table.start()
    table.play(ev.OpenRound(DEALER))
    (no,) = decisions_of(RequestRefused, table.order("start_method", method="rng"))
    assert {reason.key for reason in no.reasons} == {"round_open"}
    assert no.what == f"start_method ({edition.chapter}.2(c))"
    assert table.state.start == "shaker"
    decided = table.play(ev.NoMoreBets(DEALER))
    assert "arm_dice" in commanded_acts(decided)
    assert "draw" not in commanded_acts(decided)
    assert table.phase == mc.IDLE
    table.order("start_method", method="rng")
    decided = table.round()
    assert "draw" in commanded_acts(decided)
    assert "arm_dice" not in commanded_acts(decided)


@both("575.2(c)(1)", "688a.2(c)(1)")
def test_a_new_dealer_takes_the_shaker_over_before_it_is_armed(game: str) -> None:
    table = make_table(game).start().play_to(mc.BETTING)
    assert refusal_text(table.step(ev.DealerChanged(FLOOR))) == "only a dealer can take over a table"
    table.step(ev.DealerChanged(OTHER_DEALER))
    asked = table.prompt("take_shaker")
    assert (asked.role, asked.slot) == ("dealer", "shaker.1")
    assert asked.clauses == (f"{table.edition.chapter}.2(c)(1)",)
    table.override = lambda decision: [] if decision is asked else None
    decided = table.play(ev.NoMoreBets(DEALER))
    assert table.phase == mc.STARTING_POSITION
    assert "arm_dice" not in commanded_acts(decided)
    assert "shaker_unattended" in table.keys("arm_dice", "shaker.1")
    assert refusal_text(table.answer_prompt("take_shaker")) == "the new dealer, D2, must take over the shaker"
    decided = table.answer_prompt("take_shaker", who=OTHER_DEALER)
    assert commanded_acts(decided) == ["arm_dice"]


@both("575.2(c)(1)", "688a.2(c)(1)")
def test_dice_that_a_leaving_dealer_shook_do_not_count_before_the_next_one_has_the_shaker(game: str) -> None:
    table = make_table(game).start().play_to(mc.STARTING_POSITION)
    table.play(until=lambda decision: isinstance(decision, Command))
    (armed,) = (id_ for id_, issued in table.state.commands.items() if issued.act == "arm_dice")
    table.step(ev.CommandEnded(armed, "done"))
    table.step(ev.DealerChanged(OTHER_DEALER))
    table.step(ev.DiceRead("shaker.1", (1, 2, 3)))
    assert not table.prompts("announce")
    table.answer_prompt("take_shaker", who=OTHER_DEALER)
    assert table.prompt("announce").number


@both("575.2(c)(1)(i)/1", "688a.2(c)(1)(i)/1")
def test_a_roll_of_other_than_three_dice_finds_no_position(game: str) -> None:
    table = make_table(game).start()
    table.override = end_with("arm_dice")
    table.round()
    reported = shaker.NoRoll(1, shaker.Reason.NOT_THREE_DICE, 3, 2, 2)
    (event,) = translate("shaker.1", shaker.KIND, None, reported)
    decided = table.step(event)
    assert table.phase == mc.STARTING_POSITION
    assert table.round_.start is None
    assert not table.prompts("announce")
    assert "no_roll_reshake" in table.hold("die_out_of_shaker").outcomes
    assert not commanded_acts(decided), "nothing is armed while the dice are not inside"
    assert "dice_inside" in table.prompt("acknowledge").evidence
    assert not commanded_acts(table.answer_prompt("acknowledge")), "an open shaker is not armed"
    assert commanded_acts(table.answer_prompt("cover_shaker")) == ["arm_dice"]


@both("575.2(c)(1)(i)/2", "688a.2(c)(1)(i)/2")
def test_dice_leave_the_table_after_24_hours(game: str) -> None:
    table = make_table(game)
    table.override = leave_unanswered("dice")
    table.start()
    assert table.reasons_against_opening() == {"dice_not_fresh", "prompt_open"}, (
        "nobody knows how old the first dice are"
    )
    (begun,) = decisions_of(Deadline, table.answer_prompt("dice", who=FLOOR))
    assert begun == Deadline("dice_age", 24 * 3600.0)
    table.play(ev.OpenRound(DEALER))
    assert len(findings(table.step(ev.Due("dice_age")), "dice_expired")) == 1
    assert "dice_not_fresh" in table.keys("arm_dice", "shaker.1", table.round_.deck)
    decided = table.play(ev.NoMoreBets(DEALER))
    assert table.phase == mc.STARTING_POSITION
    assert "arm_dice" not in commanded_acts(decided)
    asked = table.prompt("dice")
    assert (asked.role, asked.choices) == ("floorperson", ("replaced",))
    assert asked.clauses[0] == f"{table.edition.chapter}.2(c)(1)(i)/2"
    decided = table.answer_prompt("dice")
    assert commanded_acts(decided) == ["arm_dice"]
    assert decisions_of(Deadline, decided) == [Deadline("dice_age", 24 * 3600.0)]


@both("575.2(c)(1)(i)/2", "688a.2(c)(1)(i)/2")
def test_an_opened_door_does_not_make_dice_younger(game: str) -> None:
    table = make_table(game).start()
    assert translate("shaker.1", shaker.KIND, None, shaker.Dice(False, 3, True)) == [], "a jolt is no exchange"
    (event,) = translate("shaker.1", shaker.KIND, None, shaker.Dice(True, 0, False))
    assert not decisions_of(Deadline, table.step(event))
    assert "dice_not_fresh" in table.reasons_against_opening()
    assert table.prompt("dice").choices == ("replaced", "same")
    assert not decisions_of(Deadline, table.answer_prompt("dice", "same", who=FLOOR)), (
        "the same dice go on with their time"
    )
    assert not table.reasons_against_opening()
    table.step(event)
    assert decisions_of(Deadline, table.answer_prompt("dice", "replaced")) == [Deadline("dice_age", 24 * 3600.0)]


@both("575.2(c)(2)", "688a.2(c)(2)")
def test_a_generator_that_was_not_verified_draws_nothing(game: str) -> None:
    table = make_table(game, start="rng").start()
    assert not table.reasons_against_opening()
    table.play(ev.SlotChanged("rng.1", "vanish"), ev.SlotChanged("rng.1", "appear"))
    assert table.state.slots["rng.1"].state == "unverified"
    assert table.reasons_against_opening() == {"start_device_missing"}
    (no,) = decisions_of(RequestRefused, table.step(ev.OpenRound(DEALER)))
    assert no.reasons[0].clause == f"{table.edition.chapter}.2(c)(2)", "only a generator that was found approved"
    assert "slot_not_in_service" in table.keys("draw", "rng.1")
    table.play(ev.SlotChanged("rng.1", "verify"))
    table.round()
    assert table.round_.number == 1
