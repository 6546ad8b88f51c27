"""Settlement of DJ Wild Stud Poker, clause by clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from table_controller.rulebook.settlement.dealt_round import Seat, WagerResult
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.terms import SettlementTerms

POOR = "Qd Jc 8c 6c 4d"  # queen high


@pytest.fixture(scope="module")
def at() -> SettlementTerms:
    return terms("dj_wild")


def raised(number: int, cards: str, **wagers: int) -> Seat:
    return seat(number, cards, **{"ante": 500, "blind": 500, "raise": 1000, **wagers})


def folded(number: int, cards: str, **wagers: int) -> Seat:
    return msgspec.structs.replace(seat(number, cards, ante=500, blind=500, **wagers), fate="gave_up")


@clauses("687a.11(e)(1)", "687a.11(e)(2)", "687a.11(e)(3)", "687a.12(a)", "687a.11(b)")
@pytest.mark.parametrize(
    ("player", "dealer", "outcome", "clause"),
    [
        ("Ks Jd 8s 6d 4s", POOR, "wins", "687a.11(e)(1)"),
        ("Qs Js 8d 6d 4s", POOR, "pushes", "687a.11(e)(2)"),  # nothing between them
        ("Qs Js 8d 6d 3s", POOR, "loses", "687a.11(e)(3)"),
        ("2s Kd 8s 6d 4s", "Ks Kh 8d 6h 4h", "pushes", "687a.11(e)(2)"),  # a wild card counts as its rank
        ("2s Kd 8s 6d 4s", "Ks Kh 8d 6h 3h", "wins", "687a.11(e)(1)"),
        ("As 2s 3s 4s 5s", "9h 9d 9c 2d Jk", "loses", "687a.11(e)(3)"),  # five alike above a straight flush
        ("2s 2h 2d 2c Jk", "Ah Kh Qh Jh Th", "wins", "687a.11(e)(1)"),
    ],
)
def test_ante_and_raise(at: SettlementTerms, player: str, dealer: str, outcome: str, clause: str) -> None:
    results = settle_round(at, raised(3, player), dealer=dealer)
    for wager, cents in (("ante", 500), ("raise", 1000), ("blind", 500)):
        result = only_result(results, wager)
        assert result.clauses[0] == clause
        if wager != "blind":
            assert (result.outcome, result.paid_cents) == (outcome, cents if outcome == "wins" else 0)
        assert result.back_cents == (0 if outcome == "loses" else cents)


BLIND = {
    "Five Wilds": "2s 2h 2d 2c Jk",
    "Royal Flush": "As Ks Qs Js 2s",
    "Five-of-a-Kind": "9s 9h 9d 9c 2s",
    "Straight Flush": "9s 8s 7s 6s 5s",
    "Four-of-a-Kind": "9s 9h 9d 2s 4s",
    "Full House": "9s 9h 9d 4h 4s",
    "Flush": "Ks 9s 7s 5s 3s",
    "Straight": "9s 8h 7d 6h 5s",
    "Three-of-a-Kind or less": "9s 9h 9d 7s 4s",
}


@clauses("687a.12(b)", "687a.11(e)(1)")
def test_every_line_of_the_blind(at: SettlementTerms) -> None:
    table = at.table("blind")
    assert list(BLIND) == [line.label for line in table.lines]
    for line in table.lines:
        result = only_result(settle_round(at, raised(1, BLIND[line.label]), dealer=POOR), "blind")
        assert line.pay is not None
        assert (result.line, result.back_cents) == (line.label, 500)
        if line.pay.push:
            assert (result.outcome, result.paid_cents) == ("pushes", 0)
        else:
            assert line.pay.odds is not None
            assert (result.outcome, result.paid_cents) == ("wins", 500 * line.pay.odds[0])
    high_card = only_result(settle_round(at, raised(1, "Ks Jd 8s 6d 4s"), dealer=POOR), "blind")
    assert (high_card.outcome, high_card.line) == ("pushes", "Three-of-a-Kind or less")


@clauses("687a.12(b)", "687a.11(e)(3)")
def test_a_straight_that_loses_loses_its_blind(at: SettlementTerms) -> None:
    result = only_result(settle_round(at, raised(1, BLIND["Straight"]), dealer="Kh 9h 7h 5h 3h"), "blind")
    assert (result.outcome, result.clauses) == ("loses", ("687a.11(e)(3)", "687a.6(c)"))


TRIPS = {
    "Five Wilds": (None, "2s 2h 2d 2c Jk"),
    "Royal Flush": ("As Ks Qs Js Ts", "As Ks Qs Js 2s"),
    "Five-of-a-Kind": (None, "9s 9h 9d 9c 2s"),
    "Straight Flush": ("9s 8s 7s 6s 5s", "9s 8s 7s 6s 2s"),
    "Four-of-a-Kind": ("9s 9h 9d 9c 4s", "9s 9h 9d 2s 4s"),
    "Full House": ("9s 9h 9d 4h 4s", "9s 9h 2d 4h 4s"),
    "Flush": ("Ks 9s 7s 5s 2s", "Ks 9s 7s 5s 2h"),
    "Straight": ("5s 4h 3d 2h As", "9s 8h 7d 2h 5s"),
    "Three-of-a-Kind": ("9s 9h 9d 7s 4s", "9s 9h 2d 7s 4s"),
}


@clauses("687a.11(f)(2)(i)", "687a.11(f)(2)(ii)", "687a.12(d)", "687a.6(e)", "687a.7(d)(3)")
@pytest.mark.parametrize("number", ["04", "05", "06", "07"])
def test_every_line_and_column_of_every_trips_table(number: str) -> None:
    at = terms("dj_wild", paytables={"trips": f"687a-trips-DJWT-{number}"})
    table = at.table("trips")
    assert list(TRIPS) == [line.label for line in table.lines]
    for line in table.lines:
        for cards, pay in zip(TRIPS[line.label], (line.natural, line.with_wild), strict=True):
            assert (cards is None) is (pay is None)
            if cards is not None and pay is not None and pay.odds is not None:
                result = only_result(settle_round(at, raised(1, cards, trips=200), dealer=POOR), "trips")
                assert (result.line, result.paid_cents, result.back_cents) == (line.label, 200 * pay.odds[0], 200)
    pair = only_result(settle_round(at, raised(1, "9s 9h Kd 7s 4s", trips=200), dealer=POOR), "trips")
    assert (pair.outcome, pair.clauses) == ("loses", ("687a.11(f)(2)(i)", "687a.6(e)", "687a.7(d)(3)"))


@clauses("687a.12(d)")
def test_in_no_printed_table_would_the_lower_natural_class_pay_more() -> None:
    """The higher class pays in the wild column (W7); no player is paid less for it."""
    pairs = [("Four-of-a-Kind", "Five-of-a-Kind"), ("Full House", "Five-of-a-Kind"), ("Flush", "Straight Flush"),
             ("Straight", "Straight Flush"), ("Three-of-a-Kind", "Four-of-a-Kind")]  # fmt: skip
    for number in ("04", "05", "06", "07"):
        lines = {
            line.label: line
            for line in terms("dj_wild", paytables={"trips": f"687a-trips-DJWT-{number}"}).table("trips").lines
        }
        for lower, higher in pairs:
            natural, wild = lines[lower].natural, lines[higher].with_wild
            assert natural is not None
            assert wild is not None
            assert (natural.odds or (0, 1)) <= (wild.odds or (0, 1))


# --- folding ----------------------------------------------------------------------------------------------------------


@clauses("687a.11(b)", "687a.11(b)(1)", "687a.11(b)(2)", "687a.1:Fold", "687a.11(c)")
def test_a_fold_takes_ante_blind_and_bad_beat_and_leaves_trips(at: SettlementTerms) -> None:
    results = settle_round(at, folded(2, "9s 9h 9d 7s 4s", trips=200, bad_beat=300), dealer=POOR)
    assert [(each.wager, each.outcome, each.clauses[0]) for each in results] == [
        ("ante", "loses", "687a.11(b)"), ("blind", "loses", "687a.11(b)"), ("bad_beat", "loses", "687a.11(b)(2)"),
        ("trips", "wins", "687a.11(b)(1)"),
    ]  # fmt: skip


@clauses("687a.11(b)(3)")
@pytest.mark.parametrize("plays_on", [False, True])
def test_whether_a_folded_hand_plays_the_progressive_is_the_submissions_choice(plays_on: bool) -> None:
    at = terms("dj_wild", folded_progressive=plays_on)
    result = only_result(settle_round(at, folded(2, "9s 9h 9d 7s 4s", progressive=100), dealer=POOR), "progressive")
    assert (result.outcome, result.paid_cents) == (("wins", 900) if plays_on else ("loses", 0))
    assert result.clauses[0] == "687a.11(b)(3)"


# --- progressive ------------------------------------------------------------------------------------------------------

PROGRESSIVE = {
    "Royal Flush": "As Ks Qs Js Ts",
    "Straight Flush": "5s 4s 3s 2s As",
    "Four-of-a-Kind": "9s 9h 9d 9c 4s",
    "Full House": "9s 9h 9d 4h 4s",
    "Flush": "Ks 9s 7s 5s 2s",
    "Straight": "5s 4h 3d 2h As",
    "Three-of-a-Kind": "9s 9h 9d 7s 4s",
}


@clauses("687a.11(f)(1)", "687a.11(f)(1)(i)", "687a.11(f)(1)(ii)", "687a.12(c)/1", "687a.6(d)", "687a.7(d)(2)")
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("stake", ["yes", "no"])
def test_every_line_of_the_progressive(number: int, stake: str) -> None:
    at = terms("dj_wild", paytables={"progressive": f"687a-progressive-{number}"}, settings={"stake_returned": stake})
    table = at.table("progressive")
    unit = {1: 100, 2: 500}[number]
    assert list(PROGRESSIVE) == [line.label for line in table.lines]
    for line in table.lines:
        result = only_result(
            settle_round(at, raised(1, PROGRESSIVE[line.label], progressive=unit), dealer=POOR), "progressive"
        )
        assert line.pay is not None
        assert (result.line, result.meter_percent) == (line.label, line.pay.meter_percent or 0)
        assert result.paid_cents == (unit * line.pay.odds[0] if line.pay.odds else 0)
        assert result.back_cents == (unit if stake == "yes" else 0)
    wild = only_result(settle_round(at, raised(1, "9s 9h 2d 7s 4s", progressive=unit), dealer=POOR), "progressive")
    assert (wild.outcome, wild.clauses) == (
        "loses",
        ("687a.11(f)(1)(i)", "687a.6(d)", "687a.7(d)(2)"),
    )  # three alike only with the 2 wild


@clauses("687a.11(f)(1)", "687a.6(d)")
def test_the_joker_gives_way_to_the_replacement_card(at: SettlementTerms) -> None:
    def result(cards: str, replacement: str, **changes: Any) -> WagerResult:
        table = terms("dj_wild", **changes) if changes else at
        return only_result(
            settle_round(table, raised(1, cards, progressive=100), dealer=POOR, replacement=replacement), "progressive"
        )

    assert result("9s 9h Jk 7s 4s", "9d").line == "Three-of-a-Kind"
    assert result("9s 9h Jk 7s 4s", "9d").hand == "three 9s with 7-4"
    assert result("9s 9h Jk 7s 4s", "Kd").outcome == "loses"
    assert result("2s 2h 2d 2c Jk", "Kd").line == "Four-of-a-Kind"
    assert result("Ks Qs Js Ts Jk", "As").line == "Royal Flush"
    assert result("9s 9h 2d 7s Jk", "Kd", settings={"progressive_wilds": "twos"}).line == "Three-of-a-Kind"


@clauses("687a.12(c)/2")
def test_envy_pays_every_other_bettor_for_a_royal_or_straight_flush(at: SettlementTerms) -> None:
    results = settle_round(
        at,
        raised(1, "As Ks Qs Js Ts", progressive=100),
        raised(2, "9h 8h 7h 6h 5h"),  # without a bet of his own
        raised(3, "Kh Kd 9d 7d 3d", progressive=100),
        raised(4, "9c 9s Kc 7c 3c"),
        dealer=POOR,
    )
    envies = {(each.seat, each.envy_of, each.paid_cents) for each in results if each.envy_of is not None}
    assert envies == {(3, 1, 100_000), (3, 2, 30_000), (1, 2, 30_000)}
    assert all(each.clauses == ("687a.12(c)/2",) for each in results if each.envy_of is not None)


# --- bad beat ---------------------------------------------------------------------------------------------------------

BAD_BEAT = {  # beaten by the other hand
    "Royal Flush": ("As Ks Qs Js Ts", "2s 2h 2d 2c Jk"),
    "Five-of-a-Kind": ("9s 9h 9d 9c 2s", "Ah Kh Qh Jh Th"),
    "Straight Flush": ("9s 8s 7s 6s 5s", "Ah Kh Qh Jh Th"),
    "Four-of-a-Kind": ("9s 9h 9d 2s 4s", "Ah Kh Qh Jh Th"),
    "Full House": ("9s 9h 9d 4h 4s", "Ah Kh Qh Jh Th"),
    "Flush": ("Ks 9s 7s 5s 3s", "Ah Kh Qh Jh Th"),
    "Straight": ("9s 8h 7d 6h 5s", "Ah Kh Qh Jh Th"),
    "Three-of-a-Kind": ("9s 9h 9d 7s 4s", "Ah Kh Qh Jh Th"),
}


@clauses("687a.11(f)(3)(i)", "687a.11(f)(3)(ii)", "687a.12(e)", "687a.6(f)", "687a.7(d)(4)")
@pytest.mark.parametrize("number", ["01", "02", "03", "04"])
def test_every_line_of_every_bad_beat_table(number: str) -> None:
    at = terms("dj_wild", paytables={"bad_beat": f"687a-badbeat-DJWBB-{number}"})
    for line in at.table("bad_beat").lines:
        player, dealer = BAD_BEAT[line.label.removesuffix(" or less")]
        result = only_result(settle_round(at, raised(1, player, bad_beat=200), dealer=dealer), "bad_beat")
        assert line.pay is not None
        assert line.pay.odds is not None
        assert (result.line, result.paid_cents, result.back_cents) == (line.label, 200 * line.pay.odds[0], 200)
        won = only_result(
            settle_round(at, raised(1, player, bad_beat=200), dealer=POOR),
            "bad_beat",
        )
        assert (won.outcome, won.clauses) == ("loses", ("687a.11(f)(3)(i)", "687a.6(f)", "687a.7(d)(4)"))
    pair = only_result(settle_round(at, raised(1, "9s 9h 8c 7s 4s", bad_beat=200), dealer="Ah Kh Qh Jh Th"), "bad_beat")
    assert pair.outcome == "loses"  # three of a kind or less means three of a kind (W16)


@clauses("687a.11(f)(3)(i)")
def test_the_dealers_beaten_hand_pays_only_if_so_submitted() -> None:
    for setting, outcome in (("player_hand", "loses"), ("either_hand", "wins")):
        at = terms("dj_wild", settings={"bad_beat_pays": setting})
        result = only_result(
            settle_round(at, raised(1, "As Ks Qs Js Ts", bad_beat=200), dealer="9h 9d 9c 7s 4s"), "bad_beat"
        )
        assert result.outcome == outcome
        tie = only_result(
            settle_round(at, raised(1, "9s 9h 2s 7h 4s", bad_beat=200), dealer="9d 9c 2d 7c 4c"), "bad_beat"
        )
        assert tie.outcome == "loses"


# --- order ------------------------------------------------------------------------------------------------------------


@clauses("687a.11(e)", "687a.11(f)", "687a.11(c)", "687a.7(b)/2")
@pytest.mark.parametrize("direction", ["far_right_counterclockwise", "far_left_clockwise"])
def test_order(direction: str) -> None:
    at = terms("dj_wild", settings={"settle_direction": direction})
    side = {"progressive": 100, "trips": 100, "bad_beat": 100}
    results = settle_round(
        at,
        raised(5, "9s 9h 9d 7s 4s", **side),
        raised(2, "Ks Kd 8s 6d 4h", **side),
        folded(6, "Ts 7h 3c 3d 5d"),
        folded(1, "Th 7d 3h 3s 5c"),
        Seat(number=3, wagers={"ante": 500, "blind": 500}, fate="abandoned"),
        dealer=POOR,
    )
    numbers = (5, 2) if direction.startswith("far_right") else (2, 5)
    wagers = ("ante", "blind", "raise", "progressive", "trips", "bad_beat")
    assert [(each.seat, each.wager) for each in results] == [
        (3, "ante"), (3, "blind"), (1, "ante"), (1, "blind"), (6, "ante"), (6, "blind"),
        *((number, wager) for number in numbers for wager in wagers),
    ]  # fmt: skip
    assert results[0].clauses == ("687a.7(b)/2",)
