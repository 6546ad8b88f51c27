"""The checks of texts in code: names that docstrings cite, banned words, and spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.test_words import project
from tools import code_texts, words

if TYPE_CHECKING:
    from pathlib import Path

DRIVER = '''"""A driver. `Link` opens `link.frame`; see `table.toml`."""

from devices.link import Link


class Driver:
    """One driver. `{cited}` is its event."""

    last_press: int

    def send(self, deadline_s: float) -> Link:
        return Link("idle", self.last_press)
'''
LINK = (
    '"""Links."""\n'
    "class Link:\n    state: str\n\n    def open(self) -> None:\n        ended = self\n\ndef frame() -> None: ...\n"
)
FAR = '"""Far."""\nclass FarBox:\n    lives: int\n\ndef read_step() -> None: ...\n'


@pytest.mark.parametrize(
    ("cited", "is_known"),
    [
        ("last_press", True), ("deadline_s", True), ("Driver.send()", True),  # of this module
        ("idle", True),  # a value in its code
        ("state", True), ("open", True),  # public in a module that it imports
        ("FarBox", True), ("FarBox.lives", True), ("read_step()", True),  # no plain word, public elsewhere
        ("lives", False),  # a plain word that is public in a module that it does not import
        ("ended", False),  # a local name of another module
        ("heard", False), ("Heard", False), ("Driver.heard", False), ("on_heard", False),
        ("python -m tools.words", True), ("jam:segment=lift", True),  # not names
        ("return", True), ("asyncio.Task", True), ("asyncio", True), ("box.sock", True),
    ],
)  # fmt: skip
def test_a_name_that_a_docstring_cites_exists(tmp_path: Path, cited: str, is_known: bool) -> None:
    files = {"devices/box.py": DRIVER.format(cited=cited), "devices/link.py": LINK, "simulators/far.py": FAR}
    root = project(tmp_path, files)
    assert list(words.docstrings(root)) == ([] if is_known else [f"devices/box.py:7: `{cited}`"])


def test_the_docstring_itself_is_no_proof_that_a_name_exists(tmp_path: Path) -> None:
    root = project(tmp_path, {"devices/box.py": '"""A box."""\ndef send() -> None:\n    """`heard` is heard."""\n'})
    assert list(words.docstrings(root)) == ["devices/box.py:3: `heard`"]


CODE = '''"""It says nothing.

The `told` and the "told" count for nothing, but besides does.
"""

# what it hears
TEXT = f"send {1} beside it"
TOLD = "told"


def send() -> None:
    """What the box wants."""
'''


def test_a_banned_word_is_detected_in_docstrings_comments_and_messages(tmp_path: Path) -> None:
    root = project(tmp_path, {"devices/box.py": CODE, "tests/test_box.py": CODE})
    everywhere = [(1, "says"), (3, "besides"), (6, "hears"), (12, "wants")]
    product = [f"devices/box.py:{line}: {word}" for line, word in sorted([*everywhere, (7, "beside")])]
    assert list(words.texts(root)) == [*product, *(f"tests/test_box.py:{line}: {word}" for line, word in everywhere)]


def test_a_banned_word_is_detected_in_texts_of_the_data_and_not_in_keys(tmp_path: Path) -> None:
    data = '# what it says\ntold = "the driver must tell `told`"\n[told]\n'
    files = {"table_controller/catalogue.toml": data, "tests/fixtures/old.toml": data}
    root = project(tmp_path, files)
    places = [(1, "says"), (2, "tell")]
    assert list(words.texts(root)) == [f"table_controller/catalogue.toml:{line}: {word}" for line, word in places]


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("The acknowledgement", "acknowledgement"), ("was cancelled", "cancelled"), ("two colours", "colour"),
        ("_SYNCHRONISED = 1", "SYNCHRONISED"), ("its behaviour", "behaviour"), ("organised", "organised"),
        ("task.cancelled()", ""), ("raise CancelledError", ""), ("self._cancelled", ""), ("acknowledged", ""),
        ("surprise", ""), ("enrollment", ""), ("a realistic final exercise", ""), ("metal", ""),
    ],
)  # fmt: skip
def test_british_forms_are_detected(tmp_path: Path, line: str, form: str) -> None:
    files = {"docs/page.md": f"{line}\n", "devices/box.py": f"\n# {line}\n", "tests/fixtures/old.py": line}
    violations = list(words.spelling(project(tmp_path, files)))
    assert violations == ([f"docs/page.md:1: {form}", f"devices/box.py:2: {form}"] if form else [])


def test_lines_of_a_docstring_keep_their_numbers(tmp_path: Path) -> None:
    path = project(tmp_path, {"box.py": '"""One.\n\nThree.\n"""\nx = """no docstring\nhere"""\n'}) / "box.py"
    assert list(code_texts.python_texts(path, strings=False)) == [(1, "One."), (2, ""), (3, "Three."), (4, "")]
    assert (6, "here") in code_texts.python_texts(path, strings=True)
