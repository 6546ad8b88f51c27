"""The clause index: which clauses order each duty that the core enforces, in each of the five chapters.

A duty's clauses depend on the chapter and, in its dealing sections, on the dealing method; `*` is every other chapter
and `{c}` the chapter's number. A clause that the edition's own data names is used from there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.rulebook import Edition

_Clauses = str | dict[str, str]  # several ids are separated by a space; by dealing method where that matters


def _dealt(manual: str, hand: str, automated: str) -> dict[str, str]:
    return {"manual_shoe": manual, "hand": hand, "automated_shoe": automated}


CLAUSES_BY_DUTY: Final[dict[str, dict[str, _Clauses]]] = {
    # Decks and their opening.
    "composition": {"*": "{c}.3(a)"},
    "colours": {"*": "{c}.3(b)(1)", "686a": "686a.3(b)(2) 686a.3(b)(1)"},
    "each_deck": {"*": "{c}.4(d)"},
    "two_decks": {"*": "{c}.3(b)"},
    "stored_deck": {"*": "{c}.3(b)(2)", "686a": "686a.3(b)(3)"},
    "alternate": {"*": "{c}.3(b)(3)", "686a": "686a.3(b)(4)"},
    "rack": {"*": "{c}.3(b)(4)", "686a": "686a.3(b)(5)"},
    "deck_age": {"*": _dealt("{c}.3(c)(2) {c}.3(c)", "{c}.3(c)(1) {c}.3(c)", "{c}.3(c)(2) {c}.3(c)"),
                 "686a": "686a.3(c)"},
    "dice": {"575": "575.2(c)(1)(i)/2 575.2(c)(1)(i)/1", "688a": "688a.2(c)(1)(i)/2 688a.2(c)(1)(i)/1"},
    # Shuffle, cut, idle table.
    "shuffle": {"*": "{c}.5(a)/1"},
    "single_stack": {"*": "{c}.5(a)/2"},
    "cut_due": {"575": "575.5(b)(2)", "680a": "680a.5(c)(2)", "686a": "686a.5(b)", "687a": "687a.5(c)(2)",
                "688a": "688a.5(b)(2) 688a.5(c)"},
    "cut_first": {"686a": "686a.5(c)(1) 686a.5(c)", "688a": "688a.5(d)(1) 688a.5(d)"},
    "cut_cover_seat": {"686a": "686a.5(c)(2) 686a.5(c)"},
    "cut_far_right": {"686a": "686a.5(c)(3) 686a.5(c)", "688a": "688a.5(d)(2) 688a.5(d)"},
    "cut_ordered": {"686a": "686a.5(c)(4) 686a.5(c)", "688a": "688a.5(d)(2) 688a.5(d)"},
    "cover_back": {"686a": "686a.5(d)/2", "688a": "688a.5(e)/2"},
    "recut": {"575": "575.5(d)", "680a": "680a.5(e)", "686a": "686a.5(e)", "687a": "687a.5(e)", "688a": "688a.5(f)"},
    "no_cut": {"575": "575.5(b)(1)", "680a": "680a.5(c)(1)", "687a": "687a.5(c)(1)", "688a": "688a.5(b)(1)"},
    "floor_order": {"*": "{c}.5(a)/1", "686a": "686a.5(f) 686a.5(a)/1"},
    "idle_hand": {"688a": "688a.5(g) 688a.5(g)(1)"},
    "idle_machine": {"688a": "688a.5(g) 688a.5(g)(2)"},
    # Wagers.
    "seats": {"575": "575.7(d)", "680a": "680a.7(d)(1)", "686a": "686a.6(d)", "687a": "687a.7(d)(1)",
              "688a": "688a.7(d)"},
    "instruments": {"*": "{c}.7(a)", "686a": "686a.6(a)"},
    "seated": {"*": "{c}.7(b)/1", "686a": ""},
    "boxes": {"575": "575.7(f)", "680a": "680a.7(e)", "686a": "686a.6(f)", "687a": "687a.7(e)", "688a": "688a.7(f)"},
    "entry_ban": {"686a": "686a.6(b)"},
    "leaves": {"*": "{c}.7(b)/2", "686a": "686a.6(c)/2"},
    "no_more_bets": {"575": _dealt("575.8(b)", "575.9(a)(3)/1", "575.10(a)(2)"),
                     "680a": _dealt("680a.8(b)/1", "680a.9(a)(3)", "680a.10(a)(2)"),
                     "686a": "686a.6(c)/1 686a.6(c)/2",
                     "687a": _dealt("687a.8(b)/1", "687a.9(a)(3)", "687a.10(a)(2)"),
                     "688a": _dealt("688a.8(b)", "688a.9(a)(3)", "688a.10(a)(2)")},
    "lammers": {"688a": _dealt("688a.8(b)(1)", "688a.9(a)(3)(i)", "688a.10(a)(2)(i)")},
    "lockout": {"687a": _dealt("687a.8(c)", "687a.9(b)/2", "687a.10(a)(2)"),
                "688a": _dealt("688a.8(b)(2)/1 688a.2(d)(2)", "688a.9(a)(3)(ii)/1 688a.2(d)(2)",
                               "688a.10(a)(2)(ii)/1 688a.2(d)(2)")},
    "chips": {"687a": _dealt("687a.8(c)", "687a.9(b)/2", "687a.10(a)(2)"),
              "688a": _dealt("688a.8(b)(2)/2", "688a.9(a)(3)(ii)/2", "688a.10(a)(2)(ii)/2")},
    "sensors": {"688a": "688a.2(d)(1) 688a.2(d)", "687a": _dealt("687a.8(c)", "687a.9(b)/2", "687a.10(a)(2)")},
    "seat_light": {"688a": "688a.11(h)(4)(i)(B)(2)", "687a": _dealt("687a.8(c)", "687a.9(b)/2", "687a.10(a)(2)")},
    # The progressive's money. 687a has no such steps; the casino's procedure uses those of 688a (W11).
    "pay": {"688a": "688a.11(h)(4)(i)(B)(3)", "687a": "687a.11(f)(1)(ii)"},
    "contribution": {"688a": "688a.12(d)/2", "687a": "687a.12(c)/1"},
    "claim": {"688a": "688a.11(h)(4)(i)(A) 688a.7(e)(3)", "687a": "687a.11(f)(1)(i) 687a.7(d)(2)"},
    "folded_bet": {"687a": "687a.11(b)(3)"},
    "hit_hand": {"688a": "688a.11(h)(4)(i)(B)(1)", "687a": "687a.11(f)(1)(ii)"},
    "hit_light": {"688a": "688a.11(h)(4)(i)(B)(2)", "687a": "687a.11(f)(1)(ii)"},
    "award": {"688a": "688a.11(h)(4)(i)(B)(4)/1 688a.12(d)/1", "687a": "687a.11(f)(1)(ii) 687a.12(c)/1"},
    "hand_pay": {"688a": "688a.11(h)(4)(i)(B)(4)/2", "687a": "687a.11(f)(1)(ii)"},
    "envy_line": {"688a": "688a.11(h)(4)(i)(C)", "687a": "687a.12(c)/2"},
    "progressive_envy": {"688a": "688a.11(h)(2)(ii) 688a.12(d)/3", "687a": "687a.12(c)/2"},
    "meter": {"688a": "688a.2(d)", "687a": "687a.2(d)"},
    # Starting position.
    "start_due": {"575": _dealt("575.5(g) 575.8(b) 575.5(c)/2", "575.5(g) 575.9(a)(3)/1", "575.5(g) 575.10(a)(2)"),
                  "688a": _dealt("688a.5(i) 688a.8(c)", "688a.5(i) 688a.9(b)/2", "688a.5(i) 688a.10(b)")},
    "one_start": {"575": "575.2(c)", "688a": "688a.2(c)"},
    "attend": {"575": "575.2(c)(1)", "688a": "688a.2(c)(1)"},
    "shakes": {"575": "575.5(g)(1)(i)", "688a": "688a.5(i)(1)(i)"},
    "announce": {"575": "575.5(g)(1)(ii)", "688a": "688a.5(i)(1)(ii)"},
    "park": {"575": "575.5(g)(1)(iv)", "688a": "688a.5(i)(1)(iv)"},
    "button": {"575": "575.5(g)(3)"},
    # The deal and the stub.
    "load": {"*": _dealt("{c}.8(a)", "{c}.9(a)(2)", "{c}.10(a)(1)"), "686a": "686a.7(a)"},
    "hand_shuffler": {"*": "{c}.9(a)(1)", "686a": "686a.3(a)"},
    "deal": {"687a": _dealt("687a.8(d) 687a.8(d)#2", "687a.9(c) 687a.9(d)", "687a.10(b) 687a.10(c)/1"),
             "686a": "686a.7(e)"},
    "burn_shoe": {"686a": "686a.7(c)/1"},
    "burn_dealer": {"686a": "686a.7(c)/2"},
    "replacement": {"687a": _dealt("687a.8(e)/1", "687a.9(e)/1", "687a.10(c)/3 687a.10(c)/2")},
    "stub_rack": {"680a": _dealt("680a.8(d)", "680a.9(c)", "680a.10(c)"),
                  "687a": _dealt("687a.8(e)/2", "687a.9(e)/2", "687a.10(c)/2")},
    "stub_right": {"680a": _dealt("680a.8(f)", "680a.9(e)", "680a.10(e)"),
                   "687a": _dealt("687a.8(f)", "687a.9(e)#2", "687a.10(e)")},
    "unwagered": {"575": _dealt("575.8(f)", "575.9(e)", "575.10(e)"),
                  "688a": _dealt("688a.8(f)#2", "688a.9(f)", "688a.10(f)")},
    "cover_card": {"686a": "686a.7(d) 686a.5(f) 686a.7(d)(2)"},
    "rack_check": {"686a": "686a.7(d)(1) 686a.2(d)(2)"},
    # Play.
    "set_hands": {"575": "575.11(a)(1) 575.11(a)(3) 575.7(f) 575.11(a)",
                  "680a": "680a.11(b)(1) 680a.11(b)(2) 680a.11(a)",
                  "688a": "688a.11(a)(1) 688a.11(a)(3) 688a.7(f) 688a.11(a)"},
    "reveal": {"*": "{c}.11(c)", "686a": "", "687a": "687a.11(d)"},
    "decide": {"687a": "687a.11(b) 687a.11(a)", "686a": "686a.7(f) 686a.7(g)"},
    "folded": {"687a": "687a.11(c)"},
    "additional_cards": {"686a": "686a.7(h)"},
    "surrender": {"575": "575.11(d)/1", "686a": "686a.7(g)", "687a": "687a.11(b)", "688a": "688a.11(d)/1"},
    "surrender_collect": {"575": "575.11(d)/2", "686a": "686a.7(g)(3) 686a.7(g)#2", "688a": "688a.11(d)/2"},
    "surrender_count": {"575": "575.11(d)/2", "688a": "688a.11(d)/2"},
    "side": {"575": "575.11(h)", "688a": "688a.11(h)/1 688a.11(i)"},
    "rack_hand": {"575": "575.11(g)", "688a": "688a.11(g)"},
    "envy_hand": {"688a": "688a.11(h)(2)(i)(B)/2 688a.11(h)(2)(i)(C) 688a.11(h)(4)(i)(C) 688a.11(h)/2"},
    "envy_paid": {"688a": "688a.11(h)(2)(ii)"},
    "envy_collect": {"688a": "688a.11(h)(2)(iii)"},
    # Machines.
    "device_unusable": {"575": "575.13(n)", "680a": "680a.13(f)", "686a": "686a.9(e)", "687a": "687a.13(g)",
                        "688a": "688a.13(m)"},
    "shuffler_fault": {"575": "575.13(l)", "680a": "680a.13(d)", "686a": "686a.9(d)", "687a": "687a.13(e)",
                       "688a": "688a.13(k)"},
    "shoe_fault": {"575": "575.13(m)", "680a": "680a.13(e)", "686a": "O10", "687a": "687a.13(f)", "688a": "688a.13(l)"},
}  # fmt: skip


@lru_cache(4096)
def clauses_of(edition: Edition, duty: str, dealing: str, start: str | None) -> tuple[str, ...]:
    """Return the clauses of a duty, the one that orders it first; none where the chapter has no such duty."""
    cited = _from_facts(edition, duty, dealing, start)
    if cited is not None:
        return cited
    by_chapter = CLAUSES_BY_DUTY.get(duty, {})
    entry = by_chapter.get(edition.chapter, by_chapter.get("*", ""))
    text = entry if isinstance(entry, str) else entry[dealing]
    return tuple(text.format(c=edition.chapter).split())


def _from_facts(edition: Edition, duty: str, dealing: str, start: str | None) -> tuple[str, ...] | None:
    """Return the clauses that the edition's data gives for a duty; None if it gives none."""
    method = edition.method(dealing)
    match duty:
        case "method" if method is not None:
            return (method.clause,)
        case "deal" if method is not None and edition.chapter not in CLAUSES_BY_DUTY["deal"]:
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
        case "idle_hand" | "idle_machine" if edition.chapter not in CLAUSES_BY_DUTY[duty]:
            return (edition.idle.clause,)
        case "idle":
            return (edition.idle.clause,)
        case "lockout" | "chips" if edition.progressive is None:
            return (edition.close_clause,)
    return None


def _of_start(edition: Edition, duty: str, start: str | None) -> tuple[str, ...] | None:
    """Return the clause of the starting-position method, or of a device for it that may not be used."""
    if duty == "start_device" and start == "rng" and edition.starts:  # not verified or not approved
        return (f"{edition.chapter}.2(c)(2)",)
    return next(((each.clause,) for each in edition.starts if each.name == start), None)
