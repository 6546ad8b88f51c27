"""The generated parts of the documents: current as committed, and stale parts are found."""

from __future__ import annotations

import re
import shutil
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from table_controller.journal import migrations
from tools import ROOT
from tools.docs import generate

if TYPE_CHECKING:
    from pathlib import Path

# The right text of each part does not change while the tests run, so it is computed once.
PARTS = {part: (document, cache(make)) for part, (document, make) in generate.PARTS.items()}
FILES = {file: cache(make) for file, make in generate.FILES.items()}


@pytest.fixture(autouse=True)
def _made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "PARTS", PARTS)
    monkeypatch.setattr(generate, "FILES", FILES)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "README.md", tmp_path)
    return tmp_path


def test_the_committed_documents_are_current() -> None:
    assert generate.stale() == []
    assert generate.main(["--check"]) == 0


@pytest.mark.parametrize("part", list(generate.PARTS))
def test_a_stale_part_is_named_with_the_command_that_mends_it(copy: Path, part: str) -> None:
    document = generate.PARTS[part][0]
    path = copy / document
    before, begin, remaining = path.read_text("utf-8").partition(f"<!-- generated: {part} -->")
    path.write_text(before + begin + remaining.replace("e", "3", 1), "utf-8")
    (problem,) = generate.stale(copy)
    assert document in problem
    assert repr(part) in problem
    assert problem.endswith("make recording")
    assert generate.stale(copy, mend=True) == []
    assert path.read_text("utf-8") == (ROOT / document).read_text("utf-8")


def test_what_is_written_by_hand_stays_as_it_is(copy: Path) -> None:
    path = copy / "docs/faults.md"
    path.write_text("# another title\n" + path.read_text("utf-8") + "\nand a last line\n", "utf-8")
    text = path.read_text("utf-8")
    assert generate.stale(copy, mend=True) == []
    assert path.read_text("utf-8") == text


def test_a_part_without_its_markers_is_reported_and_cannot_be_regenerated(copy: Path) -> None:
    path = copy / "docs/service.md"
    path.write_text(path.read_text("utf-8").replace("<!-- end generated -->", ""), "utf-8")
    for mend in (False, True):
        (problem,) = generate.stale(copy, mend=mend)
        assert "docs/service.md lacks the markers of its part 'service'" in problem


def test_a_missing_document_is_reported(copy: Path) -> None:
    (copy / "docs/errors.md").unlink()
    (problem,) = generate.stale(copy)
    assert "docs/errors.md" in problem


def test_check_changes_nothing_and_fails(copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    path = copy / "docs/faults.md"
    path.write_text(path.read_text("utf-8").replace("unplug", "replug"), "utf-8")
    text = path.read_text("utf-8")
    real = generate.stale
    monkeypatch.setattr(generate, "stale", lambda *, mend: real(copy, mend=mend))
    assert generate.main(["--check"]) == 1
    assert "docs/faults.md: the part 'faults' is out of date; run: make recording" in capsys.readouterr().out
    assert path.read_text("utf-8") == text


def test_every_marker_belongs_to_a_known_part_and_every_link_leads_somewhere() -> None:
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text("utf-8")
        name = path.relative_to(ROOT).as_posix()
        for part in re.findall(r"^<!-- generated: (\S+) -->$", text, re.MULTILINE):
            assert generate.PARTS[part][0] == name
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)[^)]*\)", text):
            assert (path.parent / target).exists(), f"{name} points to {target}"


def test_every_test_that_a_document_names_exists() -> None:
    named = set()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        named |= set(re.findall(r"`(test_\w+\.py)::(\w+)`", path.read_text("utf-8")))
    assert named
    for file, test in sorted(named):
        texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob(file)]
        assert any(f"def {test}(" in text for text in texts), f"no {file} has {test}"


def test_the_page_of_recovery_names_every_migration() -> None:
    page = (ROOT / "docs" / "recovery.md").read_text("utf-8")
    table = page.partition("| changed | migration | requires |")[2].partition("\n\n")[0]
    named = re.findall(r"^\| [^|]+ \| `([^`]+)` \|", table, re.MULTILINE)
    assert sorted(named) == sorted(each.name for each in migrations.MIGRATIONS)


def test_the_page_of_the_design_has_a_line_for_every_package() -> None:
    page = (ROOT / "docs" / "design.md").read_text("utf-8")
    rows = " ".join(re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE))
    packages = [path.parent.name for path in sorted((ROOT / "table_controller").glob("*/__init__.py"))]
    assert packages
    assert [name for name in packages if f"{name}/`" not in rows] == []
