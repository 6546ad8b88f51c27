"""Reads the content of records that an earlier version wrote under former names. Python's standard library only.

`former_names.toml` is a copy of the box's own table, which explains how it is read; `python -m tools.former_names`
writes both.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.export_checks.basics import Json


@cache
def _table() -> dict[int, Json]:
    text = Path(__file__).with_suffix(".toml").read_text("utf-8")
    return {int(version): names for version, names in tomllib.loads(text)["records"].items()}


def renewed(kind: str, content: Any) -> Any:
    """Return the content of a record under present names: its first field `v` names its version, 1 if it has none."""
    if not isinstance(content, dict):
        return content
    for version, names in sorted(_table().items()):
        if version >= content.get("v", 1) and kind in names["roots"]:
            content = _renew(names["types"], names["roots"][kind], content)
    return content


def _renew(types: Json, shape: str, value: Any) -> Any:
    if shape.startswith("[] ") and isinstance(value, list):
        return [_renew(types, shape[3:], each) for each in value]
    if not isinstance(value, dict):
        return value
    if shape.startswith("{} "):
        return {key: _renew(types, shape[3:], each) for key, each in value.items()}
    names = types.get(f"{shape[2:]}.{value.get('type')}" if shape.startswith("| ") else shape)
    return value if names is None else _renew_object(types, names, value)


def _renew_object(types: Json, names: Json, value: Json) -> Json:
    fields, inside, values = (names.get(part, {}) for part in ("fields", "inside", "values"))
    renewed_object = {}
    for field, each in value.items():
        held = _renew(types, inside[field], each) if field in inside else each
        renewed_object[fields.get(field, field)] = _replace(values[field], held) if field in values else held
    if names.get("name") and "type" in renewed_object:
        renewed_object["type"] = names["name"]
    return renewed_object


def _replace(values: Json, value: Any) -> Any:
    if isinstance(value, list):
        return [_replace(values, each) for each in value]
    if isinstance(value, dict):
        return {values.get(key, key): _replace(values, each) for key, each in value.items()}
    return values.get(value, value) if isinstance(value, str) else value
