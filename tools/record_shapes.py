"""Lists the names of types, fields and fixed values in everything that the box keeps. Only looks at types.

python -m tools.record_shapes > FILE    writes them, before names change, for `python -m tools.former_names`
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import inspect as mi

from table_controller.access import people_file
from table_controller.diagnosis.drift import Wear
from table_controller.diagnosis.fault_report import FaultReport
from table_controller.journal import records as rec
from table_controller.journal import segment, store, takeover
from table_controller.journal.former_names import FAULT_REPORTS, RECORDS
from table_controller.journal.recovery import Snapshot
from table_controller.table.decisions import Decision
from table_controller.table.events import Event
from table_controller.table.return_progress import ReturnDecision
from table_controller.table.state import TableState
from table_controller.uplink import cursor

if TYPE_CHECKING:
    from collections.abc import Mapping

_OUTER: Final = "table_controller."
_STEP: Final = msgspec.defstruct("Step", [("event", Event), ("decisions", list[Decision])], module=rec.__name__)
# Files that carry no version of their own: their names must not change.
UNVERSIONED: Final = "unversioned"
ROOTS: Final[Mapping[str, Mapping[str, Any]]] = {
    RECORDS: {
        rec.STEP: _STEP,
        rec.NOTE: rec.Note,
        rec.BOX: rec.BoxRecord,
        rec.MIGRATION: rec.MigrationRecord,
        rec.CLOCK: rec.ClockRecord,
        "snapshot": Snapshot,
        "state": TableState,
    },
    FAULT_REPORTS: {"report": FaultReport, "step": ReturnDecision},
    UNVERSIONED: {
        "genesis": store.GenesisRecord,
        "start": store.StartRecord,
        "announced": segment.SnapshotRecord,
        "people": people_file._PeopleFileData,
        "taken over": takeover.TakeoverMark,
        "wear": Wear,
        "uplink cursor": cursor.Cursor,
    },
}


def key_of(cls: type) -> str:
    """Return a type's name with its module."""
    return f"{cls.__module__.removeprefix(_OUTER)}.{cls.__qualname__}"


class _Lister:
    """Collects every type below some roots."""

    def __init__(self) -> None:
        self.types: dict[str, dict[str, Any]] = {}

    def inside(self, about: mi.Type) -> str:
        """Return which named types a value holds, in the notation of `former_names`; empty: none."""
        if isinstance(about, mi.UnionType):
            return self._union(about)
        if isinstance(about, mi.ListType | mi.VarTupleType | mi.SetType | mi.FrozenSetType):
            each = self.inside(about.item_type)
            return each and f"[] {each}"
        if isinstance(about, mi.DictType):
            each = self.inside(about.value_type)
            return each and f"{{}} {each}"
        if isinstance(about, mi.StructType):
            return self._struct(about)
        return ""

    def _union(self, about: mi.UnionType) -> str:
        each = [self.inside(one) for one in about.types]
        names = [name for name in each if name]
        if len(names) < 2:
            return "".join(names)
        (module,) = {name.rpartition(".")[0] for name in names}
        return f"| {module}"

    def _struct(self, about: mi.StructType) -> str:
        key = key_of(about.cls)
        if key not in self.types:
            fields: dict[str, Any] = {}
            self.types[key] = {"tag": about.tag, "bases": _bases(about.cls), "fields": fields}
            for field in about.fields:
                names = {
                    "inside": self.inside(field.type), "values": sorted(_values(field.type)),
                    "any_text": _may_be_any_text(field.type),
                }  # fmt: skip
                fields[field.encode_name] = {name: value for name, value in names.items() if value}
        return key


def _bases(cls: type) -> list[str]:
    """Return the types that a type has fields from."""
    return [key_of(base) for base in cls.__mro__[1:] if issubclass(base, msgspec.Struct) and base.__struct_fields__]


def _values(about: mi.Type) -> set[str]:
    """Return the fixed strings that a value may be or hold."""
    if isinstance(about, mi.LiteralType):
        return {value for value in about.values if isinstance(value, str)}
    if isinstance(about, mi.EnumType):
        return {member.value for member in about.cls if isinstance(member.value, str)}
    if isinstance(about, mi.UnionType):
        return set().union(*(_values(each) for each in about.types))
    if isinstance(about, mi.ListType | mi.VarTupleType):
        return _values(about.item_type)
    return _values(about.value_type) | _values(about.key_type) if isinstance(about, mi.DictType) else set()


def _may_be_any_text(about: mi.Type) -> bool:
    """Return whether a value may be any string, so that every value of an earlier version fits."""
    return isinstance(about, mi.StrType) or (
        isinstance(about, mi.UnionType) and any(_may_be_any_text(each) for each in about.types)
    )


def shapes() -> dict[str, Any]:
    """Return roots and types of every area as they are now."""
    areas = {}
    for area, roots in ROOTS.items():
        lister = _Lister()
        named = {name: lister.inside(mi.type_info(root)) for name, root in roots.items()}
        areas[area] = {"roots": named, "types": dict(sorted(lister.types.items()))}
    return areas


def written(areas: Mapping[str, Any]) -> str:
    """Return areas as JSON, a line for each type."""
    parts = []
    for area, about in areas.items():
        types = ",\n".join(f"{json.dumps(key)}: {json.dumps(each)}" for key, each in about["types"].items())
        parts.append(f'{json.dumps(area)}: {{"roots": {json.dumps(about["roots"])}, "types": {{\n{types}\n}}}}')
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    sys.stdout.write(written(shapes()))
