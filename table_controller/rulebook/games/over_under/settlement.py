"""Over/Under (686a.7): surrenders first, then one player after the other; the Bonus Wager survives a surrender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.over_under import hands
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.settlement.terms import first_line, line_result, lost_result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms


def settle(terms: SettlementTerms, _: DealtRound, seats: list[Seat]) -> Iterator[WagerResult]:
    """Settle the seats in the order given: all decisions come before any additional card (O17)."""
    for seat in seats:
        if seat.fate == "gave_up":
            yield lost_result(seat, "ante", ("686a.7(g)(3)",))
    for seat in seats:
        if seat.fate == "plays":
            yield from _required(terms, seat)
        if "bonus" in seat.wagers:
            total = hands.total(seat.cards)
            line = first_line(terms.table("bonus"), 0, total=total)
            survived = ("686a.7(g)#2",) if seat.fate == "gave_up" else ()
            won = (*survived, "686a.7(k)", "686a.8(b)")
            yield line_result(terms, seat, "bonus", line, won, (*survived, "686a.7(k)"), f"total {total}")


def _required(terms: SettlementTerms, seat: Seat) -> Iterator[WagerResult]:
    """Settle Ante and second wager together; only the chosen side wins, any other total loses (O2)."""
    total = hands.total(seat.cards)
    over = "over_23" in seat.wagers
    hand = f"total {total}"
    for wager in ("ante", "over_23" if over else "under_18"):
        if total in (hands.OVER_23 if over else hands.UNDER_18):
            line = first_line(terms.table(wager), hand_features.FEATURE_BIT["win"])
            clause = f"686a.7(i)#2({1 if over else 2})"
            yield line_result(terms, seat, wager, line, (clause, "686a.8(a)"), (), hand)
        else:
            yield lost_result(seat, wager, ("686a.7(j)", "686a.7(i)#2"), hand, () if total in hands.HOUSE else ("O2",))
