"""Watches the money of a table from outside: keeps its own accounts by decisions alone. Part of the monitor.

Promised: accounts sum to zero and move by decisions only; every accepted bet adds once, before its light, and ends
once; the meter falls only where it may; a void round leaves no trace.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.table import decisions as de

if TYPE_CHECKING:
    from table_controller.ledger.money import Entry
    from table_controller.table.state import State

_MAY_FALL: Final = ("hit", "correction", "reset", "bet_returned")
_ENDS: Final = ("paid", "documented")


class MoneyMonitor(msgspec.Struct):
    """One table's promises about money."""

    accounts: dict[str, int] = {}
    entries: int = 0
    before: dict[str, int] = {}  # the accounts before the first bet of the round
    low: bool = False  # the meter stood below its seed at some time in this round
    fates: dict[int, str] = {}  # of this round's bets, by seat: accepted, lost, won, returned
    hits: dict[str, int] = {}  # that stand, with their seat
    paid: list[int] = []  # seats whose hit was paid
    documented: bool = False  # an attendant has paid one: that is not undone
    settles: bool = False  # the round is void, and its bets are settled all the same

    def key(self) -> object:
        """Return what tells this monitor from others; amounts are left out."""
        return sorted(self.fates.items()), sorted(self.hits.values()), sorted(self.paid), self.settles, self.low

    def watch(self, decisions: list[de.Decision], latched: dict[int, bool], state: State) -> None:
        """Take one step; AssertionError for a broken promise."""
        void = False
        for decision in decisions:
            if isinstance(decision, de.Booked):
                self._booked(decision.entry, state)
            void = self._decision(decision, latched) or void
        held = {account: amount for account, amount in state.money.book.held.items() if amount}
        ours = {account: amount for account, amount in self.accounts.items() if amount}
        assert held == ours, "money moved without a decision"
        assert sum(ours.values()) == 0, f"the accounts sum to {sum(ours.values())}"
        if void:
            self._void(ours)

    def _booked(self, entry: Entry, state: State) -> None:
        assert entry.number == self.entries + 1, "an entry is missing, or is there twice"
        self.entries = entry.number
        if entry.kind == "bet" and not self.fates:
            self.before, self.low = dict(self.accounts), False
        assert entry.meter_before == self.accounts.get("meter", 0), "the meter moved without an entry"
        for transfer in entry.transfers:
            assert type(transfer.amount) is int
            assert transfer.amount > 0
            self.accounts[transfer.source] = self.accounts.get(transfer.source, 0) - transfer.amount
            self.accounts[transfer.to] = self.accounts.get(transfer.to, 0) + transfer.amount
        assert entry.meter_after == self.accounts.get("meter", 0)
        if entry.meter_after < entry.meter_before:
            assert entry.kind in _MAY_FALL, f"the meter fell by a {entry.kind}"
            assert entry.hit or entry.document or (entry.round and entry.clauses), "it fell, and nothing says why"
        self.low = self.low or min(entry.meter_before, entry.meter_after) < state.money.book.seed
        if entry.kind == "seed":
            self.low = False

    def _decision(self, decision: de.Decision, latched: dict[int, bool]) -> bool:
        """Take one decision; tell whether it makes the round void, bets and all."""
        match decision:
            case de.BetAccepted():
                assert latched.get(decision.seat), f"seat {decision.seat} adds to the meter without a latched bet"
                assert decision.seat not in self.fates, f"seat {decision.seat} adds to the meter twice"
                assert -_change(decision.entry)["bets"] == decision.amount, "a bet and what it adds are not the same"
                self.fates[decision.seat] = "accepted"
            case de.BetReturned():
                assert self.fates[decision.seat] != "returned", f"the bet of seat {decision.seat} goes back twice"
                assert _change(decision.entry)["bets"] == decision.amount, "not the whole bet went back"
                self.fates[decision.seat] = "returned"
            case de.BetSettled():
                assert self.fates[decision.seat] in ("accepted", "won"), f"seat {decision.seat} is settled twice"
                self.fates[decision.seat] = decision.outcome
            case de.HitClaimed():
                assert self.fates[decision.seat] == "won", "a hit without a winning bet"
                assert decision.seat not in self.hits.values(), "two hits for one bet"
                self.hits[f"hit {decision.hit}"] = decision.seat
            case de.Moved() if decision.what.startswith("hit "):
                self._hit_moved(decision)
            case de.Moved(what="round", state="idle"):
                self._over()
            case de.Command(act="light"):
                seat = int(decision.slot.rpartition(".")[2])
                assert self.fates.get(seat) == "accepted", f"the light of seat {seat} comes before its bet is booked"
            case de.WagersReturned(seat=None):
                self.settles = "progressive" in decision.settled
                return not self.settles
        return False

    def _hit_moved(self, moved: de.Moved) -> None:
        seat = self.hits[moved.what]
        if moved.state == "withdrawn":
            del self.hits[moved.what]
            self.paid = [paid for paid in self.paid if paid != seat]
        elif moved.state in _ENDS:
            assert seat not in self.paid, f"seat {seat} is paid twice"
            self.paid.append(seat)
            self.documented = self.documented or moved.state == "documented"

    def _void(self, ours: dict[str, int]) -> None:
        """Everything of a void round goes back, but what an attendant has paid."""
        if self.documented:
            return
        assert set(self.fates.values()) <= {"returned"}, f"a void round keeps bets: {self.fates}"
        assert not self.hits, "a void round keeps hits"
        if self.fates and not self.low:
            before = {account: amount for account, amount in self.before.items() if amount}
            assert ours == before, "a void round left a trace"

    def _over(self) -> None:
        """The round ended: every bet has ended once, every hit was paid."""
        assert set(self.fates.values()) <= {"lost", "won", "returned"}, f"a bet was never settled: {self.fates}"
        won = sorted(seat for seat, fate in self.fates.items() if fate == "won")
        assert sorted(self.hits.values()) == won == sorted(self.paid), "a hit was not paid, or not won"
        self.fates, self.hits, self.paid, self.documented, self.settles = {}, {}, [], False, False


def _change(entry: Entry) -> Counter[str]:
    change: Counter[str] = Counter()
    for transfer in entry.transfers:
        change[transfer.source] -= transfer.amount
        change[transfer.to] += transfer.amount
    return change
