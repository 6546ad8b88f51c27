"""575.7 and 688a.7: who is in the round, and that nothing changes after "no more bets"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Prompt
from tests.support.core.ideal_table import DEALER, FLOOR, commanded_acts, decisions_of, findings, refusal_text
from tests.support.core.two_games import ALL_WAGERS, PAI_GOW, both, leave_unanswered, make_table
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from tests.support.core.ideal_table import IdealTable


def called(game: str) -> IdealTable:
    """Return a table after "no more bets", before the dealer has entered the seats with wagers."""
    table = make_table(game).start("blue")
    table.override = leave_unanswered("seats")
    table.play(ev.OpenRound(DEALER))
    table.play(ev.NoMoreBets(DEALER))
    return table


@both("575.7(a) 575.7(b)/1 575.7(d)", "688a.7(a) 688a.7(b)/1 688a.7(d)")
def test_the_dealer_enters_which_seats_have_chips_before_any_card_is_dealt(game: str) -> None:
    table = called(game)
    asked = table.prompt("seats")
    chapter = table.edition.chapter
    assert asked.role == "dealer"
    assert {f"{chapter}.7(d)", f"{chapter}.7(a)", f"{chapter}.7(b)/1"} <= set(asked.clauses)
    assert table.phase == mc.NO_MORE_BETS
    assert "seats_not_entered" in table.keys("arm_dice", "shaker.1")
    assert "seats_not_entered" in table.keys("dispense", "shoe.1", "blue", cards=7)
    for wrong in ((0,), (7,), (2, 2)):
        assert "seat from 1 to 6" in refusal_text(table.answer_prompt("seats", seats=wrong))
    decided = table.answer_prompt("seats", seats=(5, 2))
    assert commanded_acts(decided) == ["arm_dice"]
    assert table.round_.seats == (2, 5)


@both("575.7(b)/1", "688a.7(b)/1")
def test_a_seat_is_bound_until_the_round_is_over(game: str) -> None:
    table = make_table(game).start("blue").play_to(mc.PLAYING)
    assert table.round_.seats == (1, 3, 6)
    table.declare("player_leaves", seat=3)
    asked = table.prompt("player_left")
    assert (asked.role, asked.seat, asked.choices) == ("floorperson", 3, ("abandoned", "plays_on"))
    assert refusal_text(table.answer_prompt("player_left", who=DEALER)) == "the floorperson must answer this"
    assert table.round_.seats == (1, 3, 6), "leaving takes nobody out of the round"
    table.answer_prompt("player_left", "plays_on", who=FLOOR)
    settled = [p.seat for p in decisions_of(Prompt, table.settle()) if p.kind == "settled"]
    assert settled == [6, 3, 1]


@both("575.7(d)", "688a.7(d)")
def test_only_a_seat_with_the_main_wager_takes_part(game: str) -> None:
    table = make_table(game).start("blue")
    table.seats = (2, 4)
    asked = decisions_of(Prompt, table.round())
    assert [p.seat for p in asked if p.kind == "settled"] == [4, 2]
    assert any(p.kind == "rack_unwagered" for p in asked), "stacks of the others are racked unseen"
    nobody = called(game)
    nobody.answer_prompt("seats", "nobody")
    assert nobody.phase == mc.IDLE
    assert "arm_dice" not in [command.act for _, decided in nobody.log for command in decisions_of(Command, decided)]


@both("575.7(c)", "688a.7(c)")
def test_after_no_more_bets_nothing_is_placed_raised_or_withdrawn(game: str) -> None:
    table = called(game)
    first = table.prompt("seats")
    table.step(ev.Answer(first.id, "done", DEALER, None, (2, 5)))
    for again in ((2,), (2, 5, 6)):
        refusal = refusal_text(table.step(ev.Answer(first.id, "done", DEALER, None, again)))
        assert refusal == f"question {first.id} is no longer open"
        assert table.round_.seats == (2, 5)
    assert "no bets are open" in refusal_text(table.step(ev.NoMoreBets(DEALER)))
    assert "round_open" in {
        reason.key for d in table.step(ev.OpenRound(DEALER)) for reason in getattr(d, "reasons", ())
    }
    assert refusal_text(table.step(ev.NoMoreBets(FLOOR))) == "only the dealer can call no more bets"


@clauses("688a.7(c)", "688a.2(d)(2)")
def test_a_progressive_bet_after_the_latch_is_neither_taken_nor_withdrawn() -> None:
    table = make_table(PAI_GOW, **ALL_WAGERS).start("blue")
    table.bets = {1}
    table.override = leave_unanswered("chips")
    table.play(ev.OpenRound(DEALER), ev.BetSensed(1, 1, placed=True))
    locks = [c for c in decisions_of(Command, table.step(ev.NoMoreBets(DEALER))) if c.act == "lock"]
    assert [(c.slot, c.safe) for c in locks] == [(f"bet_sensor.{seat}", True) for seat in range(1, 7)]
    for command in locks:
        table.play(*table.answer(command))
    assert table.state.progressive.accepted == [1]
    table.step(ev.BetSensed(1, 2, placed=False))
    table.step(ev.BetSensed(3, 1, placed=True))
    late = table.step(ev.LateBet(3))
    assert table.state.progressive.accepted == [1]
    assert len(findings(late, "late_bet")) == 1
    asked = table.prompt("late_chip")
    assert (asked.seat, asked.choices) == (3, ("returned",))
    assert "not_latched" in table.keys("light", "bet_sensor.3", seat=3)
    assert "bets_latched" in table.keys("unlock", "bet_sensor.3")


@clauses("688a.7(d)")
def test_a_progressive_bet_without_the_main_wager_does_not_count_and_goes_back() -> None:
    table = make_table(PAI_GOW, **ALL_WAGERS).start("blue")
    table.seats, table.bets = (1, 3), {1, 6}
    table.override = lambda decision: [] if getattr(decision, "hold", None) is not None else None
    decided = table.round()
    assert len(findings(decided, "bet_without_wager")) == 1
    assert table.state.progressive.accepted == [1]
    assert table.hold("bet_without_wager").seat == 6
    assert table.phase == mc.NO_MORE_BETS
