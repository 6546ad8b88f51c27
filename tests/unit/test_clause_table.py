"""Every clause that binds the controller is named by a test; what waits may only become less."""

from __future__ import annotations

import subprocess
import tomllib

from table_controller import rulebook
from tests.support.tools import need
from tools import clause_table


def test_every_binding_clause_is_named_by_a_test_or_waits_for_something() -> None:
    assert clause_table.unnamed() == []


def test_what_waits_binds_and_is_named_by_no_test() -> None:
    binding = {clause for game in rulebook.GAMES for clause in clause_table.binding(game)}
    assert sorted(clause_table.due().keys() - binding) == []
    assert sorted(clause_table.due().keys() & clause_table.named().keys()) == [], "named: take it out of the list"


def test_what_waits_has_only_become_less() -> None:
    """Every version that was ever committed has at least the clauses of this one."""
    path = clause_table.DUE.relative_to(clause_table.ROOT).as_posix()
    asked = ["git", "-C", str(clause_table.ROOT)]
    log = subprocess.run([*asked, "log", "--format=%H", "--", path], capture_output=True, text=True, check=False)
    need(log.returncode == 0, "the history is not here; clone the repository with git to compare with it")
    for commit in log.stdout.split():
        old = subprocess.run([*asked, "show", f"{commit}:{path}"], capture_output=True, text=True, check=False)
        if old.returncode == 0:
            before = {c for wait in tomllib.loads(old.stdout).get("waits", []) for c in wait["clauses"]}
            assert sorted(clause_table.due().keys() - before) == [], f"new since {commit}"
