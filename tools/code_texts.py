"""The texts in code and data: docstrings, comments and sentences, and the names that docstrings cite.

`tools.words` checks them. A sentence is a string of more than one word.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
import tokenize
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_SPAN: Final = re.compile(r"`([^`\n]+)`")
_CITED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_QUOTES: Final = re.compile(r"^[a-zA-Z]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")
_KEY: Final = re.compile(r"^\s*(?:[\w.\"-]+\s*=|\[+[\w.\"-]+\]+$)")
# Names that every docstring may cite: of Python and of the program.
_KNOWN: Final = {*keyword.kwlist, *dir(builtins), "pitbox"}
# From Python 3.12 on the sentences of an f-string are tokens of their own.
_STRINGS: Final = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
# A file name such as `table.toml` is no name of code.
_SUFFIXES: Final = ("db", "html", "js", "json", "lua", "md", "py", "so", "sock", "toml", "txt", "yaml")

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class ModuleTexts(NamedTuple):
    """One module: its docstrings, every name that its code uses, the names that others can use, and its imports."""

    docstrings: list[ast.Constant]
    used: set[str]
    public: set[str]
    imports: set[str]


# --- texts ------------------------------------------------------------------------------------------------------------


def python_texts(path: Path, *, strings: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines of docstrings and comments of a Python file, and those of its other strings if asked for."""
    begins = {node.lineno for node in read_module(path).docstrings}
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            is_text = token.type == tokenize.COMMENT
            if token.type in _STRINGS:
                is_text = token.start[0] in begins or (strings and " " in token.string)
            if is_text:
                text = _QUOTES.sub("", token.string) if token.type == tokenize.STRING else token.string
                yield from enumerate(text.split("\n"), token.start[0])


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of more than one word, except docstrings: most of them are shown to people."""
    begins = {node.lineno for node in read_module(path).docstrings}
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        match node:
            case ast.Constant(value=str() as text, lineno=number) if number not in begins and " " in text.strip():
                yield number, text
            case _:
                pass


def toml_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a TOML file without their keys."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        yield number, _KEY.sub("", line)


@cache
def read_module(path: Path) -> ModuleTexts:
    """Return docstrings and names of a module. Words in its strings count as used, but not those in its docstrings."""
    tree = ast.parse(path.read_text("utf-8"), str(path))
    module = ModuleTexts([], set(), set(_assigned(tree)), set())
    left_out = set()
    for node in ast.walk(tree):  # a node comes before what it contains
        if isinstance(node, _Documented) and (docstring := _docstring(node)) is not None:
            module.docstrings.append(docstring)
            left_out.add(id(docstring))
        if id(node) not in left_out:
            _add_names(node, module)
    return module


def _docstring(node: _Documented) -> ast.Constant | None:
    value = node.body[0].value if node.body and isinstance(node.body[0], ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


# --- names in docstrings ----------------------------------------------------------------------------------------------


def _add_names(node: ast.AST, names: ModuleTexts) -> None:
    match node:
        case ast.Name():
            names.used.add(node.id)
        case ast.arg() | ast.keyword():
            names.used.add(node.arg or "")
        case ast.Attribute():
            names.used.add(node.attr)
            if isinstance(node.ctx, ast.Store):
                names.public.add(node.attr)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            names.used.add(node.name)
            names.public.add(node.name)
            names.public.update(_assigned(node) if isinstance(node, ast.ClassDef) else ())
        case ast.Import():
            names.imports.update(alias.name for alias in node.names)
        case ast.ImportFrom():
            names.imports.update({node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)})
            names.used.update(_WORD.findall(node.module or ""))
        case ast.alias():
            names.used.update({*_WORD.findall(node.name), node.asname or ""})
        case ast.Constant(value=str() as text):
            names.used.update(_WORD.findall(text))
        case ast.MatchAs() | ast.MatchStar():
            names.used.add(node.name or "")
        case _:
            pass


def _assigned(owner: ast.Module | ast.ClassDef) -> Iterator[str]:
    for statement in owner.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def unknown_names(files: Mapping[str, Path]) -> Iterator[str]:
    """Yield every name that a docstring cites in backticks and that does not exist; `files` by their place.

    A name must occur in the code of its module, or be public in a module of the tree that this one imports. A name that
    is no plain word, such as "DiskWriter" or "read_step", may be public anywhere in the tree.
    """
    named = {place: read_module(path) for place, path in files.items()}
    modules = {place.removesuffix(".py").removesuffix("/__init__").replace("/", "."): place for place in files}
    folders = {part for module in modules for part in module.split(".")}
    public = folders.union(*(names.public for names in named.values()))
    for place, own in named.items():
        imported = [named[modules[module]].public for module in own.imports if module in modules]
        near = [own.used, _KNOWN, folders, *imported]
        for text in own.docstrings:
            for span in _SPAN.findall(str(text.value)):
                if _CITED.fullmatch(span) and not _exists(span, near, public):
                    yield f"{place}:{text.lineno}: `{span}`"


def _exists(span: str, near: list[set[str]], public: set[str]) -> bool:
    parts = span.removesuffix("()").split(".")
    if parts[-1] in _SUFFIXES or parts[0] in sys.stdlib_module_names:
        return True
    is_plain = len(parts) == 1 and span.islower() and "_" not in span
    return all(any(part in names for names in near) or (not is_plain and part in public) for part in parts)
