"""The money book: double entry in integer micro-dollars, its invariants, and the slip numbers of hand pays."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Literal

import msgspec

CENT: Final = 10_000  # micro-dollars
DOLLAR: Final = 100 * CENT

# Where money comes from; these balances are below zero by the amount that came in.
BETS: Final = "bets"  # accepted bets, minus returned ones
SEED: Final = "seed"  # seed and re-seed paid in by the certificate holder
# Where it is.
METER: Final = "meter"
RESERVE: Final = "reserve"  # set aside for the next seed
OVERFLOW: Final = "overflow"  # contributions above the meter's limit; only a transfer moves them back to the meter
HOUSE: Final = "house"  # the remainder of bets, minus fixed payments
PENDING: Final = "pending"  # claimed hits that are not paid yet
# Where it went; these only grow, except when a void round is reversed.
FIXED: Final = "fixed_awards"  # paid from the table
HAND_PAYS: Final = "hand_pays"  # paid by an attendant
ENVY: Final = "envy"
STAKES: Final = "stakes_returned"  # winning bets that are returned in addition to their award
# Manual corrections of the meter; each names its document.
CORRECTIONS: Final = "corrections"

ACCOUNTS: Final = (BETS, SEED, METER, RESERVE, HOUSE, PENDING, FIXED, HAND_PAYS, ENVY, STAKES, CORRECTIONS, OVERFLOW)
# These balances cannot fall below zero.
_NEVER_NEGATIVE: Final = (METER, RESERVE, OVERFLOW, PENDING, FIXED, HAND_PAYS, ENVY, STAKES)

EntryKind = Literal[
    "seed", "bet", "bet_returned", "hit", "hit_withdrawn", "award_paid", "award_returned", "hand_pay_paid", "envy",
    "envy_returned", "correction", "reset", "hit_reversed", "hit_rebooked", "transfer",
]  # fmt: skip
# Entries that record a claim, and entries that reverse one; a reversed claim is recorded again in the same step.
CLAIMS: Final = ("hit", "hit_rebooked")
REVERSALS: Final = ("hit_withdrawn", "hit_reversed")
# The only entries that may lower the meter.
METER_LOWERING_KINDS: Final = (*CLAIMS, *REVERSALS, "correction", "reset", "bet_returned")
# The highest number of a hand pay's slip.
MOST_SLIPS: Final = 999_999_999
_DOCUMENTED: Final = ("correction", "reset", "transfer", "hand_pay_paid")
# Manual entries by two people: each document is used once. A hand pay has its slip number instead.
TWO_PERSON_KINDS: Final = ("correction", "reset", "transfer")
# Dollars with or without commas, and two to six decimals.
_WRITTEN: Final = re.compile(
    r"(?P<sign>[+-]?)\$?(?P<dollars>[0-9]{1,3}(?:,[0-9]{3})*|[0-9]{1,12})\.(?P<part>[0-9]{2,6})", re.ASCII
)


class BadEntry(ValueError):
    """An entry that would break an invariant of the book; the book is unchanged."""


class Transfer(msgspec.Struct, frozen=True):
    """A positive number of micro-dollars moved from one account to another."""

    source: str
    to: str
    amount: int


class MoneyEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One booking with all its transfers, applied together or not at all, and the meter before and after it."""

    number: int
    kind: EntryKind
    transfers: tuple[Transfer, ...]
    meter_before: int
    meter_after: int
    round: int = 0
    seat: int | None = None
    hit: int | None = None
    clauses: tuple[str, ...] = ()
    document: str = ""


class Meters(msgspec.Struct, frozen=True):
    """The amounts that the progressive system must be able to show (605a.7), in micro-dollars."""

    current: int
    reserve: int
    pending: int
    paid_by_table: int
    paid_by_attendant: int
    overflow: int = 0

    @property
    def cumulative(self) -> int:
        """The total of all payments."""
        return self.paid_by_table + self.paid_by_attendant


class MoneyBook(msgspec.Struct):
    """The accounts of one meter. They always sum to zero."""

    held: dict[str, int] = {}
    entries: int = 0  # number of entries; also the number of the last one
    seed: int = 0  # the seed that the meter was opened with
    claims: dict[int, tuple[Transfer, ...]] = {}  # unpaid claims by hit id: the transfers of the last entry
    bets: dict[int, tuple[Transfer, ...]] = {}  # bets of the current round by seat: the transfers of each
    bets_round: int = 0
    last_paid: int = 0  # highest id of a hit whose share of the meter an attendant paid
    last_paid_round: int = 0
    slips: list[tuple[int, int]] = []  # used slip numbers of hand pays, as sorted runs (first, last)
    documents: list[str] = []  # used documents of manual entries, as `document_key` returns them

    def balance(self, account: str) -> int:
        """Return the balance of an account."""
        return self.held.get(account, 0)

    @property
    def meters(self) -> Meters:
        """The amounts that the progressive system must show."""
        by_table = self.balance(FIXED) + self.balance(ENVY)
        return Meters(
            self.balance(METER),
            self.balance(RESERVE),
            self.balance(PENDING),
            by_table,
            self.balance(HAND_PAYS),
            self.balance(OVERFLOW),
        )

    def post(
        self,
        kind: EntryKind,
        *transfers: Transfer,
        round: int = 0,  # noqa: A002 - the field's name
        seat: int | None = None,
        hit: int | None = None,
        clauses: tuple[str, ...] = (),
        document: str = "",
    ) -> MoneyEntry:
        """Book an entry as a whole; BadEntry, and no change, if it would break an invariant."""
        moved = tuple(transfer for transfer in transfers if transfer.amount != 0)
        after = dict(self.held)
        for one in moved:
            if type(one.amount) is not int or one.amount < 0:
                raise BadEntry(f"{one.amount!r} is not an amount")
            for account, change in ((one.source, -one.amount), (one.to, one.amount)):
                if account not in ACCOUNTS:
                    raise BadEntry(f"there is no account {account}")
                after[account] = after.get(account, 0) + change
        entry = MoneyEntry(
            number=self.entries + 1, kind=kind, transfers=moved, meter_before=self.balance(METER),
            meter_after=after.get(METER, 0), round=round, seat=seat, hit=hit, clauses=clauses, document=document,
        )  # fmt: skip
        self._check(entry, after)
        self.held, self.entries = after, entry.number
        self._remember(entry)
        return entry

    def has_slip(self, number: int) -> bool:
        """Return whether a hand pay was documented under this number before."""
        return any(first <= number <= last for first, last in self.slips)

    def next_slip(self) -> int:
        """Return the number after the highest used slip; the lowest free one if that is beyond the limit."""
        last = self.slips[-1][1] if self.slips else 0
        if last < MOST_SLIPS:
            return last + 1
        return 1 if self.slips[0][0] > 1 else self.slips[0][1] + 1

    def has_document(self, document: str) -> bool:
        """Return whether money was moved by hand under this document before."""
        return document_key(document) in self.documents

    def _remember(self, entry: MoneyEntry) -> None:
        """Keep the transfers that a later reversal must invert, and the used slips and documents."""
        if entry.kind in TWO_PERSON_KINDS:
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
            self.slips = add_to_runs(self.slips, slip_number(entry.document))
            if any(one.source == METER for one in booked):
                self.last_paid, self.last_paid_round = max(self.last_paid, entry.hit), entry.round

    def _check(self, entry: MoneyEntry, after: dict[str, int]) -> None:
        if sum(after.values()) != 0:
            raise BadEntry(f"the accounts would sum to {sum(after.values())}")
        short = [account for account in _NEVER_NEGATIVE if after.get(account, 0) < 0]
        if short:
            raise BadEntry(f"{entry.kind}: {', '.join(short)} would fall below zero")
        if entry.kind in _DOCUMENTED and not entry.document:
            raise BadEntry(f"a {entry.kind} needs a document")
        if entry.kind in TWO_PERSON_KINDS and self.has_document(entry.document):
            raise BadEntry(f"document {entry.document} was used before; each document is used once")
        if entry.kind == "bet_returned" and not (entry.round and entry.clauses):
            raise BadEntry("a returned bet needs its round and the clause that orders the return")
        if entry.kind == "hand_pay_paid" and self.has_slip(slip_number(entry.document)):
            raise BadEntry(f"{entry.document} is used for another hand pay")
        if entry.kind in REVERSALS:
            self._check_withdrawal(entry)
        elif entry.kind == "bet_returned":
            self._check_return(entry)
        elif entry.meter_after < entry.meter_before and entry.kind not in METER_LOWERING_KINDS:
            raise BadEntry(f"a {entry.kind} cannot lower the meter")

    def _check_withdrawal(self, entry: MoneyEntry) -> None:
        """Check that a claim is reversed exactly; if a later share was paid, the seed stays in the meter."""
        booked = self.claims.get(entry.hit or 0)
        if booked is None:
            raise BadEntry(f"{entry.kind}: hit {entry.hit} has no unpaid claim")
        if Counter(entry.transfers) == Counter(inverse(booked)):
            return
        if (entry.hit or 0) > self.last_paid or entry.meter_after < min(self.seed, entry.meter_before):
            raise BadEntry(f"{entry.kind}: not the exact reversal of its claim")

    def _check_return(self, entry: MoneyEntry) -> None:
        """Check that a bet is reversed exactly; if a share was paid since, the seed stays in the meter."""
        came = self.bets.get(entry.seat or 0, ()) if entry.round == self.bets_round else ()
        if not came:
            raise BadEntry(f"seat {entry.seat} has no bet in round {entry.round} to return")
        if Counter(entry.transfers) == Counter(inverse(came)):
            return
        if entry.round != self.last_paid_round:
            raise BadEntry("the return of a bet must be the exact reversal of its acceptance")
        if entry.meter_after < min(self.seed, entry.meter_before):
            raise BadEntry("the return of a bet must not take the meter below its seed")


def inverse(transfers: tuple[Transfer, ...]) -> tuple[Transfer, ...]:
    """Return the transfers that reverse an entry exactly: each in the other direction, the last one first."""
    return tuple(Transfer(one.to, one.source, one.amount) for one in reversed(transfers))


def document_key(document: str) -> str:
    """Return a document's name in the form used for comparison: blanks and capitals are ignored."""
    return " ".join(document.split()).casefold()


def slip_number(document: str) -> int:
    """Return the slip number of a hand pay's document; BadEntry if it has none."""
    word, _, number = document.partition(" ")
    if word != "slip" or not number.isdecimal():
        raise BadEntry(f"a hand pay needs a slip number, not {document!r}")
    return int(number)


def add_to_runs(runs: list[tuple[int, int]], number: int) -> list[tuple[int, int]]:
    """Return the runs of used numbers with one more number; adjacent runs are merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted([*runs, (number, number)]):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def format_dollars(amount: int) -> str:
    """Return an amount for people: dollars and cents, and fractions of a cent if there are any."""
    whole, fraction = divmod(abs(amount), DOLLAR)
    text = f"{fraction:06d}"
    text = text[:2] if text.endswith("0000") else text
    return f"{'-' if amount < 0 else ''}${whole:,}.{text}"


def parse_dollars(text: str, *, signed: bool = False) -> int:
    """Parse an amount that a person wrote; return micro-dollars: 1234.50, or +12.50 and -0.01 if it is `signed`.

    Cents, and the sign of a signed amount, are mandatory, so that cents are not mistaken for dollars; up to six
    decimals are allowed. ValueError explains what is wrong.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or bool(match["sign"]) is not signed:
        example = "with its sign, as +12.50 or -0.01" if signed else "without a sign, as 12.50"
        raise ValueError(f"{text!r} is not an amount: write dollars and cents {example}")
    amount = int(match["dollars"].replace(",", "")) * DOLLAR + int(match["part"].ljust(6, "0"))
    return -amount if match["sign"] == "-" else amount


def payable_share(amount: int, percent: int) -> int:
    """Return a share of an amount in whole cents. The only place where money is rounded.

    It rounds down, so that fractions of a cent stay in the meter.
    """
    return amount * percent // 100 // CENT * CENT
