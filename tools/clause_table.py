"""Which test proves which clause: asks pytest for all tests and their marks. Runs no test and judges none.

python -m tools.clause_table        how many clauses bind, how many are named by a test, and which wait
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from table_controller import rulebook
from tools.markdown import table

ROOT: Final = Path(__file__).resolve().parent.parent
DUE: Final = ROOT / "tests" / "clauses_due.toml"
# Duties that the controller itself carries out. The rest is other people's, or a matter of records.
BINDING: Final = ("device", "prompt", "compute")
_HEAD: Final = """# Which test proves which clause

Written by `make recording` from the marks of the tests; `make check` fails when it is out of date. A clause that binds
the controller and is named by no test fails the build, unless it stands in `tests/clauses_due.toml`, which may only
shrink."""


class _Collected:
    """Keeps what pytest found."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            test = item.nodeid.partition("[")[0]
            for mark in item.iter_markers("clauses"):
                for clause in mark.args:
                    named = self.tests.setdefault(clause, [])
                    if test not in named:
                        named.append(test)


def collect() -> dict[str, list[str]]:
    """Have pytest collect every test, in this process; return the tests that name each clause."""
    found = _Collected()
    said = io.StringIO()
    arguments = ["--collect-only", "-qq", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(said):
        code = pytest.main(arguments, plugins=[found])
    if code != 0:
        raise RuntimeError(f"the tests cannot be collected:\n{said.getvalue()}")
    return found.tests


@cache
def named() -> dict[str, list[str]]:
    """Return the tests that name each clause; collected in a process of its own, since pytest may be asking."""
    command = [sys.executable, "-m", "tools.clause_table", "--collect"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    tests: dict[str, list[str]] = json.loads(done.stdout)
    return tests


def binding(game: str) -> list[str]:
    """Return the clauses of a game that the controller carries out, in the order of the text."""
    return [clause.id for clause in rulebook.clauses(game) if clause.enforce in BINDING]


def due() -> dict[str, str]:
    """Return the clauses that wait for later work, each with what it waits for."""
    text = DUE.read_text()
    return {clause: wait["for"] for wait in tomllib.loads(text).get("waits", []) for clause in wait["clauses"]}


def page() -> str:
    """Return the page of clauses and tests, game by game."""
    waits, tests = due(), named()
    parts = [_HEAD, f"{summary()}."]
    for game in rulebook.GAMES:
        rows = [
            (f"`{clause}`", "<br>".join(map(_short, tests.get(clause, ()))) or f"waits for {waits.get(clause, '?')}")
            for clause in binding(game)
        ]
        parts.append(f"## {rulebook.edition(game).title}\n\n{table(('clause', 'proved by'), *rows)}")
    return "\n\n".join(parts) + "\n"


def _short(test: str) -> str:
    path, _, name = test.partition("::")
    return f"[{Path(path).stem.removeprefix('test_')}](../{path}): {name.removeprefix('test_').replace('_', ' ')}"


def summary() -> str:
    """Return one line for people: how many clauses bind, are named, and wait."""
    all_binding = [clause for game in rulebook.GAMES for clause in binding(game)]
    proved = [clause for clause in all_binding if clause in named()]
    return f"{len(all_binding)} clauses bind the controller; {len(proved)} are named by a test, {len(due())} wait"


def unnamed() -> list[str]:
    """Return the binding clauses that no test names and nothing later is to bring."""
    return [c for game in rulebook.GAMES for c in binding(game) if c not in named() and c not in due()]


def main() -> int:
    """Print the score, what waits, and what is missing; 1 if anything is."""
    if sys.argv[1:] == ["--collect"]:
        print(json.dumps(collect()))
        return 0
    print(summary())
    for clause, what in due().items():
        print(f"  {clause} waits for {what}")
    for clause in unnamed():
        print(f"  {clause} is named by no test: {rulebook.clause(clause).duty}")
    return 1 if unnamed() else 0


if __name__ == "__main__":
    sys.exit(main())
