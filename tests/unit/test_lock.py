"""The lock files agree with pyproject.toml, and the check finds every way in which they could not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.lock import EXTRAS, ROOT, TOOLS, disagreements, pins

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """
[build-system]
requires = ["setuptools>=68"]
[project]
dependencies = ["msgspec>=0.20,<1"]
[project.optional-dependencies]
test = ["pytest>=8,<10"]
check = []
bench = []
docs = []
tools = ["uv>=0.9,<1"]
"""
HASH = f" \\\n    --hash=sha256:{'0' * 64}\n"
DEMO = f"msgspec==0.22.0{HASH}setuptools==84.2.1{HASH}"
DEV = f"{DEMO}pytest==9.2.0 ; sys_platform == 'linux'{HASH}"
UV = f"uv==0.13.8{HASH}"


def project(folder: Path, demo: str = DEMO, dev: str = DEV, tools: str = UV) -> Path:
    """A project with three lock files."""
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "requirements").mkdir()
    for name, text in (("demo", demo), ("dev", dev), ("tools", tools)):
        (folder / "requirements" / f"{name}.txt").write_text(text)
    return folder


def test_the_lock_files_of_this_project_agree_with_pyproject() -> None:
    assert disagreements(ROOT) == []


def test_every_locked_package_has_at_least_one_hash() -> None:
    for file in (*EXTRAS, TOOLS):
        locked = pins((ROOT / "requirements" / f"{file}.txt").read_text("utf-8"))
        assert locked
        assert all(pin.hashes for pin in locked.values())


def test_a_lock_within_every_range_is_accepted(tmp_path: Path) -> None:
    assert disagreements(project(tmp_path)) == []


WRONG = {
    "missing": ({"demo": DEMO.replace("msgspec", "other")}, "requirements/demo.txt: msgspec is missing"),
    "outside its range": (
        {"dev": DEV.replace("9.2.0", "11.0")},
        "requirements/dev.txt: pytest 11.0 is outside <10,>=8",
    ),
    "without a hash": ({"tools": "uv==0.13.8\n"}, "requirements/tools.txt: uv has no hash"),
    "of two versions": (
        {"dev": DEV.replace("0.22.0", "0.21.0")},
        "msgspec is 0.22.0 in requirements/demo.txt and 0.21.0 in requirements/dev.txt",
    ),
    "with an index": (
        {"demo": f"--index-url x\n{DEMO}"},
        "requirements/demo.txt names an index; pip's own configuration chooses the index",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_check_names_a_pin(tmp_path: Path, case: str) -> None:
    files, sentence = WRONG[case]
    assert disagreements(project(tmp_path, **files)) == [sentence]


def test_the_check_names_a_lock_file_that_does_not_exist(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "requirements" / "tools.txt").unlink()
    assert disagreements(folder) == ["requirements/tools.txt does not exist"]
