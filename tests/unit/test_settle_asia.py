"""Settlement of Asia Poker, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from table_controller.rulebook.settlement.dealt_round import Seat
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.terms import SettlementTerms

MAIN = "asia_poker"
DEALER = "Ks Kh 9d 7c | Qd Jc | 8d"


@pytest.fixture(scope="module")
def at() -> SettlementTerms:
    return terms("asia_poker")


@clauses("575.11(f)(1)", "575.11(f)(2)", "575.12(a)", "575.1:Copy hand", "575.6(c)", "575.11(e)")
@pytest.mark.parametrize(
    ("cards", "outcome"),
    [
        ("As Ah 6d 3c | Ad Jd | Ts", "wins"),  # three higher
        ("As Ah 6d 3c | Ad Jd | 2s", "wins"),  # two higher, one lower
        ("As Ah 6d 3c | Ad Jd | 8s", "wins"),  # two higher, one copy
        ("As Ah 6d 3c | Qs Jd | 8s", "loses"),  # one higher, two copies
        ("As Ah 6d 3c | Qs Jd | 2s", "loses"),  # one higher, a copy, one lower
        ("As Ah 6d 3c | Ts 5d | 2s", "loses"),  # one higher
        ("Kd Kc 9s 7d | Qs Jd | 8s", "loses"),  # three copies
        ("Qs Qh 6d 3c | Ad Jd | 8s", "loses"),
        ("Qs Qh 6d 3c | Jd 5s | 2s", "loses"),
    ],
)
def test_the_main_wager(at: SettlementTerms, cards: str, outcome: str) -> None:
    results = only_result(settle_round(at, seat(3, cards, **{MAIN: 2500}), dealer=DEALER), MAIN)
    assert (results.outcome, results.paid_cents) == (outcome, 2500 if outcome == "wins" else 0)
    assert results.clauses[0] == ("575.11(f)(2)" if outcome == "wins" else "575.11(f)(1)")
    assert results.back_cents == (2500 if outcome == "wins" else 0)


@clauses("575.11(f)(1)(iii)", "575.11(f)(1)(iv)", "575.11(f)(1)(v)")
@pytest.mark.parametrize(
    ("cards", "clause", "violated"),
    [
        ("As Tc 6d 3c | Ad Ac | Ts", "575.11(f)(1)(iii)", ("575.11(b)", "575.1:High hand", "575.1:Medium hand")),
        ("As Ah 6d 3c | Ts 9s | Ad", "575.11(f)(1)(iv)", ("575.11(b)", "575.1:Medium hand", "575.1:Low hand")),
        (
            "As Ah Ad | 6d 3c | Ts 9s",
            "575.11(f)(1)(v)",
            ("575.1:Setting the hands", "575.1:High hand", "575.1:Low hand"),
        ),
    ],
)
def test_a_foul_hand_loses(at: SettlementTerms, cards: str, clause: str, violated: tuple[str, ...]) -> None:
    results = only_result(settle_round(at, seat(1, cards, **{MAIN: 500}), dealer=DEALER), MAIN)
    assert (results.outcome, results.clauses) == ("loses", (clause, *violated))


@clauses("575.6(b)(3)", "575.6(b)(6)")
@pytest.mark.parametrize(
    ("choice", "dealer"),
    [
        ("wheel_lowest_straight_flush", "Kh Qh Jh Th | 3d 3s | 2d"),
        ("wheel_lowest_straight", "Kh Qd Jh Th | 3d 3s | 2d"),
    ],
)
def test_the_place_of_the_wheel_decides_a_round(choice: str, dealer: str) -> None:
    wheel = "Ac 2c 3c 4c | 5s 5h | 2h" if choice.endswith("flush") else "Ac 2c 3c 4s | 5s 5h | 2h"
    for lowest in (False, True):
        at = terms("asia_poker", **{choice: lowest})
        results = only_result(settle_round(at, seat(1, wheel, **{MAIN: 500}), dealer=dealer), MAIN)
        assert results.outcome == ("loses" if lowest else "wins")  # one of the others wins, the low card is a copy


@clauses("575.11(d)/2", "575.11(d)/1")
def test_surrender(at: SettlementTerms) -> None:
    gone = Seat(number=2, wagers={MAIN: 500}, fate="gave_up")
    (result,) = settle_round(at, gone, dealer=DEALER)
    assert (result.outcome, result.clauses, result.back_cents) == ("loses", ("575.11(d)/2",), 0)


BONUS = {
    "Three-of-a-kind and four 8s": "8s 8h 8d 8c Ks Kh Kd",
    "Five aces": "As Ah Ad Ac Jk 3d 2h",
    "Royal flush": "Jk Ks Qs Js Ts 3d 2h",
    "Natural straight flush": "9s 8s 7s 6s 5s Kd 2h",
    "Straight flush with joker": "9s 8s 7s Jk 5s Kd 2h",
    "Four-of-a-kind": "9s 9h 9d 9c 5s Kd 2h",
    "9-high": "9s 8s 7s 6s 4s 3d 2h",  # a flush as well, and the earlier line (A4)
    "Full house": "9s 9h 9d Kc Kd 3s 2h",
    "Flush": "Ks 8s 7s 6s 4s 3d 2h",
    "Three-of-a-kind": "9s 9h 9d 8c 7s 6d 5h",  # a straight as well
    "Straight": "9s 8h 7d 6c 5s Kd 2h",
}


def dealers_cards(cards: str) -> str:
    deck = [rank + suit for suit in "chds" for rank in "234567TJQKA"]
    return " ".join([card for card in deck if card not in cards.split()][:7])


@clauses("575.11(h)", "575.11(h)(1)", "575.11(h)(2)", "575.12(b)", "575.6(d)", "575.6(d)(7)", "575.7(e)")
@pytest.mark.parametrize("letter", ["A", "B", "C"])
def test_every_line_of_every_bonus_table(letter: str) -> None:
    at = terms("asia_poker", paytables={"bonus": f"575-bonus-{letter}"})
    for line in at.table("bonus").lines:
        cards = BONUS[line.label]
        results = only_result(
            settle_round(at, seat(1, cards, **{MAIN: 500, "bonus": 200}), dealer=dealers_cards(cards)), "bonus"
        )
        assert line.pay is not None
        assert line.pay.odds is not None
        assert (results.line, results.paid_cents, results.back_cents) == (line.label, 200 * line.pay.odds[0], 200)
        assert results.clauses[:5] == ("575.11(h)(2)", "575.12(b)", "575.6(d)", "575.11(h)", "575.7(e)")
        assert ("575.6(d)(7)" in results.clauses) == (line.hand == "nine_high")
    pair = "Ks Kh 9d 7c 4s 3d 2h"
    results = only_result(
        settle_round(at, seat(1, pair, **{MAIN: 500, "bonus": 200}), dealer=dealers_cards(pair)), "bonus"
    )
    assert (results.outcome, results.clauses) == ("loses", ("575.11(h)(1)", "575.6(d)", "575.11(h)", "575.7(e)"))


@clauses("575.11(h)(1)")
def test_nine_high_or_better_if_so_submitted() -> None:
    at = terms("asia_poker", settings={"bonus_lines": "nine_high_or_better"})
    for label, cards in BONUS.items():
        results = only_result(
            settle_round(at, seat(1, cards, **{MAIN: 500, "bonus": 200}), dealer=dealers_cards(cards)), "bonus"
        )
        below = label in ("Full house", "Flush", "Three-of-a-kind", "Straight")
        assert (results.outcome == "loses") is below, label


@clauses("575.12(c)")
def test_a_payout_limit_cuts_what_one_hand_is_paid() -> None:
    at = terms("asia_poker", payout_limit_cents=5_000_000, least_wagers_cents={MAIN: 500, "bonus": 100})
    cards = BONUS["Three-of-a-kind and four 8s"]
    results = settle_round(at, seat(1, cards, **{MAIN: 10_000, "bonus": 2_000}), dealer=dealers_cards(cards))
    main, bonus = only_result(results, MAIN), only_result(results, "bonus")
    assert main.outcome == "wins"
    assert main.paid_cents + bonus.paid_cents == 5_000_000
    assert bonus.cut_cents == 2_000 * 5000 - bonus.paid_cents
    assert bonus.back_cents == 2_000  # the wager itself is no payout
    assert "575.12(c)" in bonus.clauses
    two = settle_round(
        at,
        msgspec.structs.replace(seat(1, BONUS["Five aces"], **{MAIN: 500, "bonus": 6_000}), player=1),
        msgspec.structs.replace(seat(2, "9s 9h 9d 9c 5s Kd 2c", **{MAIN: 500, "bonus": 6_000}), player=1),
        dealer="3s 4d 6h 7c Tc Qd 4h",
    )
    assert only_result(two, "bonus", 1).paid_cents == 4_800_000  # each hand for itself
    assert only_result(two, "bonus", 2).paid_cents == 180_000
    assert all(each.cut_cents == 0 for each in two)


@clauses("575.11(e)", "575.11(h)", "575.7(b)/2", "575.13(d)", "575.7(f)")
def test_order_and_hands_that_stand_aside(at: SettlementTerms) -> None:
    results = settle_round(
        at,
        seat(2, BONUS["Straight"], **{MAIN: 500, "bonus": 100}),
        seat(5, "Ks Kh 8d 7c 4s 3d 2s", **{MAIN: 500, "bonus": 100}),
        Seat(number=3, wagers={MAIN: 500}, fate="abandoned"),
        Seat(number=6, wagers={MAIN: 500}, fate="void"),
        dealer="3s 4d 6h 7h Tc Qd 4h",
    )
    assert [(each.seat, each.wager) for each in results[2:]] == [(5, MAIN), (5, "bonus"), (2, MAIN), (2, "bonus")]
    assert [(each.seat, each.outcome, each.clauses) for each in results[:2]] == [
        (6, "returned", ("575.13(d)",)), (3, "loses", ("575.7(b)/2",))
    ]  # fmt: skip
