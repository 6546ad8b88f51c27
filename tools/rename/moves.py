"""Moves modules and folders, and rewrites every import, dotted name and path that names them."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from tools.rename.maps import Move

_TEXT: Final = {".py", ".toml", ".md", ".txt", ".yaml", ".yml", ".json", ".service", ".lua", ".js", ".html", ".cfg", ""}
_INIT: Final = "__init__.py"
# Before a dotted name that is already the new one.
_DONE: Final = "\x00"


def move_modules(root: Path, files: Sequence[str], moves: Sequence[Move]) -> int:
    """Move every module and rewrite what names it; return how many files moved."""
    paths = _file_moves(files, moves)
    dotted = {_dotted(old): _dotted(new) for old, new in paths.items() if old.endswith(".py")}
    dotted.update(_folders(moves))
    texts = [path for path in files if PurePosixPath(path).suffix in _TEXT]
    for path in texts:
        _rewrite(root / path, dotted, paths)
    for old, new in paths.items():
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", old, new], cwd=root, check=True)  # noqa: S603, S607 - our own words
    _make_packages(root, paths.values())
    return len(paths)


def _file_moves(files: Sequence[str], moves: Sequence[Move]) -> dict[str, str]:
    """Return old and new path of each file that moves; a line for one module outranks one for its folder."""
    results: dict[str, str] = {}
    for move in sorted(moves, key=lambda each: len(each.old)):
        if move.old.endswith("/"):
            results.update({f: move.new + f.removeprefix(move.old) for f in files if f.startswith(move.old)})
    known = set(files)
    for move in moves:
        if not move.old.endswith("/"):
            if move.old not in known:
                raise FileNotFoundError(f"the map moves {move.old}, which does not exist")
            results[move.old] = move.new
    taken = set(results.values())
    if len(taken) != len(results) or taken & (known - set(results)):
        both = [new for new in taken if list(results.values()).count(new) > 1] + sorted(taken & (known - set(results)))
        raise FileExistsError(f"two modules would have one path: {both}")
    return {old: new for old, new in results.items() if old != new}


def _folders(moves: Sequence[Move]) -> dict[str, str]:
    return {
        m.old.strip("/").replace("/", "."): m.new.strip("/").replace("/", ".") for m in moves if m.old.endswith("/")
    }


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _rewrite(file: Path, dotted: Mapping[str, str], paths: Mapping[str, str]) -> None:
    text = before = file.read_text()
    if file.suffix == ".py":
        text = _rewrite_imports(text, dotted)
    text = _replace_words(text, dotted)
    text = _replace_words(text, {**paths, **_short_paths(paths)}).replace(_DONE, "")
    if text != before:
        file.write_text(text)


def _replace_words(text: str, table: Mapping[str, str]) -> str:
    """Replace dotted names or paths, the longest first, each only as a whole or as the beginning of a longer one."""
    if not table:
        return text
    words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    return re.sub(rf"(?<![\w./\x00])({words})(?![\w])", lambda match: table[match[1]], text)


def _short_paths(paths: Mapping[str, str]) -> dict[str, str]:
    """Return how pages name a module without its first folders, where only one module has that ending."""
    short: dict[str, set[str]] = {}
    for old in paths:
        parts = old.split("/")
        for start in range(1, len(parts) - 1):
            short.setdefault("/".join(parts[start:]), set()).add(old)
    results: dict[str, str] = {}
    for ending, olds in short.items():
        if len(olds) == 1:
            new = paths[next(iter(olds))].split("/")
            results[ending] = "/".join(new[-max(2, ending.count("/") + 1) :])
    return results


def _rewrite_imports(text: str, dotted: Mapping[str, str]) -> str:
    """Rewrite `from package import module` where the module moves, and the module's name in the others of the file."""
    tree = ast.parse(text)
    used, stored = _used_names(tree), _variables(tree)
    renamed: dict[str, str] = {}
    changes: list[tuple[ast.ImportFrom, list[str]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            moved = [alias for alias in node.names if f"{node.module}.{alias.name}" in dotted]
            if moved:
                changes.append((node, _new_imports(node, moved, dotted, renamed, used, stored)))
    lines = _rename_uses(text, renamed).split("\n")
    for node, new in sorted(changes, key=lambda change: -change[0].lineno):
        indent, comment = " " * node.col_offset, _comment(lines[node.lineno - 1])
        lines[node.lineno - 1 : node.end_lineno] = [indent + line + comment for line in new]
    return "\n".join(lines)


def _comment(line: str) -> str:
    """Return the comment at the end of an import, with its two spaces."""
    _, mark, words = line.partition("  # ")
    return mark + words


def _used_names(tree: ast.AST) -> set[str]:
    """Return every name that the file uses: an imported module may not be called like one of them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


def _variables(node: ast.AST) -> set[str]:
    """Return the names that functions and the module assign or take as arguments; a field is none."""
    names: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arg):
            names.add(child.arg)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and not isinstance(node, ast.AnnAssign):
            names.add(child.id)
        names |= _variables(child)
    return names


def _new_imports(
    node: ast.ImportFrom,
    moved: list[ast.alias],
    dotted: Mapping[str, str],
    renamed: dict[str, str],
    used: set[str],
    stored: set[str],
) -> list[str]:
    """Return the lines that import the same from the new places; notes which local names change."""
    others = [alias for alias in node.names if alias not in moved]
    new = [f"from {node.module} import {', '.join(_alias(each) for each in others)}"] if others else []
    for alias in moved:
        package, _, name = dotted[f"{node.module}.{alias.name}"].rpartition(".")
        local = alias.asname
        if local is None and name != alias.name:
            if name in used or alias.name in stored:
                local = alias.name
            else:
                renamed[alias.name] = name
                used.add(name)
        new.append(f"from {_DONE}{package} import {name}" + (f" as {local}" if local else ""))
    return new


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _rename_uses(text: str, renamed: Mapping[str, str]) -> str:
    """Rename a module's name wherever the file uses it as a name of its own."""
    places = [
        (node.lineno, node.col_offset, node.end_col_offset or 0, renamed[node.id])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and node.id in renamed and isinstance(node.ctx, ast.Load)
    ]
    places += [
        (node.lineno, node.col_offset + 1, (node.end_col_offset or 0) - 1, renamed[node.value])
        for node in _exported(ast.parse(text))
        if isinstance(node.value, str) and node.value in renamed
    ]
    lines = text.split("\n")
    for line, start, end, new in sorted(places, reverse=True):
        wide = lines[line - 1].encode()
        lines[line - 1] = (wide[:start] + new.encode() + wide[end:]).decode()
    return "\n".join(lines)


def _exported(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the names in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            yield from (each for each in ast.walk(node.value) if isinstance(each, ast.Constant))


def _make_packages(root: Path, paths: Iterable[str]) -> None:
    """Give every new folder of modules an `__init__.py`."""
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if path.endswith(".py") and str(folder) != "." and not (root / folder / _INIT).exists():
                (root / folder / _INIT).write_text("")
