"""Renames attributes that a string names, or a keyword of `replace`: no type checker follows those.

Only where the owner is plain: an imported module or class, or a struct of the same file.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tools.rename.edits import Edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tools.rename.maps import Rename

_BY_STRING: Final = {"setattr", "getattr", "hasattr", "delattr", "object"}
_BY_KEYWORD: Final = {"replace", "changed"}


def rename_strings(root: Path, files: Sequence[str], renames: Iterable[Rename]) -> tuple[int, list[str]]:
    """Rename; return how many replacements were made and which strings have more than one meaning, a line each."""
    exact: dict[tuple[str, str], str] = {}
    fields: dict[tuple[str, str], set[str]] = defaultdict(set)
    for rename in renames:
        exact[rename.path, rename.qualified] = rename.new
        if "." in rename.qualified:
            fields[rename.path, rename.old].add(rename.new)
    edits, doubts = Edits(), list[str]()
    for path in files:
        tree = ast.parse((root / path).read_text())
        known = _imported(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                _rename_call(path, node, known, exact, fields, edits, doubts)
    return edits.apply(root), doubts + edits.conflicts


def _imported(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """Return for each imported name the two ways to read it: a module's path, or a module's path and a name in it."""
    results: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                results[alias.asname or alias.name] = (node.module.replace(".", "/"), alias.name)
    return results


def _rename_call(
    path: str,
    node: ast.Call,
    known: Mapping[str, tuple[str, str]],
    exact: Mapping[tuple[str, str], str],
    fields: Mapping[tuple[str, str], set[str]],
    edits: Edits,
    doubts: list[str],
) -> None:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called in _BY_KEYWORD:
        for word in node.keywords:
            if (path, word.arg) in fields:  # the struct is defined in the same file
                _decide(path, word.lineno, word.col_offset, word.arg or "", fields[path, word.arg or ""], edits, doubts)
    elif called in _BY_STRING and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        old, place = node.args[1].value, node.args[1]
        new = {exact[key] for key in _owners(node.args[0], str(old), known) if key in exact}
        if new:
            _decide(path, place.lineno, place.col_offset + 1, str(old), new, edits, doubts)


def _owners(target: ast.expr, old: str, known: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield where the attribute may be defined: in a module, or in a class of a module."""
    if isinstance(target, ast.Name) and target.id in known:
        package, name = known[target.id]
        yield f"{package}/{name}.py", old
        yield f"{package}/{name}/__init__.py", old
        yield f"{package}.py", f"{name}.{old}"


def _decide(path: str, line: int, column: int, old: str, new: set[str], edits: Edits, doubts: list[str]) -> None:
    if len(new) == 1:
        edits.replace(path, line - 1, column, column + len(old), next(iter(new)))
    else:
        doubts.append(f"{path}:{line}: {old!r} may be {' or '.join(sorted(new))}")
