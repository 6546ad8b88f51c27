"""The functions of High Card that the rulebook calls: settlement, hands, settings, posted rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.new_game import hands
from table_controller.rulebook.games.new_game.settlement import needs, settle_wager

if TYPE_CHECKING:
    from collections.abc import Sequence


def _describe(cards: Sequence[int]) -> str:
    return f"value {hands.value(cards)}"


RULES: Final = GameRules(settle_wager=settle_wager, needs=needs, describe=_describe)
