"""A sixth game, added to a copy of the project by the steps of docs/guides/add-a-game.md: it edits no existing file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
GUIDE: Final = ROOT / "docs" / "guides" / "add-a-game.md"
EXAMPLE: Final = ROOT / "examples" / "new_game" / "new"
GAME: Final = "new_game"
CHAPTER: Final = "999a"
# The whole project, without what version control ignores.
COPIED: Final = (
    "firmware_bridge", "devices", "table_controller", "simulators", "tests", "tools", "docs", "deploy", "examples",
    "benchmarks", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "mkdocs.yml",
)  # fmt: skip
LIMIT: Final = 400.0
# Tests that take every game from the registry, and those of the game itself.
TESTS: Final = (
    "tests/unit/test_rulebook.py", "tests/unit/test_rulebook_data.py", "tests/unit/test_rulebook_submission.py",
    "tests/unit/test_citations.py", "tests/unit/test_settle_fuzz.py", "tests/unit/test_rows_together.py",
    "tests/unit/test_hand_cli.py", "tests/unit/test_rows_999a.py", "tests/unit/test_settle_new_game.py",
    "tests/unit/test_clauses_999a.py", "tests/unit/test_clause_table.py", "tests/unit/test_no_bypass.py",
    "tests/unit/test_payback.py", "tests/unit/test_posting.py", "tests/unit/test_config_example.py",
)  # fmt: skip
CHOSEN: Final = f"{GAME} or 999a or data or every"
# What a command records into the files of the game; it must find them as they are.
RECORDED: Final = (
    ("tools.studies.hand_figures", "--game", GAME),
    ("tools.digests", "--game", GAME, "--write"),
    ("tools.clause_table", "--record", GAME),
)


def _files(folder: Path) -> set[str]:
    """Return the files below a folder, without what Python adds to them."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not re.search(r"(^|/)\.", path.relative_to(folder).as_posix())
    }


def _digests(copy: Path, names: set[str]) -> dict[str, str]:
    return {name: sha256((copy / name).read_bytes()).hexdigest() for name in names}


def _guide(*, pages: bool) -> set[str]:
    """Return the files that the guide names: those of the game, or the pages that a command writes."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", GUIDE.read_text("utf-8"), re.MULTILINE)
    return {
        path.replace("<chapter>", CHAPTER).replace("<game>", GAME)
        for step, files in rows
        for path in re.findall(r"`([^`]+)`", files)
        if not step.startswith("if ") and step.startswith("page: ") is pages
    }


def test_the_guide_names_the_files_of_the_example_and_no_existing_file() -> None:
    assert _guide(pages=False) == {name for name in _files(EXAMPLE) if not name.endswith("__init__.py")}
    assert [name for name in _files(EXAMPLE) if (ROOT / name).exists()] == []


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with the new game in it."""
    copy = tmp_path_factory.mktemp("sixth")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.png", ".*"))
        else:
            shutil.copy2(source, copy / name)
    shutil.copytree(EXAMPLE, copy, dirs_exist_ok=True)
    return copy


def _run(copy: Path, *words: str) -> str:
    """Run a program of Python in the copy."""
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env=os.environ | {"PYTHONPATH": str(copy), "COLUMNS": "200"},
        capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _pitbox(copy: Path, *words: str) -> str:
    return _run(copy, "-m", "table_controller.cli", *words)


@pytest.mark.realtime
def test_the_commands_know_the_game_from_its_folders(copy: Path) -> None:
    existing = _files(copy) - _files(EXAMPLE)
    before = _digests(copy, existing)
    assert "High Card" in _pitbox(copy, "rules", "games")
    assert "999a.10(d)" in _pitbox(copy, "rules", "irregularities", GAME)
    assert "enforced in play" in _pitbox(copy, "rules", "show", "999a.10(d)")
    assert "never the dealer's" in _pitbox(copy, "rules", "show", "N1")
    assert "wins $25.00" in _pitbox(copy, "hand", GAME, "As", "--wager", "lucky_card")
    assert "pushes" in _pitbox(copy, "hand", CHAPTER, "Ks", "--wager", "ante", "--dealer", "Kd")
    assert re.search(r"999a-ante +100\.000 +100\.00 +0\.000", _pitbox(copy, "payback", GAME))
    assert f'game = "{GAME}"' in _pitbox(copy, "config", "example", "--game", GAME)
    assert _digests(copy, existing) == before
    assert _digests(ROOT, existing) == before, "the copy differs from the project in more than new files"


@pytest.mark.realtime
def test_rounds_of_the_game_are_played_on_the_shipped_box(copy: Path) -> None:
    assert "40 rounds" in _pitbox(copy, "demo", "--game", GAME, "--fast", "--rounds", "40")
    soak = _pitbox(copy, "sim", "soak", "--game", GAME, "--rounds", "10", "--faults", "some")
    assert f"{GAME}: clean" in soak


@pytest.mark.realtime
@pytest.mark.timeout(400)
def test_what_the_commands_record_is_what_the_example_has_and_no_existing_file_changes(copy: Path) -> None:
    before = _digests(copy, _files(copy))
    for command in RECORDED:
        _run(copy, "-m", *command)
    after = {name for name in _files(copy) if not name.startswith(".")}
    assert after == set(before)
    assert _digests(copy, after) == before


@pytest.mark.proof
@pytest.mark.realtime
@pytest.mark.timeout(900)
def test_making_the_documents_changes_the_pages_that_the_guide_names_and_no_others(copy: Path) -> None:
    existing = _files(copy) - _files(EXAMPLE)
    _run(copy, "-m", "tools.docs")
    known = {name for name in existing if (ROOT / name).is_file()}
    now, before = _digests(copy, known), _digests(ROOT, known)
    assert {name for name in known if now[name] != before[name]} == _guide(pages=True)


@pytest.mark.realtime
@pytest.mark.timeout(400)
@pytest.mark.parametrize("marks", ["not proof", pytest.param("proof", marks=pytest.mark.proof)])
def test_the_tests_of_every_game_pass_for_the_new_one(copy: Path, marks: str) -> None:
    """The long proofs among them, such as the study of all paybacks, are run by `make proof`."""
    printed = _run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, "-k", CHOSEN, "-m", marks)
    assert "passed" in printed
    assert "skipped" not in printed


@pytest.mark.realtime
def test_the_new_files_pass_the_type_checker_and_the_linter(copy: Path) -> None:
    code = sorted(name for name in _files(EXAMPLE) if name.endswith(".py"))
    _run(copy, "-m", "mypy", "--follow-imports=silent", *code)
    _run(copy, "-m", "ruff", "check", *code)
    _run(copy, "-m", "ruff", "format", "--check", *code)
