"""Checks the words of the tree against docs/glossary.md and the rules for names and prose.

python -m tools.words                  print every violation; exit 1 if there is one
python -m tools.words --only names     only one of the checks below

glossary   every term is defined once, and its code name exists
names      no banned word in the name of a file, class, function, parameter, variable or attribute
classes    a class name is defined once in the product, except among the folders of the kinds of devices
docstrings every module begins with a docstring, and every name that a docstring cites in backticks exists
documents  every path, module, test, make target and command that a document names exists, in history, too
columns    Markdown prose has at most 100 columns; tables, code, targets of links and long names do not count
prose      no banned word in the pages; code, quotations and generated parts do not count
texts      no banned word in docstrings, comments, messages of the code, and texts of the data; in messages to hold
           is what a hold does, and nothing else
spelling   US English in pages, code and data
examples   an irregularity that a page shows is the row of the edition
openings   the first paragraph of a page names who it is for; decisions begin with date and status
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from tools import ROOT
from tools.code_texts import python_texts, sentences, toml_texts, unknown_names
from tools.docs.doc_names import history, pages, unknown_arguments, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PRODUCT: Final = ("firmware_bridge", "devices", "table_controller", "simulators")
FOLDERS: Final = (*PRODUCT, "benchmarks", "examples", "tests", "tools")
GLOSSARY: Final = "docs/glossary.md"
COLUMNS: Final = 100
# Words that no part of a name may have. Machines report, send, detect; programs record, publish, request.
BANNED_PARTS: Final = (
    "tell", "tells", "told", "telling", "say", "says", "said", "saying", "hear", "hears", "heard", "hearing", "want",
    "wants", "wanted", "whoever", "whatever", "beside", "besides",
)  # fmt: skip
BANNED_PREFIX: Final = "believ"
# Words that are too vague as a whole name; `house_way` and `not_found` are fine.
BANNED_NAMES: Final = (
    "way", "ways", "stand", "stands", "rest", "rests", "take", "takes", "against", "found", "made", "thing", "things",
)  # fmt: skip
# Folders with the same files and classes for every kind of device: a class may repeat within one of these groups.
KIND_FOLDERS: Final = (
    re.compile(r"devices/(?!conformance/)\w+/"),
    re.compile(r"devices/conformance/kinds/"),
    re.compile(r"table_controller/cli/kinds/"),
    re.compile(r"table_controller/controller/kinds/"),
    re.compile(r"simulators/kinds/"),
)
# Words that make a sentence a riddle, or that name something else by now. Reviews and decisions keep theirs.
BANNED_PROSE: Final = re.compile(
    r"\b(whoever|whatever|tells?|told|telling|says?|said|saying|believe[sd]?|hears?|heard|wants?|wanted|besides?"
    r"|dossiers?|first edition|second edition)\b",
    re.IGNORECASE,
)
# British forms. Python's own names (`task.cancelled()`, `handle._cancelled`) are no prose.
BRITISH: Final = re.compile(
    r"acknowledgement|(?<![.\w])cancelled(?!\(|Error)|colour|behaviour|favour|honour|neighbour|labour|enrolment|enrols\b"
    r"|judgement|\b(?:signal|label|model|travel|level)l(?:ed|ing)\b|\b(?:centre|licence|defence|offence|programme)\b"
    r"|(?<![a-z])(?:synchron|organ|recogn|real|initial|author|serial|normal|minim|maxim|summar|categor|util|final|optim"
    r"|emphas|random|general|standard|special)is(?:e|ed|es|ing|ation)(?![a-z])"
    r"|misspelt|learnt|whilst|amongst|\btowards\b|\bfulfil(?:s|ment)?\b|\banalys(?:e[ds]?|ing)\b",
    re.IGNORECASE,
)
# A folder contains, a program uses, a proof is intact; a hold is a locked state that a person must clear.
HOLDS: Final = re.compile(
    r"(?<!irregularity )\bholds? (?:no|an?|its|every|it|another|records?|other|nothing|cards|money|more|the key)\b"
    r"|\bholds, too|\b(?:than|and) it holds\b|\bas held\b"
)
# Texts that are not ours, of earlier versions, or about forbidden words themselves.
NOT_OURS: Final = ("tests/fixtures/", "tools/rename/maps/", "former_names.toml", "tests/unit/test_words.py",
                   "tests/unit/test_code_texts.py", "tools/words.py")  # fmt: skip
HISTORY: Final = ("CHANGELOG.md", "docs/reviews/", "docs/decisions/", "docs/clauses.md", "docs/glossary.md")
_DECISION: Final = re.compile(r"docs/decisions/(?:\d{4}-.*|template)\.md")
_READERS: Final = re.compile(
    r"\b[Ff]or\b[^.]*\b(?:everybody|people|makers|staff|(?:engineer|developer|technician|auditor|regulator|reviewer"
    r"|maintainer|floorperson|dealer|accountant|planner|integrator)s?)\b"
)
_GENERATED: Final = re.compile(r"<!-- (end )?(?:generated|measured)")
_TICKED: Final = re.compile(r"`[^`]*`")
_SPELLED: Final = (".css", ".html", ".js", ".lua", ".md", ".py", ".toml")
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"")
_ROW_BLOCK: Final = re.compile(r"```toml\n(\[\[irregularities\]\].*?)```", re.DOTALL)
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CODE: Final = re.compile(r"`([\w./]+)(?::([\w.]+))?`")
_LINK_TARGET: Final = re.compile(r"\]\([^)]*\)|<https?:[^>]*>|https?:\S+")


# --- glossary ---------------------------------------------------------------------------------------------------------


def glossary(root: Path) -> Iterator[str]:
    """Yield terms that are defined twice, and code names that do not exist."""
    page = root / GLOSSARY
    if not page.exists():
        yield f"{GLOSSARY} does not exist"
        return
    lines: dict[str, int] = {}
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if len(cells) < 4 or cells[0] in ("term", "---"):
            continue
        term, place = cells[0].casefold(), f"{GLOSSARY}:{number}"
        if term in lines:
            yield f"{place}: {cells[0]} is also defined in line {lines[term]}"
        lines.setdefault(term, number)
        yield from (f"{place}: {cells[0]}: {problem}" for problem in _code_problems(root, cells[3]))


def _code_problems(root: Path, cell: str) -> Iterator[str]:
    named = _CODE.search(cell)
    if named is None:
        yield "no code name"
        return
    path, name = root / named[1], named[2]
    if not path.exists():
        yield f"{named[1]} does not exist"
    elif name and name.partition(".")[0] not in {each for each, _ in names_in(path)}:
        yield f"{named[1]} does not define {name}"


# --- names ------------------------------------------------------------------------------------------------------------


def is_banned(name: str) -> bool:
    """Whether a name has a banned word, or is one."""
    parts = [part.lower() for part in _PART.findall(name)]
    if any(part in BANNED_PARTS or part.startswith(BANNED_PREFIX) for part in parts):
        return True
    return name.strip("_").lower() in BANNED_NAMES


def names_in(path: Path) -> list[tuple[str, int]]:
    """Return every name that a file defines, with its line."""
    names: list[tuple[str, int]] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.append((node.name, node.lineno))
            case ast.arg():
                names.append((node.arg, node.lineno))
            case ast.Name(ctx=ast.Store()):
                names.append((node.id, node.lineno))
            case ast.Attribute(ctx=ast.Store()):
                names.append((node.attr, node.lineno))
            case ast.alias() if node.asname:
                names.append((node.asname, node.lineno))
            case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler() if node.name:
                names.append((node.name, node.lineno))
            case _:
                pass
    return names


def sources(root: Path, folders: tuple[str, ...] = FOLDERS) -> Iterator[tuple[str, Path]]:
    """Yield the Python files of these folders, each with its path in the tree."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            yield path.relative_to(root).as_posix(), path


def names(root: Path) -> Iterator[str]:
    """Yield every banned name: of files, and of what they define."""
    for place, path in sources(root):
        if is_banned(path.stem):
            yield f"{place}: the file's name"
        seen: set[str] = set()
        for name, line in names_in(path):
            if name not in seen and is_banned(name):
                seen.add(name)
                yield f"{place}:{line}: {name}"


def classes(root: Path) -> Iterator[str]:
    """Yield every public class name of the product that is defined more than once outside one group of kinds."""
    defined: defaultdict[str, list[str]] = defaultdict(list)
    for place, path in sources(root, PRODUCT):
        for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                defined[node.name].append(place)
    for name, places in sorted(defined.items()):
        if len(places) > 1 and len({_group(place) for place in places}) > 1:
            yield f"class {name} is defined in {', '.join(places)}"


def _group(place: str) -> str:
    return next((group.pattern for group in KIND_FOLDERS if group.match(place)), place)


# --- documents --------------------------------------------------------------------------------------------------------


def documents(root: Path) -> Iterator[str]:
    """Yield every name and command in a document that does not exist."""
    for page in (*pages(root), *history(root)):
        yield from (f"{line} does not exist" for line in wrong(root, page))
    for page in pages(root):
        yield from unknown_arguments(root, page)


def columns(root: Path) -> Iterator[str]:
    """Yield every line of prose that is too long and can be broken; in history, too."""
    for page in markdown(root):
        for number, line in prose_lines(page.read_text("utf-8")):
            length = len(_LINK_TARGET.sub("]", line))
            if length > COLUMNS and " " in line.strip():
                yield f"{page.relative_to(root).as_posix()}:{number}: {length} columns"


def markdown(root: Path) -> list[Path]:
    """Return all Markdown of the tree, except fixtures, which never change."""
    top = [*root.glob("*.md"), *root.glob(".github/*.md")]
    return sorted([*top, *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")])


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown text that are not code, tables, HTML or pictures."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith(("    ", "|", "<", "![")) and not line.lstrip().startswith("|"):
            yield number, line


# --- texts of code and data -------------------------------------------------------------------------------------------


def docstrings(root: Path) -> Iterator[str]:
    """Yield every module without a docstring, and every name that a docstring cites and that does not exist."""
    files = dict(sources(root))
    yield from (f"{place}: no docstring" for place, path in files.items() if not module_docstring(path))
    yield from unknown_names(files)


def module_docstring(path: Path) -> str | None:
    """Return the docstring of a module."""
    return ast.get_docstring(ast.parse(path.read_text("utf-8"), str(path)))


def is_ours(place: str) -> bool:
    """Whether the words of a file are ours, of this version."""
    return not place.startswith(NOT_OURS) and not place.endswith(NOT_OURS)


def code_and_data(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield every line of text in code and data, with its place. The strings of tests are data of the tests."""
    for place, path in sources(root):
        if is_ours(place):
            for number, line in python_texts(path, strings=not place.startswith("tests/")):
                yield place, number, line
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.toml")):
            place = path.relative_to(root).as_posix()
            if is_ours(place):
                for number, line in toml_texts(path):
                    yield place, number, line


def texts(root: Path) -> Iterator[str]:
    """Yield every banned word in docstrings, comments, messages and texts of the data, outside of quotations."""
    for place, number, line in code_and_data(root):
        cited = _TICKED if place.endswith(".toml") else _QUOTED
        for word in BANNED_PROSE.findall(cited.sub("", line)):
            yield f"{place}:{number}: {word}"
    for place, path in sources(root, PRODUCT):
        for number, text in sentences(path):
            yield from (f"{place}:{number}: {words}" for words in HOLDS.findall(text))
    catalogue = root / "table_controller" / "catalogue.toml"
    for number, text in toml_texts(catalogue) if catalogue.exists() else ():
        yield from (f"table_controller/catalogue.toml:{number}: {words}" for words in HOLDS.findall(text))


def spelling(root: Path) -> Iterator[str]:
    """Yield every British form in pages, code and data: names count too."""
    paths = markdown(root)
    for folder in FOLDERS:
        paths += [path for path in sorted((root / folder).rglob("*")) if path.suffix in _SPELLED]
    for path in paths:
        place = path.relative_to(root).as_posix()
        if is_ours(place):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                yield from (f"{place}:{number}: {form}" for form in BRITISH.findall(line))


# --- prose and examples -----------------------------------------------------------------------------------------------


def prose(root: Path) -> Iterator[str]:
    """Yield every banned word in the pages, outside of code, quotations and generated parts."""
    for page in pages(root):
        place = page.relative_to(root).as_posix()
        if place.startswith(HISTORY):
            continue
        is_code = is_generated = False
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            marker = _GENERATED.match(line)
            is_generated = not marker[1] if marker else is_generated
            if not (is_code or is_generated or line.startswith("    ")):
                for word in BANNED_PROSE.findall(_QUOTED.sub("", line)):
                    yield f"{place}:{number}: {word}"


def examples(root: Path) -> Iterator[str]:
    """Yield every irregularity in a page that differs from the row of the edition with its id."""
    rows: dict[str, dict[str, Any]] = {}
    for edition in sorted(root.glob("table_controller/rulebook/data/*/edition.toml")):
        rows |= {row["id"]: row for row in tomllib.loads(edition.read_text("utf-8")).get("irregularities", [])}
    for page in pages(root):
        for block in _ROW_BLOCK.findall(page.read_text("utf-8")):
            for row in tomllib.loads(block)["irregularities"]:
                if rows.get(row["id"]) != row:
                    yield f"{page.relative_to(root).as_posix()}: the row {row['id']} differs from its edition"


def openings(root: Path) -> Iterator[str]:
    """Yield every page whose first paragraph does not name its readers."""
    for page in sorted([*(root / "docs").rglob("*.md"), *root.glob("CONTRIBUTING.md"), *root.glob("CHANGELOG.md")]):
        place = page.relative_to(root).as_posix()
        if not _DECISION.fullmatch(place) and not _READERS.search(first_paragraph(page.read_text("utf-8"))):
            yield f"{place}: the first paragraph names no readers"


def first_paragraph(text: str) -> str:
    """Return the first paragraph below the title of a Markdown text, on one line."""
    parts = [part for part in text.split("\n\n") if part.strip() and not part.startswith("#")]
    return parts[0].replace("\n", " ") if parts else ""


CHECKS: Final[dict[str, Callable[[Path], Iterator[str]]]] = {
    "glossary": glossary, "names": names, "classes": classes, "docstrings": docstrings, "documents": documents,
    "columns": columns, "prose": prose, "texts": texts, "spelling": spelling, "examples": examples,
    "openings": openings,
}  # fmt: skip


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Print every violation, and how many there are of each kind; return 1 if there is one."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.words", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=list(CHECKS), help="run one check")
    only = parser.parse_args(arguments).only
    counts = {}
    for kind, check in CHECKS.items():
        if only in (None, kind):
            violations = list(check(root))
            counts[kind] = len(violations)
            for violation in violations:
                print(f"{kind}: {violation}")
    print("words: " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    return int(any(counts.values()))


if __name__ == "__main__":
    sys.exit(main())
