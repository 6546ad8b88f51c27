"""The special rules that a posting of DJ Wild Stud Poker shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.posting.parts import PostedRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.terms import SettlementTerms


def posted_rules(terms: SettlementTerms) -> Iterator[PostedRule]:
    """Yield what players must know apart from odds and folding."""
    yield PostedRule("The 2s and the joker are wild.", "687a.6(b)")
    yield PostedRule("If both hands are equal, Ante, Blind and Raise Wagers push.", "687a.11(e)(2)")
    if terms.offers("trips"):
        yield PostedRule("The Trips Bonus Wager wins or loses on the player's hand alone.", "687a.11(f)(2)(ii)")
    if terms.offers("bad_beat"):
        either = terms.setting("bad_beat_pays") == "either_hand"
        beaten = "the lower of the two hands" if either else "the player's hand if the dealer's hand is higher"
        yield PostedRule(f"The Two-Way Bad Beat Bonus Wager pays {beaten}.", "687a.11(f)(3)(ii)")
    if terms.offers("progressive"):
        yield PostedRule("For the Progressive Bonus Wager the replacement card replaces the joker.", "687a.11(f)(1)")
        wild = "wild" if terms.setting("progressive_wilds") == "twos" else "not wild"
        yield PostedRule(f"For the Progressive Bonus Wager the 2s are {wild}.", "687a.6(d)")
