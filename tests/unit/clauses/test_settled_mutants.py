"""The tests of clauses about setting and ranking hands can fail: without the row, and with another rule."""

from __future__ import annotations

import pytest

from table_controller.rulebook import duties as duty_rows
from tests.support.core.ranking_mutants import CHANGED
from tests.unit.clauses.test_settled_by_cards import EXAMPLES
from tests.unit.clauses.test_settled_by_cards import (
    test_a_result_that_the_cards_contradict_is_refused_with_the_clause as check,
)

BY_CLAUSE = {each["clause"]: each for each in EXAMPLES}
# Clauses that settlement cites by a row of `duties.toml`.
ROWS = sorted(
    clause for clause, each in BY_CLAUSE.items() for cited in duty_rows.duties(each["game"]).values()
    if isinstance(cited, tuple) and clause in cited
)  # fmt: skip


def _fails(example: dict[str, str]) -> bool:
    try:
        check(example)
    except (AssertionError, ValueError):  # ValueError: the table accepted the result
        return True
    return False


@pytest.mark.parametrize("clause", [clause for clause in CHANGED if clause in BY_CLAUSE])
def test_with_another_rule_the_wager_ends_in_another_way(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    CHANGED[clause](monkeypatch)
    assert _fails(BY_CLAUSE[clause]), f"{clause} does not decide its example"


@pytest.mark.parametrize("clause", sorted(set(ROWS)))
def test_without_its_row_a_clause_is_not_cited(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = BY_CLAUSE[clause]["game"]
    rows = {
        name: tuple(each for each in cited if each != clause) if isinstance(cited, tuple) else cited
        for name, cited in duty_rows.duties(game).items()
    }
    monkeypatch.setattr(duty_rows, "duties", lambda _: rows)
    assert _fails(BY_CLAUSE[clause])
