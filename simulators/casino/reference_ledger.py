"""A reference ledger: what the accounts of a meter must hold, computed from standing bets and claims, in order.

It uses fractions of a dollar and computes from scratch at every query. Nothing is reversed: withdrawn claims and
returned bets are left out, so it shares no arithmetic with the ledger. It reads the printed paytable itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from table_controller.ledger import money as accounts
from table_controller.rulebook import GAMES, paytables

if TYPE_CHECKING:
    from collections.abc import Collection

    from table_controller.ledger.meter import MeterRules
    from table_controller.rulebook.texts import Paytable, PaytableLine

ClaimState = Literal["open", "table", "hand"]
_NOTHING: Final = Fraction(0)
TABLES: Final[dict[str, Paytable]] = {table.id: table for game in GAMES for table in paytables(game)}


def dollars(cents: int | None) -> Fraction:
    """Return cents as dollars."""
    return Fraction(cents or 0, 100)


def to_micro(amount: Fraction) -> int:
    """Return dollars as micro-dollars; AssertionError if they are not a whole number."""
    whole = amount * accounts.DOLLAR
    assert whole.denominator == 1, f"{amount} is not a whole number of micro-dollars"
    return whole.numerator


class ReferenceBet(msgspec.Struct):
    """A standing bet: its stake and contributions when it was accepted, in micro-dollars."""

    seat: int
    stake: int
    added: int
    set_aside: int
    overflow: int = 0  # the part above the limit


class ReferenceClaim(msgspec.Struct):
    """A standing claim, and whether it is paid by table or by hand."""

    id: int
    seat: int
    hand: str
    state: ClaimState = "open"


class AmountDue(NamedTuple):
    """The amounts of a claim, and of the re-seed of the meter."""

    fixed: Fraction
    share: Fraction
    stake: Fraction
    from_reserve: Fraction
    from_house: Fraction


class FrozenClaim(msgspec.Struct):
    """A claim whose amount is final, because a later claim was paid; in micro-dollars."""

    claim: ReferenceClaim
    fixed: int
    share: int
    stake: int
    from_reserve: int
    from_house: int


class OwedTotals(NamedTuple):
    """The meter, its reserve and the seed money, after every standing bet and claim."""

    meter: Fraction
    reserve: Fraction
    seeded: Fraction
    dues: dict[int, AmountDue]  # by claim


class ReferenceLedger(msgspec.Struct):
    """One meter: totals of closed rounds, and standing bets and claims of this round. Amounts in micro-dollars."""

    table: str
    rate_bp: int
    returns_stake: bool
    limit: int | None = None
    # Totals of closed rounds.
    meter: int = 0
    reserve: int = 0
    seeded: int = 0
    staked: int = 0
    by_table: int = 0
    by_hand: int = 0
    stakes: int = 0
    envy: int = 0
    corrections: int = 0
    overflow: int = 0
    # The current round.
    bets: list[ReferenceBet] = []
    claims: list[ReferenceClaim] = []  # standing claims, in their order
    spent_bets: list[ReferenceBet] = []  # bets that were in the meter when a share of it was paid
    frozen_claims: list[FrozenClaim] = []

    @classmethod
    def from_rules(cls, rules: MeterRules) -> ReferenceLedger:
        """A meter that was just seeded."""
        seed = to_micro(dollars(TABLES[rules.table].seed_cents))
        back = any(award.stake for award in rules.awards)
        return cls(rules.table, rules.rate_bp, back, meter=seed, seeded=seed)

    # --- what is owed -------------------------------------------------------------------------------------------------

    def owed(self) -> OwedTotals:
        """Add every standing bet and claim to the totals of closed rounds."""
        meter, reserve, seeded = (Fraction(x, accounts.DOLLAR) for x in (self.meter, self.reserve, self.seeded))
        for bet in self.bets:
            meter += Fraction(bet.added, accounts.DOLLAR)
            reserve += Fraction(bet.set_aside, accounts.DOLLAR)
        dues = {}
        for claim in self.claims:
            due = self._due(self._line(claim.hand), meter, reserve)
            meter += due.from_reserve + due.from_house - due.share
            reserve -= due.from_reserve
            seeded += due.from_house
            dues[claim.id] = due
        return OwedTotals(meter, reserve, seeded, dues)

    def _due(self, line: PaytableLine, meter: Fraction, reserve: Fraction) -> AmountDue:
        """Return what a paytable line pays from this meter, in whole cents; a meter won whole is seeded again."""
        assert line.pay is not None
        printed, percent = TABLES[self.table], line.pay.meter_percent or 0
        unit = dollars(printed.unit_cents)
        fixed = dollars(line.pay.fixed_cents) if line.pay.odds is None else unit * Fraction(*line.pay.odds)
        share = Fraction(int(meter * 100 * percent / 100), 100)
        again = _NOTHING
        if percent == 100:
            again = dollars(printed.seed_cents if printed.reseed_cents is None else printed.reseed_cents)
        from_reserve = min(again, reserve)
        return AmountDue(fixed, share, unit if self.returns_stake else _NOTHING, from_reserve, again - from_reserve)

    def amount_of(self, claim: int) -> int:
        """Return the amount of a standing claim."""
        for each in self.frozen_claims:
            if each.claim.id == claim:
                return each.fixed + each.share
        due = self.owed().dues[claim]
        return to_micro(due.fixed + due.share)

    def accounts(self) -> dict[str, int]:
        """Return what each account must hold."""
        owed = self.owed()
        dues = [(claim.state, owed.dues[claim.id]) for claim in self.claims]
        rows = [(life, to_micro(due.fixed + due.share), to_micro(due.stake)) for life, due in dues]
        rows += [(each.claim.state, each.fixed + each.share, each.stake) for each in self.frozen_claims]
        by = {life: sum(amount for of, amount, _ in rows if of == life) for life in ("open", "table", "hand")}
        staked = self.staked + sum(bet.stake for bet in (*self.bets, *self.spent_bets))
        balances = {
            accounts.METER: to_micro(owed.meter),
            accounts.RESERVE: to_micro(owed.reserve),
            accounts.SEED: -to_micro(owed.seeded),
            accounts.PENDING: by["open"],
            accounts.FIXED: self.by_table + by["table"],
            accounts.HAND_PAYS: self.by_hand + by["hand"],
            accounts.STAKES: self.stakes + sum(stake for life, _, stake in rows if life != "open"),
            accounts.ENVY: self.envy,
            accounts.BETS: -staked,
            accounts.CORRECTIONS: -self.corrections,
            accounts.OVERFLOW: self.overflow + sum(bet.overflow for bet in (*self.bets, *self.spent_bets)),
        }
        return balances | {accounts.HOUSE: -sum(balances.values())}  # the remainder

    def _line(self, hand: str) -> PaytableLine:
        return next(line for line in TABLES[self.table].lines if line.hand == hand)

    # --- what happens -------------------------------------------------------------------------------------------------

    def bet(self, seat: int) -> None:
        """Accept a bet, limited by the room below the limit."""
        printed, meter = TABLES[self.table], self.owed().meter
        unit = dollars(printed.unit_cents)
        part = unit * Fraction(self.rate_bp, 10_000)
        room = part if self.limit is None else max(_NOTHING, Fraction(self.limit, accounts.DOLLAR) - meter)
        added = min(part, room)
        set_aside = unit * Fraction(printed.reserve_percent or 0, 100)
        self.bets.append(
            ReferenceBet(seat, to_micro(unit), to_micro(added), to_micro(set_aside), to_micro(part - added))
        )

    def correct(self, amount: int) -> None:
        """Correct the meter between two rounds."""
        self.meter += amount
        self.corrections += amount

    def transfer_overflow(self, amount: int) -> None:
        """Transfer overflow back to the meter between two rounds."""
        self.meter += amount
        self.overflow -= amount

    def claim(self, id_: int, seat: int, hand: str) -> None:
        """Add a claim, last in the order."""
        self.claims.append(ReferenceClaim(id_, seat, hand))

    def pay(self, id_: int, state: ClaimState) -> None:
        """Pay a claim. A share paid by hand is final, and so is everything that it was computed from."""
        for each in self.frozen_claims:
            if each.claim.id == id_:
                each.claim.state = state
                return
        claim = next(each for each in self.claims if each.id == id_)
        claim.state = state
        pay = self._line(claim.hand).pay
        if state == "hand" and pay is not None and pay.meter_percent:
            self._keep(self.claims.index(claim) + 1)

    def _keep(self, paid: int) -> None:
        """Make the first so many claims final."""
        later, self.claims = self.claims[paid:], self.claims[:paid]
        owed = self.owed()
        self.frozen_claims += [FrozenClaim(each, *map(to_micro, owed.dues[each.id])) for each in self.claims]
        self.meter, self.reserve, self.seeded = to_micro(owed.meter), to_micro(owed.reserve), to_micro(owed.seeded)
        self.spent_bets += self.bets
        self.bets, self.claims = [], later

    def undo(self, claims: Collection[int], seats: Collection[int]) -> None:
        """Withdraw claims and return bets of seats, as if they had never been there."""
        self.claims = [claim for claim in self.claims if claim.id not in claims]
        self.bets = [bet for bet in self.bets if bet.seat not in seats]
        for fallen in [each for each in self.frozen_claims[::-1] if each.claim.id in claims]:
            self._fall_late(fallen)
        for bet in [bet for seat in seats for bet in self.spent_bets if bet.seat == seat]:
            self._give_back_late(bet)

    def _fall_late(self, fallen: FrozenClaim) -> None:
        """Withdraw a final claim: take the re-seed back as far as the meter keeps its seed."""
        self.frozen_claims.remove(fallen)
        if fallen.claim.state == "table":
            return
        self.meter += fallen.share
        above = max(0, self.meter - self._seed)
        to_reserve = min(fallen.from_reserve, above)
        to_house = min(fallen.from_house, above - to_reserve)
        self.meter -= to_reserve + to_house
        self.reserve += to_reserve
        self.seeded -= to_house

    def _give_back_late(self, bet: ReferenceBet) -> None:
        """Return a bet after a share was paid: the meter keeps its seed, the reserve pays the rest, then the casino."""
        self.spent_bets.remove(bet)
        taken = min(bet.added, max(0, self.meter - self._seed))
        self.meter -= taken
        self.reserve -= min(self.reserve, bet.set_aside + bet.added - taken)

    @property
    def _seed(self) -> int:
        return to_micro(dollars(TABLES[self.table].seed_cents))

    def end_round(self) -> None:
        """End the round: every standing claim is paid, and everything moves to the totals of closed rounds."""
        self._keep(len(self.claims))
        for each in self.frozen_claims:
            assert each.claim.state != "open", f"a round ended, and the claim of seat {each.claim.seat} is not paid"
            self.by_table += each.fixed if each.claim.state == "table" else 0
            self.by_hand += each.fixed + each.share if each.claim.state == "hand" else 0
            self.stakes += each.stake
        self.staked += sum(bet.stake for bet in self.spent_bets)
        self.overflow += sum(bet.overflow for bet in self.spent_bets)
        self.spent_bets, self.frozen_claims = [], []
