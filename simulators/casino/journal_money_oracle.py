"""An oracle for a journal's money, from what people did: chips taken and returned, hands named, payments made.

It reads events, accepted bets and returned bets, never an amount or an entry; `reference_ledger` computes the amounts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulators.casino.reference_ledger import TABLES, ReferenceLedger, dollars, to_micro
from simulators.casino.winning_players import Payment
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import (
    BetAccepted,
    BetReturned,
    MeterSet,
    Prompt,
    RequestRefused,
    StateChanged,
    WagersReturned,
)
from table_controller.table.hits import DISPUTED, NO_WIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from table_controller.journal.records import StepRecord
    from table_controller.ledger.meter import MeterRules
    from table_controller.table.decisions import Decision

# Answers that withdraw a claim.
_FALLS: Final = {"hit_hand": "not_winning", "hit_dark": "refuse", "hit_validate": "refuse"}


class JournalMoneyOracle:
    """`paid` and `envy` are by round and seat; `claims` counts all claims ever made."""

    def __init__(self, rules: MeterRules) -> None:
        self.ledger = ReferenceLedger.from_rules(rules)
        self.paid: dict[tuple[int, int], Payment] = {}
        self.envy: dict[tuple[int, int], tuple[int, ...]] = {}
        self.claims = 0
        self._asked: dict[int, Prompt] = {}
        self._round = 0
        self._hits: dict[int, tuple[int, str]] = {}  # standing claims of this round, in order: seat and hand
        self._seen: dict[int, str] = {}  # hands without a bet that were checked for envy
        self._paid_for: dict[int, str] = {}  # hands whose envy was paid

    def apply_journal(self, steps: Iterable[StepRecord]) -> JournalMoneyOracle:
        """Apply a whole journal."""
        for step in steps:
            self.apply_step(step.event, step.decisions)
        return self

    def apply_step(self, event: ev.Event, decisions: Sequence[Decision]) -> None:
        """Apply one step."""
        if isinstance(event, ev.Answer) and RequestRefused not in map(type, decisions):
            self._apply_answer(self._asked[event.prompt], event)
        if isinstance(event, ev.MeterCorrected) and RequestRefused not in map(type, decisions):
            self.ledger.correct(event.amount)
        back = [decision.seat for decision in decisions if isinstance(decision, BetReturned)]
        if back:
            self._return(back)
        for decision in decisions:
            if isinstance(decision, Prompt):
                self._asked[decision.id] = decision
            elif isinstance(decision, BetAccepted):
                self._round = decision.round
                self.ledger.bet(decision.seat)
            elif isinstance(decision, WagersReturned) and "progressive" not in decision.settled:
                self._envy_back(decision.seat)
            elif isinstance(decision, MeterSet):
                self.ledger.rate_bp, self.ledger.limit = decision.rate_bp, decision.limit
            elif decision == StateChanged("round", mc.IDLE):
                self.ledger.end_round()
                self._round, self._hits, self._seen, self._paid_for = 0, {}, {}, {}

    def _apply_answer(self, prompt: Prompt, answer: ev.Answer) -> None:
        seat = prompt.seat or 0
        match prompt.kind:
            case "progressive" if answer.choice not in (NO_WIN, DISPUTED):
                self.claims += 1
                self.ledger.claim(self.claims, seat, answer.choice)
                self._hits[self.claims] = (seat, answer.choice)
            case "hit_hand" | "hit_dark" | "hit_validate" if answer.choice == _FALLS[prompt.kind]:
                self._fall(self._hit(seat))
            case "hit_pay" | "hand_pay":
                self._pay(self._hit(seat), "table" if prompt.kind == "hit_pay" else "hand")
            case "envy_line" | "envy_hand":
                self._seen[seat] = answer.choice
            case "progressive_envy" if answer.choice == "paid":
                self._pay_envy(seat, answer.seats)

    def _hit(self, seat: int) -> int:
        return next(id_ for id_, (of, _) in self._hits.items() if of == seat)

    def _pay(self, id_: int, method: str) -> None:
        seat, hand = self._hits[id_]
        amount = self.ledger.amount_of(id_)
        self.ledger.pay(id_, "table" if method == "table" else "hand")
        assert (self._round, seat) not in self.paid, f"round {self._round}, seat {seat}: paid twice"
        self.paid[self._round, seat] = Payment(hand, method, amount)

    def _fall(self, id_: int) -> None:
        """Withdraw a claim by a person's answer, with the envy of its hand."""
        seat, _ = self._hits.pop(id_)
        self._unpay_envy(seat, self.envy.pop((self._round, seat), ()))
        self.ledger.undo([id_], [])

    def _return(self, seats: list[int]) -> None:
        """Return bets and withdraw their claims; a bet whose hit was paid by hand is kept."""
        falling = [id_ for id_, (seat, _) in self._hits.items() if seat in seats]
        for id_ in falling:
            self.paid.pop((self._round, self._hits.pop(id_)[0]), None)
        self.ledger.undo(falling, seats)

    def _pay_envy(self, seat: int, seats: tuple[int, ...]) -> None:
        hand = next((hand for of, hand in self._hits.values() if of == seat), None) or self._seen[seat]
        self._paid_for[seat] = hand
        self.ledger.envy += self._envy_of(hand) * len(seats)
        self.envy[self._round, seat] = seats

    def _unpay_envy(self, of: int, seats: tuple[int, ...]) -> None:
        if seats:
            self.ledger.envy -= self._envy_of(self._paid_for[of]) * len(seats)

    def _envy_back(self, void: int | None) -> None:
        """Take envy back: a void round or hand neither gives nor receives it."""
        for number, of in [key for key in self.envy if key[0] == self._round]:
            seats = self.envy[number, of]
            gone = seats if void in (None, of) else tuple(seat for seat in seats if seat == void)
            self._unpay_envy(of, gone)
            self.envy[number, of] = tuple(seat for seat in seats if seat not in gone)
            if not self.envy[number, of]:
                del self.envy[number, of]

    def _envy_of(self, hand: str) -> int:
        printed = next(line for line in TABLES[self.ledger.table].lines if line.hand == hand)
        return to_micro(dollars(printed.envy_cents))

    def accounts(self) -> dict[str, int]:
        """Return what each account must hold (micro-dollars)."""
        return self.ledger.accounts()
