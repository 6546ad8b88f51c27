"""Over/Under (686a.7): surrenders first, then one player after the other; the Bonus Wager survives a surrender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.over_under import hands
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.settlement.dealt_round import Need
from table_controller.rulebook.settlement.ranked_by import duties_of
from table_controller.rulebook.settlement.terms import by_line, first_line, lost

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms

_GAME = "over_under"
_CARDS = Need("cards", "686a.7(h)")
# Collected before any additional card: all decisions come first (O17).
COLLECTED_FIRST = ("ante",)


def needs(_terms: SettlementTerms, _played: DealtRound, seat: Seat, wager: str) -> tuple[Need, ...]:
    """Return what a wager depends on; a surrendered Ante is lost with any cards."""
    return () if seat.fate == "gave_up" and wager == "ante" else (_CARDS,)


def settle_wager(terms: SettlementTerms, _: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    """Settle one wager."""
    if wager == "bonus":
        total = hands.total(seat.cards)
        line = first_line(terms.table("bonus"), 0, total=total)
        survived = ("686a.7(g)#2",) if seat.fate == "gave_up" else ()
        values = duties_of(_GAME, "card_values")
        won = (*survived, "686a.7(k)", "686a.8(b)", *values)
        return by_line(terms, seat, "bonus", line, won, (*survived, "686a.7(k)", *values), f"total {total}")
    if seat.fate == "gave_up":
        return lost(seat, "ante", ("686a.7(g)(3)",))
    return _required(terms, seat, wager)


def _required(terms: SettlementTerms, seat: Seat, wager: str) -> WagerVerdict:
    """Settle the Ante or the second wager; only the chosen side wins, any other total loses (O2)."""
    total = hands.total(seat.cards)
    over = "over_23" in seat.wagers
    hand, values = f"total {total}", duties_of(_GAME, "card_values")
    if total in (hands.OVER_23 if over else hands.UNDER_18):
        line = first_line(terms.table(wager), hand_features.FEATURE_BIT["win"])
        clause = f"686a.7(i)#2({1 if over else 2})"
        return by_line(terms, seat, wager, line, (clause, "686a.8(a)", *values), (), hand)
    clauses = ("686a.7(j)", "686a.7(i)#2", *values)
    return lost(seat, wager, clauses, hand, () if total in hands.HOUSE else ("O2",))
