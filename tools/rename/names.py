"""Renames classes, functions, attributes and parameters wherever they are used."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from tools.rename.definitions import find_definitions
from tools.rename.edits import Edits, text_at
from tools.rename.maps import Rename

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tools.rename.language_server import LanguageServer


def rename_names(
    root: Path, files: Sequence[str], server: LanguageServer, renames: Sequence[Rename], progress: Callable[[str], None]
) -> tuple[int, list[str]]:
    """Rename everywhere; return how many replacements were made and what could not be done, a line each."""
    edits, problems, subclasses = Edits(), list[str](), _subclasses(root, files)
    opened: set[str] = set()
    for number, rename in enumerate(renames, 1):
        progress(f"{number}/{len(renames)} {rename.qualified} -> {rename.new}")
        for each in (rename, *_overrides(rename, subclasses)):
            positions = find_definitions((root / each.path).read_text(), each.qualified)
            if not positions and each is rename:
                problems.append(f"{each.path}: no definition of {each.qualified}")
            for line, column in positions:
                if each.path not in opened:
                    server.open(root / each.path)
                    opened.add(each.path)
                for place in server.references(root / each.path, line, column):
                    if text_at(root, *place) == each.old:
                        edits.replace(*place, each.new)
    return edits.apply(root), problems + edits.conflicts


def _subclasses(root: Path, files: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Return for each class name the classes that name it as a base: their file and name."""
    results: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in files:
        for node in ast.parse((root / path).read_text()).body:
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    plain = base.value if isinstance(base, ast.Subscript) else base
                    name = plain.id if isinstance(plain, ast.Name) else getattr(plain, "attr", "")
                    results[name].append((path, node.name))
    return results


def _overrides(rename: Rename, subclasses: dict[str, list[tuple[str, str]]]) -> list[Rename]:
    """Return the same member in every class below: it overrides the renamed one."""
    owner, _, member = rename.qualified.rpartition(".")
    results: list[Rename] = []
    waiting = list(subclasses.get(owner, ()))
    seen: set[tuple[str, str]] = set()
    while waiting:
        path, name = waiting.pop()
        if (path, name) not in seen:
            seen.add((path, name))
            results.append(Rename(path, f"{name}.{member}", rename.new))
            waiting += subclasses.get(name, ())
    return results
