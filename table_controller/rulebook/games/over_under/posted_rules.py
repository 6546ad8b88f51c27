"""The special rules that a posting of Over/Under shows; 686a.2(b)(4) words three of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.cards import ACE
from table_controller.rulebook.games.over_under import hands
from table_controller.rulebook.posting.parts import PostedRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.terms import SettlementTerms

_INSCRIPTIONS = "686a.2(b)(4)"


def posted_rules(terms: SettlementTerms) -> Iterator[PostedRule]:
    """Yield what players must know apart from odds and surrender."""
    others = [terms.table(wager.name) for wager in terms.edition.wagers if not wager.option]
    if all(line.pay is not None and line.pay.odds == (1, 1) for table in others for line in table.lines):
        yield PostedRule("All bets pay even money except for Bonus Bets.", _INSCRIPTIONS)
    yield PostedRule(f"House wins on {_span(hands.HOUSE)}.", _INSCRIPTIONS)
    yield PostedRule(f"Aces are always counted as {hands.VALUES[ACE]}.", _INSCRIPTIONS)
    yield PostedRule(f"Over 23 wins with a total of {_span(hands.OVER_23)}.", "686a.7(i)#2(1)")
    yield PostedRule(f"Under 18 wins with a total of {_span(hands.UNDER_18)}.", "686a.7(i)#2(2)")


def _span(totals: range) -> str:
    return f"{totals[0]} to {totals[-1]}"
