"""Hits: what a claimed line takes out of the meter, how it is paid, and how a claim that fails is undone.

Who has to see what before anything is paid is the table's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from table_controller.ledger.money import (
    ENVY,
    FIXED,
    HAND_PAYS,
    HOUSE,
    METER,
    PENDING,
    RESERVE,
    SEED,
    STAKES,
    Transfer,
    payable,
)

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.ledger.money import Entry, MoneyBook


class Hit(msgspec.Struct):
    """One claimed hand. Its amount is frozen: what the meter does afterwards does not change it."""

    id: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int  # of the meter, in whole cents
    stake: int  # of the bet that comes back besides
    from_reserve: int = 0  # of the re-seed that followed
    from_seed: int = 0
    state: str = "claimed"  # moved by the table's machine of hits
    by_table: bool = False  # paid from the table; else by an attendant
    dark: bool = False  # the seat's light did not burn: a floorperson looks the bet up

    @property
    def amount(self) -> int:
        """What the player is paid."""
        return self.fixed + self.share


class EnvyPaid(msgspec.Struct):
    """What one seat was paid for another's hand."""

    of: int
    seat: int
    amount: int


def claim(book: MoneyBook, rules: MeterRules, id_: int, round_: int, seat: int, hand: str) -> tuple[Hit, Entry]:
    """Take a claimed hit out of the meter as it stands, and re-seed it if it was won whole, in one entry.

    So play goes on under a meter that owes nobody anything. What is less than a cent stays in it.
    """
    award = rules.award(hand)
    share = payable(book.at(METER), award.percent)
    won_whole = award.percent == 100
    from_reserve = min(rules.reseed, book.at(RESERVE)) if won_whole else 0
    from_seed = rules.reseed - from_reserve if won_whole else 0
    entry = book.post(
        "hit",
        Transfer(METER, PENDING, share),
        Transfer(HOUSE, PENDING, award.fixed),
        Transfer(RESERVE, METER, from_reserve),
        Transfer(SEED, METER, from_seed),
        round=round_, seat=seat, hit=id_, clauses=rules.clauses,
    )  # fmt: skip
    return Hit(id_, round_, seat, hand, award.fixed, share, award.stake, from_reserve, from_seed), entry


def withdraw(book: MoneyBook, hit: Hit, clauses: tuple[str, ...]) -> Entry:
    """Undo a claim that is not paid: its amount goes back, and so does the re-seed, as far as the meter does not fall.

    A meter that was won whole while it stood below its seed keeps the difference.
    """
    to_reserve = min(hit.from_reserve, hit.share)
    to_seed = min(hit.from_seed, hit.share - to_reserve)
    return book.post(
        "hit_withdrawn",
        Transfer(PENDING, METER, hit.share),
        Transfer(PENDING, HOUSE, hit.fixed),
        Transfer(METER, SEED, to_seed),
        Transfer(METER, RESERVE, to_reserve),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses,
    )  # fmt: skip


def pay_from_table(book: MoneyBook, hit: Hit, clauses: tuple[str, ...]) -> Entry:
    """The dealer has paid a fixed award from the table, and given the bet back where the table says so."""
    assert hit.share == 0, "a share of the meter never comes from the table"
    hit.by_table = True
    return book.post(
        "award_paid", Transfer(PENDING, FIXED, hit.fixed), Transfer(HOUSE, STAKES, hit.stake),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses,
    )  # fmt: skip


def pay_by_attendant(book: MoneyBook, hit: Hit, clauses: tuple[str, ...], document: str) -> Entry:
    """An attendant has paid a hit and documented it; the bet itself comes back from the table."""
    return book.post(
        "hand_pay_paid", Transfer(PENDING, HAND_PAYS, hit.amount), Transfer(HOUSE, STAKES, hit.stake),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses, document=document,
    )  # fmt: skip


def take_back(book: MoneyBook, hit: Hit, clauses: tuple[str, ...]) -> Entry:
    """A void round: what the table paid comes back to it, and the bet that went back is a bet again."""
    assert hit.by_table
    return book.post(
        "award_returned", Transfer(FIXED, HOUSE, hit.fixed), Transfer(STAKES, HOUSE, hit.stake),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses,
    )  # fmt: skip


def pay_envy(
    book: MoneyBook, rules: MeterRules, round_: int, of: int, hand: str, seats: tuple[int, ...],
    clauses: tuple[str, ...],
) -> tuple[list[EnvyPaid], Entry]:  # fmt: skip
    """Pay a hand's envy to other seats, from the table; several hands add up."""
    each = rules.award(hand).envy
    assert each > 0, f"{hand} pays no envy"
    assert of not in seats, "nobody is paid for his own hand"
    transfers = [Transfer(HOUSE, ENVY, each) for _ in seats]
    entry = book.post("envy", *transfers, round=round_, seat=of, clauses=clauses)
    return [EnvyPaid(of, seat, each) for seat in seats], entry


def take_envy_back(book: MoneyBook, paid: EnvyPaid, round_: int, clauses: tuple[str, ...]) -> Entry:
    """A void round: what was paid for another's hand comes back."""
    return book.post("envy_returned", Transfer(ENVY, HOUSE, paid.amount), round=round_, seat=paid.seat, clauses=clauses)
