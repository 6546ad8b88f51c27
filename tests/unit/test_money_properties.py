"""Random bets, hits, voids and corrections over every progressive table, against a plain second telling."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from simulators.house.plain_money import PlainBet, PlainHit, PlainMoney
from table_controller.ledger import hits, meter
from table_controller.ledger.money import (
    CENT,
    CORRECTIONS,
    DOLLAR,
    ENVY,
    FIXED,
    HAND_PAYS,
    HOUSE,
    LOWERS,
    METER,
    OVERFLOW,
    PENDING,
    RESERVE,
    SEED,
    STAKES,
    BadEntry,
    Entry,
)
from tests.support.meters import PROGRESSIVES, opened, rules_of

if TYPE_CHECKING:
    from table_controller.ledger.hits import Hit
    from table_controller.ledger.meter import Bet, MeterRules

VOID: Final = ("688a.13(l)",)
AMOUNTS: Final = st.integers(-30_000 * DOLLAR, 30_000 * DOLLAR)
# What may happen next; the number picks a line of the table, a hit or an amount.
DEEDS: Final = st.lists(
    st.one_of(
        st.tuples(st.just("bet"), st.integers(1, 40)),
        st.tuples(
            st.sampled_from(("hit", "hit", "pay", "pay_by_hand", "withdraw", "envy", "limit")), st.integers(0, 10)
        ),
        st.tuples(st.sampled_from(("void", "end")), st.just(0)),
        st.tuples(st.just("correct"), AMOUNTS),
    ),
    max_size=40,
)


class Both:
    """One meter in the book and told plainly; every deed is done to both, and then they are compared."""

    def __init__(self, rules: MeterRules) -> None:
        table = PROGRESSIVES[rules.table][1]
        self.rules = rules
        self.book = opened(rules)
        self.plain = PlainMoney(table, Fraction(rules.rate_bp, 10_000), stake_back=rules.awards[0].stake > 0)
        self.bets: list[tuple[Bet, PlainBet]] = []
        self.hits: list[tuple[Hit, PlainHit]] = []  # claimed and not paid
        self.paid: list[tuple[Hit, PlainHit]] = []  # from the table, in this round
        self.envy: list[hits.EnvyPaid] = []
        self.round = 1
        self.ids = 0
        self.compare()

    def do(self, deed: str, number: int) -> None:
        before, entries = self.book.at(METER), self.book.entries
        done: list[Entry] = getattr(self, f"_{deed}")(number) or []
        assert [entry.number for entry in done] == list(range(entries + 1, self.book.entries + 1))
        for entry in done:
            assert entry.meter_after >= entry.meter_before or entry.kind in LOWERS
        if done:
            assert (done[0].meter_before, done[-1].meter_after) == (before, self.book.at(METER))
        self.compare()

    def _bet(self, bets: int) -> list[Entry]:
        done = []
        for _ in range(bets):
            bet, entry = meter.accept(self.book, self.rules, self.round, 1, ())
            self.bets.append((bet, self.plain.bet()))
            done.append(entry)
        return done

    def _hit(self, line: int) -> list[Entry]:
        award = self.rules.awards[line % len(self.rules.awards)]
        self.ids += 1
        hit, entry = hits.claim(self.book, self.rules, self.ids, self.round, 2, award.hand)
        printed = next(each for each in self.plain.table.lines if each.hand == award.hand)
        self.hits.append((hit, self.plain.hit(printed)))
        return [entry]

    def _pay(self, which: int, *, table: bool = True) -> list[Entry] | None:
        if not self.hits:
            return None
        hit, plain = self.hits.pop(which % len(self.hits))
        table = table and not hit.share
        self.plain.pay(plain, table=table)
        if table:
            self.paid.append((hit, plain))
            return [hits.pay_from_table(self.book, hit, ())]
        return [hits.pay_by_attendant(self.book, hit, (), "slip 1")]

    def _pay_by_hand(self, which: int) -> list[Entry] | None:
        return self._pay(which, table=False)

    def _withdraw(self, which: int) -> list[Entry] | None:
        if not self.hits:
            return None
        hit, plain = self.hits.pop(which % len(self.hits))
        self.plain.withdraw(plain)
        return [hits.withdraw(self.book, hit, VOID)]

    def _envy(self, line: int) -> list[Entry] | None:
        if not self.rules.envied:
            return None
        hand = self.rules.envied[line % len(self.rules.envied)]
        seats = tuple(range(2, 3 + line % 4))
        paid, entry = hits.pay_envy(self.book, self.rules, self.round, 1, hand, seats, ())
        self.envy += paid
        self.plain.envy += [Fraction(each.amount, DOLLAR) for each in paid]
        return [entry]

    def _limit(self, above: int) -> None:
        limit = self.book.at(METER) + above * 7 * CENT
        self.rules = replace(self.rules, limit=limit)
        self.plain.limit = Fraction(limit, DOLLAR)

    def _void(self, _: int) -> list[Entry]:
        """The round is void: what was paid comes back, claims fall, and its bets go back."""
        done = []
        for paid in self.envy:
            done.append(hits.take_envy_back(self.book, paid, self.round, VOID))
            self.plain.envy.remove(Fraction(paid.amount, DOLLAR))
        for hit, plain in self.paid:
            done.append(hits.take_back(self.book, hit, VOID))
            self.plain.unpay(plain)
        while self.hits:
            done += self._withdraw(-1) or []
        for bet, was in self.bets:
            done.append(meter.give_back(self.book, bet, self.round, VOID))
            self.plain.back(was)
        self._end(0)
        return done

    def _end(self, _: int) -> None:
        self.round += 1
        self.bets, self.paid, self.envy = [], [], []

    def _correct(self, amount: int) -> list[Entry] | None:
        if self.book.at(METER) + amount < 0:
            with pytest.raises(BadEntry):
                meter.correct(self.book, amount, "MC-1")
            return None
        self.plain.meter += Fraction(amount, DOLLAR)
        self.plain.corrections.append(Fraction(amount, DOLLAR))
        return [meter.correct(self.book, amount, "MC-1")]

    def compare(self) -> None:
        book, plain = self.book, self.plain
        assert sum(book.held.values()) == 0
        assert all(type(held) is int for held in book.held.values())
        told: dict[str, Any] = {
            METER: plain.meter,
            RESERVE: plain.reserve,
            OVERFLOW: plain.overflow,
            HOUSE: plain.house,
            SEED: -sum(plain.seeds),
            PENDING: sum(each.fixed + each.share for each in plain.pending),
            FIXED: sum(each.fixed for each in plain.by_table),
            HAND_PAYS: sum(each.fixed + each.share for each in plain.by_hand),
            STAKES: sum(each.stake for each in (*plain.by_table, *plain.by_hand)),
            ENVY: sum(plain.envy),
            CORRECTIONS: -sum(plain.corrections),
        }
        for account, amount in told.items():
            assert Fraction(book.at(account), DOLLAR) == amount, account


@pytest.mark.parametrize("table", list(PROGRESSIVES))
@given(deeds=DEEDS, rate=st.integers(1, 10_000))
@settings(max_examples=30, deadline=None)
def test_book_and_plain_telling_agree_whatever_happens(table: str, deeds: list[tuple[str, int]], rate: int) -> None:
    open_rate = {"progressive_rate_bp": rate} if table.startswith("687a") else {}
    both = Both(rules_of(table, **open_rate))
    for deed, number in deeds:
        both.do(deed, number)


@pytest.mark.parametrize("table", list(PROGRESSIVES))
@given(before=DEEDS, round_=DEEDS)
@settings(max_examples=15, deadline=None)
def test_a_void_round_leaves_no_trace_while_the_meter_stands_above_its_seed(
    table: str, before: list[tuple[str, int]], round_: list[tuple[str, int]]
) -> None:
    both = Both(rules_of(table))
    for deed, number in before:
        both.do(deed, number)
    both.do("void", 0)
    both.do("correct", max(0, both.rules.seed - both.book.at(METER)))
    held = {account: amount for account, amount in both.book.held.items() if amount}
    low = False
    for deed, number in round_:
        if deed in ("void", "end", "pay_by_hand", "correct", "pay"):  # what a void round does not undo
            continue
        low = low or both.book.at(METER) < both.rules.seed
        both.do(deed, number)
    both.do("void", 0)
    if not low:
        assert {account: amount for account, amount in both.book.held.items() if amount} == held


@pytest.mark.proof
@pytest.mark.parametrize(("table", "rate", "reserve"), [("688a-progressive-3", 29, 0), ("688a-progressive-4", 1, 1)])
def test_a_million_bets_add_up_to_the_micro_dollar(table: str, rate: int, reserve: int) -> None:
    _add_up(table, rate, reserve, 1_000_000)


@pytest.mark.parametrize(("table", "rate", "reserve"), [("688a-progressive-3", 29, 0), ("688a-progressive-4", 1, 1)])
def test_many_bets_add_up_to_the_micro_dollar(table: str, rate: int, reserve: int) -> None:
    _add_up(table, rate, reserve, 30_000)


def _add_up(table: str, rate: int, reserve: int, bets: int) -> None:
    rules = rules_of(table)
    book = opened(rules)
    for number in range(bets):
        meter.accept(book, rules, number, 1, ())
    unit = rules.unit // CENT
    assert book.at(METER) - rules.seed == bets * unit * rate * CENT // 100
    assert book.at(RESERVE) == bets * unit * reserve * CENT // 100
    assert book.at(HOUSE) == bets * unit * (100 - rate - reserve) * CENT // 100
    assert sum(book.held.values()) == 0
