"""Hits: what a claimed line takes out of the meter, how it is paid, and how a claim that falls is reversed.

Who has to see what before anything is paid is the table's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

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
    inverse,
    payable,
)

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.ledger.money import Entry, MoneyBook


class Hit(msgspec.Struct):
    """One claimed hand. Bets do not change its amount any more; the fall of an earlier claim does, until it is paid."""

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
    percent: int = 0  # of the meter that its line pays
    dealers: list[str] = []  # persons who claimed the hand, confirmed it or saw its light
    looked_up_by: str = ""  # the person who looked the bet of a dark seat up
    validated_by: str = ""

    @property
    def amount(self) -> int:
        """What the player is paid."""
        return self.fixed + self.share

    @property
    def on_meter(self) -> bool:
        """Whether its line pays from the meter: then its amount depends on the claims before it."""
        return self.percent > 0 or self.share > 0


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
    hit = Hit(id_, round_, seat, hand, award.fixed, 0, award.stake)
    return hit, _take(book, rules, hit, "hit")


def rebook(book: MoneyBook, rules: MeterRules, hit: Hit) -> Entry:
    """Book a reversed claim again, on the meter as it stands now."""
    return _take(book, rules, hit, "hit_rebooked")


def _take(book: MoneyBook, rules: MeterRules, hit: Hit, kind: Literal["hit", "hit_rebooked"]) -> Entry:
    hit.percent = rules.award(hit.hand).percent
    hit.share = payable(book.at(METER), hit.percent)
    won_whole = hit.percent == 100
    hit.from_reserve = min(rules.reseed, book.at(RESERVE)) if won_whole else 0
    hit.from_seed = rules.reseed - hit.from_reserve if won_whole else 0
    return book.post(
        kind, *_booked(hit), round=hit.round, seat=hit.seat, hit=hit.id, clauses=rules.clauses,
    )  # fmt: skip


def _booked(hit: Hit) -> tuple[Transfer, ...]:
    return (
        Transfer(METER, PENDING, hit.share),
        Transfer(HOUSE, PENDING, hit.fixed),
        Transfer(RESERVE, METER, hit.from_reserve),
        Transfer(SEED, METER, hit.from_seed),
    )


def withdraw(
    book: MoneyBook,
    hit: Hit,
    clauses: tuple[str, ...],
    kind: Literal["hit_withdrawn", "hit_reversed"] = "hit_withdrawn",
) -> Entry:
    """Undo a claim that is not paid, exactly: every transfer of its booking goes the other way.

    Where a later claim was paid meanwhile, the re-seed goes back only as far as the meter keeps its seed.
    """
    exact = inverse(_booked(hit))
    if hit.id < book.last_paid:
        room = max(0, book.at(METER) + hit.share - book.seed)
        to_reserve = min(hit.from_reserve, room)
        to_seed = min(hit.from_seed, room - to_reserve)
        exact = (*inverse(_booked(hit)[:2]), Transfer(METER, RESERVE, to_reserve), Transfer(METER, SEED, to_seed))
    return book.post(kind, *exact, round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses)


def pay_from_table(book: MoneyBook, hit: Hit, clauses: tuple[str, ...]) -> Entry:
    """The dealer has paid a fixed award from the table, and given the bet back where the table says so."""
    assert not hit.on_meter, "a share of the meter never comes from the table"
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
    """A void round or hand: what the table paid comes back to it, and the bet that went back is a bet again."""
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
    """A void round or hand: what was paid for another's hand comes back."""
    return book.post("envy_returned", Transfer(ENVY, HOUSE, paid.amount), round=round_, seat=paid.seat, clauses=clauses)
