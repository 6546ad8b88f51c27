"""The published paybacks, loaded on first use and checked against the paytables."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import cache

import msgspec

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook.registry import CHAPTERS, read
from table_controller.rulebook.texts import paytables


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The payback of one paytable that a rulemaking states."""

    table: str
    percent: str  # as printed
    source: str
    note: str = ""

    @property
    def value(self) -> Fraction:
        """The share of the wager that comes back."""
        return Fraction(self.percent) / 100


class _PublishedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    published: tuple[Published, ...] = ()


@cache
def published() -> dict[str, Published]:
    """Return the published paybacks by paytable."""
    return {each.table: each for game in CHAPTERS for each in _of_game(game)}


def _of_game(game: str) -> tuple[Published, ...]:
    """Return the published paybacks of a game's paytables; BadRulebook if they do not fit the paytables."""
    name = f"{CHAPTERS[game]}/published.toml"
    try:
        entries = msgspec.convert(tomllib.loads(read(name).decode()), _PublishedFile).published
        values = [each.value for each in entries]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, ValueError) as error:
        raise BadRulebook(f"{name} cannot be read: {error}") from error
    known = {table.id for table in paytables(game)}
    named = [each.table for each in entries]
    wrong = [table for table in named if table not in known or named.count(table) > 1]
    if wrong or not all(0 < value < 2 for value in values):
        raise BadRulebook(f"{name}: {', '.join(wrong) or 'a percentage out of bounds'}")
    return entries
