"""The money part of the invariant monitor: keeps its own accounts from the decisions alone.

Invariants: accounts sum to zero and move by decisions only; every accepted bet adds once, before its light, and ends
once; the meter falls only where it may; a void round changes no account. After every step the accounts equal what is
owed on the bets and claims in force, recomputed from scratch in fractions by an independent ledger.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from simulators.casino.reference_ledger import ReferenceLedger
from table_controller.table import decisions as de

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.ledger.money import MoneyEntry
    from table_controller.table.state import TableState

_MAY_FALL: Final = ("hit", "hit_rebooked", "hit_withdrawn", "hit_reversed", "correction", "reset", "bet_returned")
_UNSURE: Final = ("claimed", "hand_confirmed", "light_seen")
_ENDS: Final = ("paid", "documented")


class MoneyMonitor(msgspec.Struct):
    """The money invariants of one table."""

    accounts: dict[str, int] = {}
    entries: int = 0
    before: dict[str, int] = {}  # the accounts before the first bet of the round
    bet_states: dict[int, str] = {}  # of this round's bets, by seat: accepted, lost, won, returned
    hits: dict[str, int] = {}  # in force, with their seat
    paid: list[int] = []  # seats whose hit was paid
    documented: bool = False  # an attendant has paid one: that is not undone
    settles: bool = False  # the round is void, and its bets are settled all the same
    owed: ReferenceLedger | None = None  # what is owed; None: this table has no meter
    hit_states: dict[str, str] = {}  # the stage of each hit in force on the meter, in the order of claims
    slips: list[str] = []

    @classmethod
    def of(cls, rules: MeterRules | None) -> MoneyMonitor:
        """Return a monitor of a meter that was not seeded yet."""
        return cls(owed=None if rules is None else ReferenceLedger.from_rules(rules))

    def key(self) -> object:
        """Return the state that identifies this monitor in a search; amounts are left out."""
        return sorted(self.bet_states.items()), sorted(self.hits.values()), sorted(self.paid), self.settles

    def watch(self, decisions: list[de.Decision], latched: dict[int, bool], state: TableState) -> None:
        """Take one step; AssertionError for a broken invariant."""
        void = False
        for decision in decisions:
            if isinstance(decision, de.Booked):
                self._booked(decision.entry)
            void = self._decision(decision, latched) or void
        self._owe(decisions)
        held = {account: amount for account, amount in state.money.book.held.items() if amount}
        ours = {account: amount for account, amount in self.accounts.items() if amount}
        assert held == ours, "money moved without a decision"
        assert sum(ours.values()) == 0, f"the accounts sum to {sum(ours.values())}"
        if void:
            self._void(ours)
        if (
            self.owed is not None
            and self.entries
            and any(isinstance(d, (de.Booked, de.StateChanged)) for d in decisions)
        ):
            due = {account: amount for account, amount in self.owed.accounts().items() if amount}
            assert ours == due, f"the accounts hold {ours}, and {due} is owed"

    def _owe(self, decisions: list[de.Decision]) -> None:
        """Enter in the second bookkeeping what came, was claimed, fell and was paid; no amounts of hits."""
        owed = self.owed
        if owed is None:
            return
        falling = [_hit_number(d) for d in decisions if isinstance(d, de.StateChanged) and _falls(d)]
        back = [d.seat for d in decisions if isinstance(d, de.BetReturned)]
        if falling or back:
            owed.undo(falling, back)
        for decision in decisions:
            match decision:
                case de.BetAccepted():
                    owed.bet(decision.seat)
                case de.HitClaimed():
                    owed.claim(decision.hit, decision.seat, decision.hand)
                case de.StateChanged(state="paid" | "documented") if decision.what.startswith("hit "):
                    owed.pay(_hit_number(decision), "table" if decision.state == "paid" else "hand")
                case de.StateChanged(what="round", state="idle"):
                    owed.end_round()
                case de.MeterSet():
                    owed.rate_bp, owed.limit = decision.rate_bp, decision.limit
                case de.Booked():
                    change = _change(decision.entry)
                    owed.envy += change["envy"]
                    owed.corrections -= change["corrections"]
                    if decision.entry.kind == "transfer":
                        owed.transfer_overflow(change["meter"])
                    elif decision.entry.kind in ("correction", "reset"):
                        owed.meter += change["meter"]
                        owed.seeded -= change["seed"]

    def _booked(self, entry: MoneyEntry) -> None:
        assert entry.number == self.entries + 1, "an entry is missing, or is there twice"
        self.entries = entry.number
        if entry.kind == "bet" and not self.bet_states:
            self.before = dict(self.accounts)
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
        if entry.kind == "hand_pay_paid":
            assert entry.document not in self.slips, f"{entry.document} documents two hand pays"
            self.slips.append(entry.document)

    def _decision(self, decision: de.Decision, latched: dict[int, bool]) -> bool:
        """Take one decision; return whether it makes the round void, bets included."""
        match decision:
            case de.BetAccepted():
                assert latched.get(decision.seat), f"seat {decision.seat} adds to the meter without a latched bet"
                assert decision.seat not in self.bet_states, f"seat {decision.seat} adds to the meter twice"
                assert -_change(decision.entry)["bets"] == decision.amount, "a bet and what it adds are not the same"
                self.bet_states[decision.seat] = "accepted"
            case de.BetReturned():
                assert self.bet_states[decision.seat] != "returned", f"the bet of seat {decision.seat} goes back twice"
                assert _change(decision.entry)["bets"] == decision.amount, "not the whole bet went back"
                self.bet_states[decision.seat] = "returned"
            case de.BetSettled():
                assert self.bet_states[decision.seat] in ("accepted", "won"), f"seat {decision.seat} is settled twice"
                self.bet_states[decision.seat] = decision.outcome
            case de.HitClaimed():
                assert self.bet_states[decision.seat] == "won", "a hit without a winning bet"
                assert decision.seat not in self.hits.values(), "two hits for one bet"
                self.hits[f"hit {decision.hit}"] = decision.seat
                if decision.share:
                    self.hit_states[f"hit {decision.hit}"] = "claimed"
            case de.StateChanged() if decision.what.startswith("hit "):
                self._hit_moved(decision)
            case de.StateChanged(what="round", state="idle"):
                self._over()
            case de.Command(act="light"):
                seat = int(decision.slot.rpartition(".")[2])
                assert self.bet_states.get(seat) == "accepted", (
                    f"the light of seat {seat} comes before its bet is booked"
                )
            case de.WagersReturned(seat=None):
                self.settles = "progressive" in decision.settled
                return not self.settles
        return False

    def _hit_moved(self, moved: de.StateChanged) -> None:
        seat = self.hits[moved.what]
        if moved.what in self.hit_states:
            earlier = [life for hit, life in self.hit_states.items() if int(hit[4:]) < int(moved.what[4:])]
            final = not any(life in _UNSURE for life in earlier)
            assert final or moved.state not in ("validated", *_ENDS), "a provisional amount is validated or paid"
            self.hit_states[moved.what] = moved.state
        if moved.state == "withdrawn":
            del self.hits[moved.what]
            self.hit_states.pop(moved.what, None)
            self.paid = [paid for paid in self.paid if paid != seat]
        elif moved.state in _ENDS:
            assert seat not in self.paid, f"seat {seat} is paid twice"
            self.paid.append(seat)
            self.documented = self.documented or moved.state == "documented"

    def _void(self, ours: dict[str, int]) -> None:
        """Everything of a void round goes back, but what an attendant has paid."""
        if self.documented:
            return
        assert set(self.bet_states.values()) <= {"returned"}, f"a void round keeps bets: {self.bet_states}"
        assert not self.hits, "a void round keeps hits"
        if self.bet_states:
            before = {account: amount for account, amount in self.before.items() if amount}
            assert ours == before, "a void round left a trace"

    def _over(self) -> None:
        """The round ended: every bet has ended once, every hit was paid."""
        assert set(self.bet_states.values()) <= {"lost", "won", "returned"}, (
            f"a bet was never settled: {self.bet_states}"
        )
        won = sorted(seat for seat, fate in self.bet_states.items() if fate == "won")
        assert sorted(self.hits.values()) == won == sorted(self.paid), "a hit was not paid, or not won"
        self.bet_states, self.hits, self.paid, self.documented, self.settles, self.hit_states = (
            {},
            {},
            [],
            False,
            False,
            {},
        )


def _falls(moved: de.StateChanged) -> bool:
    return moved.what.startswith("hit ") and moved.state == "withdrawn"


def _hit_number(moved: de.StateChanged) -> int:
    return int(moved.what.partition(" ")[2])


def _change(entry: MoneyEntry) -> Counter[str]:
    change: Counter[str] = Counter()
    for transfer in entry.transfers:
        change[transfer.source] -= transfer.amount
        change[transfer.to] += transfer.amount
    return change
