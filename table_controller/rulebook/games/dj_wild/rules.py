"""What the rulebook needs to know of DJ Wild Stud Poker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.dj_wild import hands
from table_controller.rulebook.games.dj_wild.settlement import settle, settle_optional
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat, WagerResult
    from table_controller.rulebook.settlement.terms import SettlementTerms

# The wagers that depend on the player's cards alone; both are settled even in a void round.
_ALONE: Final = ("progressive", "trips")


def _describe(cards: Sequence[int]) -> str:
    _, column = hands.paid_class(cards)
    return f"{describe(hands.strength(cards))}, {column.replace('_', ' ')}"


def _features(cards: Sequence[int]) -> tuple[str, ...]:
    return hand_features.feature_names(hands.class_features(hands.paid_class(cards)[0]))


def _joker_objection(_: SettlementTerms, played: DealtRound, seat: Seat) -> str | None:
    """Return why a joker cannot be settled that matters to a progressive bet or its envy."""
    bets = any("progressive" in other.wagers for other in played.seats)
    if bets and JOKER in seat.cards and played.replacement is None:
        return "a joker in the progressive needs the replacement card (687a.11(f)(1))"
    return None


def _matters_after_fold(terms: SettlementTerms, _: DealtRound, seat: Seat) -> bool:
    return "trips" in seat.wagers or ("progressive" in seat.wagers and bool(terms.submission.folded_progressive))


def _settle_in_void_round(terms: SettlementTerms, played: DealtRound, seat: Seat) -> Iterator[WagerResult]:
    yield from settle_optional(terms, played, seat, *_ALONE)


RULES: Final = GameRules(
    settle=settle,
    describe=_describe,
    features=_features,
    alone=_ALONE,
    seat_objection=_joker_objection,
    matters_after_giving_up=_matters_after_fold,
    settle_in_void_round=_settle_in_void_round,
)
