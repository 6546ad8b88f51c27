"""Settlement of Face Up Pai Gow Poker, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from table_controller.rulebook import paytables
from table_controller.rulebook.settlement.dealt_round import Seat
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.terms import SettlementTerms

MAIN = "face_up_pai_gow_poker"
DEALER = "Ks Kh 9d 7c 4s | Qd Jc"  # a pair of kings, queen high


@pytest.fixture(scope="module")
def at() -> SettlementTerms:
    return terms("face_up_pai_gow")


@clauses("688a.11(f)(1)", "688a.11(f)(2)", "688a.11(f)(3)", "688a.12(a)", "688a.11(e)")
@pytest.mark.parametrize(
    ("cards", "outcome", "clause"),
    [
        ("As Ah 8d 6c 3s | Ad Jd", "wins", "688a.11(f)(3)"),  # both higher
        ("As Ah 8d 6c 3s | Ts 9s", "pushes", "688a.11(f)(2)"),  # high higher, low lower
        ("As Ah 8d 6c 3s | Qs Jd", "pushes", "688a.11(f)(2)"),  # high higher, low identical
        ("Qs Qh 8d 6c 3s | Ad Jd", "pushes", "688a.11(f)(2)"),  # high lower, low higher
        ("Kd Kc 9s 7d 4d | Ad Js", "pushes", "688a.11(f)(2)"),  # high identical, low higher
        ("Qs Qh 8d 6c 3s | Ts 9s", "loses", "688a.11(f)(1)"),  # both lower
        ("Kd Kc 9s 7d 4d | Qs Jd", "loses", "688a.11(f)(1)"),  # both identical
        ("Kd Kc 9s 7d 4d | Ts 8d", "loses", "688a.11(f)(1)"),  # high identical, low lower
        ("Qs Qh 8d 6c 3s | Qc Jd", "loses", "688a.11(f)(1)"),  # high lower, low identical
    ],
)
def test_the_main_wager(at: SettlementTerms, cards: str, outcome: str, clause: str) -> None:
    results = only_result(settle_round(at, seat(3, cards, **{MAIN: 2500}), dealer=DEALER), MAIN)
    assert (results.outcome, results.clauses[0]) == (outcome, clause)
    assert results.paid_cents == (2500 if outcome == "wins" else 0)
    assert results.back_cents == (0 if outcome == "loses" else 2500)


@clauses("688a.11(f)(1)(iii)", "688a.11(f)(1)(iv)")
def test_a_foul_hand_loses_though_it_would_win(at: SettlementTerms) -> None:
    under = only_result(settle_round(at, seat(1, "As Qc Td 6c 3s | Ad Ac", **{MAIN: 500}), dealer=DEALER), MAIN)
    assert (under.outcome, under.clauses) == (
        "loses", ("688a.11(f)(1)(iii)", "688a.11(b)", "688a.1:High hand", "688a.1:Low hand"),
    )  # fmt: skip
    sizes = only_result(settle_round(at, seat(1, "As Ah Ad 6c | Qs 8d 3s", **{MAIN: 500}), dealer=DEALER), MAIN)
    assert (sizes.outcome, sizes.clauses) == (
        "loses", ("688a.11(f)(1)(iv)", "688a.1:Setting the hands", "688a.1:High hand", "688a.1:Low hand"),
    )  # fmt: skip


@clauses("688a.11(f)(2)(iii)", "688a.1:Ace High Pai Gow")
def test_a_dealers_ace_high_returns_every_main_wager_fouls_too(at: SettlementTerms) -> None:
    results = settle_round(
        at,
        seat(6, "Kh Kd 8c 6c 3s | Qs Jd", **{MAIN: 500}),  # would win
        seat(5, "2s 2h 5d 5c 8h | 3h 3c", **{MAIN: 500}),
        seat(4, "Kc Th Td 6s 4d | Qh Qc", **{MAIN: 500}),  # foul
        dealer="As Ks Qd Jc 9s 7d 5h",
    )
    assert [(each.seat, each.outcome, each.clauses) for each in results] == [
        (number, "pushes", ("688a.11(f)(2)(iii)", "688a.1:Ace High Pai Gow")) for number in (6, 5, 4)
    ]


@clauses("688a.11(f)(2)(iii)", "688a.11(d)/2")
def test_a_surrendered_hand_loses_even_to_an_ace_high_dealer(at: SettlementTerms) -> None:
    gone = msgspec.structs.replace(seat(2, "", **{MAIN: 500}), cards=(), setting=None, fate="gave_up")
    (result,) = settle_round(at, gone, dealer="As Ks Qd Jc 9s 7d 5h")
    assert (result.outcome, result.clauses, result.back_cents) == ("loses", ("688a.11(d)/2",), 0)


@clauses("688a.11(a)(1)", "688a.11(c)")
def test_dealer_and_advised_players_set_in_the_house_way(at: SettlementTerms) -> None:
    player, dealer = "As Ah Qs Qh 9s 5c 3s", "Ks Kh Jd Jc 8s 5d 2h"  # both split two pair
    assert only_result(settle_round(at, seat(1, player, **{MAIN: 500}), dealer=dealer), MAIN).outcome == "wins"
    kept = "As Ah Qs Qh 3s | 9s 5c"
    assert only_result(settle_round(at, seat(1, kept, **{MAIN: 500}), dealer=dealer), MAIN).outcome == "pushes"


@clauses("688a.1:Ace High Bonus Wager", "688a.7(e)(1)")
@clauses("688a.11(h)(1)", "688a.11(h)(1)(i)(A)", "688a.11(h)(1)(i)(B)", "688a.6(d)", "688a.12(b)")
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_ace_high(number: int) -> None:
    odds = {1: (20, 10, 8), 2: (40, 15, 5), 3: (30, 15, 6), 4: (25, 10, 7), 5: (40, 12, 5)}[number]
    at = terms("face_up_pai_gow", paytables={"ace_high": f"688a-acehigh-{number}"})
    natural, joker = "As Ks Qd Jc 9s 7d 5h", "Jk Ks Qd 9c 8s 6d 3h"
    ace_high, pair = "Ah Kd Qh Jd 9h 7c 4h", "Kh Kd Qh 9d 8h 6c 4h"

    def paid(player: str, dealer: str) -> int:
        results = only_result(
            settle_round(at, seat(1, player, **{MAIN: 500, "ace_high": 100}), dealer=dealer), "ace_high"
        )
        assert results.clauses[0] == ("688a.11(h)(1)(i)(B)" if results.outcome == "wins" else "688a.11(h)(1)(i)(A)")
        return results.paid_cents if results.outcome == "wins" else -100

    assert paid(ace_high, natural) == 100 * odds[0]
    assert paid(ace_high.replace("Ah", "Ac"), joker) == 100 * odds[0]
    assert paid(pair, joker) == 100 * odds[1]
    assert paid(pair, natural) == 100 * odds[2]
    assert paid(ace_high, "Kh Kc Qd 9c 8s 6d 3h") == -100


FORTUNE_HANDS = {
    "7 Card Straight Flush": "8s 9s Ts Js Qs Ks As",
    "Royal Flush + Royal Match": "As Ks Qs Js Ts Kd Qd",
    "7 Card Straight Flush with Joker": "8s 9s Ts Jk Qs Ks As",
    "Five Aces": "As Ah Ad Ac Jk 9h 4d",
    "Royal Flush": "As Ks Qs Js Ts 4d 2h",
    "Straight Flush": "9s 8s 7s 6s 5s Kd Qd",
    "Four of a Kind": "9s 9h 9d 9c 5s Kd Qd",
    "Full House": "9s 9h 9d Kc 5s Kd Qd",
    "Flush": "9s 7s 4s 3s Ks Kd Qd",
    "Three of a Kind": "9s 9h 9d 8c 5s Kd Qd",
    "Straight": "9s 8h 7d 6c 5s Kd Qd",
    "Three Pair": "9s 9h 7d 7c 5s 5d Qd",
}
LOWER = "7c 6d 4h 3h 2c Tc 2h"  # a dealer that touches none of these


@clauses("688a.1:Fortune Bonus Wager")
@clauses("688a.11(h)(2)(i)(A)", "688a.11(h)(2)(i)(B)/1", "688a.12(c)/1", "688a.6(e)", "688a.6(b)(9)", "688a.7(e)(2)",
         "688a.11(h)/1")  # fmt: skip
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6])
def test_every_line_of_every_fortune_table(number: int) -> None:
    at = terms("face_up_pai_gow", paytables={"fortune": f"688a-fortune-{number}"})
    table = at.table("fortune")
    printed = {line.label: line for line in table.lines}
    for label, cards in FORTUNE_HANDS.items():
        results = only_result(
            settle_round(at, seat(1, cards, **{MAIN: 500, "fortune": 300}), dealer=_dealers_cards(cards)), "fortune"
        )
        if label not in printed:  # three pair is a line of the first table only (F4)
            assert (label, results.outcome) == ("Three Pair", "loses")
        elif label == "Three Pair":
            assert (results.outcome, results.back_cents, results.paid_cents) == ("pushes", 300, 0)
        else:
            pay = printed[label].pay
            assert pay is not None
            assert pay.odds is not None
            assert (results.line, results.paid_cents, results.back_cents) == (label, 300 * pay.odds[0], 300)
    pair = only_result(
        settle_round(
            at,
            seat(1, "9s 9h 7d 6c 4s Kd Qd", **{MAIN: 500, "fortune": 300}),
            dealer=LOWER.replace("6d", "6h").replace("7c", "7h"),
        ),
        "fortune",
    )
    assert (pair.outcome, pair.clauses) == (
        "loses",
        ("688a.11(h)(2)(i)(A)", "688a.6(e)", "688a.7(e)(2)", "688a.11(h)/1"),
    )


def _dealers_cards(cards: str) -> str:
    """Seven cards for the dealer that the player does not hold."""
    deck = [rank + suit for suit in "chds" for rank in "2345679TJQKA"]
    return " ".join([card for card in deck if card not in cards.split()][:7])


@clauses("688a.12(c)/1")
def test_three_alike_and_a_straight_pay_as_three_alike() -> None:
    at = terms("face_up_pai_gow")
    cards = "9s 9h 9d 8c 7s 6d 5h"
    results = only_result(
        settle_round(at, seat(1, cards, **{MAIN: 500, "fortune": 300}), dealer=_dealers_cards(cards)), "fortune"
    )
    assert (results.line, results.paid_cents) == ("Three of a Kind", 900)  # the printed order decides (F4)


PROGRESSIVE = {  # label -> cards that hold this line and no earlier one of the table
    "7 Card Straight Flush": "8s 9s Ts Js Qs Ks As",
    "7 Card Natural Straight Flush": "8s 9s Ts Js Qs Ks As",
    "7 Card Wild Straight Flush": "8s 9s Ts Jk Qs Ks As",
    "7 Card Straight Flush w/Joker": "8s 9s Ts Jk Qs Ks As",
    "Royal Flush + Royal Match": "As Ks Qs Js Ts Kd Qd",
    "Five Aces": "As Ah Ad Ac Jk 9h 4d",
    "Five of a Kind": "9s 9h 9d 9c Jk Kh 4d",
    "Royal Flush": "As Ks Qs Js Ts 4d 2h",
    "Straight Flush": "9s 8s 7s 6s 5s Kd Qd",
    "Four of a Kind": "9s 9h 9d 9c 5s Kd Qd",
    "Full House": "9s 9h 9d Kc 5s Kd Qd",
    "Flush": "9s 7s 4s 3s Ks Kd Qd",
    "Three of a Kind": "9s 9h 9d 8c 5s Kd Qd",
    "Straight": "9s 8h 7d 6c 5s Kd Qd",
}


@clauses("688a.7(e)(3)")
@clauses("688a.11(h)(4)(i)(A)", "688a.11(h)(4)(i)(B)(4)/1", "688a.12(d)/1", "688a.12(d)/4", "688a.6(f)")
@pytest.mark.parametrize("number", range(1, 8))
def test_every_line_of_every_progressive_table(number: int) -> None:
    at = terms("face_up_pai_gow", paytables={"progressive": f"688a-progressive-{number}"})
    table = at.table("progressive")
    assert table.unit_cents is not None
    wagers = {MAIN: 500, "progressive": table.unit_cents}
    for line in table.lines:
        cards = PROGRESSIVE[line.label]
        result = only_result(settle_round(at, seat(1, cards, **wagers), dealer=_dealers_cards(cards)), "progressive")
        assert line.pay is not None
        assert (result.outcome, result.line, result.table) == ("wins", line.label, table.id)
        assert (result.paid_cents, result.meter_percent) == (line.pay.fixed_cents or 0, line.pay.meter_percent or 0)
        assert result.back_cents == (500 if number == 4 else 0)  # only table 4 gives the wager back
    for label in {"Full House", "Flush", "Three of a Kind", "Straight"} - {line.label for line in table.lines}:
        cards = PROGRESSIVE[label]
        result = only_result(settle_round(at, seat(1, cards, **wagers), dealer=_dealers_cards(cards)), "progressive")
        assert (result.outcome, result.clauses, result.back_cents) == (
            "loses",
            ("688a.11(h)(4)(i)(A)", "688a.6(f)", "688a.7(e)(3)", "688a.11(h)/1"),
            0,
        )


@clauses("688a.6(f)(6)", "688a.6(a)")
def test_the_joker_is_free_in_the_progressive_and_bound_in_the_fortune_of_one_hand() -> None:
    at = terms("face_up_pai_gow", paytables={"progressive": "688a-progressive-2"})
    cards = "9s 9h 9d Jk 5s Kd Qd"
    results = settle_round(
        at, seat(1, cards, **{MAIN: 500, "fortune": 500, "progressive": 100}), dealer=_dealers_cards(cards)
    )
    assert only_result(results, "progressive").line == "Four of a Kind"
    assert only_result(results, "fortune").line == "Three of a Kind"


# --- envy -------------------------------------------------------------------------------------------------------------

QUADS = "9s 9h 9d 9c 5s Kd Qd"
ROYAL = "As Ks Qs Js Ts 4d 3h"
POOR = "8h 7d 6h 4c 2s Jh 3c"
DEALER_POOR = "8c 7h 6c 4h 2d Jd 3d"


def envies(results: tuple[object, ...]) -> set[tuple[int, str, int | None, int]]:
    return {
        (each.seat, each.wager, each.envy_of, each.paid_cents)  # type: ignore[attr-defined]
        for each in results
        if each.envy_of is not None  # type: ignore[attr-defined]
    }


@clauses("688a.11(h)(2)(ii)", "688a.12(c)/2", "688a.1:Envy Bonus", "688a.1:Envy Bonus Qualifying Hand",
         "688a.1:Qualifying Wager", "688a.11(h)/2")  # fmt: skip
def test_envy_is_paid_for_every_other_players_hand_and_never_for_ones_own(at: SettlementTerms) -> None:
    results = settle_round(
        at,
        seat(1, QUADS, **{MAIN: 500, "fortune": 500}),
        seat(2, ROYAL, **{MAIN: 500}),  # holds an envy hand without a side wager
        seat(3, POOR, **{MAIN: 500, "fortune": 500}),
        seat(4, "Tc 8d 7c 5h 5d 2h 2c", **{MAIN: 500, "fortune": 400}),  # less than five dollars
        dealer=DEALER_POOR,
    )
    assert envies(results) == {
        (1, "fortune", 2, 2500),  # royal flush
        (3, "fortune", 2, 2500),  # several add up
        (3, "fortune", 1, 500),  # four of a kind
    }


@clauses("688a.11(h)(2)(ii)")
def test_envy_comes_after_all_fortune_wagers(at: SettlementTerms) -> None:
    results = settle_round(
        at, seat(1, QUADS, **{MAIN: 500, "fortune": 500}), seat(2, POOR, **{MAIN: 500, "fortune": 500}),
        dealer=DEALER_POOR,
    )  # fmt: skip
    kinds = [each.envy_of is not None for each in results]
    assert kinds == sorted(kinds)
    assert True in kinds


@clauses("688a.12(d)/3", "688a.1:Qualifying Wager")
def test_only_table_4_pays_progressive_envy_and_both_columns_are_paid(at: SettlementTerms) -> None:
    both = seat(3, POOR, **{MAIN: 500, "fortune": 500, "progressive": 500})
    assert envies(settle_round(at, seat(1, QUADS, **{MAIN: 500}), both, dealer=DEALER_POOR)) == {
        (3, "fortune", 1, 500), (3, "progressive", 1, 2500)
    }  # fmt: skip
    one = terms("face_up_pai_gow", paytables={"progressive": "688a-progressive-1"})
    dollar = seat(3, POOR, **{MAIN: 500, "progressive": 100})
    assert envies(settle_round(one, seat(1, QUADS, **{MAIN: 500}), dollar, dealer=DEALER_POOR)) == set()


@clauses("688a.1:Qualifying Wager")
def test_the_submission_may_let_fortune_alone_open_envy() -> None:
    at = terms("face_up_pai_gow", settings={"envy_wagers": "fortune"})
    bettor = seat(3, POOR, **{MAIN: 500, "progressive": 500})
    assert envies(settle_round(at, seat(1, QUADS, **{MAIN: 500}), bettor, dealer=DEALER_POOR)) == set()


@clauses("688a.11(h)(2)(ii)")
def test_the_dealers_hand_brings_no_envy(at: SettlementTerms) -> None:
    assert envies(settle_round(at, seat(3, POOR, **{MAIN: 500, "fortune": 500}), dealer=QUADS)) == set()


@clauses("688a.11(d)/3", "688a.11(h)/2", "688a.11(d)/2")
def test_a_surrendered_hand_still_brings_envy(at: SettlementTerms) -> None:
    gone = msgspec.structs.replace(seat(1, QUADS, **{MAIN: 500}), fate="gave_up")
    results = settle_round(at, gone, seat(3, POOR, **{MAIN: 500, "fortune": 500}), dealer=DEALER_POOR)
    assert only_result(results, MAIN, 1).outcome == "loses"
    assert envies(results) == {(3, "fortune", 1, 500)}


@clauses("688a.11(h)(2)(ii)", "688a.7(f)")
def test_a_player_on_two_boxes_has_two_hands_of_his_own(at: SettlementTerms) -> None:
    first = msgspec.structs.replace(seat(1, QUADS, **{MAIN: 500, "fortune": 500}), player=9)
    second = msgspec.structs.replace(seat(2, POOR, **{MAIN: 500, "fortune": 500}), player=9)
    assert envies(settle_round(at, first, second, dealer=DEALER_POOR)) == set()
    stranger = seat(2, POOR, **{MAIN: 500, "fortune": 500})
    assert envies(settle_round(at, first, stranger, dealer=DEALER_POOR)) == {(2, "fortune", 1, 500)}


# --- order, and hands that are not settled ----------------------------------------------------------------------------


@clauses("688a.11(e)", "688a.11(h)(1)", "688a.11(i)")
def test_players_are_settled_from_the_far_right_and_each_ones_wagers_in_order(at: SettlementTerms) -> None:
    wagers = {MAIN: 500, "progressive": 500, "fortune": 100, "ace_high": 100}
    results = settle_round(at, seat(2, ROYAL, **wagers), seat(5, POOR, **wagers), dealer=DEALER_POOR)
    assert [(each.seat, each.wager) for each in results if each.envy_of is None] == [
        (number, wager) for number in (5, 2) for wager in (MAIN, "ace_high", "fortune", "progressive")
    ]


@clauses("688a.7(b)/2", "688a.13(d)")
def test_hands_that_are_void_or_left(at: SettlementTerms) -> None:
    void = Seat(number=4, wagers={MAIN: 500, "fortune": 500}, fate="void")
    left = Seat(number=3, wagers={MAIN: 500, "fortune": 500}, fate="abandoned")
    results = settle_round(at, void, left, seat(1, QUADS, **{MAIN: 500}), dealer=DEALER_POOR)
    for wager in (MAIN, "fortune"):
        back, taken = only_result(results, wager, 4), only_result(results, wager, 3)
        assert (back.outcome, back.back_cents, back.clauses) == ("returned", 500, ("688a.13(d)",))
        assert (taken.outcome, taken.back_cents, taken.clauses) == ("loses", 0, ("688a.7(b)/2",))
    assert envies(results) == set()


@clauses("688a.12(d)/1")
def test_a_line_names_table_and_readings(at: SettlementTerms) -> None:
    results = only_result(
        settle_round(at, seat(1, ROYAL, **{MAIN: 500, "progressive": 500}), dealer=DEALER_POOR), "progressive"
    )
    (table,) = (each for each in paytables("face_up_pai_gow") if each.id == results.table)
    assert results.see == table.see
    assert results.hand == "royal flush"
