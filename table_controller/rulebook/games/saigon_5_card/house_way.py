"""What house-way rules of Saigon 5 Card may ask: five cards into three and two; the rules are data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.rulebook.games.saigon_5_card import hands
from table_controller.rulebook.house_ways.loader import house_ways_of
from table_controller.rulebook.house_ways.setting_form import SettingForm, Split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS: Final = {"does not qualify": frozenset({0}), "qualifies": frozenset({1})}
_COUNTS: Final = {f"Point Count {count}": frozenset({count}) for count in range(1, 11)}


def _splits(cards: Sequence[int]) -> Iterator[Split]:
    """Yield every setting, and only those that qualify if there are any: the dealer must qualify (680a.11(c)(1))."""
    every = list(hands.settings(cards))
    qualify = any(each.qualifies for each in every)
    for each in every:
        if each.qualifies is qualify:
            yield Split((int(each.qualifies), each.point_count), (each.three, each.showdown))


FORM: Final = SettingForm(
    game="saigon_5_card",
    hands=("three", "showdown"),
    cards=sum(hands.SIZES),
    splits=_splits,
    is_lawful=lambda _: True,
    lawful="the dealer qualifies with three cards if possible (680a.11(c)(1))",
    kinds=(_KINDS, _COUNTS),
    kind_of=int,
    lead_of=lambda _: None,
    lead_of_kinds=False,
)
HOUSE_WAYS: Final = house_ways_of(FORM)
highest_point_count: Final = HOUSE_WAYS["highest_point_count"].set_hands
