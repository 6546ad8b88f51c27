"""The check of docs/code-flow.md: the page is true, and a wrong name or a broken chain is reported with its line."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from tools import ROOT
from tools.docs import code_flow

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
def first():
    second()


def second():
    HANDLERS["x"]()


def third():
    Box().open()


def outer():
    def inner():
        first()


class Box:
    def __init__(self):
        self.lock()

    def lock(self): ...

    def open(self): ...
"""


def problems(folder: Path, *steps: str) -> list[str]:
    """Return the problems of a page with one walk of these steps."""
    (folder / "docs").mkdir()
    (folder / "box.py").write_text(SOURCE)
    lines = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    (folder / code_flow.PAGE).write_text("\n".join(["# Page", "", "## Walk", "", *lines, ""]))
    return list(code_flow.flows(folder))


def test_the_page_is_true() -> None:
    assert list(code_flow.flows(ROOT)) == []


def test_the_page_has_five_walks_of_eight_to_fifteen_numbered_steps() -> None:
    walks: defaultdict[str, list[int]] = defaultdict(list)
    for call in code_flow.calls((ROOT / code_flow.PAGE).read_text("utf-8")):
        if call.step and call.step not in walks[call.walk]:
            walks[call.walk].append(call.step)
    assert len(walks) == 5
    for steps in walks.values():
        assert steps == list(range(1, len(steps) + 1))
        assert 8 <= len(steps) <= 15


@pytest.mark.parametrize(
    "steps",
    [
        ("`box.py:first()`: it begins.", "`:second()`: it ends."),
        ("`box.py:first()` → `:second()`: both in one step.",),
        ("`box.py:second()`", "`box.py:third()` (event)", "`:Box()`", "`:Box.lock()`"),
        ("`box.py:third()`", "`box.py:Box()`", "`:Box.open()` (from 1)"),
        ("`box.py:outer()`", "`:outer.inner()` (callback)", "`:first()`", "`:third()` (thread)"),
    ],
)
def test_a_true_walk_has_no_problem(tmp_path: Path, steps: tuple[str, ...]) -> None:
    assert problems(tmp_path, *steps) == []


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        (("`box.py:gone()`",), "docs/code-flow.md:5: box.py does not define gone"),
        (("`box.py:Box.gone()`",), "docs/code-flow.md:5: box.py does not define Box.gone"),
        (("`box.py:first()`", "`gone.py:second()`"), "docs/code-flow.md:6: gone.py does not define second"),
        (("`:first()`",), "docs/code-flow.md:5: no file does not define first"),
        (("`box.py:first()`", "`:third()`"), "docs/code-flow.md:6: Walk, step 2: first does not name third"),
        (("`box.py:first()` → `:third()`",), "docs/code-flow.md:5: Walk, step 1: first does not name third"),
        (("`box.py:second()`", "`:Box.lock()`", "`:first()` (from 1)"), "step 2: second does not name lock"),
        (("`box.py:first()`", "`:second()` (from 7)"), "step 2: there is no earlier step 7"),
    ],
)
def test_a_wrong_name_and_a_broken_chain_are_reported(tmp_path: Path, steps: tuple[str, ...], problem: str) -> None:
    assert problem in "\n".join(problems(tmp_path, *steps))


def test_a_name_outside_of_a_walk_must_exist_and_needs_no_caller(tmp_path: Path) -> None:
    assert problems(tmp_path, "`box.py:first()`", "`:second()`", "\nSee `box.py:third()` and `box.py:gone()`.")[:1] == [
        "docs/code-flow.md:8: box.py does not define gone"
    ]


def test_a_missing_page_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_flow.main(tmp_path) == 1
    assert capsys.readouterr().out == "docs/code-flow.md does not exist\nflows: 1\n"


def test_a_direct_call_into_a_file_that_the_walk_has_left_needs_a_reason(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "def fourth():\n    from box import second\n\n    second()\n\n\ndef first():\n    fourth()\n"
    )
    steps = ("`other.py:first()`", "`other.py:fourth()`", "`box.py:second()`", "`other.py:fourth()` (event)")
    assert problems(tmp_path, *steps) == []
    page = tmp_path / code_flow.PAGE
    (tmp_path / "box.py").write_text("def second():\n    fourth()\n")
    code_flow._parsed.cache_clear()
    page.write_text(page.read_text().replace(" (event)", ""))
    returned = (
        "docs/code-flow.md: Walk, step 4: fourth is in a file that the walk has left; remove that, or give a reason"
    )
    assert list(code_flow.flows(tmp_path)) == [returned]
    page.write_text(
        page.read_text() + "\n| Walk, step 4 | `fourth` | by rule |\n| Walk, step 3 | `second` | by rule |\n"
    )
    assert list(code_flow.flows(tmp_path)) == [
        "docs/code-flow.md: Walk, step 3: no walk returns by second; remove the row"
    ]
