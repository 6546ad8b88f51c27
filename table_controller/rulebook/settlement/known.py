"""Which facts each wager depends on, such as cards or a player's setting, and which of them are still missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.settlement.dealt_round import Missing

if TYPE_CHECKING:
    from table_controller.rulebook.settlement.dealt_round import DealtRound, Known, Seat
    from table_controller.rulebook.settlement.terms import SettlementTerms


def missing(terms: SettlementTerms, played: DealtRound, seat: Seat) -> tuple[Missing, ...]:
    """Return what is not known yet that the wagers of a seat depend on, in the order of settlement."""
    return tuple(
        lack for wager in terms.edition.wagers if wager.name in seat.wagers
        for lack in missing_of(terms, played, seat, wager.name)
    )  # fmt: skip


def missing_of(terms: SettlementTerms, played: DealtRound, seat: Seat, wager: str) -> tuple[Missing, ...]:
    """Return what is not known yet that one wager depends on."""
    if seat.fate in ("void", "abandoned"):
        return ()  # decided without its cards
    needs = game_rules(terms.edition.game).needs(terms, played, seat, wager)
    return tuple(Missing(wager, *need) for need in needs if not _is_known(played, seat, need.what))


def missing_for_envy(terms: SettlementTerms, played: DealtRound) -> tuple[tuple[int, Missing], ...]:
    """Return what is not known yet that envy of this round depends on, by seat."""
    envy_needs = game_rules(terms.edition.game).envy_needs
    return tuple(
        (seat.number, Missing(wager, *need))
        for seat in played.seats
        for wager, need in envy_needs(terms, played, seat)
        if not _is_known(played, seat, need.what)
    )


def _is_known(played: DealtRound, seat: Seat, what: Known) -> bool:
    return {
        "cards": bool(seat.cards),
        "setting": seat.setting is not None,
        "dealer": bool(played.dealer),
        "replacement": played.replacement is not None,
        "qualifying": False,  # asked for only where the amounts do not show it
    }[what]
