"""The ledger: what no entry may do, what lowers a meter, and the one place where amounts are rounded."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from devices.meter_sign.messages import MAX_CENTS
from table_controller.ledger import hits, meter
from table_controller.ledger.money import (
    ACCOUNTS,
    BETS,
    CENT,
    CORRECTIONS,
    DOLLAR,
    HOUSE,
    METER,
    METER_LOWERING_KINDS,
    PENDING,
    RESERVE,
    SEED,
    BadEntry,
    EntryKind,
    MoneyBook,
    Transfer,
    format_dollars,
    payable_share,
)
from tests.support.core.meters import opened, rules_of

# Every kind of entry, with all evidence that it could need.
EVIDENCE: dict[str, Any] = {"round": 7, "seat": 2, "hit": 9, "clauses": ("688a.13(l)",), "document": "slip 1"}
KINDS: tuple[EntryKind, ...] = EntryKind.__args__  # type: ignore[attr-defined]


def standing(**held: int) -> MoneyBook:
    """Return a ledger with these balances."""
    return MoneyBook(held={**held, CORRECTIONS: -sum(held.values())}, entries=1, seed=held.get(METER, 0))


@pytest.mark.parametrize("kind", KINDS)
def test_the_meter_falls_only_by_a_hit_its_reversal_a_documented_correction_or_a_bet_that_goes_back(
    kind: EntryKind,
) -> None:
    book = standing(meter=10 * DOLLAR)
    book.seed = 5 * DOLLAR
    book.claims[9] = (Transfer(PENDING, METER, 1),)
    book.bets, book.bets_round = {2: (Transfer(PENDING, METER, 1),)}, 7
    if kind in METER_LOWERING_KINDS:
        assert book.post(kind, Transfer(METER, PENDING, 1), **EVIDENCE).meter_after == 10 * DOLLAR - 1
    else:
        with pytest.raises(BadEntry, match="cannot lower the meter"):
            book.post(kind, Transfer(METER, PENDING, 1), **EVIDENCE)
        assert book.balance(METER) == 10 * DOLLAR


@pytest.mark.parametrize("kind", ["hit_withdrawn", "hit_reversed"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 10_000 * DOLLAR + 1},
        {"share": 10_000 * DOLLAR - CENT},
        {"from_seed": 10_000 * DOLLAR - CENT},
        {"from_seed": 0},
        {"from_seed": 0, "from_reserve": 10_000 * DOLLAR},
        {"fixed": CENT},
        {"id": 2},
    ],
)
def test_a_claim_is_undone_by_its_exact_reversal_and_by_nothing_else(kind: Any, wrong: dict[str, int]) -> None:
    rules = rules_of("688a-progressive-1")
    book = opened(rules, 10_000 * DOLLAR)
    hit, _ = hits.claim(book, rules, 1, 1, 3, "seven_card_straight_flush_any")
    before = dict(book.held)
    with pytest.raises(BadEntry, match=r"exact reversal|no unpaid claim|below zero"):
        hits.withdraw(book, replace(hit, **wrong), (), kind)
    assert book.held == before
    hits.withdraw(book, hit, (), kind)
    with pytest.raises(BadEntry, match=r"no unpaid claim|below zero"):
        hits.withdraw(book, hit, (), kind)


def test_a_bet_goes_back_exactly_as_it_was_split_also_below_the_seed() -> None:
    rules = rules_of("688a-progressive-4")
    book = opened(rules, 9_000 * DOLLAR)
    before = {account: held for account, held in book.held.items() if held}
    bet, _ = meter.accept_bet(book, rules, 1, 1, ())
    with pytest.raises(BadEntry, match="exact reversal"):
        meter.return_bet(book, replace(bet, to_meter=0), 1, ("688a.13(l)",))
    meter.return_bet(book, bet, 1, ("688a.13(l)",))
    assert {account: held for account, held in book.held.items() if held} == before


def test_a_slip_number_documents_one_hand_pay_for_ever() -> None:
    rules = rules_of("688a-progressive-1")
    book = opened(rules)
    for id_, slip in enumerate((7, 9, 8, 3), 1):
        hit, _ = hits.claim(book, rules, id_, id_, 3, "five_aces")
        hits.pay_by_attendant(book, hit, (), f"slip {slip}")
    assert book.slips == [(3, 3), (7, 9)], "a slip book is one run"
    for used in (3, 7, 8, 9):
        hit, _ = hits.claim(book, rules, 9, 9, 3, "full_house")
        with pytest.raises(BadEntry, match=f"slip {used} is used for another"):
            hits.pay_by_attendant(book, hit, (), f"slip {used}")
        hits.withdraw(book, hit, ())
    for wrong in ("slip", "receipt 4", "slip four"):
        hit, _ = hits.claim(book, rules, 9, 9, 3, "full_house")
        with pytest.raises(BadEntry, match="needs a slip number"):
            hits.pay_by_attendant(book, hit, (), wrong)
        hits.withdraw(book, hit, ())


@pytest.mark.parametrize(
    ("kind", "without"),
    [
        ("correction", "document"),
        ("reset", "document"),
        ("bet_returned", "round"),
        ("bet_returned", "clauses"),
    ],
)
def test_what_lowers_the_meter_names_its_evidence(kind: EntryKind, without: str) -> None:
    book = standing(meter=10 * DOLLAR)
    book.seed = 0
    book.bets, book.bets_round = {2: (Transfer(BETS, METER, 1),)}, 7
    evidence = {name: value for name, value in EVIDENCE.items() if name != without}
    with pytest.raises(BadEntry, match="needs"):
        book.post(kind, Transfer(METER, BETS, 1), **evidence)
    book.post(kind, Transfer(METER, BETS, 1), **EVIDENCE)


def test_a_hand_pay_names_its_slip() -> None:
    with pytest.raises(BadEntry, match="needs a document"):
        standing(pending=5).post("hand_pay_paid", Transfer(PENDING, HOUSE, 5), hit=1)


def test_a_bet_that_never_came_does_not_go_back() -> None:
    book = standing(meter=DOLLAR)
    with pytest.raises(BadEntry, match="seat 2 has no bet"):
        book.post("bet_returned", Transfer(METER, BETS, 1), **EVIDENCE)


def test_after_a_share_was_paid_a_bet_that_goes_back_does_not_take_the_meter_below_its_seed() -> None:
    book = standing(meter=DOLLAR)
    book.bets, book.bets_round, book.last_paid_round = {2: (Transfer(BETS, METER, 2),)}, 7, 7
    with pytest.raises(BadEntry, match="seed"):
        book.post("bet_returned", Transfer(METER, BETS, 1), **EVIDENCE)


@pytest.mark.parametrize(
    "account", ["meter", "reserve", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned"]
)
def test_no_payment_exceeds_the_account(account: str) -> None:
    book = standing(**{account: 5})
    with pytest.raises(BadEntry, match=f"{account} would fall below zero"):
        book.post("correction", Transfer(account, HOUSE, 6), document="MC-1")
    assert book.balance(account) == 5


@pytest.mark.parametrize("amount", [-1, 1.0, 0.5, True])
def test_only_whole_amounts_above_zero_are_money(amount: Any) -> None:
    book = standing(house=100)
    with pytest.raises(BadEntry, match="not an amount"):
        book.post("envy", Transfer(HOUSE, RESERVE, amount))
    assert book.entries == 1


def test_there_are_no_other_accounts() -> None:
    with pytest.raises(BadEntry, match="no account tips"):
        standing(house=1).post("envy", Transfer(HOUSE, "tips", 1))


def test_accounts_that_do_not_sum_to_zero_take_no_entry() -> None:
    book = MoneyBook(held={METER: 1}, entries=1)
    with pytest.raises(BadEntry, match="sum to 1"):
        book.post("envy", Transfer(HOUSE, RESERVE, 1))


def test_an_entry_is_booked_whole_or_not_at_all() -> None:
    book = standing(house=100, meter=100)
    before = dict(book.held)
    with pytest.raises(BadEntry):
        book.post("hit", Transfer(HOUSE, PENDING, 5), Transfer(METER, PENDING, 101), hit=1)
    assert book.held == before
    assert book.entries == 1


def test_an_entry_holds_the_meter_before_and_after_and_entries_are_numbered_without_a_gap() -> None:
    rules = rules_of("688a-progressive-3")
    book = opened(rules)
    entries = [meter.accept_bet(book, rules, 1, seat, ())[1] for seat in (1, 2, 3)]
    assert [entry.number for entry in entries] == [2, 3, 4]
    assert [(e.meter_before, e.meter_after) for e in entries] == [
        (2_000 * DOLLAR + n * 29 * CENT, 2_000 * DOLLAR + (n + 1) * 29 * CENT) for n in range(3)
    ]


# --- rounding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "percent", "paid"),
    [
        (10_000 * DOLLAR, 100, 10_000 * DOLLAR),
        (12_345_678_901, 100, 12_345_670_000),
        (12_345_678_901, 10, 1_234_560_000),
        (12_345_678_901, 20, 2_469_130_000),
        (9_999, 100, 0),
        (99_999, 10, 0),
        (100_000, 10, 10_000),
        (0, 100, 0),
    ],
)
def test_a_share_is_paid_in_whole_cents_and_never_more_than_it_is(amount: int, percent: int, paid: int) -> None:
    assert payable_share(amount, percent) == paid
    assert paid * 100 <= amount * percent
    assert amount * percent - paid * 100 < 100 * CENT


def test_the_remainder_of_a_hit_stays_in_the_meter() -> None:
    rules = rules_of("688a-progressive-1")
    book = opened(rules, 12_345_678_901)
    hit, entry = hits.claim(book, rules, 1, 1, 3, "seven_card_straight_flush_any")
    assert hit.share == 12_345_670_000
    assert book.balance(METER) == entry.meter_after == rules.reseed + 8_901


def test_amounts_are_formatted_for_people() -> None:
    assert [format_dollars(amount) for amount in (0, 290_000, 1_234_567 * DOLLAR, -75 * CENT, 8_901, -1)] == [
        "$0.00", "$0.29", "$1,234,567.00", "-$0.75", "$0.008901", "-$0.000001",
    ]  # fmt: skip


# --- what people may ask for ------------------------------------------------------------------------------------------


def test_the_meters_of_the_system_are_read_from_the_accounts() -> None:
    rules = rules_of("688a-progressive-4")
    book = opened(rules, 20_000 * DOLLAR)
    meter.accept_bet(book, rules, 1, 1, ())
    fixed, _ = hits.claim(book, rules, 1, 1, 1, "full_house")
    hits.pay_from_table(book, fixed, ())
    hits.pay_envy(book, rules, 1, 2, "four_of_a_kind", (1, 3), ())
    share, _ = hits.claim(book, rules, 2, 1, 2, "royal_flush_plus_royal_match")
    meters = book.meters
    assert meters.pending == share.amount == 5_000 * DOLLAR + 4_000_010_000
    hits.pay_by_attendant(book, share, (), "slip 1")
    meters = book.meters
    assert (meters.current, meters.reserve, meters.pending) == (16_000_040_000, 5 * CENT, 0)
    assert meters.paid_by_table == 25 * DOLLAR + 2 * 25 * DOLLAR
    assert meters.paid_by_attendant == share.amount
    assert meters.cumulative == meters.paid_by_table + meters.paid_by_attendant


def test_a_meter_holds_no_more_than_its_sign_can_show() -> None:
    assert meter.METER_MOST == MAX_CENTS * CENT
    rules = rules_of("688a-progressive-3")
    book = opened(rules, meter.METER_MOST - 10 * CENT)
    bet, _ = meter.accept_bet(book, rules, 1, 1, ())
    assert (bet.to_meter, bet.to_reserve, bet.to_overflow) == (10 * CENT, 0, 19 * CENT)  # on a meter of its own
    full, _ = meter.accept_bet(book, rules, 1, 2, ())
    assert (full.to_meter, full.to_reserve, full.to_overflow) == (0, 0, 29 * CENT)
    assert (book.balance(METER), book.meters.overflow) == (meter.METER_MOST, 48 * CENT)
    meter.return_bet(book, full, 1, ("688a.13(l)",))
    assert (book.balance(METER), book.meters.overflow) == (
        meter.METER_MOST,
        19 * CENT,
    )  # exactly what this bet had added


def test_no_correction_takes_the_meter_above_what_its_sign_can_show() -> None:
    book = opened(rules_of("688a-progressive-3"), meter.METER_MOST)
    with pytest.raises(BadEntry, match="its limit is"):
        meter.correct_meter(book, 1, "MC-1")
    assert book.balance(METER) == meter.METER_MOST


def test_overflow_returns_to_the_meter_as_far_as_there_is_room() -> None:
    rules = rules_of("688a-progressive-3")
    book = opened(rules, meter.METER_MOST - 10 * CENT)
    meter.accept_bet(book, rules, 1, 1, ())
    for amount, why in ((19 * CENT, "its limit is"), (0, "must be above zero"), (-1, "must be above zero")):
        with pytest.raises(BadEntry, match=why):
            meter.transfer_overflow(book, rules, amount, "MT-1")
    meter.correct_meter(book, -50 * CENT, "MC-1")
    with pytest.raises(BadEntry, match="overflow would fall below zero"):
        meter.transfer_overflow(book, rules, 20 * CENT, "MT-1")
    with pytest.raises(BadEntry, match="needs a document"):
        meter.transfer_overflow(book, rules, 19 * CENT, "")
    entry = meter.transfer_overflow(book, rules, 19 * CENT, "MT-1")
    assert (entry.kind, entry.document, book.meters.overflow) == ("transfer", "MT-1", 0)
    assert book.balance(METER) == meter.METER_MOST - 31 * CENT


def test_every_account_is_used_by_something() -> None:
    rules = rules_of("688a-progressive-4")
    book = opened(rules, 11_000 * DOLLAR)
    meter.accept_bet(book, rules, 1, 1, ())
    for id_, hand in enumerate(("seven_card_natural_straight_flush", "full_house"), 1):
        hit, _ = hits.claim(book, rules, id_, 1, id_, hand)
        _ = hits.pay_by_attendant(book, hit, (), "slip 1") if hit.share else hits.pay_from_table(book, hit, ())
    hits.pay_envy(book, rules, 1, 1, "seven_card_natural_straight_flush", (2,), ())
    hits.claim(book, rules, 3, 1, 3, "straight")
    meter.accept_bet(book, rules, 1, 4, ())
    meter.accept_bet(book, msgspec.structs.replace(rules, limit=rules.seed), 1, 5, ())
    assert set(book.held) == set(ACCOUNTS)
    assert all(book.held.values())
    assert book.balance(SEED) == -(rules.seed + rules.reseed - 5 * CENT)  # the reserve gave what it had
