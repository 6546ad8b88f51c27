"""High Card (999a.9): the higher card wins the Ante; then the Lucky Card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.new_game import hands
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.settlement.terms import first_line, line_result, lost_result, returned_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms


def settle(terms: SettlementTerms, played: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle the seats in the order given."""
    dealer = hands.value(played.dealer)
    for seat in seats:
        yield _ante(terms, seat, dealer)
        if "lucky_card" in seat.wagers:
            value = hands.value(seat.cards)
            line = first_line(terms.table("lucky_card"), 0, total=value)
            yield line_result(
                terms, seat, "lucky_card", line, ("999a.9(c)", "999a.9(d)"), ("999a.9(c)",), f"value {value}"
            )


def _ante(terms: SettlementTerms, seat: Seat, dealer: int) -> WagerResult:
    own = hands.value(seat.cards)
    hand = f"value {own}; dealer {dealer}"
    if own < dealer:
        return lost_result(seat, "ante", ("999a.9(b)",), hand)
    if own == dealer:
        return returned_result(seat, "ante", ("999a.9(b)",), hand)
    line = first_line(terms.table("ante"), hand_features.FEATURE_BIT["win"])
    return line_result(terms, seat, "ante", line, ("999a.9(b)", "999a.9(d)"), (), hand)
