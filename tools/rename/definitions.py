"""Finds where a qualified name is defined in a source file, as a position that a language server understands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# Line from 0, column in UTF-16 units.
Position = tuple[int, int]


def find_definitions(source: str, qualified: str) -> list[Position]:
    """Return every position at which `source` defines the qualified name; a name may have several (overloads)."""
    lines = source.splitlines()
    scopes: list[Scope] = [ast.parse(source)]
    *outer, name = qualified.split(".")
    for part in outer:
        scopes = [node for scope in scopes for node in _children(scope) if getattr(node, "name", None) == part]
    results = [position for scope in scopes for position in _names(scope, name, lines)]
    return results or [position for scope in scopes for position in _self_attributes(scope, name, lines)]


def _children(scope: ast.AST) -> Iterator[Scope]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            yield from _children(node)


def _names(scope: Scope, name: str, lines: list[str]) -> Iterator[Position]:
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = scope.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if argument.arg == name:
                yield _position(lines, argument.lineno, argument.col_offset)
    yield from _stored(scope, name, lines)


def _stored(node: ast.AST, name: str, lines: list[str]) -> Iterator[Position]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name == name:
                keyword = len("class " if isinstance(child, ast.ClassDef) else "def ")
                if isinstance(child, ast.AsyncFunctionDef):
                    keyword += len("async ")
                yield _position(lines, child.lineno, child.col_offset + keyword)
        elif isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Store):
            yield _position(lines, child.lineno, child.col_offset)
        else:
            yield from _stored(child, name, lines)


def _self_attributes(scope: Scope, name: str, lines: list[str]) -> Iterator[Position]:
    for node in ast.walk(scope):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            yield _position(lines, node.lineno, node.col_offset + len("self."))
            return


def _position(lines: list[str], line: int, column: int) -> Position:
    before = lines[line - 1].encode()[:column].decode()
    return line - 1, len(before.encode("utf-16-le")) // 2
