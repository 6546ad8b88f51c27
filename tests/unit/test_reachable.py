"""The check that every module of the product is run by a command of it: it passes here, and it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.reachable import ROOT, check

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """
[project]
name = "p"
[project.scripts]
p = "app.cli:main"
[project.entry-points."p.commands"]
more = "simulators.more"
"""
FILES = {
    "app/__init__.py": "",
    "app/cli.py": "def main():\n    from app import lazy\n    from app.table import load\n    lazy.run(load)\n",
    "app/lazy.py": "import subprocess, sys\ndef run(x):\n    subprocess.run([sys.executable, '-m', 'app.started'])\n",
    "app/started.py": "print('a process')\n",
    "app/table.py": (
        "from importlib import import_module\n_HERE = 'app'\nOWN = {'one': 'app.named'}\n"
        "def load(kind):\n    import_module(OWN[kind])\n    return import_module(f'{_HERE}.kinds.{kind}')\n"
    ),
    "app/named.py": "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from app.shapes import Shape\n    from app.typed import Thing\n",
    "app/shapes.py": "from typing import Protocol\nclass Shape(Protocol):\n    x: int\n",
    "app/typed.py": "",
    "app/kinds/__init__.py": "",
    "app/kinds/shoe.py": "",
    "simulators/__init__.py": "",
    "simulators/more.py": "import simulators.world\n",
    "simulators/world.py": "",
    "tools/__init__.py": "",
}
PACKAGES = ("app", "simulators")


def project(folder: Path, **more: str) -> Path:
    """Write a small project, where every module is reached by one of the known kinds of import."""
    (folder / "pyproject.toml").write_text(PROJECT)
    for name, text in (FILES | more).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_every_module_of_this_product_is_run_by_a_command_of_it() -> None:
    assert check(ROOT) == ([], [])


def test_every_manner_to_reach_a_module_is_followed(tmp_path: Path) -> None:
    assert check(project(tmp_path), PACKAGES)[0] == []


@pytest.mark.parametrize(
    ("more", "lost"),
    [
        ({"app/orphan.py": ""}, ["app.orphan"]),
        ({"app/a.py": "import app.b\n", "app/b.py": "import app.a\n"}, ["app.a", "app.b"]),
        ({"app/typed.py": "class Thing:\n    pass\n"}, ["app.typed"]),
        ({"app/kinds/deep/__init__.py": "", "app/kinds/deep/shoe.py": ""}, ["app.kinds.deep.shoe"]),
        ({"simulators/only.py": "import app.x\n", "app/x.py": ""}, ["app.x", "simulators.only"]),
        ({"simulators/more.py": "import app.x\n", "app/x.py": ""}, ["app.x", "simulators.world"]),
        ({"app/named.py": "WORDS = 'app.orphan'\n", "app/orphan.py": ""}, ["app.orphan", "app.shapes", "app.typed"]),
        ({"app/started.py": "import typing as t\nif t.TYPE_CHECKING:\n    import app.x\n", "app/x.py": "def f(): 1\n"},
         ["app.x"]),
        ({"app/started.py": "if False:\n    import app.x\n", "app/x.py": ""}, ["app.x"]),
        ({"app/kinds/shoe.py": "if __name__ == '__main__':\n    import app.x\n", "app/x.py": ""}, ["app.x"]),
        ({"app/started.py": "def nobody():\n    import app.x\n", "app/x.py": ""}, ["app.x"]),
        ({"app/typed.py": "Thing = lambda seat: seat + 1\n"}, ["app.typed"]),
        ({"app/shapes.py": "from typing import Protocol\nclass Shape(Protocol):\n    def f(self):\n        return 1\n"},
         ["app.shapes"]),
    ],
    ids=["orphan", "two that know each other", "types of a class that runs", "deeper than the pattern", "nobody's",
         "only simulators run it", "a name in a file that loads nothing", "types by another name", "below if False",
         "below a script that nothing starts", "in a function that nobody names", "types of a lambda",
         "types of a protocol that decides"],
)  # fmt: skip
def test_a_planted_module_that_nothing_runs_is_found(more: dict[str, str], lost: list[str], tmp_path: Path) -> None:
    assert check(project(tmp_path, **more), PACKAGES)[0] == lost


def test_what_a_started_script_imports_is_reached(tmp_path: Path) -> None:
    more = {"app/started.py": "if __name__ == '__main__':\n    import app.x\n", "app/x.py": ""}
    assert check(project(tmp_path, **more), PACKAGES)[0] == []


def test_a_module_that_only_tests_import_is_found(tmp_path: Path) -> None:
    more = {"app/proof.py": "def decide(): ...\n", "tests/test_proof.py": "from app.proof import decide\n"}
    assert check(project(tmp_path, **more), PACKAGES)[0] == ["app.proof"]
