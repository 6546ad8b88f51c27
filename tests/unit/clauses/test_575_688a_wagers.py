"""575.7 and 688a.7: who is in the round, and that nothing changes after "no more bets"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Command, Prompt
from tests.support.clauses import clauses
from tests.support.core import DEALER, FLOOR, acts, findings, of, refused
from tests.support.two_games import ALL_WAGERS, PAI_GOW, both, floor, silent

if TYPE_CHECKING:
    from tests.support.core import Floor


def called(game: str) -> Floor:
    """Return a table after "no more bets", before the dealer has entered the seats with wagers."""
    table = floor(game).start("blue")
    table.twist = silent("seats")
    table.play(ev.OpenRound(DEALER))
    table.play(ev.NoMoreBets(DEALER))
    return table


@both("575.7(a) 575.7(b)/1 575.7(d)", "688a.7(a) 688a.7(b)/1 688a.7(d)")
def test_the_dealer_says_which_seated_players_have_chips_there_before_anything_is_dealt(game: str) -> None:
    table = called(game)
    asked = table.prompt("seats")
    chapter = table.edition.chapter
    assert asked.role == "dealer"
    assert {f"{chapter}.7(d)", f"{chapter}.7(a)", f"{chapter}.7(b)/1"} <= set(asked.clauses)
    assert table.phase == mc.NO_MORE_BETS
    assert "seats_not_entered" in table.keys("arm_dice", "shaker.1")
    assert "seats_not_entered" in table.keys("dispense", "shoe.1", "blue", cards=7)
    for wrong in ((0,), (7,), (2, 2)):
        assert "seat from 1 to 6" in refused(table.say("seats", seats=wrong))
    decided = table.say("seats", seats=(5, 2))
    assert acts(decided) == ["arm_dice"]
    assert table.round_.seats == (2, 5)


@both("575.7(b)/1", "688a.7(b)/1")
def test_a_seat_is_bound_until_the_round_is_over(game: str) -> None:
    table = floor(game).start("blue").to(mc.PLAYING)
    assert table.round_.seats == (1, 3, 6)
    table.declare("player_leaves", seat=3)
    asked = table.prompt("player_left")
    assert (asked.role, asked.seat, asked.choices) == ("floorperson", 3, ("abandoned", "plays_on"))
    assert refused(table.say("player_left", who=DEALER)) == "the floorperson must answer this"
    assert table.round_.seats == (1, 3, 6), "leaving takes nobody out of the round"
    table.say("player_left", "plays_on", who=FLOOR)
    settled = [p.seat for p in of(Prompt, table.settle()) if p.kind == "settled"]
    assert settled == [6, 3, 1]


@both("575.7(d)", "688a.7(d)")
def test_only_a_seat_with_the_main_wager_takes_part(game: str) -> None:
    table = floor(game).start("blue")
    table.seats = (2, 4)
    asked = of(Prompt, table.round())
    assert [p.seat for p in asked if p.kind == "settled"] == [4, 2]
    assert any(p.kind == "rack_unwagered" for p in asked), "stacks of the others are racked unseen"
    nobody = called(game)
    nobody.say("seats", "nobody")
    assert nobody.phase == mc.IDLE
    assert "arm_dice" not in [command.act for _, decided in nobody.log for command in of(Command, decided)]


@both("575.7(c)", "688a.7(c)")
def test_after_no_more_bets_nothing_is_placed_raised_or_withdrawn(game: str) -> None:
    table = called(game)
    first = table.prompt("seats")
    table.step(ev.Answer(first.id, "done", DEALER, None, (2, 5)))
    for again in ((2,), (2, 5, 6)):
        refusal = refused(table.step(ev.Answer(first.id, "done", DEALER, None, again)))
        assert refusal == f"question {first.id} is no longer open"
        assert table.round_.seats == (2, 5)
    assert "no bets are open" in refused(table.step(ev.NoMoreBets(DEALER)))
    assert "round_open" in {
        reason.key for d in table.step(ev.OpenRound(DEALER)) for reason in getattr(d, "reasons", ())
    }
    assert refused(table.step(ev.NoMoreBets(FLOOR))) == "only the dealer can call no more bets"


@clauses("688a.7(c)", "688a.2(d)(2)")
def test_a_progressive_bet_after_the_latch_is_neither_taken_nor_withdrawn() -> None:
    table = floor(PAI_GOW, **ALL_WAGERS).start("blue")
    table.bets = {1}
    table.twist = silent("chips")
    table.play(ev.OpenRound(DEALER), ev.BetSensed(1, 1, placed=True))
    locks = [c for c in of(Command, table.step(ev.NoMoreBets(DEALER))) if c.act == "lock"]
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
    table = floor(PAI_GOW, **ALL_WAGERS).start("blue")
    table.seats, table.bets = (1, 3), {1, 6}
    table.twist = lambda decision: [] if getattr(decision, "hold", None) is not None else None
    decided = table.round()
    assert len(findings(decided, "bet_without_wager")) == 1
    assert table.state.progressive.accepted == [1]
    assert table.hold("bet_without_wager").seat == 6
    assert table.phase == mc.NO_MORE_BETS
