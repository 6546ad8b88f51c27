"""The meter: its rules from the rulebook, its seed, the contribution of each bet, and the return of bets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from table_controller.ledger.money import (
    BETS,
    CENT,
    CORRECTIONS,
    HOUSE,
    METER,
    OVERFLOW,
    RESERVE,
    SEED,
    BadEntry,
    Transfer,
    format_dollars,
)
from table_controller.rulebook.settlement.dealt_round import Seat
from table_controller.rulebook.settlement.payments import paid_cents
from table_controller.rulebook.settlement.terms import SettlementTerms, by_line

if TYPE_CHECKING:
    from table_controller.ledger.money import MoneyBook, MoneyEntry
    from table_controller.rulebook import Edition, Submission
    from table_controller.rulebook.texts import Paytable

WHOLE_BP: Final = 10_000  # hundredths of a percent
# The highest possible limit of a meter: ten digits, as the meter sign has.
METER_MOST: Final = (10**10 - 1) * CENT


class Award(msgspec.Struct, frozen=True, kw_only=True):
    """What one line of the paytable pays for one bet; a fixed amount and a share of the meter are both paid."""

    hand: str
    label: str  # as printed
    fixed: int
    percent: int  # of the meter when the hit is claimed
    stake: int  # the bet, if it is returned in addition
    envy: int  # to every other seat that qualifies


class MeterRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of the meter from the paytable and the Rules Submission. Amounts in micro-dollars."""

    table: str
    unit: int  # one bet
    seed: int
    reseed: int
    rate_bp: int  # of each bet into the meter, in hundredths of a percent
    reserve_bp: int
    limit: int
    awards: tuple[Award, ...]
    clauses: tuple[str, ...]
    # Whether contributions above the limit go to the overflow account; journals of earlier software have none.
    keeps_overflow: bool = True

    def award(self, hand: str) -> Award:
        """Return what a hand pays; KeyError if no line of the table pays it."""
        for award in self.awards:
            if award.hand == hand:
                return award
        raise KeyError(hand)

    @property
    def envied(self) -> tuple[str, ...]:
        """The hands that also pay envy."""
        return tuple([award.hand for award in self.awards if award.envy])


class Bet(msgspec.Struct):
    """An accepted bet and where its money went. Open until it is lost or won; a void round returns it."""

    seat: int
    stake: int
    to_meter: int
    to_reserve: int
    state: Literal["open", "lost", "won", "returned"] = "open"
    to_overflow: int = 0  # the part above the meter's limit


def meter_rules(edition: Edition, submission: Submission) -> MeterRules | None:
    """Return the rules of the table's meter; None if it offers no progressive."""
    rules = edition.progressive
    if rules is None or rules.wager not in submission.wagers:
        return None
    terms = SettlementTerms(edition, submission)
    table = terms.table(rules.wager)
    assert table.unit_cents is not None, "a progressive paytable prints its unit"
    assert table.seed_cents is not None, "a progressive paytable prints its seed"
    rate_bp = submission.progressive_rate_bp if table.rate_percent is None else table.rate_percent * 100
    assert rate_bp is not None, "the submission states a rate that the regulation leaves open"
    reserve_bp = (table.reserve_percent or 0) * 100
    assert rate_bp + reserve_bp <= WHOLE_BP, "a bet cannot contribute more than itself"
    reseed = table.seed_cents if table.reseed_cents is None else table.reseed_cents  # F25: the seed by default
    return MeterRules(
        table=table.id, unit=table.unit_cents * CENT, seed=table.seed_cents * CENT, reseed=reseed * CENT,
        rate_bp=rate_bp, reserve_bp=reserve_bp, limit=METER_MOST, clauses=table.clauses,
        awards=_awards(terms, rules.wager, table),
    )  # fmt: skip


def _awards(terms: SettlementTerms, wager: str, table: Paytable) -> tuple[Award, ...]:
    """Return what each line pays, computed by the settlement rules."""
    assert table.unit_cents is not None
    one_bet = Seat(number=1, wagers={wager: table.unit_cents})
    awards = []
    for line in table.lines:
        verdict = by_line(terms, one_bet, wager, line, (), ())
        awards.append(
            Award(
                hand=line.hand, label=line.label,
                fixed=paid_cents(verdict, table.unit_cents) * CENT, percent=verdict.meter_percent,
                stake=table.unit_cents * CENT if verdict.back else 0, envy=(line.envy_cents or 0) * CENT,
            )
        )  # fmt: skip
    return tuple(awards)


def share_of_bet(amount: int, rate_bp: int) -> int:
    """Return a rate's share of a bet. It is exact: a bet is whole cents, and a cent is ten thousand micro-dollars."""
    share, remainder = divmod(amount * rate_bp, WHOLE_BP)
    assert remainder == 0, f"{amount} micro-dollars at {rate_bp} bp"
    return share


# --- entries ----------------------------------------------------------------------------------------------------------


def open_meter(book: MoneyBook, rules: MeterRules) -> MoneyEntry:
    """Seed a new meter."""
    assert book.entries == 0, "a meter is opened once"
    book.seed = rules.seed
    return book.post("seed", Transfer(SEED, METER, rules.seed), clauses=rules.clauses)


def accept_bet(
    book: MoneyBook, rules: MeterRules, round_: int, seat: int, clauses: tuple[str, ...]
) -> tuple[Bet, MoneyEntry]:
    """Accept one bet: its shares for meter and reserve, and the remainder for the house, in one entry.

    The part above the meter's limit goes to the overflow account.
    """
    contribution = share_of_bet(rules.unit, rules.rate_bp)
    to_meter = min(contribution, max(0, rules.limit - book.balance(METER)))
    to_overflow = contribution - to_meter
    to_reserve = share_of_bet(rules.unit, rules.reserve_bp)
    entry = book.post(
        "bet",
        Transfer(BETS, METER, to_meter),
        Transfer(BETS, RESERVE, to_reserve),
        Transfer(BETS, OVERFLOW, to_overflow),
        Transfer(BETS, HOUSE, rules.unit - contribution - to_reserve),
        round=round_, seat=seat, clauses=clauses,
    )  # fmt: skip
    return Bet(seat, rules.unit, to_meter, to_reserve, to_overflow=to_overflow), entry


def return_bet(book: MoneyBook, bet: Bet, round_: int, clauses: tuple[str, ...]) -> MoneyEntry:
    """Return a bet of a void round or hand, by the exact reversal of its acceptance.

    If an attendant has paid a share of the meter since, the meter keeps its seed: the reserve, then the house, pays the
    difference.
    """
    assert bet.state != "returned", "a bet is returned once"
    from_meter, from_reserve = bet.to_meter, bet.to_reserve
    if book.last_paid_round == round_:
        from_meter = min(bet.to_meter, max(0, book.balance(METER) - book.seed))
        from_reserve = min(bet.to_reserve + bet.to_meter - from_meter, book.balance(RESERVE))
    entry = book.post(
        "bet_returned",
        Transfer(METER, BETS, from_meter),
        Transfer(RESERVE, BETS, from_reserve),
        Transfer(OVERFLOW, BETS, bet.to_overflow),
        Transfer(HOUSE, BETS, bet.stake - from_meter - from_reserve - bet.to_overflow),
        round=round_, seat=bet.seat, clauses=clauses,
    )  # fmt: skip
    bet.state = "returned"
    return entry


def correct_meter(book: MoneyBook, amount: int, document: str, limit: int = METER_MOST) -> MoneyEntry:
    """Correct the meter by an amount, up or down; BadEntry if it would fall below zero or rise above its limit."""
    if amount >= 0:
        _check_limit(book, amount, limit)
        return book.post("correction", Transfer(CORRECTIONS, METER, amount), document=document)
    return book.post("correction", Transfer(METER, CORRECTIONS, -amount), document=document)


def reset_meter(book: MoneyBook, rules: MeterRules, document: str) -> MoneyEntry:
    """Reset the meter to its seed; the document states where the difference goes."""
    above = book.balance(METER) - rules.seed
    if above >= 0:
        return book.post("reset", Transfer(METER, CORRECTIONS, above), document=document)
    return book.post("reset", Transfer(SEED, METER, -above), document=document)


def transfer_overflow(book: MoneyBook, rules: MeterRules, amount: int, document: str) -> MoneyEntry:
    """Transfer overflow to the meter; BadEntry if it exceeds the overflow or the meter's limit."""
    if amount <= 0:
        raise BadEntry(f"a transfer of {format_dollars(amount)} is not possible; the amount must be above zero")
    _check_limit(book, amount, rules.limit)
    return book.post("transfer", Transfer(OVERFLOW, METER, amount), document=document)


def _check_limit(book: MoneyBook, amount: int, limit: int) -> None:
    """Raise BadEntry if the meter would exceed its limit."""
    after = book.balance(METER) + amount
    if after > limit:
        raise BadEntry(f"the meter would hold {format_dollars(after)}; its limit is {format_dollars(limit)}")
