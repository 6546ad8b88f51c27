"""Checks docs/code-flow.md: every function that it names exists, and each step of a walk calls the next one.

python -m tools.docs.code_flow    print every step that is not true; exit 1 if there is one

A walk is a numbered list below a heading. A step names one or more functions in call order: `folder/file.py:name()`,
`folder/file.py:Class.method()`, or `:name()` for the file of the function before. The body of each function must name
the next function, unless a mark after it names another caller:

(event)      a table chooses it by the type of an event, a request or a device
(callback)   it was passed to the caller earlier
(thread)     another thread runs it
(from 3)     a function of step 3 names it

A call without a mark into a file that its walk has already left is a return. The table of returns gives the reason of
each; a return that it lacks fails, and so does a row without a return.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE: Final = "docs/code-flow.md"
_CALL: Final = re.compile(r"`([\w/]+\.py)?:([\w.]+)\(\)`(?: \((event|callback|thread|from \d+)\))?")
_STEP: Final = re.compile(r"(\d+)\. ")
# A row of the table of returns: walk and step, function, reason.
_RETURN: Final = re.compile(r"^\| ([^|]+), step (\d+) \| `([\w.]+)` \| [^|]*\w[^|]* \|$", re.MULTILINE)
_DEFINITION: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Call:
    """One function that the page names. `step` is 0 outside of the numbered lists."""

    line: int
    walk: str
    step: int
    file: str
    name: str
    mark: str

    @property
    def called(self) -> str:
        """The name by which a caller calls it."""
        return self.name.rpartition(".")[2]


def calls(text: str) -> Iterator[Call]:
    """Yield the functions that a page names, in order."""
    walk, step, file = "", 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            walk, step, file = line.lstrip("# "), 0, ""
        elif begins := _STEP.match(line):
            step = int(begins[1])
        elif not line.startswith(" "):
            step = 0
        for named in _CALL.finditer(line):
            file = named[1] or file
            yield Call(number, walk, step, file, named[2], named[3] or "")


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def definition(root: Path, call: Call) -> _Definition | None:
    """Return the class, method or function that a call names; None if there is none."""
    path = root / call.file
    if not call.file or not path.is_file():
        return None
    scope: ast.Module | _Definition = _parsed(path)
    for part in call.name.split("."):
        inner = [node for node in scope.body if isinstance(node, _DEFINITION) and node.name == part]
        if not inner:
            return None
        scope = inner[-1]
    return scope if isinstance(scope, _DEFINITION) else None


def names_used(node: _Definition) -> set[str]:
    """Return every name and attribute in the body of a function; of a class, in its `__init__`."""
    if isinstance(node, ast.ClassDef):
        begins = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        node = begins[0] if begins else node
    inner = [each for statement in node.body for each in ast.walk(statement)]
    used = {each.id for each in inner if isinstance(each, ast.Name)}
    return used | {each.attr for each in inner if isinstance(each, ast.Attribute)}


def _callers(call: Call, before: list[Call]) -> list[Call]:
    """Return the calls of the same walk of which one must name this call; none if its mark frees it."""
    earlier = [each for each in before if each.step and each.walk == call.walk]
    if call.mark.startswith("from"):
        step = int(call.mark.removeprefix("from "))
        return [each for each in earlier if each.step == step]
    return [] if call.mark else earlier[-1:]


def _broken(root: Path, call: Call, before: list[Call]) -> str:
    """Return why no caller of a step calls it; "" if one does, or if none is needed."""
    callers = _callers(call, before)
    if not callers:
        return f"there is no earlier step {call.mark.removeprefix('from ')}" if call.mark.startswith("from") else ""
    nodes = [node for each in callers if (node := definition(root, each)) is not None]
    if not nodes or any(call.called in names_used(node) for node in nodes):
        return ""
    named = " or ".join(each.name for each in callers)
    return f"{named} does not name {call.called}; add the call between, or mark it (event), (callback), (thread)"


def returns(text: str) -> Iterator[Call]:
    """Yield every direct call into a file that its walk has already left."""
    left: dict[str, set[str]] = {}
    last: dict[str, str] = {}
    for call in calls(text):
        if not call.step:
            continue
        files = left.setdefault(call.walk, set())
        if call.file in files and call.file != last[call.walk] and not call.mark:
            yield call
        files.add(call.file)
        last[call.walk] = call.file


def _unexplained(text: str) -> Iterator[str]:
    """Yield every return without a reason, and every reason without a return."""
    returned = {(call.walk, str(call.step), call.name) for call in returns(text)}
    explained = set(_RETURN.findall(text))
    for walk, step, name in sorted(returned - explained):
        yield f"{PAGE}: {walk}, step {step}: {name} is in a file that the walk has left; remove that, or give a reason"
    for walk, step, name in sorted(explained - returned):
        yield f"{PAGE}: {walk}, step {step}: no walk returns by {name}; remove the row"


def flows(root: Path) -> Iterator[str]:
    """Yield every function that does not exist, and every step that the one before does not call."""
    page = root / PAGE
    if not page.exists():
        yield f"{PAGE} does not exist"
        return
    yield from _unexplained(page.read_text("utf-8"))
    before: list[Call] = []
    for call in calls(page.read_text("utf-8")):
        place = f"{PAGE}:{call.line}"
        if definition(root, call) is None:
            yield f"{place}: {call.file or 'no file'} does not define {call.name}"
        elif call.step and (broken := _broken(root, call, before)):
            yield f"{place}: {call.walk}, step {call.step}: {broken}"
        before.append(call)


def main(root: Path = ROOT) -> int:
    """Print every step that is not true; return 1 if there is one."""
    violations = list(flows(root))
    for violation in violations:
        print(violation)
    print(f"flows: {len(violations)}")
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
