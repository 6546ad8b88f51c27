"""The clauses behind each duty that the core enforces, from the `duties.toml` of each chapter."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache

import msgspec

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook.loader import edition
from table_controller.rulebook.registry import CHAPTERS, read

# The clause that orders the duty first; a table of clauses by dealing method where that matters.
DutyClauses = tuple[str, ...] | Mapping[str, tuple[str, ...]]


@cache
def duties(game: str) -> Mapping[str, DutyClauses]:
    """Return the clauses of each duty that a game's chapter orders."""
    name = f"{CHAPTERS[game]}/duties.toml"
    try:
        known = msgspec.convert(tomllib.loads(read(name).decode()), dict[str, DutyClauses])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise BadRulebook(f"{name} cannot be read: {error}") from error
    methods = {method.name for method in edition(game).deal.methods}
    wrong = [duty for duty, cited in known.items() if not isinstance(cited, tuple) and set(cited) != methods]
    if wrong:
        raise BadRulebook(f"{name}: {', '.join(wrong)} must name exactly the dealing methods {', '.join(methods)}")
    return known


def duty_clauses(game: str, duty: str) -> tuple[str, ...]:
    """Return the clauses of a duty in every dealing method; none if the chapter does not order it."""
    cited = duties(game).get(duty, ())
    assert isinstance(cited, tuple), f"{duty} depends on the dealing method"
    return cited
