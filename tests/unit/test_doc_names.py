"""The check that every name in the documents exists: it passes here, and it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import ROOT
from tools.docs.doc_names import FORMER, history, pages, unknown_arguments, wrong

if TYPE_CHECKING:
    from pathlib import Path


def project(folder: Path, text: str) -> Path:
    """A small project with one page."""
    files = {
        "Makefile": "check: x  ## all\n",
        "pyproject.toml": '[project.entry-points."pitbox.commands"]\nsim = "simulators.cli"\n\n[tool]\n',
        "table_controller/__init__.py": "",
        "table_controller/cli/__init__.py": '_OWN = {"run": "table_controller.cli.commands.run"}\n',
        "table_controller/loop.py": "class Controller: ...\n",
        "tests/unit/test_loop.py": "def test_it_turns(): ...\n",
        "docs/page.md": text,
        "docs/other.md": "",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_every_name_in_these_documents_is_there() -> None:
    result = pages(ROOT)
    assert len(result) > 30
    assert [line for page in result for line in wrong(ROOT, page)] == []


def test_every_name_in_decisions_and_reviews_exists_or_is_listed_as_a_former_one() -> None:
    result = history(ROOT)
    assert len(result) > 40
    assert [line for page in result for line in wrong(ROOT, page)] == []


def test_a_former_name_is_allowed_in_history_alone(tmp_path: Path) -> None:
    name = "devices/lockout.py"
    assert name in FORMER
    root = project(tmp_path, f"`{name}`\n")
    assert wrong(root, root / "docs/page.md") == [f"docs/page.md: {name}"]
    (root / "docs/reviews").mkdir()
    (root / "docs/reviews/old.md").write_text(f"`{name}` and `devices/gone.py`\n")
    assert wrong(root, root / "docs/reviews/old.md") == ["docs/reviews/old.md: devices/gone.py"]


RIGHT = [
    "`table_controller/loop.py`", "`table_controller/loop`", "`table_controller/`", "`table_controller/*.py`",
    "`tests/unit/test_loop.py::test_it_turns`", "`test_loop.py::test_it_turns`", "`table_controller.loop`",
    "`table_controller.loop.Controller`", "[other](other.md#part)", "[far](https://example.org/x.md)", "`make check`",
    "`pitbox run --config x`", "`pitbox sim up`", "```sh\nmake check\npython -m table_controller.loop\n```",
    "make haste, and pitbox stays", "```text\ntable_controller/gone.py\n```",
]  # fmt: skip
WRONG = {
    "`table_controller/gone.py`": "table_controller/gone.py",
    "`tests/wire/golden.toml`": "tests/wire/golden.toml",
    "`table_controller/g*.py`": "table_controller/g*.py",
    "`tests/unit/test_loop.py::test_it_stops`": "tests/unit/test_loop.py::test_it_stops",
    "`test_gone.py`": "test_gone.py",
    "`test_loop.py::test_it_stops`": "test_loop.py::test_it_stops",
    "`table_controller.gone`": "table_controller.gone",
    "`table_controller.loop.Gone`": "table_controller.loop.Gone",
    "[gone](gone.md)": "gone.md",
    "`make haste`": "make haste",
    "`pitbox stay`": "pitbox stay",
    "```sh\nmake haste\n```": "make haste",
    "```sh\npython -m table_controller.gone\n```": "table_controller.gone",
}


@pytest.mark.parametrize("text", RIGHT)
def test_existing_names_pass(text: str, tmp_path: Path) -> None:
    root = project(tmp_path, text)
    assert wrong(root, root / "docs" / "page.md") == []


@pytest.mark.parametrize("text", WRONG)
def test_missing_names_are_found(text: str, tmp_path: Path) -> None:
    root = project(tmp_path, text)
    assert wrong(root, root / "docs" / "page.md") == [f"docs/page.md: {WRONG[text]}"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("`pitbox fault 12 --step begin`", ""),
        ("`pitbox sim up table --game dj_wild`", ""),
        ("    pitbox journal verify FOLDER --against HEAD   # a comment\n", ""),
        ("`pitbox journal tail|verify`", ""),
        ("pitbox is a program", ""),
        ("`pitbox fault --gone`", "pitbox fault has no option --gone"),
        ("```\npitbox journal forget\n```\n", "pitbox journal has no command forget"),
    ],
)
def test_arguments_of_commands_are_checked(text: str, problem: str, tmp_path: Path) -> None:
    root = project(tmp_path, text)
    assert unknown_arguments(root, root / "docs" / "page.md") == ([f"docs/page.md: {problem}"] if problem else [])
