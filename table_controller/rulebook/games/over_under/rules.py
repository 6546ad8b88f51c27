"""The functions of Over/Under that the rulebook calls: settlement, hands, settings, posted rules.

There is no dealer's hand: every wager depends on one total.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.game_rules import GameRules
from table_controller.rulebook.games.over_under import hands
from table_controller.rulebook.games.over_under.posted_rules import posted_rules
from table_controller.rulebook.games.over_under.settlement import COLLECTED_FIRST, needs, settle_wager

if TYPE_CHECKING:
    from collections.abc import Sequence


def _describe(cards: Sequence[int]) -> str:
    return f"total {hands.total(cards)}"


RULES: Final = GameRules(
    settle_wager=settle_wager,
    needs=needs,
    describe=_describe,
    collected_first=COLLECTED_FIRST,
    matters_after_giving_up=lambda _terms, _played, seat: "bonus" in seat.wagers,
    posted_rules=posted_rules,
)
