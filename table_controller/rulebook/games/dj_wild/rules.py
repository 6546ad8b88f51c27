"""The functions of DJ Wild Stud Poker that the rulebook calls: settlement, hands, settings, posted rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import JOKER
from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.dj_wild import hands
from table_controller.rulebook.games.dj_wild.posted_rules import posted_rules
from table_controller.rulebook.games.dj_wild.settlement import COLLECTED_FIRST, envy, envy_needs, needs, settle_wager
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, Seat
    from table_controller.rulebook.settlement.terms import SettlementTerms


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


RULES: Final = GameRules(
    settle_wager=settle_wager,
    needs=needs,
    describe=_describe,
    features=_features,
    seat_objection=_joker_objection,
    matters_after_giving_up=_matters_after_fold,
    collected_first=COLLECTED_FIRST,
    settled_in_void_round=("progressive", "trips"),  # 687a.13(d)
    envy=envy,
    envy_needs=envy_needs,
    posted_rules=posted_rules,
)
