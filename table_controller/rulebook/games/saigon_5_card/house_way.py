"""House way of Saigon 5 Card: five cards set into three and two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.rulebook.games.saigon_5_card import hands
from table_controller.rulebook.hands.house_way import AS_PRINTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from table_controller.rulebook.hands.house_way import HandSetting


def highest_point_count(cards: Sequence[int], _chosen: Mapping[str, str] = AS_PRINTED) -> HandSetting:
    """Set five cards into three and two: qualify if possible, with the highest remaining Point Count (S4)."""
    best = hands.best_set(cards)
    return best.three, best.showdown
