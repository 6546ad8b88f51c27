"""Which clauses a test proves: `@clauses("688a.13(l)")` names them, and they must exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from table_controller import rulebook

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def clauses(*ids: str) -> Callable[[F], F]:
    """Mark a test with the clauses that it proves; KeyError for one that the rulebook does not have."""
    for name in ids:
        rulebook.clause(name)

    def mark(test: F) -> F:
        test.clauses = (*getattr(test, "clauses", ()), *ids)  # type: ignore[attr-defined]
        return test

    return mark
