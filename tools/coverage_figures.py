"""Measures how much of the code the tests in virtual time run, and keeps the figure.

python -m tools.coverage_figures              print the stored figure; exit 1 if it is missing or out of date
python -m tools.coverage_figures --measure    run the tests under coverage, then write the figures and the page
python -m tools.coverage_figures --measure --accept    also accept a figure that fell
python -m tools.coverage_figures --try PATH...    the same measurement with these tests alone; prints, stores nothing
python -m tools.coverage_figures --if-measured    as without an option, but passes while nothing was measured

The figures are in tests/coverage.toml, the page is docs/coverage.md. Measuring takes about three times as long as the
same tests without it, so CI checks the stored figure (docs/decisions/0029-coverage.md).
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
FIGURES: Final = "tests/coverage.toml"
PAGE: Final = "docs/coverage.md"
BEGIN: Final = "<!-- generated: coverage -->"
END: Final = "<!-- end generated -->"
MEASURE: Final = "make coverage"
PACKAGES: Final = ("firmware_bridge", "devices", "table_controller", "simulators")
TESTS: Final = ("tests/unit", "tests/wire", "tests/scenario")
# Tests on the wall clock start processes that this measurement does not see, and their deadlines would not hold.
MARKS: Final = "not realtime and not proof and not vhci"
# The figures are out of date when a package has grown or shrunk by more than this part since they were measured.
DRIFT: Final = 0.10
# A new figure may be this many percentage points lower: threads and drawn cases differ a little from run to run.
SLACK: Final = 0.5


class PackageFigures(msgspec.Struct, frozen=True):
    """One package: what was counted and what the tests ran."""

    lines: int
    lines_run: int
    branches: int
    branches_run: int
    size: int  # statements in the source when it was measured; shows whether the figures are out of date


class Figures(msgspec.Struct, frozen=True):
    """The file: when and with which Python, and every package."""

    measured: str
    python: str
    packages: dict[str, PackageFigures]

    @property
    def percent(self) -> float:
        """The share of lines and branches together that the tests ran."""
        parts = self.packages.values()
        return _percent(sum(p.lines_run + p.branches_run for p in parts), sum(p.lines + p.branches for p in parts))


def _percent(run: int, count: int) -> float:
    return 100 * run / count if count else 100.0


# --- packages and their size ------------------------------------------------------------------------------------------


def package_of(path: str) -> str:
    """Return the package that a file counts for: the first two folders of its path."""
    folders = Path(path).parts[:-1]
    return "/".join(folders[:2])


def sizes(root: Path) -> dict[str, int]:
    """Return the number of statements in the source of every package."""
    counted: dict[str, int] = defaultdict(int)
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            counted[package_of(str(path.relative_to(root)))] += sum(
                isinstance(node, ast.stmt) for node in ast.walk(tree)
            )
    return {name: size for name, size in sorted(counted.items()) if size > 1}


# --- the file and the page --------------------------------------------------------------------------------------------


def load(root: Path) -> Figures | None:
    """Return the stored figures, or None if nothing was measured."""
    path = root / FIGURES
    raw = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    return msgspec.convert(raw, Figures) if raw else None


def written(figures: Figures) -> str:
    """Return the figures as TOML."""
    lines = [f"# Written by `{MEASURE}`; {PAGE} explains it.", f'measured = "{figures.measured}"']
    lines += [f'python = "{figures.python}"', "", "[packages]"]
    for name, part in sorted(figures.packages.items()):
        counts = ", ".join(f"{key} = {value}" for key, value in msgspec.structs.asdict(part).items())
        lines.append(f'"{name}" = {{ {counts} }}')
    return "\n".join(lines) + "\n"


def page_part(figures: Figures | None) -> str:
    """Return the generated part of the page."""
    if figures is None:
        return f"Not measured yet. Run `{MEASURE}`."
    rows = [
        (f"`{name}`", str(p.lines), f"{_percent(p.lines_run, p.lines):.1f} %",
         f"{_percent(p.branches_run, p.branches):.1f} %")
        for name, p in sorted(figures.packages.items())
    ]  # fmt: skip
    first = (
        f"**{figures.percent:.1f} %** of lines and branches, measured {figures.measured} with Python {figures.python} "
        f"by `{MEASURE}`."
    )
    return f"{first}\n\n{table(('package', 'lines', 'lines run', 'branches run'), *rows)}"


def stored_part() -> str:
    """Return the generated part of the page for the stored figures."""
    return page_part(load(ROOT))


def renewed(text: str, figures: Figures | None) -> str:
    """Return the page's text with the figures in its generated part."""
    before, _, after = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{page_part(figures)}\n\n{END}{after.partition(END)[2]}"


# --- checking ---------------------------------------------------------------------------------------------------------


def stale(root: Path) -> list[str]:
    """Return a sentence for every reason why the stored figures do not describe this source."""
    figures = load(root)
    if figures is None:
        return [f"{FIGURES} has no figures"]
    text = (root / PAGE).read_text("utf-8")
    wrong = [] if renewed(text, figures) == text else [f"{PAGE} does not show the figures of {FIGURES}"]
    now = sizes(root)
    for name in sorted(now.keys() | figures.packages.keys()):
        before = figures.packages[name].size if name in figures.packages else 0
        if abs(now.get(name, 0) - before) > DRIFT * max(before, 1):
            wrong.append(f"{name} has {now.get(name, 0)} statements, {before} when it was measured")
    return wrong


# --- measuring --------------------------------------------------------------------------------------------------------


def counted(report: dict[str, Any], sizes_now: dict[str, int]) -> dict[str, PackageFigures]:
    """Return the packages of coverage's JSON report."""
    parts = {name: PackageFigures(0, 0, 0, 0, size) for name, size in sizes_now.items()}
    for path, file in report["files"].items():
        name, results = package_of(path), file["summary"]
        if name in parts:
            old = parts[name]
            parts[name] = PackageFigures(
                old.lines + results["num_statements"], old.lines_run + results["covered_lines"],
                old.branches + results["num_branches"], old.branches_run + results["covered_branches"], old.size,
            )  # fmt: skip
    return parts


def measure(root: Path, workers: str, tests: Sequence[str] = TESTS) -> Figures:
    """Run the tests under coverage; return the figures. RuntimeError if a test fails."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        command = [sys.executable, "-m", "pytest", *tests, "-m", MARKS, "-n", workers, "--dist", "worksteal", "-q",
                   "--timeout", "600", "--cov", "--cov-branch", f"--cov-report=json:{report}"]  # fmt: skip
        environment = {**os.environ, "COVERAGE_FILE": str(Path(folder) / "data")}
        if subprocess.run(command, cwd=root, env=environment, check=False).returncode:  # noqa: S603 - our own words
            raise RuntimeError("a test failed under coverage, so nothing was stored")
        parts = counted(json.loads(report.read_text("utf-8")), sizes(root))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Figures(today, ".".join(platform.python_version_tuple()[:2]), parts)


def main(arguments: list[str] | None = None) -> int:
    """Check the stored figure, or measure it again."""
    parser = argparse.ArgumentParser(prog="python -m tools.coverage_figures", description="what the tests run")
    parser.add_argument("--measure", action="store_true", help="run the tests under coverage and store the figures")
    parser.add_argument("--accept", action="store_true", help="with --measure: store a figure that fell, too")
    parser.add_argument("--workers", default=str((os.cpu_count() or 1) + 1), help="processes that run tests")
    parser.add_argument("--try", dest="tried", nargs="+", metavar="PATH", help="measure these tests; store nothing")
    parser.add_argument("--if-measured", action="store_true", help="pass while nothing was measured")
    options = parser.parse_args(arguments)
    if options.tried:
        print(f"coverage: {measure(ROOT, options.workers, options.tried).percent:.1f} % by these tests; not stored")
        return 0
    if options.if_measured and load(ROOT) is None:
        print(f"coverage: not measured yet. Run: {MEASURE}")
        return 0
    if options.measure:
        before, now = load(ROOT), measure(ROOT, options.workers)
        if before is not None and now.percent < before.percent - SLACK and not options.accept:
            print(f"coverage: {now.percent:.1f} %, {before.percent:.1f} % before. Test what is new, or use --accept.")
            return 1
        (ROOT / FIGURES).write_text(written(now), "utf-8")
        page = ROOT / PAGE
        page.write_text(renewed(page.read_text("utf-8"), now), "utf-8")
    wrong = stale(ROOT)
    for sentence in wrong:
        print(f"coverage: {sentence}. Run: {MEASURE}")
    if (figures := load(ROOT)) is not None:
        print(f"coverage: {figures.percent:.1f} % of lines and branches, measured {figures.measured}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
