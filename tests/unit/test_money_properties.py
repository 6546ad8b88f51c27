"""Random bets, claims, withdrawals, voids and corrections over every progressive table, against a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulators.casino.reference_ledger import ReferenceLedger
from table_controller.ledger import meter
from table_controller.ledger.money import (
    ACCOUNTS,
    CENT,
    DOLLAR,
    HOUSE,
    METER,
    METER_LOWERING_KINDS,
    RESERVE,
)
from table_controller.table import events as ev
from table_controller.table import progressive_bets
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Booked, Prompt
from table_controller.table.hits import ANSWERS
from table_controller.table.state import Money, SeatBets
from tests.support.core.hits import BettingTable
from tests.support.core.ideal_table import DEALER, FLOOR
from tests.support.core.meters import PROGRESSIVES, opened, rules_of

if TYPE_CHECKING:
    from table_controller.ledger.hits import Hit
    from table_controller.table.context import Context

VOID: Final = ("688a.13(l)",)
AMOUNTS: Final = st.integers(-30_000 * DOLLAR, 30_000 * DOLLAR)
# What may happen next in a round whose bets are in; the number picks a line, a hit, a seat or an amount.
DEEDS: Final = st.lists(
    st.tuples(
        st.sampled_from(("claim",) * 6 + ("pass",) * 4 + ("pay",) * 3 + ("fall",) * 3 + ("return", "void", "end")),
        st.integers(0, 20),
    ),
    max_size=30,
)  # fmt: skip


class Both:
    """One meter in the table's own ledger and in a reference, compared after every action."""

    def __init__(self, table: str, **more: Any) -> None:
        self.floor = BettingTable(table, **more)
        self.c: Context = self.floor.table.context
        assert self.c.meter is not None
        self.plain = ReferenceLedger.from_rules(self.c.meter)
        self.round = self.slips = 0
        self.over = True
        self.before: dict[str, int] = {}

    @property
    def hits(self) -> list[Hit]:
        return [hit for hit in self.c.state.money.hits.values() if hit.state != mc.HIT_WITHDRAWN]

    def begin(self, start: int, limit: int | None) -> None:
        """Begin a round with six bets on a meter with this amount and limit."""
        self.round += 1
        book = self.c.state.money.book
        amount = max(start, 0) - book.balance(METER)
        meter.correct_meter(book, amount, f"MC-{self.round}")
        self.plain.correct(amount)
        self.plain.limit = meter.METER_MOST if limit is None else book.balance(METER) + limit * 7 * CENT
        self.c.state.money.limit = self.plain.limit
        self.c.state.round.number, self.over, self.before = self.round, False, self.held()
        for seat in (1, 2, 3, 4, 5, 6):
            self.c.state.progressive.seats[seat] = SeatBets(latched=True, bet=True)
            self.plain.bet(seat)
        progressive_bets.accept_bets(self.c)
        self.compare()

    def do(self, deed: str, number: int) -> None:
        self.c.out = []
        getattr(self, f"_{deed}")(number)
        for each in (d.entry for d in self.c.out if isinstance(d, Booked)):
            assert each.meter_after >= each.meter_before or each.kind in METER_LOWERING_KINDS
        self.compare()

    def _answer(self, kind: str, hit_seat: int, choice: str, number: int | None = None) -> None:
        prompt = Prompt(self.c.fresh_id(), kind, "", (choice,), VOID, seat=hit_seat)
        who = FLOOR if kind in ("hit_validate", "hand_pay") else DEALER
        ANSWERS[kind](self.c, prompt, ev.Answer(prompt.id, choice, who, number))

    def _claim(self, line: int) -> None:
        rules, money = self.c.meter, self.c.state.money
        assert rules is not None
        free = [seat for seat, bet in money.bets.items() if bet.state == "open"]
        if free:
            hand = rules.awards[line % len(rules.awards)].hand
            self._answer("progressive", free[line % len(free)], hand)
            hit = self.hits[-1]
            self.plain.claim(hit.id, hit.seat, hand)

    def _pass(self, which: int) -> None:
        """Confirm hand and light, and validate a final amount."""
        waiting = [hit for hit in self.hits if hit.state in mc.HIT_UNVALIDATED and self.c.state.money.is_final(hit)]
        if waiting:
            hit = waiting[which % len(waiting)]
            for kind, choice in (("hit_hand", "winning"), ("hit_light", "lit")):
                if hit.state != mc.HIT_LIGHT_SEEN:
                    self._answer(kind, hit.seat, choice)
            self._answer("hit_validate", hit.seat, "hand_pay" if hit.on_meter or which % 3 == 0 else "table")

    def _pay(self, which: int) -> None:
        ready = [hit for hit in self.hits if hit.state in (mc.HIT_VALIDATED, mc.HIT_HAND_PAY)]
        ready = [hit for hit in ready if self.c.state.money.is_final(hit)]
        if ready:
            hit = ready[which % len(ready)]
            assert self.plain.amount_of(hit.id) == hit.amount, "a winner is owed another amount"
            self.slips += 1
            if hit.state == mc.HIT_HAND_PAY:
                self._answer("hand_pay", hit.seat, "documented", self.slips)
                self.plain.pay(hit.id, "hand")
            else:
                self._answer("hit_pay", hit.seat, "paid")
                self.plain.pay(hit.id, "table")

    def _fall(self, which: int) -> None:
        unsure = [hit for hit in self.hits if hit.state == mc.HIT_CLAIMED]
        if unsure:
            hit = unsure[which % len(unsure)]
            self._answer("hit_hand", hit.seat, "not_winning")
            self.plain.undo([hit.id], [])

    def _return(self, seat: int) -> None:
        """Void one hand by its player's choice."""
        self._back([1 + seat % 6])

    def _void(self, _: int) -> None:
        clean = not any(hit.state == mc.HIT_DOCUMENTED for hit in self.hits)
        self._back(list(self.c.state.money.bets), whole=True)
        if clean:
            assert not self.hits
            assert self.held() == self.before, "a void round left a trace"
        self._close()

    def _back(self, seats: list[int], *, whole: bool = False) -> None:
        money = self.c.state.money
        paid = [hit.seat for hit in self.hits if hit.state == mc.HIT_DOCUMENTED]
        back = [seat for seat in seats if money.bets[seat].state != "returned" and seat not in paid]
        falling = [hit.id for hit in self.hits if hit.seat in back]
        if whole:
            progressive_bets.void_bets(self.c, VOID)
        else:
            progressive_bets.void_hand(self.c, seats[0], VOID)
        self.plain.undo(falling, back)

    def _end(self, _: int) -> None:
        """Pay every hit and end the round."""
        for bet in self.c.state.money.bets.values():
            bet.state = "lost" if bet.state == "open" else bet.state
        while any(hit.state in mc.HIT_OPEN for hit in self.hits):
            self._pass(0)
            self._pay(0)
        self._close()

    def _close(self) -> None:
        money = self.c.state.money
        self.plain.end_round()
        self.c.state.money = Money(money.book, money.rate_bp, money.limit)
        self.c.state.progressive.seats.clear()
        self.over = True

    def held(self) -> dict[str, int]:
        return {account: amount for account, amount in self.c.state.money.book.held.items() if amount}

    def compare(self) -> None:
        book = self.c.state.money.book
        assert sum(book.held.values()) == 0
        assert all(type(held) is int for held in book.held.values())
        assert {account: book.balance(account) for account in ACCOUNTS} == self.plain.accounts()
        for hit in self.hits:
            if hit.state in mc.HIT_OPEN:
                assert hit.amount == self.plain.amount_of(hit.id)


def played(both: Both, start: int, limit: int | None, deeds: list[tuple[str, int]]) -> None:
    both.begin(start, limit)
    for deed, number in [*deeds, ("end", 0)]:
        if both.over:
            both.begin(start, limit)
        both.do(deed, number)


LIMITS: Final = st.none() | st.integers(0, 10)


@pytest.mark.parametrize("table", list(PROGRESSIVES))
@given(deeds=DEEDS, rate=st.integers(1, 10_000), above=AMOUNTS, limit=LIMITS)
@settings(max_examples=40, deadline=None)
def test_the_ledger_matches_the_reference_under_any_sequence(
    table: str, deeds: list[tuple[str, int]], rate: int, above: int, limit: int | None
) -> None:
    open_rate = {"progressive_rate_bp": rate} if table.startswith("687a") else {}
    both = Both(table, **open_rate)
    played(both, both.c.meter.seed + above if both.c.meter else 0, limit, deeds)


@pytest.mark.parametrize("table", list(PROGRESSIVES))
@given(before=DEEDS, deeds=DEEDS, above=AMOUNTS, limit=LIMITS)
@settings(max_examples=20, deadline=None)
def test_a_void_round_without_a_documented_hand_pay_leaves_no_trace(
    table: str, before: list[tuple[str, int]], deeds: list[tuple[str, int]], above: int, limit: int | None
) -> None:
    both = Both(table)
    start = both.c.meter.seed + above if both.c.meter else 0
    played(both, start, limit, before)
    both.begin(start, limit)
    held = both.before
    for deed, number in deeds:
        if deed in ("claim", "pass", "fall", "return"):
            both.do(deed, number)
    both.do("void", 0)
    assert both.held() == held


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
        meter.accept_bet(book, rules, number, 1, ())
    unit = rules.unit // CENT
    assert book.balance(METER) - rules.seed == bets * unit * rate * CENT // 100
    assert book.balance(RESERVE) == bets * unit * reserve * CENT // 100
    assert book.balance(HOUSE) == bets * unit * (100 - rate - reserve) * CENT // 100
    assert sum(book.held.values()) == 0
