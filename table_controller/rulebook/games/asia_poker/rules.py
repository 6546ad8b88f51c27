"""The functions of Asia Poker that the rulebook calls: settlement, hands, settings, posted rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import format_cards
from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.asia_poker import hands
from table_controller.rulebook.games.asia_poker.house_way import HOUSE_WAYS
from table_controller.rulebook.games.asia_poker.posted_rules import posted_rules
from table_controller.rulebook.games.asia_poker.settlement import needs, paid_lines, settle_wager
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.dealt_round import SetHand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.dealt_round import HandSetting


def _describe(cards: Sequence[int]) -> str:
    return describe(poker5.best_strength(cards))


def _features(cards: Sequence[int]) -> tuple[str, ...]:
    return tuple(reversed(hand_features.feature_names(hands.bonus_features(cards))))


def _show_setting(setting: HandSetting) -> tuple[SetHand, ...]:
    strength = hands.strength()
    return tuple(SetHand(format_cards(hand), describe(strength(hand), 4)) for hand in setting)


def _foul_clause(setting: HandSetting) -> str | None:
    return hands.foul_clause(setting, hands.strength())


RULES: Final = GameRules(
    settle_wager=settle_wager,
    needs=needs,
    describe=_describe,
    features=_features,
    house_ways=HOUSE_WAYS,
    show_setting=_show_setting,
    foul_clause=_foul_clause,
    matters_after_giving_up=lambda _terms, _played, seat: "bonus" in seat.wagers,
    paid_lines=paid_lines,
    posted_rules=posted_rules,
)
