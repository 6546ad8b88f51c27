"""The check of words: each rule finds its violation in a small tree, and leaves the allowed cases alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import words

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "| term | meaning | at the table | code |\n|---|---|---|---|\n"


def project(folder: Path, files: dict[str, str]) -> Path:
    """Write a small tree."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| box | x | x | `devices/box.py:Box` |", ""),
        ("| folder | x | x | `devices` |", ""),
        ("| box | x | x | ? |", "no code name"),
        ("| box | x | x | `devices/gone.py:Box` |", "devices/gone.py does not exist"),
        ("| box | x | x | `devices/box.py:Gone` |", "devices/box.py does not define Gone"),
        ("| box | x | x | `devices/box.py` |\n| Box | y | y | `devices/box.py` |", "also defined in line 3"),
    ],
)
def test_a_term_is_defined_once_and_its_code_name_exists(tmp_path: Path, row: str, problem: str) -> None:
    root = project(tmp_path, {"devices/box.py": "class Box: ...\n", "docs/glossary.md": f"{HEAD}{row}\n"})
    violations = list(words.glossary(root))
    assert len(violations) == bool(problem)
    assert problem in "".join(violations)


PAGE = """# A page

Whoever reads this is `told` by "a dossier".

    the first edition

<!-- generated: x -->
It says nothing.
<!-- end generated -->
"""


def test_a_banned_word_of_prose_is_detected_outside_of_code_quotations_and_generated_parts(tmp_path: Path) -> None:
    root = project(tmp_path, {"docs/page.md": PAGE, "docs/reviews/old.md": "It told us.\n"})
    assert list(words.prose(root)) == ["docs/page.md:3: Whoever"]


def test_an_irregularity_in_a_page_is_the_row_of_the_edition(tmp_path: Path) -> None:
    row = '[[irregularities]]\nid = "1.2(a)"\ntrigger = "jam"\n'
    page = f"```toml\n{row}```\n"
    root = project(tmp_path, {"docs/page.md": page, "table_controller/rulebook/data/1/edition.toml": row})
    assert list(words.examples(root)) == []
    (root / "docs" / "page.md").write_text(page.replace("jam", "stop"))
    assert list(words.examples(root)) == ["docs/page.md: the row 1.2(a) differs from its edition"]


@pytest.mark.parametrize(
    "name",
    ["told", "on_told", "ToldMoney", "what_is_heard", "believed", "_take", "found", "ways", "besides_of", "REST"],
)
def test_a_banned_name_is_detected(name: str) -> None:
    assert words.is_banned(name)


@pytest.mark.parametrize(
    "name", ["house_way", "not_found", "essay", "take_in", "foundation", "rest_s", "stub", "teller"]
)
def test_a_plain_name_is_allowed(name: str) -> None:
    assert not words.is_banned(name)


def test_names_of_files_functions_parameters_variables_and_attributes_are_checked(tmp_path: Path) -> None:
    source = "def tell(said):\n    found = said\n    found.told = 1\n    x = [way for way in found]\n"
    root = project(tmp_path, {"devices/say.py": source, "docs/told.py": "told = 1\n"})
    assert sorted(words.names(root)) == [
        "devices/say.py: the file's name",
        "devices/say.py:1: said",
        "devices/say.py:1: tell",
        "devices/say.py:2: found",
        "devices/say.py:3: told",
        "devices/say.py:4: way",
    ]


def test_a_class_name_repeats_only_among_kinds_of_devices(tmp_path: Path) -> None:
    one = "class Status: ...\nclass _Own: ...\n"
    root = project(tmp_path, {"devices/shoe/messages.py": one, "devices/rng/messages.py": one})
    assert list(words.classes(root)) == []
    project(root, {"table_controller/box.py": one})
    (violation,) = words.classes(root)
    assert violation.startswith("class Status is defined in devices/rng/messages.py")


def test_only_prose_has_a_limit_of_columns(tmp_path: Path) -> None:
    long = "x" * 101
    allowed = f"| {long} |\n\n```\n{long}\n```\n\n    {long}\n\n[short](https://{long})\n`test_{long}`\n"
    root = project(tmp_path, {"README.md": allowed})
    assert list(words.columns(root)) == []
    project(root, {"README.md": f"{allowed}a {long}\n", "docs/reviews/one/x.md": f"a {long}\n"})
    assert list(words.columns(root)) == ["README.md:11: 103 columns", "docs/reviews/one/x.md:1: 103 columns"]


def test_the_command_prints_every_violation_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path, {"devices/box.py": "told = 1\n"})
    assert words.main(["--only", "names"], root) == 1
    assert capsys.readouterr().out == "names: devices/box.py:1: told\nwords: names 1\n"
    assert words.main(["--only", "classes"], root) == 0


def test_a_module_without_a_docstring_is_detected(tmp_path: Path) -> None:
    root = project(tmp_path, {"devices/plain.py": '"""Plain."""\n', "devices/__init__.py": "", "tests/x.py": "# x\n"})
    assert list(words.docstrings(root)) == ["devices/__init__.py: no docstring", "tests/x.py: no docstring"]


def test_in_a_message_to_hold_is_what_a_hold_does(tmp_path: Path) -> None:
    code = '"""Text."""\nBAD = "the folder holds no journal"\nGOOD = "two holds are open; the hold has a number"\n'
    root = project(tmp_path, {"devices/x.py": code, "tests/x.py": code})
    project(root, {"table_controller/catalogue.toml": '[PB-1]\nmeaning = "A file that must hold a key."\n'})
    assert list(words.texts(root)) == ["devices/x.py:2: holds no", "table_controller/catalogue.toml:2: hold a"]


@pytest.mark.parametrize(
    ("opening", "is_right"),
    [
        ("For engineers who change the box. After reading it you can.", True),
        ("This guide is for developers.", True),
        ("It explains\nthe journal for auditors.", True),
        ("What the journal holds. For an auditor there is more below.", True),
        ("The journal holds every record for years. Engineers read it.", False),
        ("## A heading at once\n\nFor engineers.", True),
        ("", False),
    ],
)
def test_the_first_paragraph_of_a_page_names_its_readers(tmp_path: Path, opening: str, is_right: bool) -> None:
    page = f"# A page\n\n{opening}\n\nFor everybody.\n" if opening else "# A page\n"
    decision = {"docs/decisions/0001-a-choice.md": "# A choice\n\nDate: 2026-11-16. Status: accepted.\n"}
    root = project(tmp_path, {"docs/page.md": page} | decision)
    wrong = "docs/page.md: the first paragraph names no readers"
    assert list(words.openings(root)) == ([] if is_right else [wrong])
