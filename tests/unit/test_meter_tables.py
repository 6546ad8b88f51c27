"""Every progressive table of 687a and 688a through the book: seed, rate, reserve, shares, awards, envy, the bet itself.

The expected values are copied by hand from the printed tables.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from table_controller.ledger import hits, meter
from table_controller.ledger.money import (
    BETS,
    CENT,
    DOLLAR,
    FIXED,
    HAND_PAYS,
    HOUSE,
    METER,
    PENDING,
    RESERVE,
    SEED,
    STAKES,
)
from table_controller.rulebook import GAMES, default_submission, edition
from table_controller.rulebook.cards import parse_cards
from table_controller.rulebook.games.face_up_pai_gow.settlement import settle_by_hand
from table_controller.rulebook.settlement.dealt_round import Seat
from tests.support.core.meters import PROGRESSIVES, opened, rules_of
from tests.support.core.settled_rounds import terms
from tests.support.suite.clauses import clauses


class Printed(NamedTuple):
    """One table: dollars of bet and seed, percent of rate and reserve, and what its lines pay.

    A line: dollars, percent of the meter, dollars of envy.
    """

    unit: int
    seed: int
    rate: int | None
    reserve: int
    back: bool
    lines: tuple[tuple[float, int, int], ...]


PRINTED: dict[str, Printed] = {
    "687a-progressive-1": Printed(1, 2_000, None, 0, False, (
        (0, 100, 1_000), (0, 10, 300), (300, 0, 0), (50, 0, 0), (40, 0, 0), (30, 0, 0), (9, 0, 0))),
    "687a-progressive-2": Printed(5, 10_000, None, 0, False, (
        (0, 100, 5_000), (0, 10, 1_000), (1_500, 0, 0), (250, 0, 0), (200, 0, 0), (150, 0, 0), (45, 0, 0))),
    "688a-progressive-1": Printed(1, 10_000, 28, 0, False, (
        (0, 100, 0), (0, 10, 0), (500, 0, 0), (100, 0, 0), (75, 0, 0), (4, 0, 0))),
    "688a-progressive-2": Printed(1, 10_000, 7, 0, False, (
        (0, 100, 0), (0, 10, 0), (500, 0, 0), (300, 0, 0), (100, 0, 0), (30, 0, 0), (7, 0, 0))),
    "688a-progressive-3": Printed(1, 2_000, 29, 0, False, (
        (0, 100, 0), (0, 10, 0), (500, 0, 0), (100, 0, 0), (75, 0, 0), (4, 0, 0))),
    "688a-progressive-4": Printed(5, 10_000, 1, 1, True, (
        (5_000, 100, 5_000), (5_000, 20, 3_750), (5_000, 10, 1_250), (2_500, 0, 500), (500, 0, 250), (200, 0, 100),
        (100, 0, 25), (25, 0, 0), (20, 0, 0), (15, 0, 0), (7.50, 0, 0))),
    "688a-progressive-5": Printed(1, 5_000, 17, 0, False, (
        (0, 100, 0), (0, 10, 0), (1_000, 0, 0), (500, 0, 0), (100, 0, 0), (20, 0, 0), (5, 0, 0))),
    "688a-progressive-6": Printed(1, 2_000, 17, 0, False, (
        (0, 100, 0), (0, 10, 0), (800, 0, 0), (400, 0, 0), (75, 0, 0), (10, 0, 0))),
    "688a-progressive-7": Printed(1, 1_000, 26, 0, False, (
        (0, 100, 0), (0, 10, 0), (800, 0, 0), (400, 0, 0), (75, 0, 0), (10, 0, 0))),
}  # fmt: skip
TABLES = [
    pytest.param(name, marks=clauses("687a.12(c)/1" if name.startswith("687a") else "688a.12(d)/1")) for name in PRINTED
]


def test_no_table_is_left_out() -> None:
    assert set(PRINTED) == set(PROGRESSIVES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_in_the_book_as_it_is_printed(name: str) -> None:
    printed, rules = PRINTED[name], rules_of(name)
    assert rules.unit == printed.unit * DOLLAR
    assert rules.seed == rules.reseed == printed.seed * DOLLAR
    assert rules.rate_bp == (1500 if printed.rate is None else printed.rate * 100)
    assert rules.reserve_bp == printed.reserve * 100
    lines = [(award.fixed, award.percent, award.envy) for award in rules.awards]
    assert lines == [(fixed * DOLLAR, percent, envy * DOLLAR) for fixed, percent, envy in printed.lines]
    assert {award.stake for award in rules.awards} == {rules.unit if printed.back else 0}


@pytest.mark.parametrize("name", list(PRINTED))
def test_one_bet_goes_to_meter_reserve_and_house_and_nothing_is_rounded(name: str) -> None:
    printed, rules = PRINTED[name], rules_of(name)
    book = opened(rules)
    meter.accept_bet(book, rules, 1, 4, ())
    rate = 15 if printed.rate is None else printed.rate
    assert book.balance(BETS) == -printed.unit * DOLLAR
    assert book.balance(METER) == printed.seed * DOLLAR + printed.unit * rate * CENT
    assert book.balance(RESERVE) == printed.unit * printed.reserve * CENT
    assert book.balance(HOUSE) == printed.unit * (100 - rate - printed.reserve) * CENT


@pytest.mark.parametrize("name", TABLES)
def test_every_line_of_a_table_takes_and_pays_the_printed_amounts(name: str) -> None:
    printed, rules = PRINTED[name], rules_of(name)
    amount = 12_345_678_901 + 300  # and less than a cent more
    for award, (fixed, percent, _) in zip(rules.awards, printed.lines, strict=True):
        book = opened(rules, amount)
        hit, entry = hits.claim(book, rules, 1, 1, 2, award.hand)
        share = {100: 12_345_670_000, 20: 2_469_130_000, 10: 1_234_560_000, 0: 0}[percent]
        assert (hit.share, hit.fixed) == (share, fixed * DOLLAR)
        assert book.balance(PENDING) == share + fixed * DOLLAR
        again = printed.seed * DOLLAR if percent == 100 else 0  # a part of the meter is not re-seeded (F25)
        assert entry.meter_after == book.balance(METER) == amount - share + again
        if share:
            with pytest.raises(AssertionError, match="never comes from the table"):
                hits.pay_from_table(book, hit, ())
            hits.pay_by_attendant(book, hit, (), "slip 1")
        else:
            hits.pay_from_table(book, hit, ())
        paid = (book.balance(FIXED), book.balance(HAND_PAYS), book.balance(PENDING))
        assert paid == ((0, hit.amount, 0) if share else (hit.amount, 0, 0))
        assert book.balance(STAKES) == (printed.unit * DOLLAR if printed.back else 0)


@pytest.mark.parametrize("name", [name for name in PRINTED if name.startswith("687a")])
@clauses("687a.12(c)/3")
def test_after_a_whole_win_the_meter_stands_at_its_seed_again(name: str) -> None:
    rules = rules_of(name)
    book = opened(rules, 77_777 * DOLLAR)
    hits.claim(book, rules, 1, 1, 2, "royal_flush")
    assert book.balance(METER) == PRINTED[name].seed * DOLLAR
    hits.claim(book, rules, 2, 1, 3, "straight_flush")  # a tenth, and no seed
    assert book.balance(METER) == PRINTED[name].seed * DOLLAR * 9 // 10


def test_the_reserve_gives_the_next_seed_as_far_as_it_goes() -> None:
    rules = rules_of("688a-progressive-4")
    book = opened(rules)
    for _ in range(100):
        meter.accept_bet(book, rules, 1, 1, ())
    assert book.balance(RESERVE) == 5 * DOLLAR
    hit, entry = hits.claim(book, rules, 1, 1, 2, "seven_card_natural_straight_flush")
    assert hit.share == 10_005 * DOLLAR
    assert (hit.from_reserve, hit.from_seed) == (5 * DOLLAR, 9_995 * DOLLAR)
    assert (book.balance(RESERVE), entry.meter_after) == (0, 10_000 * DOLLAR)


@clauses("687a.12(c)/1")
def test_whether_a_winning_bet_comes_back_is_the_submissions_answer_where_the_text_has_none() -> None:
    for answer, back in (("no", 0), ("yes", 1)):
        settings = {"envy_paid_to": "progressive_bettors", "stake_returned": answer}
        rules = rules_of("687a-progressive-1", settings=settings)
        assert {award.stake for award in rules.awards} == {back * DOLLAR}


def test_the_rate_is_the_submissions_where_the_text_has_none() -> None:
    assert rules_of("687a-progressive-2", progressive_rate_bp=1234).rate_bp == 1234
    book = opened(rules := rules_of("687a-progressive-2", progressive_rate_bp=1))
    meter.accept_bet(book, rules, 1, 1, ())
    assert book.balance(METER) - rules.seed == 500  # a hundredth of a percent of five dollars: exact


def test_no_progressive_no_meter() -> None:
    for game in GAMES:
        rules = edition(game)
        assert meter.meter_rules(rules, default_submission(rules)) is None


@pytest.mark.parametrize(
    ("table", "joker_hand", "pays"),
    [("688a-progressive-1", "flush", 0), ("688a-progressive-5", "full_house", 5), ("688a-progressive-4", "flush", 20)],
)
@clauses("688a.12(d)/1")
def test_a_fully_wild_joker_wins_what_a_limited_one_does_not(table: str, joker_hand: str, pays: int) -> None:
    """Two pair and the joker: a full house where the joker is wild for the progressive (F6)."""
    cards = parse_cards("Kh Kc 9h 9c Jk 3h 6h") if joker_hand == "full_house" else parse_cards("Kh Qh 9h 7h Jk 3c 6d")
    at = terms("face_up_pai_gow", paytables={"progressive": table})
    unit = 500 if table.endswith("4") else 100
    verdict = settle_by_hand(at, Seat(number=1, wagers={"progressive": unit}, cards=cards), "progressive")
    assert verdict.fixed_cents == pays * 100
    if pays:
        rules = rules_of(table)
        line = next(award for award in rules.awards if award.label == verdict.line)
        assert (line.fixed, line.stake) == (pays * DOLLAR, unit * CENT if verdict.back else 0)


# --- several hits -----------------------------------------------------------------------------------------------------


def test_two_hits_in_one_round_are_taken_one_after_the_other_from_the_meter_as_it_then_stands() -> None:
    rules = rules_of("688a-progressive-4")
    weight = {}
    for order in (("royal_flush_plus_royal_match", "seven_card_straight_flush_with_joker"),
                  ("seven_card_straight_flush_with_joker", "royal_flush_plus_royal_match")):  # fmt: skip
        book = opened(rules, 20_000 * DOLLAR)
        shares = [hits.claim(book, rules, id_, 1, 7 - id_, hand)[0].share for id_, hand in enumerate(order, 1)]
        weight[order[0]] = (shares, book.balance(METER))
    assert weight["royal_flush_plus_royal_match"] == ([4_000 * DOLLAR, 1_600 * DOLLAR], 14_400 * DOLLAR)
    assert weight["seven_card_straight_flush_with_joker"] == ([2_000 * DOLLAR, 3_600 * DOLLAR], 14_400 * DOLLAR)


def test_the_second_of_two_whole_wins_gets_the_seed() -> None:
    rules = rules_of("688a-progressive-3")
    book = opened(rules, 9_000 * DOLLAR)
    first, _ = hits.claim(book, rules, 1, 1, 6, "seven_card_straight_flush_any")
    second, _ = hits.claim(book, rules, 2, 1, 5, "seven_card_straight_flush_any")
    assert (first.share, second.share) == (9_000 * DOLLAR, 2_000 * DOLLAR)
    assert book.balance(METER) == 2_000 * DOLLAR
    assert book.balance(PENDING) == 11_000 * DOLLAR


def test_a_frozen_amount_does_not_change_while_the_meter_goes_on() -> None:
    rules = rules_of("688a-progressive-1")
    book = opened(rules, 15_000 * DOLLAR)
    hit, _ = hits.claim(book, rules, 1, 1, 6, "five_aces")
    for seat in (1, 2, 3):
        meter.accept_bet(book, rules, 2, seat, ())
    assert hit.amount == book.balance(PENDING) == 1_500 * DOLLAR
    hits.pay_by_attendant(book, hit, (), "slip 1")
    assert book.balance(HAND_PAYS) == 1_500 * DOLLAR


# --- undoing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(PRINTED))
def test_a_claim_that_is_withdrawn_leaves_no_trace(name: str) -> None:
    rules = rules_of(name)
    for award in rules.awards:
        book = opened(rules, rules.seed + 1_234_567)
        meter.accept_bet(book, rules, 1, 1, ())
        before = dict(book.held)
        hit, _ = hits.claim(book, rules, 1, 1, 2, award.hand)
        hits.withdraw(book, hit, ())
        assert {account: held for account, held in book.held.items() if held} == {k: v for k, v in before.items() if v}


def test_a_wrong_claim_does_not_raise_a_meter_that_stands_below_its_seed() -> None:
    """A whole win while the meter was below its seed: the claim was wrong, and its re-seed is reversed too."""
    rules = rules_of("688a-progressive-1")
    book = opened(rules)
    hits.claim(book, rules, 1, 1, 6, "five_aces")
    assert book.balance(METER) == 9_000 * DOLLAR
    whole, _ = hits.claim(book, rules, 2, 1, 5, "seven_card_straight_flush_any")
    assert book.balance(METER) == 10_000 * DOLLAR
    hits.withdraw(book, whole, ())
    assert book.balance(METER) == 9_000 * DOLLAR
    assert book.balance(SEED) == -10_000 * DOLLAR


@pytest.mark.parametrize("name", list(PRINTED))
def test_a_bet_that_goes_back_leaves_no_trace(name: str) -> None:
    rules = rules_of(name)
    book = opened(rules, rules.seed + 5 * DOLLAR)
    before = dict(book.held)
    bets = [meter.accept_bet(book, rules, 1, seat, ())[0] for seat in (1, 2, 6)]
    for bet in bets:
        entry = meter.return_bet(book, bet, 1, ("688a.13(l)",))
        assert (entry.round, entry.clauses, entry.seat) == (1, ("688a.13(l)",), bet.seat)
    assert {account: held for account, held in book.held.items() if held} == before


def test_a_bet_goes_back_once() -> None:
    rules = rules_of("688a-progressive-1")
    book = opened(rules)
    bet, _ = meter.accept_bet(book, rules, 1, 1, ())
    meter.return_bet(book, bet, 1, ("688a.13(l)",))
    with pytest.raises(AssertionError, match="returned once"):
        meter.return_bet(book, bet, 1, ("688a.13(l)",))
    assert book.balance(BETS) == 0


def test_what_the_meter_cannot_give_back_above_its_seed_the_reserve_gives_and_then_the_house() -> None:
    rules = rules_of("688a-progressive-4")
    book = opened(rules)
    bets = [meter.accept_bet(book, rules, 1, seat, ())[0] for seat in (1, 2, 4)]  # 5 cents each to meter and to reserve
    paid, _ = hits.claim(book, rules, 1, 1, 3, "royal_flush_plus_royal_match")  # a fifth of the meter, and no seed
    hits.pay_by_attendant(book, paid, (), "slip 1")
    meter.correct_meter(book, rules.seed + 5 * CENT - book.balance(METER), "MC-1")
    house = book.balance(HOUSE)
    first = meter.return_bet(book, bets[0], 1, ("688a.13(l)",))
    assert (first.meter_before - first.meter_after, book.balance(RESERVE)) == (5 * CENT, 10 * CENT)
    assert house - book.balance(HOUSE) == 490 * CENT
    second = meter.return_bet(book, bets[1], 1, ("688a.13(l)",))
    assert second.meter_after == second.meter_before == rules.seed
    assert (book.balance(RESERVE), house - book.balance(HOUSE)) == (0, 980 * CENT)
    meter.return_bet(book, bets[2], 1, ("688a.13(l)",))
    assert (book.balance(METER), house - book.balance(HOUSE)) == (rules.seed, 1480 * CENT)


def test_corrections_and_resets_move_the_meter_as_documented() -> None:
    rules = rules_of("688a-progressive-3")
    book = opened(rules)
    assert meter.correct_meter(book, 3 * DOLLAR, "MC-1").meter_after == 2_003 * DOLLAR
    assert meter.correct_meter(book, -5 * DOLLAR, "MC-2").meter_after == 1_998 * DOLLAR
    assert meter.reset_meter(book, rules, "MR-1").meter_after == 2_000 * DOLLAR  # filled up
    meter.correct_meter(book, 500, "MC-3")
    last = meter.reset_meter(book, rules, "MR-2")
    assert (last.meter_after, last.document) == (2_000 * DOLLAR, "MR-2")
    assert sum(book.held.values()) == 0
