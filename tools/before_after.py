"""Prints one table: figures of the tree before names changed, and of the tree now. Exit 1 if something fell.

python -m tools.before_after                      measures now and compares with the recorded figures
python -m tools.before_after --record COMMIT      records the figures of this tree, which is that commit's

Tests, clause marks and mutants must not become fewer; banned names, repeated class names and long files not more;
every golden byte string must be kept. Lines of code are only shown, and so are digests of soak and incidents: they were
the same at the end of the renames and changed since on purpose (docs/reviews/one-core/digests.md). Benchmarks are the
stored mean ratios (`tools.benchmark_figures`); a mean over rows of both directions is only shown. Coverage is the
stored figure (`tools.coverage_figures`).
"""

from __future__ import annotations

import argparse
import ast
import json
import logging
import re
import subprocess
import sys
from collections import Counter, defaultdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from tools import benchmark_figures, coverage_figures, digests, minimum_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT: Final = Path(__file__).parent.parent
BEFORE: Final = ROOT / "tests" / "fixtures" / "second_edition" / "before.json"
# A digest of every golden byte string of that commit.
GOLDEN_BEFORE: Final = ROOT / "tests" / "fixtures" / "second_edition" / "golden_digests.txt"
PRODUCT: Final = ("firmware_bridge", "devices", "table_controller", "simulators")
PACKAGES: Final = (*PRODUCT, "tests", "tools", "benchmarks")
# Lines after which a file is long.
LONG: Final = 400
# How much worse a mean ratio of a benchmark may be: machines are shared.
NOISE: Final = 1.1

# Parts of names that no name may have, and whole names; the rules are in CONTRIBUTING.
_PARTS: Final = re.compile(
    r"tell|tells|told|telling|say|says|said|hear|hears|heard|believe\w*|want|wants|wanted|whoever|whatever|besides?"
)
_WHOLE: Final = re.compile(r"(way|stand|rest|take|against|found|made|thing)s?")
_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_KINDS: Final = re.compile(r"\b(bet_sensor|button|keypad|meter_sign|rng|shaker|shoe|shuffler)\b")
_HEX: Final = re.compile(r'"((?:[0-9a-f]{2}){4,})"')

Rule = Literal["not fewer", "not more", "the same", "shown"]


class ComparedFigure(msgspec.Struct, frozen=True):
    """One figure, and what it must not do."""

    value: int | float | str
    rule: Rule = "shown"


# --- source files -----------------------------------------------------------------------------------------------------


def _sources(*packages: str) -> Iterator[tuple[Path, str]]:
    """Return path and text of every source file of some packages that git knows."""
    listed = subprocess.run(  # noqa: S603 - our own words
        ["git", "-C", str(ROOT), "ls-files", *(f"{package}/*.py" for package in packages)],  # noqa: S607
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            yield Path(name), (ROOT / name).read_text("utf-8")


def _defined(tree: ast.Module) -> Iterator[str]:
    """Return every name that a file defines: classes, functions, parameters, variables, attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


def is_banned(name: str) -> bool:
    """Return whether a name has a part that names must not have, or is a word with no meaning by itself."""
    words = [word.lower() for word in _WORD.findall(name)]
    return any(_PARTS.fullmatch(word) for word in words) or _WHOLE.fullmatch(name.strip("_").lower()) is not None


def banned_names() -> int:
    """Count the banned names: each once per file, and names of files."""
    figures = 0
    for path, text in _sources(*PACKAGES):
        names = {*_defined(ast.parse(text)), path.stem}
        figures += sum(is_banned(name) for name in names)
    return figures


def repeated_classes() -> int:
    """Count the class names that the product defines more than once; siblings of a kind of device share theirs."""
    places: dict[str, set[str]] = defaultdict(set)
    for path, text in _sources(*PRODUCT):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(_KINDS.sub("*", path.as_posix()))
    return sum(len(figures) > 1 for figures in places.values())


def lines() -> dict[str, ComparedFigure]:
    """Return the lines of each package, and how many files are long."""
    counted: Counter[str] = Counter()
    long = 0
    for path, text in _sources(*PACKAGES):
        number = text.count("\n")
        counted[path.parts[0]] += number
        long += number > LONG
    shown = {f"lines of {package}": ComparedFigure(counted[package]) for package in PACKAGES}
    return shown | {f"files over {LONG} lines": ComparedFigure(long, "not more")}


# --- proofs -----------------------------------------------------------------------------------------------------------


def proofs() -> dict[str, ComparedFigure]:
    """Return how many tests, clause marks and killed mutants there are."""
    counted = minimum_counts.count()
    sums = {
        "tests": counted["tests"],
        "clauses named by a test": counted["clauses: named by a test"],
        "clause marks": _sum(counted, "clauses: marks of "),
        "killed mutants, conformance": _sum(counted, "killed, conformance: "),
        "killed mutants, planted": _sum(counted, "killed, planted: "),
        "killed mutants, rules": _sum(counted, "killed, rules: "),
    }
    return {name: ComparedFigure(value, "not fewer") for name, value in sums.items()}


def _sum(counted: Mapping[str, int], beginning: str) -> int:
    return sum(number for subject, number in counted.items() if subject.startswith(beginning))


def golden_bytes() -> set[str]:
    """Return a digest of each byte string in the golden files; names of files and fields do not count."""
    files = sorted(ROOT.glob("tests/**/golden/*.toml"))
    strings = {string for path in files for string in _HEX.findall(path.read_text("utf-8"))}
    return {sha256(string.encode()).hexdigest()[:16] for string in strings}


def former_golden_bytes() -> set[str]:
    """Return the digests of the golden byte strings of before."""
    return set(GOLDEN_BEFORE.read_text("utf-8").split())


def journaled() -> dict[str, ComparedFigure]:
    """Return one digest over the recorded ones of soak and incidents, which a test compares with those of now."""
    files = digests.stored().values()
    parts = {
        part: [figures for whole in files for name, figures in whole.items() if name.startswith(part)]
        for part in ("soak", "incident")
    }
    return {
        f"digest of {part}s": ComparedFigure(sha256(json.dumps(figures).encode()).hexdigest()[:16])
        for part, figures in parts.items()
    }


def measured_elsewhere() -> dict[str, ComparedFigure]:
    """Return what long runs stored: the benchmarks' mean ratios to their floors, and coverage."""
    figures = {
        f"benchmarks, {name}": ComparedFigure(ratio, _mean_rule(name))
        for name, ratio in benchmark_figures.stored().means.items()
    }
    coverage = coverage_figures.load(ROOT)
    if coverage is not None:
        figures["coverage, percent"] = ComparedFigure(round(coverage.percent, 1), "not fewer")
    return figures


def _mean_rule(benchmark: str) -> Rule:
    if benchmark in benchmark_figures.MIXED_MEANS:
        return "shown"
    return "not fewer" if benchmark in benchmark_figures.HIGHER_MEANS else "not more"


def measured() -> dict[str, ComparedFigure]:
    """Return every figure of this tree."""
    return {
        **proofs(),
        "golden byte strings kept": ComparedFigure(len(former_golden_bytes() & golden_bytes()), "not fewer"),
        **journaled(),
        "banned names": ComparedFigure(banned_names(), "not more"),
        "class names defined twice": ComparedFigure(repeated_classes(), "not more"),
        **lines(),
        **measured_elsewhere(),
    }


# --- the table --------------------------------------------------------------------------------------------------------


def has_fallen(name: str, before: int | float | str | None, now: ComparedFigure | None) -> bool:
    """Return whether a figure is worse than before; what is measured on one side only cannot be compared."""
    if before is None or now is None or now.rule == "shown":
        return False
    if now.rule == "the same" or isinstance(before, str) or isinstance(now.value, str):
        return before != now.value
    noise = NOISE if name.startswith("benchmarks") else 1
    return now.value < before / noise if now.rule == "not fewer" else now.value > before * noise


def _cell(value: float | str) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(before: Mapping[str, Any], now: Mapping[str, ComparedFigure]) -> tuple[list[str], int]:
    """Return the table's lines and how many figures fell."""
    rows, fell = [("", f"before ({before['commit']})", "after", "must be", "")], 0
    for name in {**before["figures"], **now}:
        figure = now.get(name, ComparedFigure("not measured"))
        worse = has_fallen(name, before["figures"].get(name), now.get(name))
        fell += worse
        cells = _cell(before["figures"].get(name, "not measured")), _cell(figure.value)
        rows.append((name, *cells, "" if figure.rule == "shown" else figure.rule, "FELL" if worse else ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*shown, f"{fell} of {len(rows) - 1} figures fell"], fell


def main(arguments: list[str] | None = None) -> int:
    """Print the table, or record the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.before_after", description="before and after the rename")
    parser.add_argument("--record", metavar="COMMIT", help="record the figures of this tree, which is that commit's")
    args = parser.parse_args(arguments)
    logging.getLogger().addHandler(logging.NullHandler())  # simulated machines fail on purpose
    now = measured()
    if args.record:
        figures = {name: figure.value for name, figure in now.items()}
        BEFORE.write_text(json.dumps({"commit": args.record, "figures": figures}, indent=1) + "\n", "utf-8")
        return 0
    printed, fell = table(json.loads(BEFORE.read_text("utf-8")), now)
    print("\n".join(printed))
    print(f"the benchmarks of the column `after` were measured at commit {benchmark_figures.stored().commit}")
    return bool(fell)


if __name__ == "__main__":
    sys.exit(main())
