"""The tables of irregularities as test parameters, each row with the clauses that it proves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from table_controller.rulebook import GAMES
from table_controller.rulebook.registry import CHAPTERS
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from tests.support.core.irregularities import IrregularityCase


def params(cases: list[IrregularityCase]) -> list[ParameterSet]:
    """Return one parameter for each line."""
    assert all(case.game in GAMES for case in cases)
    parameters = []
    for case in cases:
        cited = [clause for clause in case.cites if clause.startswith(f"{CHAPTERS[case.game]}.")]
        parameters.append(pytest.param(case, id=case.id, marks=[clauses(*cited)] if cited else []))
    return parameters
