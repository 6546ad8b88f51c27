"""Loads the editions from their data files, checks them and adds their digest."""

from __future__ import annotations

import tomllib
from functools import cache, reduce
from hashlib import blake2s
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook.registry import CHAPTERS, EDITION, read
from table_controller.rulebook.schema import Edition
from table_controller.rulebook.validation import objections

if TYPE_CHECKING:
    from table_controller.rulebook.irregularity_rows import NumberReference


@cache
def edition(game: str) -> Edition:
    """Return a game's edition; KeyError for a game that is not one of GAMES."""
    chapter = CHAPTERS[game]
    loaded = parse(read(f"{chapter}/{EDITION}"))
    if loaded.chapter != chapter:
        raise BadRulebook(f"{chapter}/{EDITION} is the edition of chapter {loaded.chapter}")
    return loaded


def parse(data: bytes) -> Edition:
    """Return a validated, frozen edition; BadRulebook lists everything that is wrong with it."""
    try:
        raw = tomllib.loads(data.decode())
        loaded = msgspec.convert(raw, Edition)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadRulebook(f"an edition cannot be read: {error}") from error
    problems = objections(loaded)
    if problems:
        raise BadRulebook(f"chapter {loaded.chapter} contradicts itself: " + "; ".join(problems))
    return _finished(loaded, raw)


def _finished(loaded: Edition, raw: dict[str, Any]) -> Edition:
    """Fill in the numbers of rows and the digest; make the mappings read-only."""
    rows = tuple(
        msgspec.structs.replace(row, numbers=tuple(_resolved(loaded, number) for number in row.numbers))
        for row in loaded.irregularities
    )
    replacement = MappingProxyType(loaded.deal.replacement_card)
    return msgspec.structs.replace(
        loaded,
        irregularities=rows,
        deal=msgspec.structs.replace(loaded.deal, replacement_card=replacement),
        change_hours=MappingProxyType(loaded.change_hours),
        change_clauses=MappingProxyType(loaded.change_clauses),
        digest=digest(raw),
    )


def _resolved(loaded: Edition, number: NumberReference) -> NumberReference:
    value = reduce(getattr, number.at.split("."), loaded)
    assert isinstance(value, int), number
    return msgspec.structs.replace(number, value=value)


def digest(raw: dict[str, Any]) -> str:
    """Return a digest of the data; comments, key order and line ends do not affect it."""
    return blake2s(msgspec.json.encode(raw, order="deterministic"), digest_size=16).hexdigest()
