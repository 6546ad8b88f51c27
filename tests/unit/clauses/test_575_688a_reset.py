"""575.13(i) and 688a.13(h): a dealer's hand set wrong, found after some seats were settled against it."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import BetSettled, HitClaimed, HoldOpened, Prompt, RequestRefused
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, decisions_of
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

GAMES = [
    pytest.param("asia_poker", marks=clauses("575.13(i)")),
    pytest.param("face_up_pai_gow", marks=clauses("688a.13(h)")),
]


def half_settled(game: str, seats: int) -> IdealTable:
    """Return a table where that many of the seats 6, 3 and 1 are settled, in this order."""
    floor = table_at(game, "auto", mc.SETTLING)
    for _ in range(seats):
        floor.answer_prompt("settled")
    return floor


@pytest.mark.parametrize("settled", [1, 2])
@pytest.mark.parametrize("game", GAMES)
def test_settled_seats_are_reopened_one_by_one_and_settled_anew(game: str, settled: int) -> None:
    floor = half_settled(game, settled)
    seats = [6, 3][:settled]
    racked = floor.state.book.balance("blue", "rack")
    (irregularity,) = decisions_of(HoldOpened, floor.declare("dealer_hand_misset"))
    assert irregularity.outcomes == ("reset_dealer_hand", "continue_round")
    floor.answer_prompt("dealer_hand_reset")
    for seat in seats:
        prompt = floor.prompt("seat_reopened")
        assert (prompt.role, prompt.seat, prompt.clauses) == ("floorperson", seat, irregularity.clauses)
        assert decisions_of(RequestRefused, floor.step(ev.Answer(prompt.id, "done", DEALER))), (
            "the floorperson directs it (X18)"
        )
        assert not floor.prompts("settled"), "nobody is settled before every seat is open again"
        floor.step(ev.Answer(prompt.id, "done", FLOOR))
    assert floor.round_.settled == []
    assert floor.state.book.balance("blue", "rack") == racked - 7 * settled, "their hands lie before them again"
    acknowledged = floor.prompt("acknowledge")
    assert (acknowledged.role, acknowledged.evidence) == ("floorperson", ("hand_reset", "wagers_reversed"))
    floor.answer_prompt("acknowledge")
    again = []
    while floor.prompts("settled"):
        again.append(floor.prompt("settled").seat)
        floor.answer_prompt("settled", "settled")
    assert again == [6, 3, 1], "from the far right, each once more"
    floor.settle()
    assert floor.phase == mc.IDLE


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_whose_hand_was_shown_may_not_surrender_when_it_is_settled_anew(game: str) -> None:
    floor = half_settled(game, 1)
    floor.declare("dealer_hand_misset")
    floor.clear_holds()
    assert (floor.prompt("settled").seat, floor.prompt("settled").choices) == (6, ("settled",))
    assert decisions_of(RequestRefused, floor.declare("surrender", seat=6))
    floor.answer_prompt("settled")
    assert "surrendered" in floor.prompt("settled").choices, "seat 3 has shown nothing yet"


@pytest.mark.parametrize("game", GAMES)
def test_a_surrendered_hand_is_compared_with_nothing_and_stays_surrendered(game: str) -> None:
    floor = table_at(game, "auto", mc.SETTLING)
    floor.answer_prompt("settled", "surrendered")
    floor.answer_prompt("surrender_collected")
    floor.answer_prompt("surrender_count")
    floor.answer_prompt("settled")
    assert floor.round_.settled == [6, 3]
    floor.declare("dealer_hand_misset")
    floor.clear_holds()
    assert floor.round_.settled == [6]
    assert floor.prompt("settled").seat == 3


@pytest.mark.parametrize("game", GAMES)
def test_before_any_seat_is_settled_only_the_hand_is_set_again(game: str) -> None:
    floor = half_settled(game, 0)
    floor.declare("dealer_hand_misset")
    floor.answer_prompt("dealer_hand_reset")
    assert not floor.prompts("seat_reopened")
    assert [p.kind for p in floor.prompts() if p.hold is not None] == ["acknowledge"]


@clauses("688a.13(h)")
def test_a_progressive_bet_that_was_settled_stays_as_it_is() -> None:
    floor = BettingTable("688a-progressive-1", bets=(6,))
    floor.claim(6, "full_house")
    for kind in ("hit_hand", "hit_light", "hit_validate", "hit_pay"):
        floor.answer_prompt(kind)
    held = floor.held()
    since = len(floor.log)
    floor.declare("dealer_hand_misset")
    floor.clear_holds()
    assert floor.prompt("settled").seat == 6
    assert floor.held() == held
    floor.settle()
    later = [each for _, decided in floor.log[since:] for each in decided]
    assert decisions_of(HitClaimed, later) == []
    assert [bet for bet in decisions_of(BetSettled, later) if bet.seat == 6] == []
    assert [p.seat for p in decisions_of(Prompt, later) if p.kind == "settled"].count(6) == 1
    assert floor.phase == mc.IDLE


@pytest.mark.parametrize("game", GAMES)
def test_nothing_goes_around_the_reopening(game: str) -> None:
    """An attempt to bypass the rule: continue the round while seats are settled against a misset hand."""
    floor = half_settled(game, 1)
    before = [prompt.id for prompt in floor.prompts("settled")]
    floor.declare("dealer_hand_misset")
    for id_ in before:
        assert decisions_of(RequestRefused, floor.step(ev.Answer(id_, "settled", DEALER)))
    floor.answer_prompt("dealer_hand_reset")
    assert not [p for p in floor.prompts() if p.kind == "acknowledge"], "not before the seat is open again"
    floor.declare("dealer_hand_misset")
    assert len(floor.state.holds) == 1
    assert floor.prompt("seat_reopened").seat == 6
