"""Counts the clauses by what play does about each, and names the tests that prove it.

python -m tools.clause_table            how many clauses are enforced, prompted, computed, outside and not yet done
python -m tools.clause_table --record   run every marked test and record what it shows (some minutes)
python -m tools.clause_table --record GAME    the same for the tests and files of one game
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller import rulebook
from tests.support.suite.clause_evidence import (
    ASKED,
    COMPUTED,
    DECIDING_TESTS,
    DRIVEN,
    RECORD,
    REFUSED,
    SETTLED,
    SHOWN,
    deciding_tests,
)
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from table_controller.rulebook import Enforcement

ROOT: Final = Path(__file__).resolve().parent.parent
DUE: Final = ROOT / "tests" / "clauses_due.toml"
# The tests of clauses that bind where cards are known, by the live core and by the shipped box.
KNOWN_CARDS: Final = ("/test_settled_by_cards.py::", "::test_the_box_refuses_a_result_that_cards_contradict")
READ: Final = ROOT / "tests" / "clauses_read"
DATA: Final = ROOT / "table_controller" / "rulebook" / "data"
# Duties of the controller. The other duties belong to people, or concern records.
BINDING: Final = ("device", "prompt", "compute")
# The word for what the deciding test shows. A deciding test that cites nothing has a word from a person who read it.
_WORDS: Final[dict[str, Enforcement]] = {
    REFUSED: "enforced in play",
    SETTLED: "enforced in play",
    ASKED: "prompted",
    COMPUTED: "computed on request",
}
_READ_WORDS: Final[dict[str, Enforcement]] = {
    "refused": "enforced in play",
    "carried out": "enforced in play",
    "prompted": "prompted",
}
_HEAD: Final = """# How the box handles each clause, and which test proves it

For regulators and auditors. After reading it you know for every clause whether a table enforces
it, and which test proves it. `pitbox rules show "688a.13(l)"` answers for one clause,
`python -m tools.clause_table` counts them. `make recording` writes this page; `make check` fails
when it is out of date.

Tests determine the word of a clause. While they run, the live core is observed in every test that
is marked with a clause, and `tests/deciding_tests` names for each clause its deciding test: the
one that shows most. That test fails when it shows less. `python -m tools.clause_table --record`
records the deciding tests again. Where the core cites no clause, `tests/clauses_read` keeps the
result of a person who read the test; without such a result a clause is *not yet*."""


class _Collected:
    """Keeps the tests that pytest collected."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for mark in item.iter_markers("clauses"):
                for clause in mark.args:
                    self.tests.setdefault(clause, []).append(item.nodeid)


def collect() -> dict[str, list[str]]:
    """Collect every test in this process; return the tests and cases that name each clause."""
    collected = _Collected()
    output = io.StringIO()
    arguments = ["--collect-only", "-qq", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(output):
        code = pytest.main(arguments, plugins=[collected])
    if code != 0:
        raise RuntimeError(f"the tests cannot be collected:\n{output.getvalue()}")
    return collected.tests


@cache
def cases() -> dict[str, list[str]]:
    """Return the tests and cases that name each clause. Uses a subprocess, because pytest may be the caller."""
    command = [sys.executable, "-m", "tools.clause_table", "--collect"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    tests: dict[str, list[str]] = json.loads(done.stdout)
    return tests


@cache
def named() -> dict[str, list[str]]:
    """Return the tests that name each clause, without their cases."""
    return {clause: list(dict.fromkeys(test.partition("[")[0] for test in tests)) for clause, tests in cases().items()}


def binding(game: str) -> list[str]:
    """Return the clauses of a game that bind the controller, in the order of the text."""
    return [clause.id for clause in rulebook.clauses(game) if clause.enforce in BINDING]


def _waits() -> list[dict[str, Any]]:
    waits: list[dict[str, Any]] = tomllib.loads(DUE.read_text()).get("waits", [])
    return waits


def due() -> dict[str, str]:
    """Return the clauses that wait for later work, completely or in part, each with what it waits for."""
    return {clause: wait["for"] for wait in _waits() for clause in wait["clauses"]}


def due_in_part() -> set[str]:
    """Return the clauses of which only a part waits; tests may name the other part."""
    return {clause for wait in _waits() if wait.get("part") for clause in wait["clauses"]}


def reviewed() -> dict[str, str]:
    """Return the clauses that a review reported as unproved, each with the page of that review."""
    return {clause: wait["review"] for wait in _waits() if "review" in wait for clause in wait["clauses"]}


@cache
def readings() -> dict[str, str]:
    """Return the clauses whose uncited deciding test a person has read, each with how it is enforced."""
    return {clause: each["how"] for each in _read() for clause in each["clauses"]}


def unread() -> list[str]:
    """Return the clauses whose test was read by a person and no longer exists."""
    return [c for each in _read() for c in each["clauses"] if not set(each["tests"]) & set(named().get(c, ()))]


def _read() -> list[dict[str, Any]]:
    return [each for path in sorted(READ.glob("*.toml")) for each in tomllib.loads(path.read_text())["read"]]


def uncited() -> list[str]:
    """Return the clauses whose deciding test drives the live core without a citation by the core."""
    return [clause for clause, each in deciding_tests().items() if each["shows"] == DRIVEN]


# --- words ------------------------------------------------------------------------------------------------------------


def word_of(clause: rulebook.Clause) -> Enforcement:
    """Return the word of a clause by its deciding test; a clause that waits, even in part, is `not yet`."""
    if clause.id in due():
        return "not yet"
    shows = deciding_tests()[clause.id]["shows"] if clause.id in deciding_tests() else None
    if shows == DRIVEN:
        return _READ_WORDS[readings()[clause.id]] if clause.id in readings() else "not yet"
    if shows is not None:
        return _WORDS[shows]
    return "not yet" if clause.enforce in BINDING else "outside"


def words(*games: str) -> dict[str, Enforcement]:
    """Return the word of every clause of some games; without a name, of all."""
    return {clause.id: word_of(clause) for game in games or rulebook.GAMES for clause in rulebook.clauses(game)}


def record(*games: str) -> None:
    """Run every marked test; record each clause's best deciding test and the resulting words. No name: of all games."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shown.jsonl"
        command = [sys.executable, "-m", "pytest", "-m", "clauses", "-q", "-n", "2", "--timeout", "600"]
        command += sorted({test for game in games for test in _tests_of(game)}) or ["tests"]
        subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, RECORD: str(path)})  # noqa: S603 - our own words
        shown = [json.loads(line) for line in path.read_text().splitlines()]
    write_deciding_tests(shown, games or rulebook.GAMES)
    deciding_tests.cache_clear()
    write_words(games or rulebook.GAMES)


def _tests_of(game: str) -> list[str]:
    """Return the tests and cases that name a clause of a game."""
    named_by = cases()
    return [test for clause in rulebook.clauses(game) for test in named_by.get(clause.id, ())]


def write_deciding_tests(shown: list[dict[str, Any]], games: Sequence[str] = rulebook.GAMES) -> None:
    """Write one deciding test for each clause: the test that shows most, and of those the first by name."""
    best: dict[str, tuple[int, str]] = {}
    for each in shown:
        for clause, what in each["shown"].items():
            candidate = SHOWN.index(what), each["test"]
            best[clause] = min(best.get(clause, candidate), candidate)
    head = "# One deciding test for each clause, and what it shows. Written by `python -m tools.clause_table --record`."
    for game in games:
        lines = [head]
        for clause in (clause.id for clause in rulebook.clauses(game) if clause.id in best):
            rank, test = best[clause]
            lines.append(f"{json.dumps(clause)} = {{ shows = {json.dumps(SHOWN[rank])}, test = {json.dumps(test)} }}")
        (DECIDING_TESTS / f"{rulebook.CHAPTERS[game]}.toml").write_text("\n".join(lines) + "\n")


def enforcement_file(game: str) -> Path:
    """Return the file from which the product reads the words of a game's clauses."""
    return DATA / rulebook.CHAPTERS[game] / "enforcement.toml"


def enforcement_text(game: str) -> str:
    """Return the content of that file."""
    head = (
        "# How the box handles each clause. Written by `python -m tools.clause_table --record`, checked by the tests."
    )
    lines = [f"{json.dumps(clause)} = {json.dumps(word)}" for clause, word in words(game).items()]
    return "\n".join([head, "[clauses]", *lines]) + "\n"


def write_words(games: Sequence[str] = rulebook.GAMES) -> None:
    """Write the words of the clauses to the product's data."""
    for game in games:
        enforcement_file(game).write_text(enforcement_text(game))


# --- the page ---------------------------------------------------------------------------------------------------------


def page() -> str:
    """Return the page of clauses, words and tests, game by game."""
    parts = [_HEAD, f"{summary()}.", word_table(), _by_evidence()]
    for game in rulebook.GAMES:
        lines = [_line(clause) for clause in rulebook.clauses(game) if word_of(clause) != "outside"]
        parts.append(f"## {rulebook.edition(game).title}\n\n{table(('clause', 'word', 'proved by'), *lines)}")
        outside = [f"`{clause.id}`" for clause in rulebook.clauses(game) if word_of(clause) == "outside"]
        parts.append(fill(f"Outside: {', '.join(outside) or 'none'}.", 100, break_on_hyphens=False))
    return "\n\n".join(parts) + "\n"


def word_table() -> str:
    """Return how many clauses have each word, and what the word means."""
    counts = Counter(words().values())
    rows = [(f"*{word}*", str(counts[word]), meaning) for word, meaning in rulebook.ENFORCEMENT.items()]
    return table(("word", "clauses", "meaning"), *rows)


def _by_evidence() -> str:
    """Return a sentence with the evidence for the enforced clauses."""
    shown = Counter(deciding_tests()[clause]["shows"] for clause, word in words().items() if word == "enforced in play")
    read = Counter(how for clause, how in readings().items() if clause in uncited())
    deciding = deciding_tests().values()
    by_cards = sum(each["shows"] == SETTLED or any(name in each["test"] for name in KNOWN_CARDS) for each in deciding)
    return fill(
        f"Of the clauses that are enforced in play, the core cites {shown[REFUSED]} when it refuses a request or stops "
        f"the table, and {shown[SETTLED]} in the result of a wager that known cards settle. "
        f"{shown[DRIVEN]} are *uncited*, and a person read their tests: {read['refused']} are refused or "
        f"stopped without a citation, {read['carried out']} the core carries out itself. {read['prompted']} uncited "
        f"clauses are prompted only. {by_cards} of the enforced clauses decide a wager by its cards: they bind "
        "where the dealer enters the cards that lie face up.",
        100,
    )


def _line(clause: rulebook.Clause) -> tuple[str, str, str]:
    tests = "<br>".join(map(_short, named().get(clause.id, ())))
    waits = f"waits for {due()[clause.id]}" if clause.id in due() else ""
    how = f", uncited: {readings()[clause.id]}" if clause.id in uncited() and clause.id in readings() else ""
    return f"`{clause.id}`", word_of(clause) + how, "<br>".join(filter(None, (waits, tests)))


def _short(test: str) -> str:
    path, _, name = test.partition("::")
    return f"[{Path(path).stem.removeprefix('test_')}](../{path}): {name.removeprefix('test_').replace('_', ' ')}"


def summary() -> str:
    """Return one line: the number of clauses, and the number with each word."""
    counts = Counter(words().values())
    return f"{sum(counts.values())} clauses: " + ", ".join(f"{counts[word]} {word}" for word in rulebook.ENFORCEMENT)


def unnamed() -> list[str]:
    """Return the binding clauses that no test names and no later work will bring."""
    return [c for game in rulebook.GAMES for c in binding(game) if c not in named() and c not in due()]


def main() -> int:
    """Print the counts, what waits, and what is missing; return 1 if a test is missing."""
    if sys.argv[1:] == ["--collect"]:
        print(json.dumps(collect()))
        return 0
    if sys.argv[1:2] == ["--record"]:
        record(*sys.argv[2:])
    print(summary())
    for clause, what in due().items():
        print(f"  {clause} waits for {what}")
    for clause in unnamed():
        print(f"  {clause} is named by no test: {rulebook.clause(clause).duty}")
    return 1 if unnamed() else 0


if __name__ == "__main__":
    sys.exit(main())
