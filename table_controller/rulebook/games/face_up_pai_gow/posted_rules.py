"""The special rules that a posting of Face Up Pai Gow Poker shows; 688a.2(b)(8) orders the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.posting.parts import PostedRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.terms import SettlementTerms


def posted_rules(_: SettlementTerms) -> Iterator[PostedRule]:
    """Yield what players must know apart from odds and surrender."""
    yield PostedRule(
        "If the dealer's hand is an Ace High Pai Gow, the Face Up Pai Gow Poker Wager pushes and is returned.",
        "688a.2(b)(8)",
    )
    yield PostedRule("Both of a player's hands must be higher than the dealer's to win.", "688a.11(f)(3)")
    yield PostedRule("If one hand is higher and the other is not, the wager pushes.", "688a.11(f)(2)")
    yield PostedRule("A high hand that ranks below the low hand loses.", "688a.11(f)(1)(iii)")
    yield PostedRule(
        "The joker is an ace, or completes a straight, a flush, a straight flush or a royal flush.", "688a.6(a)"
    )
