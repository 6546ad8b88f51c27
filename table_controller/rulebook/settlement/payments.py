"""Verdicts in cents: wagers at their odds, fixed amounts, and the payout limit of the table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from table_controller.rulebook.settlement.dealt_round import WagerResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms


def pay_at_odds(cents: int, odds: tuple[int, int]) -> int:
    """Return a wager's pay at odds of n to m. It is exact: wagers that whole cents cannot pay are refused before."""
    won, remainder = divmod(cents * odds[0], odds[1])
    assert remainder == 0, f"{cents} cents at {odds[0]} to {odds[1]}"
    return won


def paid_cents(verdict: WagerVerdict, cents: int) -> int:
    """Return what a wager of so many cents is paid in addition, before any limit."""
    return verdict.fixed_cents + (pay_at_odds(cents, verdict.odds) if verdict.odds else 0)


def amount_of(terms: SettlementTerms, seat: Seat, wager: str) -> int | None:
    """Return the cents of a wager: as entered, or as the rules fix them; None if the amount is not known."""
    cents = seat.wagers[wager]
    if cents is not None:
        return cents
    rule, ante = terms.edition.wager(wager), seat.wagers.get("ante")
    assert rule is not None
    if rule.amount == "table_unit":
        return terms.table(wager).unit_cents
    if ante is not None and rule.amount in ("equal_to_ante", "twice_ante"):
        return ante if rule.amount == "equal_to_ante" else 2 * ante
    return None


def payments(
    terms: SettlementTerms, played: DealtRound, verdicts: Iterable[WagerVerdict]
) -> tuple[WagerResult | None, ...]:
    """Return each verdict in cents, cut to the payout limit in this order.

    None: an amount is not known that it depends on, its own or (under a limit) that of an earlier payment.
    """
    rule, most = terms.edition.payout_limit, terms.submission.payout_limit_cents
    seats = {seat.number: seat for seat in played.seats}
    paid: Counter[object] = Counter()
    open_ended: set[object] = set()  # whose payments cannot be added up any more
    results = []
    for verdict in verdicts:
        seat = seats[verdict.seat]
        cents = 0 if verdict.envy_of is not None else amount_of(terms, seat, verdict.wager)
        result = None if cents is None else _in_cents(verdict, cents)
        if rule is not None and most is not None and verdict.outcome == "wins":
            to = seat.number if rule.scope == "player_hand" else seat.owner
            open_ended |= {to} if result is None else set()
            result = None if result is None or to in open_ended else _cut(result, most - paid[to], rule.clause)
            paid[to] += 0 if result is None else result.paid_cents
        results.append(result)
    return tuple(results)


def _in_cents(verdict: WagerVerdict, cents: int) -> WagerResult:
    return WagerResult(
        seat=verdict.seat,
        wager=verdict.wager,
        outcome=verdict.outcome,
        wager_cents=cents,
        back_cents=cents if verdict.back else 0,
        paid_cents=paid_cents(verdict, cents),
        meter_percent=verdict.meter_percent,
        envy_of=verdict.envy_of,
        hand=verdict.hand,
        table=verdict.table,
        line=verdict.line,
        clauses=verdict.clauses,
        see=verdict.see,
    )


def _cut(result: WagerResult, left: int, clause: str) -> WagerResult:
    """Return a result that is paid no more than is left under the limit; a returned wager is no payment."""
    if result.paid_cents <= left:
        return result
    return replace(result, paid_cents=left, cut_cents=result.paid_cents - left, clauses=(*result.clauses, clause))
