"""Checks that documents name only what exists: files, links, modules, test functions, make targets and commands.

python -m tools.docs.doc_names    fail if a document names something that does not exist

Reads README, CONTRIBUTING and the pages of `docs/`. Decisions and reviews are history: the names in them must exist,
too, except the former names that `FORMER` lists. A name counts if it is in backticks, in a block of commands, or the
target of a link.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

from tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HISTORY: Final = ("docs/decisions", "docs/reviews")
# What decisions and reviews cite by its former name, because they are about the change.
FORMER: Final = frozenset((
    "tools/floor.py", "tests/floor.toml", "make floor", "simulators/engine/hosts", "devices/chip_checks.py",
    "devices/lockout.py", "devices/lockout", "tests/wire/golden.toml", "test_return_steps.py", "pitbox " + "say",
    "pitbox jam", "pitbox jams",
))  # fmt: skip
# `tools.words` checks the code names of this page.
GLOSSARY: Final = "docs/glossary.md"
TOP: Final = ("benchmarks", "deploy", "devices", "docs", "examples", "firmware_bridge", "requirements", "simulators",
              "table_controller", "tests", "tools")  # fmt: skip
PACKAGES: Final = tuple(name for name in TOP if name not in ("deploy", "docs", "examples", "requirements"))

_FENCE: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_TICKS: Final = re.compile(r"`([^`\n]+)`")
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
# A path with a placeholder, such as devices/<kind>/driver.py, names no file.
_PATH: Final = re.compile(rf"(?<![\w./-])(?:{'|'.join(TOP)})/[\w./*@-]*+(?!<)(?:::\w+)?")
_MODULE: Final = re.compile(rf"(?<![\w./-])(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
_TEST_FILE: Final = re.compile(r"(?<![\w/.])(test_\w+\.py)(?:::(\w+))?")
_MAKE: Final = re.compile(r"(?:^|[\s`$])make ([a-z]+)\b")
_COMMAND_LINE: Final = re.compile(r"(?:\$ )?(?:sudo )?(?:\.venv/bin/)?pitbox (.*)")
_PITBOX: Final = re.compile(r"(?:^|[\s`$/])pitbox ([a-z][a-z-]+)\b")


def pages(root: Path) -> list[Path]:
    """Return the documents that describe the current tree."""
    candidates = [root / "README.md", root / "CONTRIBUTING.md", root / "examples" / "README.md"]
    candidates += sorted((root / "docs").rglob("*.md"))
    left_out = (*HISTORY, GLOSSARY)
    return [page for page in candidates if page.exists() and not str(page.relative_to(root)).startswith(left_out)]


def history(root: Path) -> list[Path]:
    """Return the decisions and reviews."""
    return sorted(page for folder in HISTORY for page in (root / folder).rglob("*.md"))


def wrong(root: Path, page: Path) -> list[str]:
    """Return every name of a page that does not exist, each once, with the page."""
    text = page.read_text("utf-8")
    fences = "\n".join(_FENCE.findall(text))
    prose = _FENCE.sub("", text)
    spans = [*_TICKS.findall(prose), *(line for line in fences.splitlines() if _is_command(line))]
    bad = [name for span in spans for name in _missing(root, span)]
    bad += [target for target in _LINK.findall(prose) if not _link_leads(page, target)]
    former = FORMER if page.relative_to(root).as_posix().startswith(HISTORY) else frozenset[str]()
    return [f"{page.relative_to(root)}: {name}" for name in dict.fromkeys(bad) if name not in former]


def _is_command(line: str) -> bool:
    return line.lstrip("$ ").startswith(("python -m", "make ", "pitbox ", ".venv/", "sudo "))


def _link_leads(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:|#", target):
        return True
    return (page.parent / target.partition("#")[0]).exists()


def _missing(root: Path, span: str) -> Iterator[str]:
    for name in _PATH.findall(span):
        is_pattern = f"{name}<" in span  # as in tests/unit/test_rows_<chapter>.py: its folder exists
        if not _path_exists(root, name.rpartition("/")[0] if is_pattern else name):
            yield name
    for name in _MODULE.findall(span):
        if not _module_exists(root, name):
            yield name
    for file, test in _TEST_FILE.findall(span):
        places = list((root / "tests").rglob(file))
        if not places or (test and not any(_defines(place, test) for place in places)):
            yield f"{file}::{test}" if test else file
    yield from (f"make {name}" for name in _MAKE.findall(span) if name not in _targets(root))
    yield from (f"pitbox {name}" for name in _PITBOX.findall(span) if name not in _commands(root))


def _path_exists(root: Path, name: str) -> bool:
    path, _, test = name.partition("::")
    path = path.rstrip("/.")
    if "*" in path:
        return any(root.glob(path))
    file = root / path
    if test:
        return file.exists() and _defines(file, test)
    return file.exists() or file.with_name(file.name + ".py").exists()


def _module_exists(root: Path, name: str) -> bool:
    """Whether a dotted name is a module, or a name that a module defines or imports."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        path = root.joinpath(*parts[:depth])
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path.is_dir() and depth == len(parts):
            return True
        if file.exists():
            return depth == len(parts) or _defines(file, parts[depth])
    return False


@cache
def _names(file: Path) -> frozenset[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
    return frozenset(names)


def _defines(file: Path, name: str) -> bool:
    return name in _names(file)


@cache
def _targets(root: Path) -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z]+):", (root / "Makefile").read_text("utf-8"), re.MULTILINE))


@cache
def _commands(root: Path) -> frozenset[str]:
    """Return the commands of the console script: its own table, and the entry points of other packages."""
    own = (root / "table_controller" / "cli" / "__init__.py").read_text("utf-8")
    project = (root / "pyproject.toml").read_text("utf-8")
    plugged = project.partition('[project.entry-points."pitbox.commands"]')[2].partition("\n[")[0]
    return frozenset(re.findall(r'"([\w-]+)": "table_controller\.', own)) | frozenset(
        re.findall(r"^([\w-]+) =", plugged, re.MULTILINE)
    )


# --- arguments of commands --------------------------------------------------------------------------------------------


def unknown_arguments(root: Path, page: Path) -> list[str]:
    """Return a sentence for every `pitbox` command of a page with a subcommand or an option that does not exist."""
    text = page.read_text("utf-8")
    prose, blocks = _FENCE.sub("", text), "\n".join(_FENCE.findall(text)).splitlines()
    lines = [*_TICKS.findall(prose), *blocks, *(line for line in prose.splitlines() if line.startswith("    "))]
    commands = [match[1] for line in lines if (match := _COMMAND_LINE.match(line.strip()))]
    problems = (_unknown_argument(command) for command in commands)
    name = page.relative_to(root).as_posix()
    return [f"{name}: {problem}" for problem in dict.fromkeys(problems) if problem]


@cache
def _parser() -> argparse.ArgumentParser:
    from table_controller.cli import command_parser  # noqa: PLC0415 - only this check needs the commands

    return command_parser()


def _unknown_argument(command: str) -> str:
    """Return what is unknown in the words after `pitbox`, or ""."""
    parser = _parser()
    for word in re.split(r"\s+", command):
        if not word or word[0] in "#|>&;<…(\"'" or word in ("...", "\\"):
            break
        option = word.partition("=")[0].rstrip("`,.;:)]")
        below = next((each for each in parser._actions if isinstance(each, argparse._SubParsersAction)), None)
        if option.startswith("--"):
            if option not in parser._option_string_actions:
                return f"{parser.prog} has no option {option}"
        elif below is not None and re.fullmatch(r"[a-z][a-z_-]*", word):
            if word not in below.choices:
                return f"{parser.prog} has no command {word}"
            parser = below.choices[word]
        elif below is not None and not word.startswith("-"):
            break
    return ""


def main() -> None:
    """Print the names that do not exist; exit 1 if there are any."""
    bad = [f"{line} does not exist" for page in (*pages(ROOT), *history(ROOT)) for line in wrong(ROOT, page)]
    bad += [line for page in pages(ROOT) for line in unknown_arguments(ROOT, page)]
    for line in bad:
        print(line)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
