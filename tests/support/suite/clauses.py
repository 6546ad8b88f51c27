"""Which clauses a test proves: `@clauses("688a.13(l)")` on it, or `marks=clauses(...)` on one of its parameters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from table_controller import rulebook

if TYPE_CHECKING:
    from table_controller.rulebook import Edition
    from table_controller.table.decisions import Decision


def clauses(*ids: str) -> pytest.MarkDecorator:
    """Mark a test, or one case of it, with the clauses that it proves; KeyError for one that the rulebook lacks."""
    for name in ids:
        rulebook.clause(name)
    return pytest.mark.clauses(*ids)


def is_cited(edition: Edition, cited: str) -> bool:
    """Return whether an id may be cited at a table: a clause of its chapter, or an interpretation of the text."""
    return cited in _citable(edition.game)


@cache
def _citable(game: str) -> frozenset[str]:
    own = (clause.id for clause in rulebook.clauses(game))
    return frozenset([*own, *rulebook.readings(), rulebook.DEFAULT_READING])


def wrong_citations(edition: Edition, decisions: list[Decision]) -> list[str]:
    """Return the cited ids that do not exist; a refusal without a clause counts as well."""
    cited = [one for decision in decisions for one in getattr(decision, "clauses", ())]
    cited += [reason.clause for decision in decisions for reason in getattr(decision, "reasons", ())]
    return [one for one in cited if not is_cited(edition, one)]
