"""Settlement of Saigon 5 Card, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import BadHand
from table_controller.rulebook.settlement.dealt_round import Seat
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.terms import SettlementTerms

NO = "As 2d 2h 2c Ad"  # no three of these make ten
SEVEN = "Ks Kh Kd 4s 3s"  # thirty, and a Point Count of 7
FIVE = "Qs Qh Qd 4h As"  # thirty, and a Point Count of 5
TEN = "Js Jh Jd Ts Th"
ONE = "9s 8h 3d 9h 2s"  # twenty, and a Point Count of 1


@pytest.fixture(scope="module")
def at() -> SettlementTerms:
    return terms("saigon_5_card")


@clauses(
    "680a.11(d)(1)(i)", "680a.11(d)(1)(ii)", "680a.11(d)(1)(ii)(A)", "680a.11(d)(1)(ii)(B)", "680a.11(d)(2)(i)",
    "680a.11(d)(2)(ii)(A)", "680a.11(d)(2)(ii)(B)", "680a.11(d)(2)(ii)(C)", "680a.12(a)", "680a.12(b)",
)  # fmt: skip
@pytest.mark.parametrize(
    ("player", "dealer", "outcome", "paid", "clause"),
    [
        ("Ah 2s 2d Ac 3c", NO.replace("2d", "3d"), "pushes", 0, "680a.11(d)(1)(i)"),
        (SEVEN, NO, "wins", 1000, "680a.11(d)(1)(ii)(A)"),
        (ONE.replace("2s", "2h"), "As 2d 2s 2c Ad", "wins", 1000, "680a.11(d)(1)(ii)(A)"),
        (FIVE.replace("As", "Ah"), NO.replace("2h", "3h"), "wins", 500, "680a.11(d)(1)(ii)(B)"),
        (NO, SEVEN, "loses", 0, "680a.11(d)(2)(i)"),
        (ONE, SEVEN, "loses", 0, "680a.11(d)(2)(ii)(A)"),
        (TEN, SEVEN, "wins", 1000, "680a.11(d)(2)(ii)(B)"),
        (FIVE, ONE, "wins", 500, "680a.11(d)(2)(ii)(B)"),
        ("Kc Qc Jc 5s 2s", SEVEN, "pushes", 0, "680a.11(d)(2)(ii)(C)"),
        (FIVE, SEVEN, "loses", 0, "680a.11(d)(2)(ii)(A)"),
    ],
)
def test_the_ante(at: SettlementTerms, player: str, dealer: str, outcome: str, paid: int, clause: str) -> None:
    result = only_result(settle_round(at, seat(3, player, ante=1000), dealer=dealer), "ante")
    assert (result.outcome, result.paid_cents, result.clauses[0]) == (outcome, paid, clause)
    assert result.back_cents == (0 if outcome == "loses" else 1000)


@clauses("680a.12(b)")
def test_half_a_wager_is_paid_exactly_or_not_taken(at: SettlementTerms) -> None:
    assert only_result(settle_round(at, seat(1, FIVE, ante=250), dealer=ONE), "ante").paid_cents == 125
    with pytest.raises(BadHand, match=r"seat 1: ante = 25 cents cannot be paid 1 to 2 in whole cents \(680a.12\(b\)\)"):
        settle_round(at, seat(1, FIVE, ante=25), dealer=ONE)


@clauses("680a.11(b)(1)", "680a.11(b)(2)")
def test_a_player_who_could_qualify_but_set_otherwise_is_compared_as_set(at: SettlementTerms) -> None:
    set_wrong = "Ks Kh 4s | Kd 3s"
    result = only_result(settle_round(at, seat(1, set_wrong, ante=1000), dealer=ONE), "ante")
    assert (result.outcome, result.clauses) == (
        "loses",
        ("680a.11(d)(2)(i)", "680a.1:Qualify", "680a.6(a)"),
    )  # there is no foul, only no qualifying
    right = only_result(settle_round(at, seat(1, "Ks Kh Kd | 4s 3s", ante=1000), dealer=ONE), "ante")
    assert right.outcome == "wins"


@clauses("680a.6(a)(4)", "680a.11(b)(1)")
def test_the_texts_own_hand_beats_a_nine(at: SettlementTerms) -> None:
    result = only_result(settle_round(at, seat(1, "Jk 8s 6d 5h 2c", ante=1000), dealer="Ks Kh Kd 5s 4s"), "ante")
    assert (result.outcome, result.paid_cents) == ("wins", 1000)


BONUS = {
    "Five aces": "As Ah Ad Ac Jk",
    "Royal flush—no joker": "As Ks Qs Js Ts",
    "Royal flush—with a joker": "As Ks Jk Js Ts",
    "Straight flush": "As 2s 3s 4s 5s",
    "Four-of-a-kind": "9s 9h 9d 9c 4s",
    "Full house": "9s 9h 9d 4c 4s",
    "Flush": "9s 7s 4s 3s 2s",
    "Straight": "9s 8h 7d 6c 5s",
    "Three-of-a-kind": "9s 9h 9d 4c 2s",
    "Two pair": "9s 9h 4d 4c 2s",
}


@clauses("680a.11(e)", "680a.11(e)(1)", "680a.11(e)(2)", "680a.12(c)", "680a.6(c)", "680a.7(d)(2)")
def test_every_line_of_the_bonus_table(at: SettlementTerms) -> None:
    table = at.table("bonus")
    assert list(BONUS) == [line.label for line in table.lines]
    for line in table.lines:
        result = only_result(
            settle_round(at, seat(1, BONUS[line.label], ante=500, bonus=300), dealer="Kh Kd Kc 8s 6h"), "bonus"
        )
        assert line.pay is not None
        assert line.pay.odds is not None
        assert (result.line, result.paid_cents, result.back_cents) == (line.label, 300 * line.pay.odds[0], 300)
    pair = only_result(
        settle_round(at, seat(1, "9s 9h 7d 4c 2s", ante=500, bonus=300), dealer="Kh Kd Kc 8s 6h"), "bonus"
    )
    assert (pair.outcome, pair.clauses) == (
        "loses", ("680a.11(e)(1)", "680a.6(c)", "680a.6(c)(1)", "680a.11(e)", "680a.7(d)(2)"),
    )  # fmt: skip


@clauses("680a.12(c)")
def test_two_pair_pays_eight_to_one_as_all_documents_print(at: SettlementTerms) -> None:
    result = only_result(
        settle_round(at, seat(1, BONUS["Two pair"], ante=500, bonus=100), dealer="Kh Kd Kc 8s 6h"), "bonus"
    )
    assert result.paid_cents == 800
    assert result.see == ("S6",)


@clauses("680a.12(d)")
def test_a_payout_limit_holds_for_all_boxes_of_a_player() -> None:
    at = terms(
        "saigon_5_card", adjacent_boxes=2, payout_limit_cents=5_000_000, least_wagers_cents={"ante": 200, "bonus": 100}
    )
    first = msgspec.structs.replace(seat(1, BONUS["Five aces"], ante=500, bonus=800), player=1)
    second = msgspec.structs.replace(seat(2, "Ks Qs Js Ts 9s", ante=500, bonus=20_000), player=1)
    results = settle_round(at, first, second, dealer="Kh Kd 8c 6h 2h")
    assert sum(each.paid_cents for each in results) == 5_000_000
    cut = [each for each in results if each.cut_cents]
    assert [(each.seat, each.wager) for each in cut] == [(1, "bonus")]  # the far right is settled first
    assert cut[0].clauses[-1] == "680a.12(d)"
    apart = settle_round(at, msgspec.structs.replace(first, player=None), second, dealer="Kh Kd 8c 6h 2h")
    assert all(each.cut_cents == 0 for each in apart)


@clauses("680a.11(d)", "680a.11(e)", "680a.7(b)/2")
def test_order(at: SettlementTerms) -> None:
    results = settle_round(
        at, seat(1, SEVEN, ante=500, bonus=100), seat(4, TEN, ante=500, bonus=100),
        Seat(number=2, wagers={"ante": 500}, fate="abandoned"), dealer=ONE,
    )  # fmt: skip
    assert [(each.seat, each.wager) for each in results] == [
        (2, "ante"), (4, "ante"), (4, "bonus"), (1, "ante"), (1, "bonus")
    ]  # fmt: skip
    assert results[0].clauses == ("680a.7(b)/2",)
