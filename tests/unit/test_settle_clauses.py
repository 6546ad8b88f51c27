"""Every clause that settlement decides is named by a test, so that a clause without one is seen."""

from __future__ import annotations

import importlib

import pytest

from table_controller import rulebook

MODULES = (
    "test_hands_games", "test_hands_pai_gow", "test_house_ways", "test_rulebook_submission", "test_settle_asia",
    "test_settle_check", "test_settle_dj_wild", "test_settle_over_under", "test_settle_pai_gow", "test_settle_saigon",
    "test_settle_void",
)  # fmt: skip
# Kinds of duty that are settlement's, where the controller computes them.
OURS = ("settle", "payout", "play", "envy", "progressive")
# Computed, but of the table's course and not of hands: when a phase opens. They are the core's.
CORE = ("575.11(a)", "680a.11(a)", "687a.11(a)", "688a.11(a)")


def named() -> set[str]:
    found: set[str] = set()
    for name in MODULES:
        module = importlib.import_module(f"tests.unit.{name}")
        for word, test in vars(module).items():
            found |= set(getattr(test, "clauses", ())) if word.startswith("test_") else set()
    return found


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_every_computed_clause_of_settlement_is_named(game: str) -> None:
    wanted = {
        clause.id for clause in rulebook.clauses(game) if clause.kind in OURS and clause.enforce == "compute"
    } - set(CORE)
    assert sorted(wanted - named()) == []


def test_what_is_left_to_the_core_exists() -> None:
    for clause in CORE:
        assert rulebook.clause(clause).trigger == "player_decision"
