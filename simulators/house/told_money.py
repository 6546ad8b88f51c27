"""A journal's money told once more from what people did: chips taken and returned, hands named, payments made.

Reads events and which bets came and went, never an amount or an entry: the arithmetic is `plain_money`'s.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from simulators.house.plain_money import PlainBet, PlainHit, PlainMoney, dollars
from simulators.house.winners import Payment
from table_controller.ledger import money as accounts
from table_controller.rulebook import GAMES, paytables
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import BetAccepted, BetReturned, Moved, Prompt, Refused, WagersReturned
from table_controller.table.hits import NO_WIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from table_controller.journal.records import Step
    from table_controller.ledger.meter import MeterRules
    from table_controller.table.decisions import Decision

# Answers by which a claim falls.
_FALLS: Final = {"hit_hand": "not_winning", "hit_dark": "refuse", "hit_validate": "refuse"}


class ToldMoney:
    """`paid` and `envy` are by round and seat, as people remember theirs; `claims` counts all that were ever made."""

    def __init__(self, rules: MeterRules) -> None:
        self._table = next(table for game in GAMES for table in paytables(game) if table.id == rules.table)
        rate = Fraction(rules.rate_bp, 10_000)
        self.plain = PlainMoney(self._table, rate, stake_back=any(award.stake for award in rules.awards))
        self.paid: dict[tuple[int, int], Payment] = {}
        self.envy: dict[tuple[int, int], tuple[int, ...]] = {}
        self.claims = 0
        self._asked: dict[int, Prompt] = {}
        self._round = 0
        self._bets: dict[int, PlainBet] = {}
        self._hits: list[tuple[int, str, PlainHit]] = []  # that stand in this round, in their order
        self._seen: dict[int, str] = {}  # hands without a bet that were looked at for envy

    def read(self, steps: Iterable[Step]) -> ToldMoney:
        """Take a whole journal."""
        for step in steps:
            self.take(step.event, step.decisions)
        return self

    def take(self, event: ev.Event, decisions: Sequence[Decision]) -> None:
        """Take one step."""
        settles = any(isinstance(d, WagersReturned) and "progressive" in d.settled for d in decisions)
        if isinstance(event, ev.Answer) and Refused not in map(type, decisions):
            self._said(self._asked[event.prompt], event)
        for decision in decisions:
            if isinstance(decision, Prompt):
                self._asked[decision.id] = decision
            elif isinstance(decision, BetAccepted):
                self._round, self._bets[decision.seat] = decision.round, self.plain.bet()
            elif isinstance(decision, BetReturned):
                self._undo([hit for hit in self._hits if hit[0] == decision.seat])
                self.plain.back(self._bets.pop(decision.seat))
            elif decision == Moved("round", mc.VOID) and not settles:
                self._void()
            elif decision == Moved("round", mc.IDLE):
                self._round, self._bets, self._hits, self._seen = 0, {}, [], {}

    def _said(self, prompt: Prompt, answer: ev.Answer) -> None:
        seat = prompt.seat or 0
        match prompt.kind:
            case "progressive" if answer.choice != NO_WIN:
                line = next(line for line in self._table.lines if line.hand == answer.choice)
                self._hits.append((seat, answer.choice, self.plain.hit(line)))
                self.claims += 1
            case "hit_hand" | "hit_dark" | "hit_validate" if answer.choice == _FALLS[prompt.kind]:
                hit = self._hit(seat)
                self.plain.withdraw(hit[2])
                self._hits.remove(hit)
            case "hit_pay" | "hand_pay":
                self._pay(seat, "table" if prompt.kind == "hit_pay" else "hand")
            case "envy_line":
                self._seen[seat] = answer.choice
            case "progressive_envy" if answer.choice == "paid":
                self._pay_envy(seat, answer.seats)

    def _hit(self, seat: int) -> tuple[int, str, PlainHit]:
        return next(hit for hit in self._hits if hit[0] == seat)

    def _pay(self, seat: int, way: str) -> None:
        _, hand, hit = self._hit(seat)
        self.plain.pay(hit, table=way == "table")
        assert (self._round, seat) not in self.paid, f"round {self._round}, seat {seat}: paid twice"
        self.paid[self._round, seat] = Payment(hand, way, _micro(hit.fixed + hit.share))

    def _pay_envy(self, seat: int, seats: tuple[int, ...]) -> None:
        hand = next((hand for of, hand, _ in self._hits if of == seat), None) or self._seen[seat]
        self.plain.envy += [self._envy_of(hand)] * len(seats)
        self.envy[self._round, seat] = seats

    def _envy_of(self, hand: str) -> Fraction:
        return dollars(next(line for line in self._table.lines if line.hand == hand).envy_cents)

    def _void(self) -> None:
        """What the table paid comes back, what was claimed falls, the last claim first; bets follow one by one."""
        for of in [of for number, of in self.envy if number == self._round]:
            hand = next((hand for seat, hand, _ in self._hits if seat == of), None) or self._seen[of]
            for _ in self.envy.pop((self._round, of)):
                self.plain.envy.remove(self._envy_of(hand))
        self._undo(self._hits[::-1])

    def _undo(self, hits: list[tuple[int, str, PlainHit]]) -> None:
        """Claims fall, in this order; what an attendant has paid stands."""
        for each in hits:
            seat, _, hit = each
            if hit in self.plain.by_hand:
                continue
            if hit in self.plain.by_table:
                self.plain.unpay(hit)
                del self.paid[self._round, seat]
            else:
                self.plain.withdraw(hit)
            self._hits.remove(each)

    def accounts(self) -> dict[str, int]:
        """What each account must hold (micro-dollars)."""
        plain = self.plain
        told = {
            accounts.METER: plain.meter,
            accounts.RESERVE: plain.reserve,
            accounts.OVERFLOW: plain.overflow,
            accounts.HOUSE: plain.house,
            accounts.SEED: -sum(plain.seeds, Fraction(0)),
            accounts.PENDING: sum((each.fixed + each.share for each in plain.pending), Fraction(0)),
            accounts.FIXED: sum((each.fixed for each in plain.by_table), Fraction(0)),
            accounts.HAND_PAYS: sum((each.fixed + each.share for each in plain.by_hand), Fraction(0)),
            accounts.STAKES: sum((each.stake for each in (*plain.by_table, *plain.by_hand)), Fraction(0)),
            accounts.ENVY: sum(plain.envy, Fraction(0)),
            accounts.BETS: -plain.staked,
            accounts.CORRECTIONS: Fraction(0),
        }
        return {account: _micro(amount) for account, amount in told.items()}


def _micro(amount: Fraction) -> int:
    whole = amount * accounts.DOLLAR
    assert whole.denominator == 1, f"{amount} is no whole number of micro-dollars"
    return whole.numerator
