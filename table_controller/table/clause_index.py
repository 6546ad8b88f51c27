"""The clause index: which clauses order each duty that the core enforces.

A clause that the edition's facts name is used from there; the others are in `duties.toml` of the chapter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from table_controller.rulebook.duties import duties, duty_clauses

if TYPE_CHECKING:
    from table_controller.rulebook import Edition


@lru_cache(4096)
def clauses_of(edition: Edition, duty: str, dealing: str, start: str | None) -> tuple[str, ...]:
    """Return the clauses of a duty, the one that orders it first; none where the chapter has no such duty."""
    cited = _from_facts(edition, duty, dealing, start)
    if cited is not None:
        return cited
    clauses = duties(edition.game).get(duty, ())
    return clauses if isinstance(clauses, tuple) else clauses[dealing]


def _from_facts(edition: Edition, duty: str, dealing: str, start: str | None) -> tuple[str, ...] | None:
    """Return the clauses that the edition's data gives for a duty; None if it gives none."""
    method = edition.method(dealing)
    match duty:
        case "method" if method is not None:
            return (method.clause,)
        case "deal" if method is not None and "deal" not in duties(edition.game):
            return (method.clause,)
        case "count":
            return (edition.count.clause or edition.count.see[0],)
        case "stub" if edition.stub is not None:
            names = [each.name for each in edition.deal.methods]
            return (edition.stub.clauses[names.index(method.name)] if method else edition.stub.clauses[0],)
        case "start_position" | "start_device":
            return _of_start(edition, duty, start)
        case "cut":
            return (edition.cut.clause,)
        case "settle":
            return (edition.settle_order.clause,)
        case "close":
            return (edition.close_clause,)
        case "opening":
            return (edition.opening[0].clause,)
        case "idle_hand" | "idle_machine" if duty not in duties(edition.game):
            return (edition.idle.clause,)
        case "idle":
            return (edition.idle.clause,)
        case "lockout" | "chips" if edition.progressive is None:
            return (edition.close_clause,)
    return None


def _of_start(edition: Edition, duty: str, start: str | None) -> tuple[str, ...] | None:
    """Return the clause of the starting-position method, or of a device for it that may not be used."""
    if duty == "start_device" and start == "rng" and edition.starts:  # not verified or not approved
        return duty_clauses(edition.game, "generator")
    return next(((each.clause,) for each in edition.starts if each.name == start), None)
