"""Money as double entry in integer micro-dollars: accounts, entries, and what no entry may do. No rule of a game."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal

import msgspec

CENT: Final = 10_000  # micro-dollars
DOLLAR: Final = 100 * CENT

# Where money comes from; these fall below zero by what has come.
BETS: Final = "bets"  # chips of players that were accepted as bets, less those given back
SEED: Final = "seed"  # what the certificate holder put into the meter as seed and re-seed
# Where it is.
METER: Final = "meter"
RESERVE: Final = "reserve"  # set aside for the next seed
OVERFLOW: Final = "overflow"  # what bets would have added above the meter's limit; back to play by a transfer only
HOUSE: Final = "house"  # what is left of bets, less what is paid at fixed amounts
PENDING: Final = "pending"  # hits that were claimed and are not paid: out of the meter
# Where it went; these only grow, but for the reversal of a void round.
FIXED: Final = "fixed_awards"  # paid from the table
HAND_PAYS: Final = "hand_pays"  # paid by an attendant
ENVY: Final = "envy"
STAKES: Final = "stakes_returned"  # of winning bets, where the table gives the bet back besides its pay
# People's corrections of the meter; each names its document.
CORRECTIONS: Final = "corrections"

ACCOUNTS: Final = (BETS, SEED, METER, RESERVE, HOUSE, PENDING, FIXED, HAND_PAYS, ENVY, STAKES, CORRECTIONS, OVERFLOW)
# Nobody can pay out of these what is not there.
_NEVER_NEGATIVE: Final = (METER, RESERVE, OVERFLOW, PENDING, FIXED, HAND_PAYS, ENVY, STAKES)

Kind = Literal[
    "seed", "bet", "bet_returned", "hit", "hit_withdrawn", "award_paid", "award_returned", "hand_pay_paid", "envy",
    "envy_returned", "correction", "reset", "hit_reversed", "hit_rebooked", "transfer",
]  # fmt: skip
# A claim is booked by these, and undone by those; a reversed one is booked again in the same step.
CLAIMS: Final = ("hit", "hit_rebooked")
REVERSALS: Final = ("hit_withdrawn", "hit_reversed")
# What may lower the meter, and nothing else: a hit, the reversal of one, a documented correction, a bet's return.
LOWERS: Final = (*CLAIMS, *REVERSALS, "correction", "reset", "bet_returned")
_DOCUMENTED: Final = ("correction", "reset", "transfer", "hand_pay_paid")
# What two people move by hand: the document of each is used once. A hand pay has its slip instead.
BY_HAND: Final = ("correction", "reset", "transfer")
# Dollars with or without commas, and two to six digits behind the point.
_WRITTEN: Final = re.compile(
    r"(?P<sign>[+-]?)\$?(?P<dollars>[0-9]{1,3}(?:,[0-9]{3})*|[0-9]{1,12})\.(?P<part>[0-9]{2,6})", re.ASCII
)


class BadEntry(ValueError):
    """An entry that the book does not take: it would break a promise. The book is as it was."""


class Transfer(msgspec.Struct, frozen=True):
    """So many micro-dollars went from one account to another; never none, and never less."""

    source: str
    to: str
    amount: int


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one thing that happened did to the accounts, whole or not at all; the meter before and after it."""

    number: int
    kind: Kind
    transfers: tuple[Transfer, ...]
    meter_before: int
    meter_after: int
    round: int = 0
    seat: int | None = None
    hit: int | None = None
    clauses: tuple[str, ...] = ()
    document: str = ""


class Meters(msgspec.Struct, frozen=True):
    """What the progressive system must be able to show (605a.7), in micro-dollars."""

    current: int
    reserve: int
    pending: int
    paid_by_table: int
    paid_by_attendant: int
    overflow: int = 0

    @property
    def cumulative(self) -> int:
        """Everything that was ever paid out."""
        return self.paid_by_table + self.paid_by_attendant


class MoneyBook(msgspec.Struct):
    """The accounts of one meter. They sum to zero, always."""

    held: dict[str, int] = {}
    entries: int = 0  # so many were booked; the last one has this number
    seed: int = 0  # what the meter was opened with
    claims: dict[int, tuple[Transfer, ...]] = {}  # unpaid, by hit: what its last booking moved
    bets: dict[int, tuple[Transfer, ...]] = {}  # of the round in hand, by seat: what each one moved
    bets_round: int = 0
    last_paid: int = 0  # the latest hit, by its number, whose share of the meter an attendant has paid
    last_paid_round: int = 0
    slips: list[tuple[int, int]] = []  # every number of a hand pay's slip, as runs (first, last) in their order
    documents: list[str] = []  # every document of what was moved by hand, as `document_key` has them

    def at(self, account: str) -> int:
        """Return what an account holds; below zero: what has come out of it."""
        return self.held.get(account, 0)

    @property
    def meters(self) -> Meters:
        """The amounts that people may ask for."""
        by_table = self.at(FIXED) + self.at(ENVY)
        return Meters(
            self.at(METER), self.at(RESERVE), self.at(PENDING), by_table, self.at(HAND_PAYS), self.at(OVERFLOW)
        )

    def post(
        self,
        kind: Kind,
        *transfers: Transfer,
        round: int = 0,  # noqa: A002 - the house's word for it
        seat: int | None = None,
        hit: int | None = None,
        clauses: tuple[str, ...] = (),
        document: str = "",
    ) -> Entry:
        """Book an entry as a whole; BadEntry, and nothing is booked, if it would break a promise."""
        moved = tuple(transfer for transfer in transfers if transfer.amount != 0)
        after = dict(self.held)
        for one in moved:
            if type(one.amount) is not int or one.amount < 0:
                raise BadEntry(f"{one.amount!r} is no amount")
            for account, change in ((one.source, -one.amount), (one.to, one.amount)):
                if account not in ACCOUNTS:
                    raise BadEntry(f"there is no account {account}")
                after[account] = after.get(account, 0) + change
        entry = Entry(
            number=self.entries + 1, kind=kind, transfers=moved, meter_before=self.at(METER),
            meter_after=after.get(METER, 0), round=round, seat=seat, hit=hit, clauses=clauses, document=document,
        )  # fmt: skip
        self._check(entry, after)
        self.held, self.entries = after, entry.number
        self._remember(entry)
        return entry

    def has_slip(self, number: int) -> bool:
        """Return whether a hand pay was documented under this number before."""
        return any(first <= number <= last for first, last in self.slips)

    def has_document(self, document: str) -> bool:
        """Return whether money was moved by hand under this document before."""
        return document_key(document) in self.documents

    def _remember(self, entry: Entry) -> None:
        """Keep what a later reversal must be the exact inverse of, and which slips and documents are used."""
        if entry.kind in BY_HAND:
            self.documents.append(document_key(entry.document))
        if entry.kind == "bet" and entry.seat is not None:
            if entry.round != self.bets_round:
                self.bets, self.bets_round = {}, entry.round
            self.bets[entry.seat] = entry.transfers
        elif entry.kind == "bet_returned" and entry.seat is not None:
            self.bets.pop(entry.seat, None)
        if entry.hit is None:
            return
        if entry.kind in CLAIMS:
            self.claims[entry.hit] = entry.transfers
            return
        booked = self.claims.pop(entry.hit, ())
        if entry.kind == "hand_pay_paid":
            self.slips = with_number(self.slips, slip_number(entry.document))
            if any(one.source == METER for one in booked):
                self.last_paid, self.last_paid_round = max(self.last_paid, entry.hit), entry.round

    def _check(self, entry: Entry, after: dict[str, int]) -> None:
        if sum(after.values()) != 0:
            raise BadEntry(f"the accounts would sum to {sum(after.values())}")
        short = [account for account in _NEVER_NEGATIVE if after.get(account, 0) < 0]
        if short:
            raise BadEntry(f"{entry.kind}: {', '.join(short)} cannot pay that")
        if entry.kind in _DOCUMENTED and not entry.document:
            raise BadEntry(f"a {entry.kind} names its document")
        if entry.kind in BY_HAND and self.has_document(entry.document):
            raise BadEntry(f"document {entry.document} was used before; each document is used once")
        if entry.kind == "bet_returned" and not (entry.round and entry.clauses):
            raise BadEntry("a bet that goes back names its round and the clause that orders it")
        if entry.kind == "hand_pay_paid" and self.has_slip(slip_number(entry.document)):
            raise BadEntry(f"{entry.document} has documented another hand pay")
        if entry.kind in REVERSALS:
            self._check_withdrawal(entry)
        elif entry.kind == "bet_returned":
            self._check_return(entry)
        elif entry.meter_after < entry.meter_before and entry.kind not in LOWERS:
            raise BadEntry(f"the meter does not fall by a {entry.kind}")

    def _check_withdrawal(self, entry: Entry) -> None:
        """A claim goes back exactly as it was booked; where a later share was paid, the seed stays in the meter."""
        booked = self.claims.get(entry.hit or 0)
        if booked is None:
            raise BadEntry(f"{entry.kind}: no unpaid claim of hit {entry.hit} is booked")
        if Counter(entry.transfers) == Counter(inverse(booked)):
            return
        if (entry.hit or 0) > self.last_paid or entry.meter_after < min(self.seed, entry.meter_before):
            raise BadEntry(f"{entry.kind}: not the exact reversal of its claim")

    def _check_return(self, entry: Entry) -> None:
        """A bet goes back exactly as it came in; where a share was paid since, the seed stays in the meter."""
        came = self.bets.get(entry.seat or 0, ()) if entry.round == self.bets_round else ()
        if not came:
            raise BadEntry(f"no bet of seat {entry.seat} in round {entry.round} can go back")
        if Counter(entry.transfers) == Counter(inverse(came)):
            return
        if entry.round != self.last_paid_round:
            raise BadEntry("a bet that goes back is the exact reversal of its acceptance")
        if entry.meter_after < min(self.seed, entry.meter_before):
            raise BadEntry("a bet that goes back does not take the meter below its seed")


def inverse(transfers: tuple[Transfer, ...]) -> tuple[Transfer, ...]:
    """Return what undoes an entry exactly: each transfer the other way, the last one first."""
    return tuple(Transfer(one.to, one.source, one.amount) for one in reversed(transfers))


def document_key(document: str) -> str:
    """Return a document's name as it is compared: neither blanks nor capitals make two documents of one."""
    return " ".join(document.split()).casefold()


def slip_number(document: str) -> int:
    """Return the number of a hand pay's slip; BadEntry if its document names none."""
    word, _, number = document.partition(" ")
    if word != "slip" or not number.isdecimal():
        raise BadEntry(f"a hand pay is documented by its slip, not by {document!r}")
    return int(number)


def with_number(runs: list[tuple[int, int]], number: int) -> list[tuple[int, int]]:
    """Return runs of used numbers with one more; runs that touch become one, so a slip book stays one run."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted([*runs, (number, number)]):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def dollars(amount: int) -> str:
    """Return an amount for people: dollars and cents, and what is less than a cent if there is any."""
    whole, fraction = divmod(abs(amount), DOLLAR)
    text = f"{fraction:06d}"
    text = text[:2] if text.endswith("0000") else text
    return f"{'-' if amount < 0 else ''}${whole:,}.{text}"


def parse_dollars(text: str, *, signed: bool = False) -> int:
    """Return an amount as people write it, in micro-dollars: 1234.50, or +12.50 and -0.01 if it is `signed`.

    Cents are always written, and a sign where one is meant, so that nobody takes cents for dollars; up to six digits
    behind the point. ValueError says what is wrong.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or bool(match["sign"]) is not signed:
        example = "with its sign, as +12.50 or -0.01" if signed else "without a sign, as 12.50"
        raise ValueError(f"{text!r} is no amount: write dollars and cents {example}")
    amount = int(match["dollars"].replace(",", "")) * DOLLAR + int(match["part"].ljust(6, "0"))
    return -amount if match["sign"] == "-" else amount


def payable(amount: int, percent: int) -> int:
    """Return a share of an amount as it can be paid: whole cents. The only place where money is rounded.

    Down, so that what is less than a cent stays where it was: in the meter.
    """
    return amount * percent // 100 // CENT * CENT
