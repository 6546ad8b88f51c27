"""Which clauses a test proves: `@clauses("688a.13(l)")` on it, or `marks=clauses(...)` on one of its parameters."""

from __future__ import annotations

import pytest

from table_controller import rulebook


def clauses(*ids: str) -> pytest.MarkDecorator:
    """Mark a test, or one case of it, with the clauses that it proves; KeyError for one that the rulebook lacks."""
    for name in ids:
        rulebook.clause(name)
    return pytest.mark.clauses(*ids)
