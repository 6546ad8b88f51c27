"""The functions of Saigon 5 Card that the rulebook calls: settlement, hands, settings, posted rules.

No setting is foul (S5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.cards import format_cards
from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.saigon_5_card import hands
from table_controller.rulebook.games.saigon_5_card.house_way import HOUSE_WAYS
from table_controller.rulebook.games.saigon_5_card.posted_rules import posted_rules
from table_controller.rulebook.games.saigon_5_card.settlement import describe_setting, needs, settle_wager
from table_controller.rulebook.hands import hand_features, poker5
from table_controller.rulebook.hands.ranking import describe
from table_controller.rulebook.settlement.dealt_round import SetHand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook.settlement.dealt_round import HandSetting


def _describe(cards: Sequence[int]) -> str:
    return f"{describe_setting(hands.best_set(cards))}; {describe(poker5.best_strength(cards))}"


def _features(cards: Sequence[int]) -> tuple[str, ...]:
    return tuple(reversed(hand_features.feature_names(hands.bonus_features(cards))))


def _show_setting(setting: HandSetting) -> tuple[SetHand, ...]:
    set_cards = hands.as_set(*setting)
    three = "qualifies" if set_cards.qualifies else "does not qualify"
    return (
        SetHand(format_cards(set_cards.three), three),
        SetHand(format_cards(set_cards.showdown), f"Point Count {set_cards.point_count}"),
    )


def _setting_objection(setting: HandSetting) -> str | None:
    return None if tuple(map(len, setting)) == hands.SIZES else "five cards are set into three and two (680a.11(b)(1))"


RULES: Final = GameRules(
    settle_wager=settle_wager,
    needs=needs,
    describe=_describe,
    features=_features,
    house_ways=HOUSE_WAYS,
    show_setting=_show_setting,
    setting_objection=_setting_objection,
    posted_rules=posted_rules,
)
