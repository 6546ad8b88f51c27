"""Settlement of Over/Under, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from table_controller.rulebook.settlement.dealt_round import Seat
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.terms import SettlementTerms

# A hand for every total.
HANDS = {
    6: "2s 2h 2d", 7: "2s 2h 3d", 8: "2s 3h 3d", 9: "3s 3h 3d", 10: "3s 3h 4d", 11: "3s 4h 4d", 12: "4s 4h 4d",
    13: "4s 4h 5d", 14: "4s 5h 5d", 15: "5s 5h 5d", 16: "5s 5h 6d", 17: "5s 6h 6d", 18: "6s 6h 6d", 19: "6s 6h 7d",
    20: "6s 7h 7d", 21: "7s 7h 7d", 22: "7s 7h 8d", 23: "7s 8h 8d", 24: "8s 8h 8d", 25: "8s 8h 9d", 26: "8s 9h 9d",
    27: "9s 9h 9d", 28: "9s 9h Td", 29: "9s Th Jd", 30: "Qs Kh Jd", 31: "Qs Kh Ad", 32: "Qs Ah Ad", 33: "As Ah Ad",
}  # fmt: skip
BONUS = {6: 50, 33: 50, 7: 10, 32: 10, 8: 5, 31: 5, 9: 4, 30: 4, 10: 3, 29: 3, 11: 2, 28: 2, 12: 1, 27: 1}


@pytest.fixture(scope="module")
def at() -> SettlementTerms:
    return terms("over_under")


@clauses("686a.7(i)#2", "686a.7(i)#2(1)", "686a.7(i)#2(2)", "686a.7(j)", "686a.8(a)", "686a.3(d)")
@pytest.mark.parametrize("total", range(6, 34))
def test_every_total_with_both_decisions(at: SettlementTerms, total: int) -> None:
    for wager, wins, clause in (
        ("over_23", total >= 24, "686a.7(i)#2(1)"),
        ("under_18", total <= 17, "686a.7(i)#2(2)"),
    ):
        results = settle_round(at, seat(1, HANDS[total], **{"ante": 500, wager: 500}))
        for name in ("ante", wager):
            result = only_result(results, name)
            assert result.outcome == ("wins" if wins else "loses")
            assert (result.paid_cents, result.back_cents) == ((500, 500) if wins else (0, 0))
            assert result.clauses[0] == (clause if wins else "686a.7(j)")
            wrong_side = not wins and not 18 <= total <= 23
            assert result.see == (("O2",) if wrong_side else result.see)
            assert ("O2" in result.see) is (wrong_side or wins)


@clauses("686a.7(k)", "686a.8(b)", "686a.7(g)#2", "686a.7(g)(3)", "686a.1:Surrender")
@pytest.mark.parametrize("total", range(6, 34))
def test_the_bonus_by_every_total_also_after_a_surrender(at: SettlementTerms, total: int) -> None:
    plays = seat(1, HANDS[total], ante=500, over_23=500, bonus=100)
    gone = msgspec.structs.replace(seat(1, HANDS[total], ante=500, bonus=100), fate="gave_up")
    for player in (plays, gone):
        result = only_result(settle_round(at, player), "bonus")
        assert result.paid_cents == 100 * BONUS.get(total, 0)
        assert result.outcome == ("wins" if total in BONUS else "loses")
        assert result.clauses[0] == ("686a.7(g)#2" if player is gone else "686a.7(k)")


@clauses("686a.7(g)(3)", "686a.7(i)", "686a.7(f)")
def test_surrenders_are_taken_first_then_players_from_the_far_left(at: SettlementTerms) -> None:
    gone = msgspec.structs.replace(seat(4, HANDS[30], ante=500, bonus=100), fate="gave_up")
    results = settle_round(
        at, gone, seat(2, HANDS[10], ante=500, under_18=500, bonus=100), seat(6, HANDS[20], ante=500, over_23=500)
    )
    assert [(each.seat, each.wager, each.outcome) for each in results] == [
        (4, "ante", "loses"), (2, "ante", "wins"), (2, "under_18", "wins"), (2, "bonus", "wins"),
        (4, "bonus", "wins"), (6, "ante", "loses"), (6, "over_23", "loses"),
    ]  # fmt: skip


def test_a_surrendered_hand_without_a_bonus_needs_no_cards(at: SettlementTerms) -> None:
    (results,) = settle_round(at, Seat(number=1, wagers={"ante": 500}, fate="gave_up"))
    assert results.clauses == ("686a.7(g)(3)",)


@clauses("686a.9(c)")
def test_a_dead_hand_gets_back_all_its_wagers_or_the_ante_alone() -> None:
    dead = Seat(number=1, cards=(0,), wagers={"ante": 500, "over_23": 500, "bonus": 100}, fate="void")
    for setting, back in (("every_unsettled_wager", 1100), ("ante", 500)):
        at = terms("over_under", settings={"dead_hand_returns": setting})
        results = settle_round(at, dead)
        assert sum(each.back_cents for each in results) == back
        assert all(each.clauses == ("686a.9(c)",) for each in results)
        assert only_result(results, "ante").outcome == "returned"


def test_six_decks_may_show_a_card_six_times(at: SettlementTerms) -> None:
    seats = [seat(number, "As As 5d", ante=500, over_23=500) for number in (1, 2, 3)]
    assert all(each.outcome == "wins" for each in settle_round(at, *seats))
