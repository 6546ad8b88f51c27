"""A ninth kind of machine, added to a copy of the project by the steps of docs/guides/add-a-device.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
GUIDE: Final = ROOT / "docs" / "guides" / "add-a-device.md"
EXAMPLE: Final = ROOT / "examples" / "bay_door"
KIND: Final = "bay_door"
GAME: Final = "asia_poker"
# The most existing files that a new kind may change, by hand or by a command.
MOST_EDITED: Final = 12
# What a kind needs to be built and checked; no journals, pictures or caches.
COPIED: Final = (
    "firmware_bridge", "devices", "table_controller", "simulators", "tests", "tools", "docs", "deploy", "examples",
    "benchmarks", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "mkdocs.yml",
)  # fmt: skip
# The longest time (s) of one program in the copy, on a busy computer.
LIMIT: Final = 280.0
# The tests that the guide names, for the new kind alone where they have many cases.
TESTS: Final = (
    "tests/wire/test_golden.py", "tests/unit/test_controller_kinds.py", "tests/unit/test_catalogue.py",
    "tests/scenario/test_bay_door.py", "tests/scenario/test_conformance.py",
)  # fmt: skip
CHOSEN: Final = (
    "bay_door or bay-door or golden or controller_kinds or catalogue or mutants_have or its_own_requirements"
)


class Guide:
    """The files that the guide's tables name: new ones, edited ones, and those that a command writes."""

    def __init__(self) -> None:
        rows = re.findall(r"^\| (.+) \| (.+) \|$", GUIDE.read_text("utf-8"), re.MULTILINE)
        paths = [
            (step, path.replace("<kind>", KIND)) for step, files in rows for path in re.findall(r"`([^`]+)`", files)
        ]
        self.new = {path for _, path in paths if KIND in path}
        self.edited = {path for step, path in paths if KIND not in path and "written by" not in step}
        self.written = {path for step, path in paths if KIND not in path and "written by" in step}


GUIDE_FILES: Final = Guide()
EDITS: Final[list[dict[str, str]]] = tomllib.loads((EXAMPLE / "edits.toml").read_text("utf-8"))["edit"]
# Lines about the change itself, which this example has none of.
RECORDS: Final = {"CHANGELOG.md", "tests/minimum_counts.toml"}


def _files(folder: Path, below: str = "") -> set[str]:
    return {path.relative_to(folder).as_posix() for path in (folder / below).rglob("*") if path.is_file()}


def test_the_example_has_the_files_of_the_guide_and_edits_no_others() -> None:
    files = {path for path in _files(EXAMPLE / "new") if "__pycache__" not in path}
    assert {path for path in files if not path.endswith("__init__.py")} == GUIDE_FILES.new
    assert {edit["file"] for edit in EDITS} == GUIDE_FILES.edited - RECORDS
    assert len(GUIDE_FILES.edited | GUIDE_FILES.written) <= MOST_EDITED


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with the new kind in it."""
    copy = tmp_path_factory.mktemp("ninth")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
        else:
            shutil.copy2(source, copy / name)
    shutil.copytree(EXAMPLE / "new", copy, dirs_exist_ok=True)
    for edit in EDITS:
        path = copy / edit["file"]
        text = path.read_text("utf-8")
        assert text.count(edit["find"]) == 1, f"{edit['file']}: {edit['find']!r}"
        path.write_text(text.replace(edit["find"], edit["put"].removeprefix("\n")), "utf-8")
    return copy


def _run(copy: Path, *words: str) -> str:
    """Run a program of Python in the copy."""
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env=os.environ | {"PYTHONPATH": str(copy), "COLUMNS": "200"},
        capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.realtime
@pytest.mark.timeout(300)
def test_the_new_kind_passes_its_golden_bytes_the_conformance_kit_and_a_table_with_the_shipped_box(copy: Path) -> None:
    printed = _run(copy, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *TESTS, "-k", CHOSEN)
    assert all(f"PASSED {file}" in printed for file in TESTS)
    assert "PASSED tests/scenario/test_bay_door.py::test_a_box_has_the_door_in_service" in printed
    assert "SKIPPED" not in printed


@pytest.mark.realtime
@pytest.mark.timeout(300)
def test_a_soak_breaks_the_new_kind_as_every_other(copy: Path) -> None:
    soak = ("sim", "soak", "--game", GAME, "--with", "bay-door", "--rounds", "60", "--faults", "storm")
    printed = _run(copy, "-m", "table_controller.cli", *soak)
    assert f"{GAME}: clean" in printed
    assert "dead_lamp" in printed


@pytest.mark.proof
@pytest.mark.realtime
@pytest.mark.timeout(900)
def test_the_copy_differs_from_the_project_in_the_files_that_the_guide_names_and_no_others(copy: Path) -> None:
    _run(copy, "-m", "tools.docs")
    _run(copy, "-m", "tools.digests")
    caches = ("__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache")
    existing = {path for path in _files(copy) if (ROOT / path).is_file() and not any(each in path for each in caches)}
    changed = {path for path in existing if (copy / path).read_bytes() != (ROOT / path).read_bytes()}
    assert changed == (GUIDE_FILES.edited - RECORDS) | GUIDE_FILES.written


@pytest.mark.realtime
@pytest.mark.timeout(300)
def test_the_new_files_pass_the_type_checker_and_the_linter(copy: Path) -> None:
    code = [path for path in (*GUIDE_FILES.new, *GUIDE_FILES.edited) if path.endswith(".py")]
    _run(copy, "-m", "mypy", "--follow-imports=silent", *code)
    _run(copy, "-m", "ruff", "check", *code)
