"""The house ways of each game by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.games.asia_poker.house_way import standard_4_2_1
from table_controller.rulebook.games.face_up_pai_gow.house_way import standard_5_2
from table_controller.rulebook.games.saigon.house_way import highest_point_count

if TYPE_CHECKING:
    from table_controller.rulebook.hands.house_way import HouseWay

# By game: the policies by name, the default first.
HOUSE_WAYS: Final[dict[str, dict[str, HouseWay]]] = {
    "asia_poker": {"standard_4_2_1": standard_4_2_1},
    "saigon_5_card": {"highest_point_count": highest_point_count},
    "face_up_pai_gow": {"standard_5_2": standard_5_2},
}
