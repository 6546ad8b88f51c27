"""Loads house ways: those that belong to an edition (`data/<chapter>/house_way.toml`), and a table of one's own."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadHouseWay, BadRulebook
from table_controller.rulebook.house_ways.choose import HouseWay
from table_controller.rulebook.house_ways.table import decode, parse_table
from table_controller.rulebook.registry import CHAPTERS, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.rulebook.house_ways.setting_form import SettingForm

FILE: Final = "house_way.toml"


def house_ways_of(form: SettingForm) -> Mapping[str, HouseWay]:
    """Return the house ways of an edition by name. Tests prove that each sets every hand, and none foul."""
    try:
        table = parse_table(house_way_text(form.game), form)
    except BadHouseWay as error:
        raise BadRulebook(f"{CHAPTERS[form.game]}/{FILE}: {error}") from error
    return MappingProxyType({table.name: HouseWay(form, table)})


def house_way_text(game: str) -> str:
    """Return the text of an edition's table, from which one of one's own may begin."""
    return decode(read(f"{CHAPTERS[game]}/{FILE}"))


@lru_cache(32)
def own_house_way(form: SettingForm, text: str) -> HouseWay:
    """Return the house way of a certificate holder's own table, not proved yet; BadHouseWay if it cannot be read."""
    table = parse_table(text, form)
    edition = house_way_text(form.game)
    if text != edition and table.name == parse_table(edition, form).name:
        raise BadHouseWay((f"name: {table.name} is the edition's table; give your own another name",))
    return HouseWay(form, table)
