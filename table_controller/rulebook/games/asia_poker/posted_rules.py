"""The special rules that a posting of Asia Poker shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.posting.parts import PostedRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.terms import SettlementTerms


def posted_rules(terms: SettlementTerms) -> Iterator[PostedRule]:
    """Yield what players must know apart from odds, payout limit and surrender."""
    chosen = terms.submission
    yield PostedRule("Two of a player's three hands must be higher than the dealer's to win.", "575.11(f)(2)")
    yield PostedRule("A hand equal to the dealer's hand counts for the dealer.", "575.1:Copy hand")
    yield PostedRule(
        "Hands lose if the high hand is not above the medium hand, or the medium hand is not above the low hand.",
        "575.11(f)(1)",
    )
    yield PostedRule(
        "The joker is an ace, or completes a straight, a flush, a straight flush or a royal flush.", "575.6(a)"
    )
    straight = "lowest" if chosen.wheel_lowest_straight else "second highest"
    yield PostedRule(f"A-2-3-4 is the {straight} straight.", "575.6(b)(6)")
    flush = "lowest" if chosen.wheel_lowest_straight_flush else "highest"
    yield PostedRule(f"A-2-3-4 of one suit is the {flush} straight flush below a royal flush.", "575.6(b)(3)")
