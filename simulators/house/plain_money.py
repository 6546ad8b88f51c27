"""The money of a meter told a second time, as plainly as can be: fractions of a dollar in lists.

Slow and without cleverness, so that one can see that it is right. Knows nothing of accounts, entries or micro-dollars,
and reads the printed paytable itself.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from table_controller.rulebook.texts import Line, Paytable


def dollars(cents: int | None) -> Fraction:
    """Return cents as dollars."""
    return Fraction(cents or 0, 100)


class PlainBet:
    """A bet: what it cost, what it added to meter and reserve, and what did not fit under the limit."""

    def __init__(self, stake: Fraction, added: Fraction, set_aside: Fraction, over: Fraction) -> None:
        self.stake, self.added, self.set_aside, self.over = stake, added, set_aside, over


class PlainHit:
    """A claimed hand: what is due, and with what the meter was filled up again."""

    def __init__(self, fixed: Fraction, share: Fraction, stake: Fraction) -> None:
        self.fixed, self.share, self.stake = fixed, share, stake
        self.from_reserve = self.from_house = Fraction(0)


class PlainMoney:
    """One meter and everything that was ever done to it."""

    def __init__(self, table: Paytable, rate: Fraction, *, stake_back: bool) -> None:
        self.table, self.rate, self.stake_back = table, rate, stake_back
        self.limit: Fraction | None = None
        self.seed = dollars(table.seed_cents)
        self.unit = dollars(table.unit_cents)
        self.meter = self.seed
        self.reserve = Fraction(0)
        self.overflow = Fraction(0)
        self.seeds = [self.seed]  # what the house put in
        self.bets: Counter[Fraction] = Counter()  # that stand: how many of each amount
        self.pending: list[PlainHit] = []
        self.by_table: list[PlainHit] = []
        self.by_hand: list[PlainHit] = []
        self.envy: list[Fraction] = []
        self.corrections: list[Fraction] = []

    def bet(self) -> PlainBet:
        """A bet comes in."""
        part = self.unit * self.rate
        room = part if self.limit is None else max(Fraction(0), self.limit - self.meter)
        added = min(part, room)
        set_aside = self.unit * Fraction(self.table.reserve_percent or 0, 100)
        self.overflow += part - added
        self.meter += added
        self.reserve += set_aside
        self.bets[self.unit] += 1
        return PlainBet(self.unit, added, set_aside, part - added)

    def back(self, bet: PlainBet) -> None:
        """A bet goes back, with what it added; the meter stops at its seed."""
        can_give = self.meter - self.seed
        taken = bet.added if can_give >= bet.added else (can_give if can_give > 0 else Fraction(0))
        self.meter -= taken
        missing = bet.set_aside + (bet.added - taken)
        self.reserve -= min(missing, self.reserve)
        self.overflow -= bet.over
        assert self.bets[bet.stake] > 0, "a bet goes back that does not stand"
        self.bets[bet.stake] -= 1

    def hit(self, line: Line) -> PlainHit:
        """A hand is claimed."""
        assert line.pay is not None
        fixed = dollars(line.pay.fixed_cents)
        if line.pay.odds is not None:
            fixed = self.unit * Fraction(*line.pay.odds)
        cents = self.meter * 100 * (line.pay.meter_percent or 0) / 100
        hit = PlainHit(fixed, Fraction(int(cents), 100), self.unit if self.stake_back else Fraction(0))
        self.meter -= hit.share
        if line.pay.meter_percent == 100:
            again = dollars(self.table.seed_cents if self.table.reseed_cents is None else self.table.reseed_cents)
            hit.from_reserve = min(again, self.reserve)
            hit.from_house = again - hit.from_reserve
            self.reserve -= hit.from_reserve
            self.seeds.append(hit.from_house)
            self.meter += again
        self.pending.append(hit)
        return hit

    def withdraw(self, hit: PlainHit) -> None:
        """A claim was wrong."""
        self.pending.remove(hit)
        left = hit.share
        to_reserve = min(left, hit.from_reserve)
        to_house = min(left - to_reserve, hit.from_house)
        self.reserve += to_reserve
        self.seeds.append(-to_house)
        self.meter += left - to_reserve - to_house

    def pay(self, hit: PlainHit, *, table: bool) -> None:
        """A hit is paid."""
        self.pending.remove(hit)
        (self.by_table if table else self.by_hand).append(hit)

    def unpay(self, hit: PlainHit) -> None:
        """What the table paid comes back."""
        self.by_table.remove(hit)

    @property
    def staked(self) -> Fraction:
        """What all bets that stand cost together."""
        return sum((amount * bets for amount, bets in self.bets.items()), Fraction(0))

    @property
    def house(self) -> Fraction:
        """What the house has of it all: everything that came in and is nowhere else."""
        came = self.staked + sum(self.seeds, Fraction(0)) + sum(self.corrections, Fraction(0))
        paid = [each.fixed + each.share + each.stake for each in (*self.by_table, *self.by_hand)]
        owed = [each.fixed + each.share for each in self.pending]
        gone = sum(paid, Fraction(0)) + sum(owed, Fraction(0)) + sum(self.envy, Fraction(0))
        return came - self.meter - self.reserve - self.overflow - gone
