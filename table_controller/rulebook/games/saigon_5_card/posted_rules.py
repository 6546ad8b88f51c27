"""The special rules that a posting of Saigon 5 Card shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.saigon_5_card import hands
from table_controller.rulebook.posting.parts import PostedRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.terms import SettlementTerms


def posted_rules(_: SettlementTerms) -> Iterator[PostedRule]:
    """Yield what players must know apart from odds and payout limit."""
    yield PostedRule(f"A hand qualifies if three of its cards total {_either(hands.QUALIFYING)}.", "680a.1:Qualify")
    yield PostedRule(f"The joker counts {_either(hands.JOKER_VALUES)}.", "680a.6(a)(4)")
    yield PostedRule("If neither hand qualifies, the Ante Wager is returned.", "680a.11(d)(1)(i)")
    yield PostedRule("If only the dealer's hand qualifies, the Ante Wager loses.", "680a.11(d)(2)(i)")
    yield PostedRule("If both qualify, the higher Point Count wins.", "680a.11(d)(2)(ii)(B)")
    yield PostedRule("If both qualify with equal Point Counts, the Ante Wager is returned.", "680a.11(d)(2)(ii)(C)")


def _either(values: tuple[int, ...]) -> str:
    *first, last = map(str, values)
    return f"{', '.join(first)} or {last}"
