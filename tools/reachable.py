"""Finds code that no command of the product runs: modules that only tests import.

python -m tools.reachable          fail if a module of the product is not reached from an entry point
python -m tools.reachable --uses   also list public names that nothing outside tests uses (a hint, never a failure)

A test of a module that nothing runs proves nothing. Entry points are the console script, the entry points of
`pyproject.toml`, and every `__main__.py`. The check follows import statements, also inside used functions; modules that
a string names in a file that calls `import_module` (an f-string is a pattern); and `-m MODULE` of a started process. An
import for type checkers alone reaches a module only if the module has no code to run. Code below `if False`, or below
`if __name__ == "__main__"` in a module that no process starts with, does not run.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("firmware_bridge", "devices", "table_controller", "simulators")
# Programs that compute figures for the documents may run parts of the simulators that no command runs.
FIGURES: Final = ("tools",)
# Modules of the product that only simulated machines use, each with its reason.
FOR_SIMULATORS: Final = {"firmware_bridge.transport.memory": "the wire of a machine in the same process"}


class SourceFile(NamedTuple):
    """One file of code."""

    name: str  # dotted
    package: str  # the base of relative imports
    tree: ast.Module


def sources(root: Path, packages: Iterable[str] = PACKAGES) -> dict[str, SourceFile]:
    """Return every module of these packages, by dotted name."""
    modules = {}
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            holder = name if is_package else name.rpartition(".")[0]
            modules[name] = SourceFile(name, holder, ast.parse(path.read_text("utf-8"), str(path)))
    return modules


def entry_points(root: Path, known: Iterable[str]) -> set[str]:
    """Return the modules with which a process of the product starts, and those of its entry points."""
    named = {target.partition(":")[0] for target in _targets(root)}
    return named | {n for n in known if n.endswith(".__main__") and n.partition(".")[0] not in FIGURES}


def _targets(root: Path) -> set[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project.get("scripts", {}), *project.get("entry-points", {}).values()]
    return {target for group in groups for target in group.values()}


# --- what a module imports --------------------------------------------------------------------------------------------


def imports(source: SourceFile, known: set[str], used: set[str], scripts: set[str]) -> tuple[set[str], set[str]]:
    """Return the modules that a module imports when it runs, and those that only type checkers see.

    `used`: all used names; `scripts`: modules with which a process starts.
    """
    for_types = {id(node) for block in _type_blocks(source.tree) for node in ast.walk(block)}
    dead = {id(node) for block in _dead(source, used, scripts) for node in ast.walk(block)}
    runs: set[str] = set()
    types: set[str] = set()
    for node in ast.walk(source.tree):
        if id(node) in dead:
            continue
        names = types if id(node) in for_types else runs
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    runs.update(_by_name(source, known))
    return _with_parents(runs & known), _with_parents(types & known)


def _type_blocks(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _last(node.test) == "TYPE_CHECKING":
            yield from node.body


def _dead(source: SourceFile, used: set[str], scripts: set[str]) -> Iterator[ast.AST]:
    """Yield the code of a module that never runs: below a condition that is never true, and unused functions."""
    begins = source.name in scripts or source.name.endswith(".__main__")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If | ast.While):
            never = isinstance(node.test, ast.Constant) and not node.test.value
            script = isinstance(node.test, ast.Compare) and ast.unparse(node.test) == "__name__ == '__main__'"
            if never or (script and not begins):
                yield from node.body
    for node in source.tree.body:
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if function and not node.decorator_list and node.name not in used:  # type: ignore[attr-defined]
            yield node


def _scripts(code: Iterable[SourceFile], known: set[str]) -> set[str]:
    """Return the modules with which a process starts, and all that compute figures."""
    scripts = {source.name for source in code if source.name.partition(".")[0] in FIGURES}
    for source in code:
        for node in _nodes(source):
            scripts |= set(_started(node, known))
    return scripts


def _started(node: ast.AST, known: set[str]) -> Iterator[str]:
    """Yield the module after `-m` in a list of words."""
    if isinstance(node, ast.List | ast.Tuple | ast.Call):
        given = node.args if isinstance(node, ast.Call) else node.elts
        words = [each.value if isinstance(each, ast.Constant) else None for each in given]
        yield from (str(word) for flag, word in pairwise(words) if flag == "-m" and word in known)


def _with_parents(names: set[str]) -> set[str]:
    return {".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 2)}


def _by_name(source: SourceFile, known: set[str]) -> Iterator[str]:
    """Yield modules that are loaded or started by a string with their name."""
    constants = _constants(source)
    nodes = list(_nodes(source))
    loads = any(isinstance(node, ast.Name | ast.Attribute) and _last(node) == "import_module" for node in nodes)
    for node in nodes:
        if loads and isinstance(node, ast.Constant) and node.value in known:
            yield str(node.value)
        elif isinstance(node, ast.Call) and _last(node.func) == "import_module":
            pattern = _pattern(node.args[0], constants)
            yield from (name for name in known if pattern and re.fullmatch(pattern, name))
        else:
            yield from _started(node, known)


def _nodes(source: SourceFile) -> Iterator[ast.AST]:
    return ast.walk(source.tree)


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _constants(source: SourceFile) -> dict[str, str]:
    """Return the string constants of a module by name."""
    constants = {"__package__": source.package, "__name__": source.name}
    for node in source.tree.body:
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            constants[target.id] = value.value
        elif isinstance(target, ast.Name) and isinstance(value, ast.Name) and value.id in constants:
            constants[target.id] = constants[value.id]
    return constants


def _pattern(node: ast.expr, constants: dict[str, str]) -> str:
    """Return a pattern of the names that an f-string can produce; "" if it is not an f-string."""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(re.escape(str(part.value)))
        elif isinstance(part, ast.FormattedValue):
            name = part.value.id if isinstance(part.value, ast.Name) else ""
            parts.append(re.escape(constants[name]) if name in constants else r"\w+")
    return "".join(parts)


# --- what is reached --------------------------------------------------------------------------------------------------


Graph = dict[str, tuple[set[str], set[str]]]  # by module: what it imports when it runs, and for types alone


def graph_of(code: dict[str, SourceFile], begin: Iterable[str] = ()) -> Graph:
    """Return the imports of every module; `begin`: functions of entry points, which count as used."""
    known, used = set(code), used_names(code) | set(begin)
    scripts = _scripts(code.values(), known)
    return {name: imports(source, known, used, scripts) for name, source in code.items()}


def used_names(code: dict[str, SourceFile]) -> set[str]:
    """Return every name that is used anywhere except in its own definition."""
    used: set[str] = set()
    for source in code.values():
        for node in _nodes(source):
            if isinstance(node, ast.Name | ast.Attribute):
                used.add(_last(node))
            elif isinstance(node, ast.alias):
                used.add(node.name.rpartition(".")[2])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
    return used


def reached(graph: Graph, begin: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the modules that run from these entry points, and those used only for types."""
    runs: set[str] = set()
    types: set[str] = set()
    waiting = list(_with_parents(set(begin) & graph.keys()))
    while waiting:
        name = waiting.pop()
        if name in runs:
            continue
        runs.add(name)
        now, only_types = graph[name]
        waiting += now - runs
        types |= only_types
    return runs, types - runs


def has_something_to_run(source: SourceFile) -> bool:
    """Whether a module has more than types: a function, a lambda, or a class that is not a protocol."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return True
        if isinstance(node, ast.ClassDef):
            shape = any(_last(base) in ("Protocol", "TypedDict") for base in node.bases)
            if not shape or any(_has_body(each) for each in node.body):
                return True
        elif any(isinstance(each, ast.Lambda) for each in ast.walk(node)):
            return True
    return False


def _has_body(node: ast.stmt) -> bool:
    """Whether a method has more than a docstring or an ellipsis."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return any(not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)) for each in node.body)


def check(root: Path, packages: Iterable[str] = PACKAGES) -> tuple[list[str], list[str]]:
    """Return every module that no command runs, and every exception that is no longer needed.

    The box's own commands must run every module of the box; the simulators' commands or the figures, the others.
    """
    code = sources(root, (*packages, *FIGURES))
    graph = graph_of(code, {target.partition(":")[2] for target in _targets(root)})
    begin = entry_points(root, code)
    own = _missed(code, graph, {name for name in begin if not _is_simulated(name)})
    commands = _missed(code, graph, begin)
    simulated = _missed(code, graph, begin | {name for name in code if name.partition(".")[0] in FIGURES})
    missed = {name for name in code if name in (simulated if _is_simulated(name) else own)}
    excused = {name for name in FOR_SIMULATORS if name in missed and name not in commands}
    lost = sorted(name for name in missed - excused if name.partition(".")[0] in packages)
    return lost, sorted(FOR_SIMULATORS.keys() - own)


def _missed(code: dict[str, SourceFile], graph: Graph, begin: set[str]) -> set[str]:
    runs, types = reached(graph, begin)
    shapes = {name for name in types if not has_something_to_run(code[name])}
    return code.keys() - runs - _with_parents(shapes)


def _is_simulated(name: str) -> bool:
    return name.partition(".")[0] == "simulators"


# --- names that only tests use ----------------------------------------------------------------------------------------


def unused_names(root: Path, packages: Iterable[str] = PACKAGES) -> list[str]:
    """Return public functions and classes that only tests use."""
    code = sources(root, (*packages, "tools", "benchmarks"))
    used = used_names(code)
    unused = []
    for source in code.values():
        if source.name.split(".")[0] not in packages:
            continue
        for node in source.tree.body:
            public = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_"
            if public and node.name not in used and not node.decorator_list:  # type: ignore[attr-defined]
                unused.append(f"{source.name}:{node.name}")  # type: ignore[attr-defined]
    return unused


def main() -> None:
    """Print the modules that no command runs; exit 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uses", action="store_true", help="list public names that only tests use")
    if parser.parse_args().uses:
        print("\n".join(unused_names(ROOT)))
    lost, stale = check(ROOT)
    for name in lost:
        print(f"{name}: no command of the product runs it. Delete it, or import it where it is needed.")
    for name in stale:
        print(f"{name}: a command runs it now. Remove it from FOR_SIMULATORS in tools/reachable.py.")
    sys.exit(1 if lost or stale else 0)


if __name__ == "__main__":
    main()
