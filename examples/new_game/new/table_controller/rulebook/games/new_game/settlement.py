"""High Card (999a.9): the higher card wins the Ante; then the Lucky Card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.new_game import hands
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.settlement.dealt_round import Need
from table_controller.rulebook.settlement.terms import by_line, first_line, lost, returned

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerVerdict
    from table_controller.rulebook.settlement.terms import SettlementTerms

_CARDS = Need("cards", "999a.9(b)")
_DEALER = Need("dealer", "999a.9(b)")


def needs(_terms: SettlementTerms, _played: DealtRound, _seat: Seat, wager: str) -> tuple[Need, ...]:
    """Return what a wager depends on."""
    return (_CARDS,) if wager == "lucky_card" else (_CARDS, _DEALER)


def settle_wager(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> WagerVerdict:
    """Settle one wager."""
    own = hands.value(seat.cards)
    if wager == "lucky_card":
        line = first_line(terms.table("lucky_card"), 0, total=own)
        return by_line(terms, seat, "lucky_card", line, ("999a.9(c)", "999a.9(d)"), ("999a.9(c)",), f"value {own}")
    dealer = hands.value(played.dealer)
    hand = f"value {own}; dealer {dealer}"
    if own < dealer:
        return lost(seat, "ante", ("999a.9(b)",), hand)
    if own == dealer:
        return returned(seat, "ante", ("999a.9(b)",), hand)
    line = first_line(terms.table("ante"), hand_features.FEATURE_BIT["win"])
    return by_line(terms, seat, "ante", line, ("999a.9(b)", "999a.9(d)"), (), hand)
