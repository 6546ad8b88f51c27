"""The generated parts of docs/rulebook.md: words, settings, and the irregularities of every game."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Final

from table_controller import rulebook
from table_controller.cli.commands.rules import conditions_text, decides_text, in_precedence, phases_text
from table_controller.rulebook import vocabulary
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable


def words() -> str:
    """Return the vocabularies of rows."""
    parts = [fill(f"Phases, in order: {', '.join(f'`{phase}`' for phase in vocabulary.PHASES)}.", 100)]
    for name, meanings in (
        ("trigger", vocabulary.TRIGGERS),
        ("outcome", vocabulary.OUTCOMES),
        ("scope", vocabulary.SCOPES),
        ("decides", vocabulary.DECIDERS),
        ("evidence", vocabulary.EVIDENCE),
    ):
        parts.append(table((name, "meaning"), *((f"`{word}`", meaning) for word, meaning in meanings.items())))
    return "\n\n".join(parts)


def settings() -> str:
    """Return the settings that readings require."""
    rows = [
        (f"`{each.name}`", edition.chapter, each.reading, ", ".join(f"`{value}`" for value in each.values),
         f"`{each.default}`" if each.default else "none: must be stated", each.meaning)
        for edition in map(rulebook.edition, rulebook.GAMES) for each in edition.settings
    ]  # fmt: skip
    return table(("setting", "chapter", "reading", "values", "default", "meaning"), *rows)


def irregularities() -> str:
    """Return the rows of every game, each under the title of its game."""
    editions = map(rulebook.edition, rulebook.GAMES)
    return "\n\n".join(f"### {edition.title}, {edition.chapter}\n\n{_rows(edition.game)}" for edition in editions)


def _rows(game: str) -> str:
    """Return the rows of one game in the order in which simultaneous triggers are handled."""
    rows = [
        (" ".join(row.clauses) or row.id, ", ".join((row.trigger, *row.also)), phases_text(row), conditions_text(row),
         ("adds " if row.adds else "") + ", ".join(row.outcomes), row.scope, decides_text(row),
         f"{row.acknowledges}: {', '.join(row.evidence)}", " ".join(row.see))
        for row in in_precedence(rulebook.edition(game))
    ]  # fmt: skip
    heads = ("row", "trigger", "phases", "only if", "orders", "scope", "decides", "acknowledges, with", "readings")
    return table(heads, *rows)


# Name of a part -> the function that writes it.
PARTS: Final[dict[str, Callable[[], str]]] = {
    "words of the rulebook": words,
    "settings of the rulebook": settings,
    "irregularities of the games": irregularities,
}
