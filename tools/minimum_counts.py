"""Checks that no proof is lost: counts tests, clause marks and mutants, and compares with tests/minimum_counts.toml.

python -m tools.minimum_counts                       exit 1 if a count is below its figure, or a figure fell silently
python -m tools.minimum_counts --renew               raise the file's figures to today's counts
python -m tools.minimum_counts --renew --reason "…"  also lower those that fell, and record why

A mutant counts as killed, because a test fails otherwise: conformance mutants and planted mistakes have one test each,
changed rules are in tests/unit/test_rule_mutation.py. Runs no test; takes about 15 seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from simulators.mutants import all_mutants
from tools import rule_mutants

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT: Final = Path(__file__).resolve().parent.parent
FILE: Final = ROOT / "tests" / "minimum_counts.toml"
RENEW: Final = "python -m tools.minimum_counts --renew"
_HEAD: Final = """# What is proven, counted by subject. Written by `python -m tools.minimum_counts --renew`. `make
# check` fails when a count falls below its figure, and when a figure is lower than in the commit before without a
# [[lowered]] entry.
"""


class Lowered(msgspec.Struct, frozen=True):
    """Why a figure fell: subject, old and new figure."""

    subject: str
    before: int
    after: int
    reason: str


class MinimumCounts(msgspec.Struct, frozen=True):
    """The file: figures by subject, and every fall with its reason, oldest first."""

    figures: dict[str, int] = {}
    lowered: tuple[Lowered, ...] = ()


# --- the file ---------------------------------------------------------------------------------------------------------


def parse(text: str) -> MinimumCounts:
    """Parse the text of the file."""
    return msgspec.convert(tomllib.loads(text), MinimumCounts)


def written(minimums: MinimumCounts) -> str:
    """Return the file as text, in the order of its subjects."""
    lines = [_HEAD, "[figures]"]
    lines += [f"{json.dumps(subject)} = {figure}" for subject, figure in sorted(minimums.figures.items())]
    for fall in minimums.lowered:
        entry = msgspec.structs.asdict(fall)
        lines += ["", "[[lowered]]", *(f"{name} = {json.dumps(value)}" for name, value in entry.items())]
    return "\n".join(lines) + "\n"


# --- what must hold ---------------------------------------------------------------------------------------------------


def fallen(figures: Mapping[str, int], counted: Mapping[str, int]) -> list[str]:
    """Return a sentence for every count below its figure."""
    return [
        f"{subject}: {counted.get(subject, 0)} of {figure} are left. Restore them, or lower the figure and give the "
        f'reason: {RENEW} --reason "..."'
        for subject, figure in figures.items()
        if counted.get(subject, 0) < figure
    ]


def unexplained(before: MinimumCounts, now: MinimumCounts) -> list[str]:
    """Return a sentence for every figure that is lower than before without a new entry that names both figures."""
    fresh = {
        (fall.subject, fall.before, fall.after) for fall in now.lowered if fall not in before.lowered and fall.reason
    }
    return [
        f"{subject}: the figure fell from {figure} to {now.figures.get(subject, 0)}, and no [[lowered]] entry of this "
        "same commit gives the reason"
        for subject, figure in before.figures.items()
        if now.figures.get(subject, 0) < figure and (subject, figure, now.figures.get(subject, 0)) not in fresh
    ]


def renewed(before: MinimumCounts, counted: Mapping[str, int], reason: str) -> MinimumCounts:
    """Return the file for today's counts. Without a reason no figure falls."""
    falls = {subject: figure for subject, figure in before.figures.items() if counted.get(subject, 0) < figure}
    if not reason:
        return MinimumCounts({**counted, **falls}, before.lowered)
    new = (Lowered(subject, figure, counted.get(subject, 0), reason) for subject, figure in sorted(falls.items()))
    return MinimumCounts(dict(counted), (*before.lowered, *new))


# --- counting ---------------------------------------------------------------------------------------------------------


class _Collected:
    """Counts the tests that pytest collected."""

    def __init__(self) -> None:
        self.figures: Counter[str] = Counter()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        marks: set[tuple[str, str]] = set()
        for item in session.items:
            test = item.nodeid.partition("[")[0]
            path = Path(test.partition("::")[0])
            self.figures["tests"] += 1
            self.figures[f"tests: {path.parts[1]}"] += 1
            if item.get_closest_marker("proof") is not None:
                self.figures["tests: in make proof"] += 1
            if "planted_mistake" in test:
                self.figures[f"killed, planted: {path.stem.removeprefix('test_')}"] += 1
            marks |= {(clause, test) for mark in item.iter_markers("clauses") for clause in mark.args}
        self.figures["clauses: named by a test"] = len({clause for clause, _ in marks})
        self.figures.update(f"clauses: marks of {clause.partition('.')[0]}" for clause, _ in marks)


def collect() -> Counter[str]:
    """Collect every test in this process; return the counts of tests, clause marks and planted mistakes."""
    collected, printed = _Collected(), io.StringIO()
    arguments = ["--collect-only", "-qq", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(printed):
        code = pytest.main(arguments, plugins=[collected])
    if code != 0:
        raise RuntimeError(f"the tests cannot be collected:\n{printed.getvalue()}")
    return collected.figures


def count() -> dict[str, int]:
    """Return today's count of every subject."""
    figures = collect()
    figures.update(f"killed, conformance: {mutant.kind or 'protocol'}" for mutant in all_mutants())
    changed, _ = rule_mutants.every()
    figures.update(f"killed, rules: {mutant.game or 'permits'}" for mutant in changed)
    return dict(sorted(figures.items()))


# --- the previous commit ----------------------------------------------------------------------------------------------


def _git(*words: str) -> str | None:
    command = ["git", "-C", str(ROOT), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    return done.stdout if done.returncode == 0 else None


def committed_before(text: str) -> MinimumCounts:
    """Return the file of the previous commit: HEAD's if it has changed since, else its parent's; empty without git."""
    path = FILE.relative_to(ROOT).as_posix()
    head = _git("show", f"HEAD:{path}")
    before = head if head != text else _git("show", f"HEAD^:{path}")
    return parse(before) if before is not None else MinimumCounts()


def main(arguments: Iterable[str] | None = None) -> int:
    """Check or renew; return 1 if a count fell."""
    parser = argparse.ArgumentParser(prog="python -m tools.minimum_counts", description="check that no proof is lost")
    parser.add_argument("--renew", action="store_true", help="write today's counts")
    parser.add_argument("--reason", default="", help="with --renew: why figures fall")
    args = parser.parse_args(None if arguments is None else list(arguments))
    text = FILE.read_text() if FILE.exists() else ""
    minimums, counted = parse(text), count()
    if args.renew:
        minimums = renewed(minimums, counted, args.reason)
        FILE.write_text(text := written(minimums))
    wrong = fallen(minimums.figures, counted) + unexplained(committed_before(text), minimums)
    risen = [subject for subject, figure in counted.items() if figure > minimums.figures.get(subject, 0)]
    for sentence in wrong:
        print(f"counts: {sentence}")
    if risen:
        print(f"counts: {len(risen)} counts have risen, {risen[0]} first; keep them with: {RENEW}")
    print(f"counts: {counted['tests']} tests, {len(counted)} subjects, {len(wrong)} fell")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
