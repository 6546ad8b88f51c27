"""Which clause stands behind each duty that the core enforces, for any of the five chapters. No rule is applied here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.rulebook import Edition

# Duties that an edition's facts do not carry with their clause: {c} is the chapter. Where a chapter differs it says so.
_PLAIN: Final[dict[str, dict[str, str]]] = {
    "shuffle": {"": "{c}.5(a)/1"},
    "single_stack": {"": "{c}.5(a)/2"},
    "rack": {"": "{c}.3(b)(4)", "686a": "686a.3(b)(5)"},
    "reveal": {"": "{c}.11(c)", "687a": "687a.11(d)", "686a": "686a.7(h)"},
    "decide": {"": "{c}.11(a)", "687a": "687a.11(b)", "686a": "686a.7(f)"},
    "cover_card": {"": "{c}.5(c)", "686a": "686a.7(d)"},
    "round": {"": "{c}.7(c)", "686a": "686a.6(c)/1"},
    "device_unusable": {"": "{c}.13(f)", "575": "575.13(n)", "686a": "686a.9(e)", "687a": "687a.13(g)", "688a": "688a.13(m)"},
    "shuffler_fault": {"": "{c}.13(d)", "575": "575.13(l)", "686a": "686a.9(d)", "687a": "687a.13(e)", "688a": "688a.13(k)"},
    "shoe_fault": {"": "{c}.13(e)", "575": "575.13(m)", "686a": "686a.7(a)", "687a": "687a.13(f)", "688a": "688a.13(l)"},
    "replacement": {"": "{c}.8(e)/1"},
}  # fmt: skip
# Where the clause depends on how cards are dealt.
_BY_DEALING: Final[dict[str, dict[str, str]]] = {
    "shoe_loaded": {"manual_shoe": "{c}.8(a)", "automated_shoe": "{c}.10(a)(1)", "hand": "{c}.9(a)(2)", "": "686a.7(a)"},
    "no_more_bets": {"automated_shoe": "{c}.10(a)(2)", "hand": "{c}.9(a)(3)", "manual_shoe": "{c}.8(b)", "": "686a.6(c)/1"},
}  # fmt: skip
_CHIPS: Final = {
    "687a": {"manual_shoe": "687a.8(c)", "hand": "687a.9(b)/2", "automated_shoe": "687a.10(a)(2)"},
    "688a": {"manual_shoe": "688a.8(b)(2)/2", "hand": "688a.9(a)(3)(ii)/2", "automated_shoe": "688a.10(a)(2)(ii)/2"},
}
_LOCK: Final = {
    "687a": {"manual_shoe": "687a.8(c)", "hand": "687a.9(b)/2", "automated_shoe": "687a.10(a)(2)"},
    "688a": {"manual_shoe": "688a.8(b)(2)/1", "hand": "688a.9(a)(3)(ii)/1", "automated_shoe": "688a.10(a)(2)(ii)/1"},
}


def clause_of(edition: Edition, duty: str, dealing: str, start: str) -> str:
    """Return the clause of a duty; a reading's name where the chapter is silent, the chapter where no clause is meant."""
    found = _from_facts(edition, duty, dealing, start)
    if found is None:
        plain = _PLAIN.get(duty) or _BY_DEALING.get(duty) or {}
        key = edition.chapter if duty in _PLAIN else dealing
        found = plain.get(key, plain.get("", "{c}"))
    return found.format(c=edition.chapter)


def _from_facts(edition: Edition, duty: str, dealing: str, start: str) -> str | None:
    """Return the clause that stands beside the fact itself."""
    method = edition.method(dealing)
    match duty:
        case "dealing":
            return method.clause if method else edition.deal.clause
        case "count":
            return edition.count.clause or edition.count.see[0]
        case "stub" | "stub_count":
            names = [m.name for m in edition.deal.methods]
            clauses = edition.stub.clauses if edition.stub else (edition.chapter,)
            return clauses[min(names.index(dealing), len(clauses) - 1)] if dealing in names else clauses[0]
        case "deck_age":
            return edition.change_clauses.get(dealing)  # type: ignore[call-overload, no-any-return]
        case "dice_age":
            return edition.dice.age_clause if edition.dice else None
        case "start_position":
            return next((s.clause for s in edition.starts if s.name == start), edition.deal.clause)
        case "alternate":
            return edition.second_set.clause if edition.second_set else None
        case "seats":
            return edition.seats.clause
        case "cut":
            return edition.cut.clause
        case "burn":
            return edition.burn.clause
        case "settle_order":
            return edition.settle_order.clause
        case "progressive":
            return edition.progressive.clauses[0] if edition.progressive else None
        case "lockout":
            return _LOCK.get(edition.chapter, {}).get(dealing, edition.close_clause)
        case "chips":
            return _CHIPS.get(edition.chapter, {}).get(dealing)
        case "opening":
            return edition.opening[0].clause
        case _:
            return None
