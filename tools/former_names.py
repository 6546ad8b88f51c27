"""Writes the table of former names, by which later versions read what earlier ones wrote.

python -m tools.former_names MAP...    adds the renames of these maps (tools/rename/maps/*.txt) and writes the table
python -m tools.former_names           writes the table anew from what it holds, and its copy for tools/export_checks

Lines of a map that count here, all others are passed over:
    name table_controller/table/events.py: Declared -> IrregularityReported
    name table_controller/table/events.py: Declared.what -> trigger
    value table_controller/table/events.py: "told" -> "reported"                  of fields with a fixed list of values
    value table_controller/table/decisions.py: Prompt.kind "told" -> "reported"   of one field

What each version's records hold is in its fixture, shapes.json. Raise records.VERSION (and fault_report.VERSION) in
the same commit that changes names.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.journal.former_names import FAULT_REPORTS, RECORDS, Names, Table, Version, read_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).parent.parent
TABLE: Final = ROOT / "table_controller" / "journal" / "former_names.toml"
COPY: Final = ROOT / "tools" / "export_checks" / "former_names.toml"
# What each version's files hold.
SHAPES: Final = {
    1: ROOT / "tests" / "fixtures" / "second_edition" / "shapes.json",
    2: ROOT / "tests" / "fixtures" / "third_edition" / "shapes.json",
}

_NAME: Final = re.compile(r"name (?P<path>\S+)\.py: (?P<type>\w+)(\.(?P<field>\w+))? -> (?P<new>\w+)\s*(#.*)?\Z")
_VALUE: Final = re.compile(
    r'value (?P<path>\S+)\.py: ((?P<type>\w+)\.(?P<field>\w+) )?"(?P<old>[^"]*)" -> "(?P<new>[^"]*)"\s*(#.*)?\Z'
)
_OUTER: Final = "table_controller/"
_HEAD: Final = """\
# Names in files of earlier versions and what they are called in the version after; `former_names` explains it.
# Written by `python -m tools.former_names`.
"""


def _fresh(shape: dict[str, Any]) -> Version:
    """Return a version whose names have not changed: only where its types are."""
    types = {
        key: Names(inside={name: field["inside"] for name, field in each["fields"].items() if "inside" in field})
        for key, each in shape["types"].items()
    }
    return Version(shape["roots"], types)


def _merged(fresh: Version, before: Version | None) -> Version:
    """Return a version with the changes that the table already holds."""
    if before is None:
        return fresh
    kept = {key: msgspec.structs.replace(names, inside=fresh.types[key].inside) for key, names in before.types.items()}
    return Version(fresh.roots, {**fresh.types, **kept})


def _types_of(version: Version, shape: dict[str, Any], match: re.Match[str]) -> Iterator[tuple[str, Names]]:
    """Return the types that a line is about: the one that it names and those that have its fields, or a module's."""
    module = match["path"].removeprefix(_OUTER).replace("/", ".")
    for key, names in list(version.types.items()):
        keys = [key, *shape["types"][key]["bases"]] if match["field"] else [key]
        named = f"{module}.{match['type']}"
        if named in keys or (match["type"] is None and key.rpartition(".")[0] == module):
            yield key, names


def _renamed(version: Version, shape: dict[str, Any], line: str) -> bool:
    """Add one line of a map to a version; return whether it is about what this version keeps."""
    match = _NAME.match(line)
    if match is None:
        return _revalued(version, shape, line)
    added = False
    for key, names in _types_of(version, shape, match):
        if match["field"] is None and shape["types"][key]["tag"]:
            version.types[key] = msgspec.structs.replace(names, name=match["new"])
            added = True
        elif match["field"] in shape["types"][key]["fields"]:
            names.fields[match["field"]] = match["new"]
            added = True
    return added


def _revalued(version: Version, shape: dict[str, Any], line: str) -> bool:
    match = _VALUE.match(line)
    if match is None:
        return False
    added = False
    for key, names in _types_of(version, shape, match):
        for field, about in shape["types"][key]["fields"].items():
            if field == match["field"] or (match["field"] is None and match["old"] in about.get("values", ())):
                names.values.setdefault(field, {})[match["old"]] = match["new"]
                added = True
    return added


def extended(table: Table, shapes: dict[int, dict[str, Any]], lines: Iterable[str]) -> tuple[Table, int]:
    """Return the table with the lines of maps in its newest version, and how many of them counted."""
    whole: Table = {
        area: {
            number: _merged(_fresh(shape[area]), table.get(area, {}).get(number)) for number, shape in shapes.items()
        }
        for area in (RECORDS, FAULT_REPORTS)
    }
    newest, counted = max(shapes), 0
    for line in lines:
        counted += sum(_renamed(whole[area][newest], shapes[newest][area], line.strip()) for area in whole) > 0
    return whole, counted


def written(table: Table) -> str:
    """Return the table as TOML; types without changes that hold no other types are left out."""
    lines = [_HEAD]
    for area, versions in table.items():
        for number, version in versions.items():
            lines.append(f"[{area}.{number}.roots]")
            lines += [f"{json.dumps(name)} = {json.dumps(key)}" for name, key in version.roots.items()]
            for key, names in version.types.items():
                if names != Names():
                    lines += ["", f"[{area}.{number}.types.{json.dumps(key)}]", *_entry(names)]
            lines.append("")
    return "\n".join(lines)


def _entry(names: Names) -> list[str]:
    lines = [f"name = {json.dumps(names.name)}"] if names.name else []
    for part in ("fields", "inside"):
        pairs = getattr(names, part).items()
        lines += [f"{part}.{name} = {json.dumps(value)}" for name, value in pairs]
    for field, values in names.values.items():
        pairs = ", ".join(f"{json.dumps(old)} = {json.dumps(new)}" for old, new in values.items())
        lines.append(f"values.{field} = {{ {pairs} }}")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Write the table and its copy."""
    parser = argparse.ArgumentParser(prog="python -m tools.former_names", description="the table of former names")
    parser.add_argument("maps", nargs="*", type=Path, metavar="MAP", help="maps of renames")
    args = parser.parse_args(arguments)
    before = read_table(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    shapes = {number: json.loads(path.read_text("utf-8")) for number, path in SHAPES.items()}
    lines = [line for path in args.maps for line in path.read_text("utf-8").splitlines()]
    table, counted = extended(before, shapes, lines)
    for path in (TABLE, COPY):
        path.write_text(written(table), "utf-8")
    print(f"former names: {counted} of {len(lines)} lines are about names in records and fault reports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
