"""Hits: what a claimed line takes out of the meter, how it is paid, and how a withdrawn claim is reversed.

`table.hits` decides who must confirm what before a payment.
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
    payable_share,
)

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.ledger.money import MoneyBook, MoneyEntry


class Hit(msgspec.Struct):
    """One claimed hand. Later bets do not change its amount; a withdrawn earlier claim does, until it is paid."""

    id: int
    round: int
    seat: int
    hand: str
    fixed: int
    share: int  # of the meter, in whole cents
    stake: int  # the bet, if it is returned in addition
    from_reserve: int = 0  # part of the re-seed after this hit
    from_seed: int = 0
    state: str = "claimed"  # changed by the state machine of hits
    by_table: bool = False  # paid from the table; else by an attendant
    dark: bool = False  # the seat's light was off: a floorperson looks up the bet
    percent: int = 0  # share of the meter that its line pays
    dealers: list[str] = []  # people who claimed the hand, confirmed it or checked its light
    looked_up_by: str = ""  # the person who looked up the bet when the light was off
    validated_by: str = ""

    @property
    def amount(self) -> int:
        """The amount paid to the player."""
        return self.fixed + self.share

    @property
    def on_meter(self) -> bool:
        """Whether its line pays from the meter, so that its amount depends on earlier claims."""
        return self.percent > 0 or self.share > 0


class EnvyPaid(msgspec.Struct):
    """Envy paid to one seat for another seat's hand."""

    of: int
    seat: int
    amount: int


def claim(book: MoneyBook, rules: MeterRules, id_: int, round_: int, seat: int, hand: str) -> tuple[Hit, MoneyEntry]:
    """Take a claimed hit out of the meter, and re-seed the meter if all of it was won, in one entry.

    Play can continue with the new meter at once. Fractions of a cent stay in it.
    """
    award = rules.award(hand)
    hit = Hit(id_, round_, seat, hand, award.fixed, 0, award.stake)
    return hit, _book_claim(book, rules, hit, "hit")


def rebook(book: MoneyBook, rules: MeterRules, hit: Hit) -> MoneyEntry:
    """Record a reversed claim again, on the current meter."""
    return _book_claim(book, rules, hit, "hit_rebooked")


def _book_claim(book: MoneyBook, rules: MeterRules, hit: Hit, kind: Literal["hit", "hit_rebooked"]) -> MoneyEntry:
    hit.percent = rules.award(hit.hand).percent
    hit.share = payable_share(book.balance(METER), hit.percent)
    won_whole = hit.percent == 100
    hit.from_reserve = min(rules.reseed, book.balance(RESERVE)) if won_whole else 0
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
) -> MoneyEntry:
    """Reverse an unpaid claim exactly, transfer by transfer.

    If a later claim was paid meanwhile, the re-seed is reversed only as far as the meter keeps its seed.
    """
    exact = inverse(_booked(hit))
    if hit.id < book.last_paid:
        room = max(0, book.balance(METER) + hit.share - book.seed)
        to_reserve = min(hit.from_reserve, room)
        to_seed = min(hit.from_seed, room - to_reserve)
        exact = (*inverse(_booked(hit)[:2]), Transfer(METER, RESERVE, to_reserve), Transfer(METER, SEED, to_seed))
    return book.post(kind, *exact, round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses)


def pay_from_table(book: MoneyBook, hit: Hit, clauses: tuple[str, ...]) -> MoneyEntry:
    """Record that the dealer paid a fixed award from the table, and returned the bet where the paytable requires it."""
    assert not hit.on_meter, "a share of the meter never comes from the table"
    hit.by_table = True
    return book.post(
        "award_paid", Transfer(PENDING, FIXED, hit.fixed), Transfer(HOUSE, STAKES, hit.stake),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses,
    )  # fmt: skip


def pay_by_attendant(book: MoneyBook, hit: Hit, clauses: tuple[str, ...], document: str) -> MoneyEntry:
    """Record that an attendant paid and documented a hit; the table returns the bet itself."""
    return book.post(
        "hand_pay_paid", Transfer(PENDING, HAND_PAYS, hit.amount), Transfer(HOUSE, STAKES, hit.stake),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses, document=document,
    )  # fmt: skip


def reverse_paid_hit(book: MoneyBook, hit: Hit, clauses: tuple[str, ...]) -> MoneyEntry:
    """Reverse a hit paid from the table, because the round or hand is void."""
    assert hit.by_table
    return book.post(
        "award_returned", Transfer(FIXED, HOUSE, hit.fixed), Transfer(STAKES, HOUSE, hit.stake),
        round=hit.round, seat=hit.seat, hit=hit.id, clauses=clauses,
    )  # fmt: skip


def pay_envy(
    book: MoneyBook, rules: MeterRules, round_: int, of: int, hand: str, seats: tuple[int, ...],
    clauses: tuple[str, ...],
) -> tuple[list[EnvyPaid], MoneyEntry]:  # fmt: skip
    """Record envy for a hand, paid from the table to other seats."""
    each = rules.award(hand).envy
    assert each > 0, f"{hand} pays no envy"
    assert of not in seats, "no player is paid for their own hand"
    transfers = [Transfer(HOUSE, ENVY, each) for _ in seats]
    entry = book.post("envy", *transfers, round=round_, seat=of, clauses=clauses)
    return [EnvyPaid(of, seat, each) for seat in seats], entry


def reverse_envy(book: MoneyBook, paid: EnvyPaid, round_: int, clauses: tuple[str, ...]) -> MoneyEntry:
    """Reverse paid envy, because the round or hand is void."""
    return book.post("envy_returned", Transfer(ENVY, HOUSE, paid.amount), round=round_, seat=paid.seat, clauses=clauses)
