"""Renames what comments, docstrings and pages mention in backticks, where a name has only one meaning."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from tools.rename.maps import Rename

_QUOTED: Final = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_TEST: Final = re.compile(r"\btest_\w+")


def rename_mentions(root: Path, files: Sequence[str], renames: Sequence[Rename]) -> int:
    """Rewrite the mentions; return how many files changed."""
    table = _unique(renames, _remaining(root, files))
    tests = {old: new for old, new in table.items() if old.startswith("test_")}
    changed = 0
    for path in files:
        if path.endswith((".md", ".py", ".toml")):
            file = root / path
            text = file.read_text()
            new = _in_prose(text, table) if path.endswith(".md") else text
            new = _in_comments(text, table) if path.endswith(".py") else new
            new = _TEST.sub(lambda match: tests.get(match[0], match[0]), new)
            if new != text:
                file.write_text(new)
                changed += 1
    return changed


def _remaining(root: Path, files: Iterable[str]) -> set[str]:
    """Return every class, function and name of a module that still exists: a mention may mean that one."""
    results: set[str] = set()
    for path in files:
        if path.endswith(".py"):
            for node in ast.walk(ast.parse((root / path).read_text())):
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    results.add(node.name)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    results.add(node.id)
    return results


def _unique(renames: Iterable[Rename], remaining: set[str]) -> dict[str, str]:
    """Return old names that become one new name everywhere; a single small word is too common to be a name."""
    table: dict[str, set[str]] = {}
    for rename in renames:
        if rename.old not in remaining and not re.fullmatch("[a-z]+", rename.old):
            table.setdefault(rename.old, set()).add(rename.new)
        if "." in rename.qualified:
            owner = rename.qualified.rpartition(".")[0]
            table.setdefault(rename.qualified, set()).add(f"{owner}.{rename.new}")
    return {old: next(iter(new)) for old, new in table.items() if len(new) == 1}


def _in_prose(text: str, table: Mapping[str, str]) -> str:
    def one(match: re.Match[str]) -> str:
        return "`" + re.sub(r"[\w.]+", lambda word: _word(word[0], table), match[1]) + "`"

    return _QUOTED.sub(one, text)


def _word(word: str, table: Mapping[str, str]) -> str:
    """Return a dotted word with each part renamed; a part alone may be too common, but not with its owner."""
    if word.endswith(".py"):
        return word
    parts = word.split(".")
    new = [table.get(part, part) for part in parts]
    for at in range(1, len(parts)):
        whole = table.get(f"{parts[at - 1]}.{parts[at]}")
        if whole:
            new[at] = whole.rpartition(".")[2]
    return ".".join(new)


def _in_comments(text: str, table: Mapping[str, str]) -> str:
    """Rewrite backticks in comments and in strings that stand alone (docstrings) only."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        alone = token.type == tokenize.STRING and token.line.strip().startswith(('"""', 'r"""'))
        if token.type == tokenize.COMMENT or alone:
            for number in range(token.start[0] - 1, token.end[0]):
                before = token.start[1] if number == token.start[0] - 1 else 0
                lines[number] = lines[number][:before] + _in_prose(lines[number][before:], table)
    return "\n".join(lines)
