"""Void rounds: which wagers are returned and which are still settled."""

from __future__ import annotations

import msgspec
import pytest

from table_controller import rulebook
from table_controller.rulebook import Facts, Ruling
from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
from table_controller.rulebook.settlement.round_settlement import settle_void
from tests.support.core.settled_rounds import only_result, terms
from tests.support.suite.clauses import clauses

ALL = {"ante": 500, "blind": 500, "progressive": 100, "trips": 200, "bad_beat": 300}
FACTS = Facts(dealing="manual_shoe", shuffler="counting", start="fixed", device="shoe", deck="in_play")


def ruled(game: str, trigger: str, phase: str, facts: Facts = FACTS) -> Ruling:
    result = rulebook.find_ruling(rulebook.edition(game), trigger, phase, facts)  # type: ignore[arg-type]
    assert "void_round" in result.outcomes
    return result


def dj_void(seats: list[Seat], phase: str = "playing", replacement: str = "") -> tuple[WagerResult, ...]:
    dealt_round = DealtRound(seats=tuple(seats), replacement=parse_cards(replacement)[0] if replacement else None)
    return settle_void(terms("dj_wild"), dealt_round, ruled("dj_wild", "cards_revealed_before_raise", phase))


@clauses("687a.13(d)")
def test_cards_revealed_before_the_raises_settle_progressive_and_trips_and_return_the_rest() -> None:
    results = dj_void([Seat(number=2, wagers=ALL, cards=parse_cards("9s 9h 9d 7s 4s"))])
    assert {each.wager: each.outcome for each in results} == {
        "ante": "returned", "blind": "returned", "bad_beat": "returned", "progressive": "wins", "trips": "wins",
    }  # fmt: skip
    assert sum(each.back_cents for each in results if each.outcome == "returned") == 1300
    assert only_result(results, "progressive").paid_cents == 900
    assert only_result(results, "trips").paid_cents == 1200
    assert all(each.clauses[0] == "687a.13(d)" for each in results)
    assert only_result(results, "trips").clauses[1:] == ("687a.11(f)(2)(ii)", "687a.12(d)", "687a.6(e)", "687a.7(d)(3)")


@clauses("687a.13(d)")
def test_a_settled_wager_may_lose_in_a_void_round() -> None:
    results = dj_void([Seat(number=2, wagers=ALL, cards=parse_cards("9s 9h 8d 7s 4s"))])
    assert only_result(results, "progressive").outcome == only_result(results, "trips").outcome == "loses"
    assert only_result(results, "bad_beat").outcome == "returned"


@clauses("687a.13(d)")
def test_a_hand_folded_before_the_reveal_gets_its_wagers_back_and_its_optional_ones_settled() -> None:
    gone = Seat(number=2, wagers=ALL, cards=parse_cards("9s 9h 9d 7s 4s"), fate="gave_up")
    results = dj_void([gone])
    assert only_result(results, "ante").outcome == "returned"
    assert only_result(results, "progressive").outcome == "wins"  # all hands are void, folded ones too


@clauses("687a.13(d)")
def test_incomplete_hands_have_nothing_to_settle() -> None:
    for phase in ("dealing", "playing"):
        results = dj_void([Seat(number=2, wagers=ALL, cards=parse_cards("9s 9h 9d"))], phase)
        assert {each.outcome for each in results} == {"returned"}


@clauses("687a.13(d)")
def test_a_hand_that_is_complete_in_the_middle_of_the_deal_is_settled_and_one_that_is_not_goes_back() -> None:
    whole = Seat(number=1, wagers=ALL, cards=parse_cards("9s 9h 9d 7s 4s"))
    results = dj_void([whole, Seat(number=2, wagers=ALL, cards=parse_cards("Ks Kh"))], "dealing")
    assert {(each.seat, each.wager) for each in results if each.outcome == "wins"} == {(1, "progressive"), (1, "trips")}
    assert {each.outcome for each in results if each.seat == 2} == {"returned"}


@clauses("687a.13(d)", "687a.11(f)(1)")
def test_a_joker_needs_its_replacement_also_in_a_void_round() -> None:
    results = dj_void([Seat(number=2, wagers=ALL, cards=parse_cards("9s 9h Jk 7s 4s"))], replacement="9d")
    assert only_result(results, "progressive").line == "Three-of-a-Kind"


@clauses("688a.13(g)", "575.13(h)", "680a.13(c)", "687a.13(c)")
@pytest.mark.parametrize("game", ["face_up_pai_gow", "asia_poker", "saigon_5_card", "dj_wild"])
def test_any_other_void_returns_every_wager_also_progressive_bets_in_the_tray(game: str) -> None:
    at = terms(game)
    wagers = {}
    for wager in at.edition.wagers:
        wagers[wager.name] = at.table(wager.name).unit_cents or 500
    wagers = {name: 2 * cents if name == "raise" else cents for name, cents in wagers.items()}
    seats = tuple(Seat(number=number, wagers=wagers) for number in (1, 4))
    results = settle_void(at, DealtRound(seats=seats), ruled(game, "wrong_card_count", "dealing"))
    assert len(results) == 2 * len(wagers)
    assert {each.outcome for each in results} == {"returned"}
    assert sum(each.back_cents for each in results) == 2 * sum(wagers.values())
    assert all(each.paid_cents == each.meter_percent == 0 for each in results)


@clauses("688a.13(l)")
def test_a_jammed_shoe_returns_wagers_by_its_own_clause() -> None:
    facts = msgspec.structs.replace(FACTS, dealing="automated_shoe", start="rng")
    dealt_round = DealtRound(seats=(Seat(number=3, wagers={"face_up_pai_gow_poker": 500, "progressive": 500}),))
    results = settle_void(
        terms("face_up_pai_gow"), dealt_round, ruled("face_up_pai_gow", "shoe_fault", "dealing", facts)
    )
    assert [each.clauses for each in results] == [("688a.13(l)",), ("688a.13(l)",)]
