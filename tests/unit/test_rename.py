"""The rename script: reading maps, locating definitions, and moving modules."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tools.rename.definitions import find_definitions
from tools.rename.edits import Edits, text_at
from tools.rename.maps import BadMap, Move, Rename, read_maps
from tools.rename.mentions import rename_mentions
from tools.rename.moves import move_modules
from tools.rename.strings import rename_strings

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = '''"""Module."""
LIMIT = 3

class Meter:
    amount: int

    def __init__(self, seed: int) -> None:
        self.total = seed

    async def add(self, cents: int) -> None: ...
'''


@pytest.mark.parametrize(
    ("qualified", "position"),
    [
        ("LIMIT", (1, 0)),
        ("Meter", (3, 6)),
        ("Meter.amount", (4, 4)),
        ("Meter.add", (9, 14)),
        ("Meter.add.cents", (9, 24)),
        ("Meter.total", (7, 13)),
        ("Meter.__init__.seed", (6, 23)),
    ],
)
def test_a_definition_is_located_by_its_qualified_name(qualified: str, position: tuple[int, int]) -> None:
    assert find_definitions(SOURCE, qualified) == [position]


def test_an_unknown_name_has_no_definition() -> None:
    assert find_definitions(SOURCE, "Meter.missing") == []


def test_columns_count_utf_16_units() -> None:
    assert find_definitions('x = "\U0001f0a1"; y = 1\n', "y") == [(0, 10)]


def test_a_map_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text("# comment\nmodule a.py -> b.py\nname a.py: A.b -> c  # journaled\nvalue x: 1 -> 2\nrename this\n")
    with pytest.raises(BadMap, match=r"one\.txt:5: neither"):
        read_maps([file])
    file.write_text(file.read_text().replace("rename this", ""))
    maps = read_maps([file])
    assert maps.moves == (Move("a.py", "b.py"),)
    assert maps.renames == (Rename("a.py", "A.b", "c"),)
    assert maps.renames[0].old == "b"


def test_two_renames_of_one_place_are_a_conflict(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("value = other\n")
    edits = Edits()
    edits.replace("a.py", 0, 0, 5, "amount")
    edits.replace("a.py", 0, 0, 5, "amount")
    edits.replace("a.py", 0, 8, 13, "total")
    assert not edits.conflicts
    edits.replace("a.py", 0, 8, 13, "sum")
    assert edits.conflicts == ["a.py:1:8: total or sum?"]
    assert text_at(tmp_path, "a.py", 0, 8, 13) == "other"
    assert edits.apply(tmp_path) == 2
    assert (tmp_path / "a.py").read_text() == "amount = total\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "casino/__init__.py": "",
        "house/ways.py": "STEPS = 1\n",
        "house/old/__init__.py": "",
        "house/old/deep.py": "X = 1\n",
        "house/user.py": (
            "from house import ways\nfrom house.ways import STEPS\nfrom house.old import deep, other\n"
            "import house.old.deep\n\nn = ways.STEPS + deep.X\nNAME = 'house.ways'\n"
        ),
        "house/taken.py": "from house import ways  # noqa: F401\n\nsteps = 2\n",
        "page.md": "See house/ways.py and `house.ways.STEPS`, not house.wayside.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run("git init -q . && git add .", shell=True, cwd=tmp_path, check=True)
    return tmp_path


def test_a_moved_module_is_found_by_everything_that_names_it(tree: Path) -> None:
    files = sorted(str(file.relative_to(tree)) for file in tree.rglob("*.*") if ".git" not in file.parts)
    moves = [Move("house/ways.py", "house/repair/steps.py"), Move("house/old/", "house/new/")]
    assert move_modules(tree, files, moves) == 3
    assert (tree / "house/repair/__init__.py").exists()
    assert (tree / "house/new/deep.py").exists()
    assert (tree / "house/user.py").read_text() == (
        "from house.repair import steps\nfrom house.repair.steps import STEPS\nfrom house.new import other\n"
        "from house.new import deep\nimport house.new.deep\n\nn = steps.STEPS + deep.X\nNAME = 'house.repair.steps'\n"
    )
    assert (
        tree / "page.md"
    ).read_text() == "See house/repair/steps.py and `house.repair.steps.STEPS`, not house.wayside.\n"


def test_two_modules_cannot_move_to_one_path(tree: Path) -> None:
    with pytest.raises(FileExistsError, match=r"house/user\.py"):
        move_modules(tree, ["house/ways.py", "house/user.py"], [Move("house/ways.py", "house/user.py")])
    with pytest.raises(FileNotFoundError, match=r"house/gone\.py"):
        move_modules(tree, ["house/ways.py"], [Move("house/gone.py", "house/user.py")])


def test_pages_and_comments_mention_the_new_name_where_it_has_one_meaning(tree: Path) -> None:
    (tree / "page.md").write_text("`Ways` and `Ways.step`, `Hold`, `way`, Ways; test_ways_end\n")
    (tree / "house/old/deep.py").write_text('"""A `Ways`."""\nx = "`Ways`"  # see `Ways.step()`\nclass Hold: ...\n')
    renames = [
        Rename("a.py", "Ways", "Procedures"),
        Rename("a.py", "Ways.step", "advance"),
        Rename("b.py", "Hold", "Batch"),
        Rename("b.py", "way", "path"),
        Rename("t.py", "test_ways_end", "test_procedures_end"),
    ]
    assert rename_mentions(tree, ["page.md", "house/old/deep.py"], renames) == 2
    page = "`Procedures` and `Procedures.advance`, `Hold`, `way`, Ways; test_procedures_end\n"
    assert (tree / "page.md").read_text() == page
    comment = '"""A `Procedures`."""\nx = "`Ways`"  # see `Procedures.advance()`\nclass Hold: ...\n'
    assert (tree / "house/old/deep.py").read_text() == comment


def test_attributes_that_a_string_names_follow_where_their_owner_is_plain(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(
        "from house import ways\nfrom house.steps import Step\n"
        "patch.setattr(ways, 'LIMIT', 1)\nsetattr(Step, 'take', 2)\ngetattr(thing, 'told')\n"
        "setattr(ways, 'take', 3)\nreplace(thing, told=1, kept=2)\ngetattr(thing, 'take')\n"
        "replace(thing, held=1, split=2)\n"
    )
    renames = [
        Rename("house/ways.py", "LIMIT", "LIMIT_S"),
        Rename("house/steps.py", "Step.take", "apply"),
        Rename("house/other.py", "Other.take", "accept"),
        Rename("house/steps.py", "Step.told", "reported"),
        Rename("t.py", "Own.held", "pending"),
        Rename("t.py", "Own.split", "shared"),
        Rename("t.py", "Another.split", "divided"),
    ]
    count, doubts = rename_strings(tmp_path, ["t.py"], renames)
    assert count == 3
    assert doubts == ["t.py:9: 'split' may be divided or shared"]
    assert (tmp_path / "t.py").read_text().splitlines()[2:] == [
        "patch.setattr(ways, 'LIMIT_S', 1)",
        "setattr(Step, 'apply', 2)",
        "getattr(thing, 'told')",
        "setattr(ways, 'take', 3)",
        "replace(thing, told=1, kept=2)",
        "getattr(thing, 'take')",
        "replace(thing, pending=1, split=2)",
    ]
