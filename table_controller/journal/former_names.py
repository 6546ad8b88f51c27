"""Reads content that an earlier version wrote under former names of types, fields and values. No files but its table.

A body names its version as its first field, `{"v":2,...`; without that it is of version 1. Hashes cover the stored
bytes, so verification never comes here. `former_names.toml` maps each earlier version to the next one;
`python -m tools.former_names` writes it.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from table_controller.journal.earlier_procedures import renew_procedures

# Areas of the table: each counts its versions for itself.
RECORDS: Final = "records"
FAULT_REPORTS: Final = "fault_reports"
# The root of a snapshot's body and of the state within it.
_SNAPSHOT: Final = "snapshot"
_STATE: Final = "state"

_VERSION: Final = re.compile(rb'\{"v":(\d+),')
_LIST: Final = "[] "
_DICT: Final = "{} "
_TAGGED: Final = "| "


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What has changed in one type of an earlier version, and which types its fields hold.

    `inside` names types as they were: module and class; before it `[] ` in a list, `{} ` in the values of a mapping,
    or `| ` and the module alone for the type that the object's `type` names.
    """

    name: str = ""  # the present name; empty: it has not changed
    fields: dict[str, str] = {}
    inside: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}  # by field: strings, also in lists and as keys of a mapping


class Version(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The names of one version: by root, what its files hold, and the types."""

    roots: dict[str, str]
    types: dict[str, Names]


Table = dict[str, dict[int, Version]]


def read_table(text: str) -> Table:
    """Return the table, by area and version."""
    return msgspec.convert(tomllib.loads(text), Table, strict=False)


@cache
def _table() -> Table:
    return read_table(files(__package__).joinpath("former_names.toml").read_text("utf-8"))


def stamp(body: bytes, version: int) -> bytes:
    """Return a JSON object with its version as the first field; version 1 has none."""
    return body if version == 1 else b'{"v":%d%s%s' % (version, b"," if body[1:2] != b"}" else b"", body[1:])


def version_of(body: bytes) -> int:
    """Return the version that a JSON object names."""
    match = _VERSION.match(body)
    return 1 if match is None else int(match[1])


def renew(area: str, root: str, content: Any, version: int, now: int, table: Table | None = None) -> Any:
    """Return content of an earlier version under the names of version `now`."""
    for before in range(version, now):
        names = (_table() if table is None else table)[area][before]
        if root in names.roots:
            content = _renew(names.types, names.roots[root], content)
    return content


def renew_body(area: str, root: str, body: bytes, now: int) -> bytes:
    """Return a JSON body under the names of version `now`; the body itself if it is of that version."""
    version = version_of(body)
    if version >= now:
        return body
    content = msgspec.json.decode(body)
    content.pop("v", None)
    return stamp(msgspec.json.encode(renew(area, root, content, version, now)), now)


class _Versioned(msgspec.Struct):
    version: int


def renew_snapshot(body: bytes, now: int) -> bytes:
    """Return a snapshot's body and the state within it under the names of version `now`."""
    version = msgspec.msgpack.decode(body, type=_Versioned).version
    if version >= now:
        return body
    kept = msgspec.msgpack.decode(body)
    state = msgspec.msgpack.decode(kept["state"])
    kept["version"] = now
    kept["state"] = msgspec.msgpack.encode(renew_procedures(renew(RECORDS, _STATE, state, version, now)))
    return msgspec.msgpack.encode(renew(RECORDS, _SNAPSHOT, kept, version, now))


def _renew(types: dict[str, Names], shape: str, value: Any) -> Any:
    """Return a value of one shape; what does not have that shape stays as it is."""
    if shape.startswith(_LIST) and isinstance(value, list):
        return [_renew(types, shape.removeprefix(_LIST), each) for each in value]
    if not isinstance(value, dict):
        return value
    if shape.startswith(_DICT):
        return {key: _renew(types, shape.removeprefix(_DICT), each) for key, each in value.items()}
    if shape.startswith(_TAGGED):
        shape = f"{shape.removeprefix(_TAGGED)}.{value.get('type')}"
    names = types.get(shape)
    return value if names is None else _renew_object(types, names, value)


def _renew_object(types: dict[str, Names], names: Names, value: dict[str, Any]) -> dict[str, Any]:
    renewed = {}
    for field, each in value.items():
        inside = _renew(types, names.inside[field], each) if field in names.inside else each
        renewed[names.fields.get(field, field)] = _replace(names.values.get(field, {}), inside)
    if names.name and "type" in renewed:
        renewed["type"] = names.name
    return renewed


def _replace(values: dict[str, str], value: Any) -> Any:
    """Return strings replaced, wherever they are in a value."""
    if not values:
        return value
    if isinstance(value, str):
        return values.get(value, value)
    if isinstance(value, list):
        return [_replace(values, each) for each in value]
    if isinstance(value, dict):
        return {_replace(values, key): _replace(values, each) for key, each in value.items()}
    return value
