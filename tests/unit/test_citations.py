"""Every question, refusal and hold cites clauses that exist: never a bare chapter, never an unknown id."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from table_controller import rulebook, table
from table_controller.rulebook import edition
from table_controller.rulebook.duties import duties
from table_controller.table import state_machines as mc
from table_controller.table.clause_index import clauses_of
from table_controller.table.decisions import Prompt
from table_controller.table.permits import REASONS
from tests.support.core.ideal_table import CHOICES, IdealTable, decisions_of
from tests.support.suite.clauses import is_cited

STARTS = ("shaker", "rng", "flat_button")
SOURCES = sorted(Path(table.__file__).parent.glob("*.py"))


def duties_in_code() -> set[str]:
    """Return every duty that the core names in a call of `clause` or `clauses` or in a row of the reasons."""
    calls = (
        node.args[0]
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
        if node.func.attr in ("clause", "clauses")
    )
    chosen = [arm for call in calls for arm in ((call.body, call.orelse) if isinstance(call, ast.IfExp) else (call,))]
    named = {str(arm.value) for arm in chosen if isinstance(arm, ast.Constant)}
    return named | {row.duty for row in REASONS}


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_every_duty_cites_clauses_of_its_own_chapter_or_a_reading(game: str) -> None:
    rules = edition(game)
    wrong = {
        (duty, cited)
        for duty in duties_in_code() | set(duties(game))
        for method in rules.deal.methods
        for start in (None, *STARTS)
        for cited in clauses_of(rules, duty, method.name, start)
        if not is_cited(rules, cited)
    }
    assert wrong == set()


def test_every_duty_in_the_code_has_a_clause_in_some_chapter() -> None:
    results = {
        duty
        for duty in duties_in_code()
        for game in rulebook.GAMES
        for method in edition(game).deal.methods
        for start in (None, *(each.name for each in edition(game).starts))
        if clauses_of(edition(game), duty, method.name, start)
    }
    assert duties_in_code() - results == set()


def test_a_duty_that_a_chapter_does_not_have_has_no_clause_there() -> None:
    for duty in ("stub_right", "stub_rack", "additional_cards", "burn_shoe", "claim"):
        assert clauses_of(edition("asia_poker"), duty, "automated_shoe", "shaker") == ()


@pytest.mark.parametrize("game", list(CHOICES))
def test_every_question_of_a_round_cites_a_clause(game: str) -> None:
    floor = IdealTable(game).start("blue", "red")
    floor.round()
    floor.declare("other")
    floor.play_to(mc.SETTLING)
    asked = [prompt for _, decided in floor.log for prompt in decisions_of(Prompt, decided) if prompt.hold is None]
    assert asked
    for prompt in asked:
        assert prompt.clauses, prompt.kind
        assert [cited for cited in prompt.clauses if not is_cited(floor.edition, cited)] == [], prompt.kind
