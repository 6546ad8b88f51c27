"""Impossible rounds are not settled: every objection at once, each with its place."""

from __future__ import annotations

import msgspec
import pytest

from firmware_bridge.errors import BadHand
from table_controller import rulebook
from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat
from table_controller.rulebook.settlement.round_settlement import settle
from table_controller.rulebook.settlement.terms import SettlementTerms
from tests.support.core.settled_rounds import seat, settle_round, terms
from tests.support.suite.clauses import clauses

MAIN = "face_up_pai_gow_poker"
DEALER = "Ks Kh 9d 7c 4s Qd Jc"
HAND = "As Ah 8d 6c 3s Ad Jd"


def refused(at: SettlementTerms, *seats: Seat, dealer: str = "", replacement: str = "") -> str:
    with pytest.raises(BadHand) as caught:
        settle_round(at, *seats, dealer=dealer, replacement=replacement)
    assert caught.value.code == "PB-621"
    return str(caught.value)


def test_all_errors_are_reported_at_once() -> None:
    refusal = refused(
        terms("face_up_pai_gow"),
        seat(1, "As Ah 8d 6c 3s Ad", **{MAIN: 500}),
        seat(7, HAND.replace("As", "2s"), **{MAIN: 500, "bonus": 100}),
        seat(2, "9s 9h 8c 7h 6s 5d 4d", fortune=500),
        dealer="Ks Kh 9d",
    )
    for part in (
        "seat 1: 6 cards; a hand has 7",
        "there is no seat 7; this table has 6",
        "seat 7: Face Up Pai Gow Poker has no wager bonus",
        "seat 2: no Face Up Pai Gow Poker Wager (688a.7(d))",
        "dealer: 3 cards; the hand has 7",
        "Ah appears 2 times, the cards in use have 1",
    ):
        assert part in refusal


@pytest.mark.parametrize(
    ("game", "wagers", "message"),
    [
        ("face_up_pai_gow", {MAIN: 500, "progressive": 400}, "progressive = 400 cents must be 500 (688a.7(e)(3))"),
        ("face_up_pai_gow", {MAIN: 0}, "face_up_pai_gow_poker = 0 cents is not a wager"),
        ("face_up_pai_gow", {MAIN: -500}, "face_up_pai_gow_poker = -500 cents is not a wager"),
        ("asia_poker", {"bonus": 100}, "no Asia Poker Wager (575.7(d))"),
    ],
)
def test_wagers_that_cannot_be(game: str, wagers: dict[str, int], message: str) -> None:
    assert refused(terms(game), seat(1, HAND, **wagers), dealer=DEALER) == f"seat 1: {message}"


@clauses("688a.7(e)")
def test_a_wager_that_is_not_offered() -> None:
    edition = rulebook.edition("face_up_pai_gow")
    plain = SettlementTerms(edition, rulebook.default_submission(edition))
    refusal = refused(plain, seat(1, HAND, **{MAIN: 500, "fortune": 500}), dealer=DEALER)
    cited = "688a.7(e)(2), 688a.7(e), 688a.1:Fortune Bonus Wager"
    assert refusal == f"seat 1: the Fortune Bonus Wager is not offered at this table ({cited})"


@clauses("687a.7(d)(1)", "687a.1:Raise Wager", "687a.11(b)")
def test_raise_and_blind() -> None:
    at = terms("dj_wild")
    dealer, hand = "Qd Jc 8c 6c 4d", "9s 9h 9d 7s 4s"

    def text(**wagers: int) -> str:
        return refused(at, seat(1, hand, **wagers), dealer=dealer)

    assert text(ante=500, blind=500) == "seat 1: a player who stays must place raise (687a.7(d)(1))"
    assert (
        text(ante=500, blind=500, **{"raise": 500})
        == "seat 1: raise = 500 cents must be 1000 (687a.7(d)(1), 687a.1:Raise Wager)"
    )
    assert text(ante=500, **{"raise": 1000}) == "seat 1: no Blind Wager (687a.7(d)(1))"
    equal = terms("dj_wild", settings={"blind_amount": "equal_to_ante"})
    assert "blind = 300 cents must be 500" in refused(
        equal, seat(1, hand, **{"ante": 500, "blind": 300, "raise": 1000}), dealer=dealer
    )
    both = msgspec.structs.replace(seat(1, hand, **{"ante": 500, "blind": 500, "raise": 1000}), fate="gave_up")
    assert refused(at, both, dealer=dealer) == "seat 1: raise although the player gave up (687a.11(b))"


@clauses("686a.7(g)", "686a.7(g)(1)", "686a.7(g)(2)", "686a.1:Over 23 Wager", "686a.1:Under 18 Wager")
def test_exactly_one_decision_of_the_size_of_the_ante() -> None:
    at = terms("over_under")
    expected = "seat 1: a player who stays must place over_23 or under_18 (686a.7(g)(1))"
    assert refused(at, seat(1, "2s 3s 4s", ante=500)) == expected
    assert refused(at, seat(1, "2s 3s 4s", ante=500, over_23=500, under_18=500)) == expected
    assert (
        refused(at, seat(1, "2s 3s 4s", ante=500, over_23=400))
        == "seat 1: over_23 = 400 cents must be 500 (686a.7(g)(1), 686a.1:Over 23 Wager)"
    )
    assert (
        refused(at, seat(1, "2s 3s 4s", ante=500, under_18=900))
        == "seat 1: under_18 = 900 cents must be 500 (686a.7(g)(2), 686a.1:Under 18 Wager)"
    )
    assert "Jk appears once, this game has none" in refused(at, seat(1, "2s 3s Jk", ante=500, over_23=500))
    assert "dealer: 5 cards; the hand has 0" in refused(
        at, seat(1, "2s 3s 4s", ante=500, over_23=500), dealer="5s 6s 7s 8s 9s"
    )


@clauses("575.11(d)/1", "688a.11(d)/1")
@pytest.mark.parametrize(
    ("game", "wager", "side", "clause"),
    [
        ("asia_poker", "asia_poker", {"bonus": 100}, "575.11(d)/1"),
        ("face_up_pai_gow", MAIN, {"ace_high": 100}, "688a.11(d)/1"),
        ("face_up_pai_gow", MAIN, {"fortune": 100}, "688a.11(d)/1"),
        ("face_up_pai_gow", MAIN, {"progressive": 500}, "688a.11(d)/1"),
    ],
)
def test_no_surrender_with_a_side_wager(game: str, wager: str, side: dict[str, int], clause: str) -> None:
    gone = msgspec.structs.replace(seat(1, HAND, **{wager: 500}, **side), fate="gave_up")
    assert refused(terms(game), gone, dealer=DEALER) == f"seat 1: no surrender with {', '.join(side)} ({clause})"


def test_entries_that_a_game_does_not_have() -> None:
    saigon = terms("saigon_5_card")
    cards, dealer = "9s 9h 9d 7s 4s", "Qd Jc 8c 6c 4d"
    for fate, text in (
        ("gave_up", "seat 1: Saigon 5 Card has no surrender"),
        ("void", "seat 1: Saigon 5 Card has no rule that voids a single hand"),
    ):
        assert refused(saigon, msgspec.structs.replace(seat(1, cards, ante=500), fate=fate), dealer=dealer) == text
    left = msgspec.structs.replace(seat(1, "2s 3s 4s", ante=500), fate="abandoned")
    assert refused(terms("over_under"), left) == "seat 1: Over/Under has no rule for a player who leaves"
    assert (
        refused(saigon, seat(1, cards, ante=500), dealer=dealer, replacement="As")
        == "Saigon 5 Card has no replacement card"
    )


@clauses("687a.11(f)(1)")
def test_a_joker_in_the_progressive_needs_its_replacement() -> None:
    at = terms("dj_wild")
    wagers = {"ante": 500, "blind": 500, "raise": 1000, "progressive": 100}
    message = "seat 1: a joker in the progressive needs the replacement card (687a.11(f)(1))"
    assert refused(at, seat(1, "9s 9h Jk 7s 4s", **wagers), dealer="Qd Jc 8c 6c 4d") == message
    twice = refused(at, seat(1, "9s 9h Jk 7s 4s", **wagers), dealer="Qd Jc 8c 6c 4d", replacement="4d")
    assert twice == "4d appears 2 times, the cards in use have 1"


@clauses("688a.11(d)/3", "688a.11(h)/2")
def test_a_surrendered_hand_is_asked_for_while_a_qualifying_wager_lies_there() -> None:
    at = terms("face_up_pai_gow")
    gone = Seat(number=1, wagers={MAIN: 500}, fate="gave_up")
    other = seat(2, HAND, **{MAIN: 500, "fortune": 500})
    assert refused(at, gone, other, dealer=DEALER) == "seat 1: 0 cards; a hand has 7"
    small = seat(2, HAND, **{MAIN: 500, "fortune": 400})
    assert len(settle_round(at, gone, small, dealer=DEALER)) == 3


def test_settings_that_are_not_of_these_cards() -> None:
    at = terms("face_up_pai_gow")
    other = msgspec.structs.replace(
        seat(1, HAND, **{MAIN: 500}), setting=(parse_cards("As Ah 8d 6c 3s"), parse_cards("Ad Ac"))
    )
    assert refused(at, other, dealer=DEALER) == "seat 1: 7 cards are set into 2 hands, each card once"
    three = refused(at, seat(1, "As Ah 8d 6c | 3s | Ad Jd", **{MAIN: 500}), dealer=DEALER)
    assert three == "seat 1: 7 cards are set into 2 hands, each card once"
    assert refused(at, seat(1, HAND, **{MAIN: 500}), dealer="Ks Qh 9d 7c 4s | Kd Kc") == (
        "dealer: the hands are foul; set them again in the house way"
    )
    saigon = refused(terms("saigon_5_card"), seat(1, "9s 9h | 9d 7s 4s", ante=500), dealer="Qd Jc 8c 6c 4d")
    assert saigon == "seat 1: five cards are set into three and two (680a.11(b)(1))"
    wild = refused(
        terms("dj_wild"),
        seat(1, "9s 9h | 9d 7s 4s", **{"ante": 500, "blind": 500, "raise": 1000}),
        dealer="Qd Jc 8c 6c 4d",
    )
    assert wild == "seat 1: DJ Wild Stud Poker sets no hands"


def test_a_seat_listed_twice_and_a_submission_of_another_edition() -> None:
    at = terms("face_up_pai_gow")
    same = seat(1, HAND, **{MAIN: 500})
    assert "seat 1 appears 2 times" in refused(at, same, same, dealer=DEALER)
    with pytest.raises(AssertionError):
        SettlementTerms(rulebook.edition("asia_poker"), at.submission)
    assert settle(at, DealtRound(seats=(), dealer=parse_cards(DEALER))) == ()


@clauses("687a.12(c)/2", "687a.11(f)(1)")
def test_a_joker_without_a_bet_of_its_own_needs_the_replacement_for_others_envy() -> None:
    at = terms("dj_wild")
    plain = {"ante": 500, "blind": 500, "raise": 1000}
    bettor, other = seat(1, "9s 9h 9d 7s 4s", **plain, progressive=100), seat(2, "Ks Qs Jk Ts As", **plain)
    message = "seat 2: a joker in the progressive needs the replacement card (687a.11(f)(1))"
    assert refused(at, bettor, other, dealer="Qd Jc 8c 6c 4d") == message
    results = settle_round(at, bettor, other, dealer="Qd Jc 8c 6c 4d", replacement="Js")
    assert [(each.seat, each.envy_of) for each in results if each.envy_of] == [(1, 2)]
    assert settle_round(at, seat(1, "9s 9h 9d 7s 4s", **plain), other, dealer="Qd Jc 8c 6c 4d")
