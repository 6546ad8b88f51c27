"""The functions of Face Up Pai Gow Poker that the rulebook calls: settlement, hands, settings, posted rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import format_cards
from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.face_up_pai_gow import hands
from table_controller.rulebook.games.face_up_pai_gow.house_way import HOUSE_WAYS
from table_controller.rulebook.games.face_up_pai_gow.posted_rules import posted_rules
from table_controller.rulebook.games.face_up_pai_gow.settlement import envy, envy_needs, needs, settle_wager
from table_controller.rulebook.hands import hand_features
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.dealt_round import SetHand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.dealt_round import DealtRound, HandSetting, Seat
    from table_controller.rulebook.settlement.terms import SettlementTerms


def _describe(cards: Sequence[int]) -> str:
    return describe(hands.strength(cards))


def _features(cards: Sequence[int]) -> tuple[str, ...]:
    return tuple(reversed(hand_features.feature_names(hands.seven_card_features(cards))))


def _show_setting(setting: HandSetting) -> tuple[SetHand, ...]:
    return tuple(SetHand(format_cards(hand), describe(hands.strength(hand))) for hand in setting)


def _pays_envy(terms: SettlementTerms, played: DealtRound, seat: Seat) -> bool:
    """Whether a surrendered hand may still pay envy to another player (F11)."""
    return any(need.what == "cards" for _, need in envy_needs(terms, played, seat))


RULES: Final = GameRules(
    settle_wager=settle_wager,
    needs=needs,
    describe=_describe,
    features=_features,
    house_ways=HOUSE_WAYS,
    show_setting=_show_setting,
    foul_clause=hands.foul_clause,
    matters_after_giving_up=_pays_envy,
    envy=envy,
    envy_needs=envy_needs,
    posted_rules=posted_rules,
)
