"""The published paybacks, loaded on first use and checked against the paytables."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import cache

import msgspec

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook.loader import read
from table_controller.rulebook.texts import paytables
from table_controller.rulebook.vocabulary import GAMES


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
    published: tuple[Published, ...]


@cache
def published() -> dict[str, Published]:
    """Return the published paybacks by paytable."""
    try:
        entries = msgspec.convert(tomllib.loads(read("published.toml").decode()), _PublishedFile).published
        values = [each.value for each in entries]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, ValueError) as error:
        raise BadRulebook(f"published.toml cannot be read: {error}") from error
    known = {table.id for game in GAMES for table in paytables(game)}
    named = [each.table for each in entries]
    wrong = [name for name in named if name not in known or named.count(name) > 1]
    if wrong or not all(0 < value < 2 for value in values):
        raise BadRulebook(f"published.toml: {', '.join(wrong) or 'a percentage out of bounds'}")
    return {each.table: each for each in entries}
