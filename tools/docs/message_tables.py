"""The tables of messages and enumerations in the pages of protocol and devices, from the types."""

from __future__ import annotations

import inspect
import re
from enum import EnumMeta
from typing import TYPE_CHECKING, Any, Final

from msgspec import inspect as types

from devices.message_registry import KIND_MESSAGES, union_members
from firmware_bridge import commands, messages
from tools import ROOT
from tools.docs.markdown import table as _table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType


def _first_line(described: Any) -> str:
    return (inspect.getdoc(described) or "").partition("\n")[0]


_INTEGERS: Final = {
    (0, 0xFF): "u8",
    (0, 0xFFFF): "u16",
    (0, 0xFFFF_FFFF): "u32",
    (0, (1 << 63) - 1): "u63",
    (1, (1 << 63) - 1): "id",
}
LINK_DIRECTIONS: Final[list[tuple[Any, str]]] = [
    (messages.HandshakeToDevice, "host → device, handshake"),
    (messages.HandshakeToHost, "device → host, handshake"),
    (commands.HostCommands, "host → device, request"),
    (commands.Accepted | commands.Report, "device → host, reply"),
    (commands.Settled, "device → host, reply or event"),
]


def _machine_directions(machine: ModuleType) -> list[tuple[Any, str]]:
    return [
        (machine.Actuation | machine.Question, "host → device, request"),
        (machine.Reply, "device → host, reply"),
        (machine.Event, "device → host, event"),
    ]


def _size(least: int | None, most: int | None) -> str:
    if least == most:
        return f"{most}"
    return f"{least or 0}-{'?' if most is None else most}"


def _kind(type_: types.Type) -> str:
    """Return a field's type and limits in the terms of docs/protocol.md."""
    match type_:
        case types.IntType(ge=least, le=most) if least is not None and most is not None:
            return _INTEGERS.get((least, most), f"{least}-{most}")
        case types.BoolType():
            return "bool"
        case types.NoneType():
            return "nil"
        case types.StrType():
            return f"text {_size(type_.min_length, type_.max_length)}"
        case types.BytesType():
            return f"bytes {_size(type_.min_length, type_.max_length)}"
        case types.EnumType() | types.StructType():
            return type_.cls.__name__
        case types.ListType():
            bounds = "" if type_.max_length is None else f" {_size(type_.min_length, type_.max_length)}"
            return f"array{bounds} of {_kind(type_.item_type)}"
        case types.LiteralType():
            return " or ".join(f'"{value}"' for value in type_.values)
        case types.UnionType():
            return " or ".join(_kind(option) for option in type_.types)
    raise TypeError(f"no words for {type_}")


def _fields(struct: type) -> list[types.Field]:
    info = types.type_info(struct)
    assert isinstance(info, types.StructType)
    return list(info.fields)


def _parts_of(type_: types.Type) -> Iterable[type]:
    """Yield every enumeration and inner array in a type."""
    match type_:
        case types.EnumType() | types.StructType():
            yield type_.cls
        case types.ListType():
            yield from _parts_of(type_.item_type)
        case types.UnionType():
            for option in type_.types:
                yield from _parts_of(option)


def _shape(struct: type) -> str:
    return ", ".join(f"{field.name}: {_kind(field.type)}" for field in _fields(struct)) or "none"


def _members(enum: Any) -> str:
    return ", ".join(f"{member.value} {member.name}" for member in enum)


def message_table(directions: list[tuple[Any, str]], also: tuple[EnumMeta, ...] = ()) -> str:
    """Return messages with tag, direction and fields, then their inner types. `also`: enumerations outside fields."""
    direction_of = {message: direction for union, direction in directions for message in union_members(union)}
    known = sorted(direction_of, key=messages.tag_of)
    inner = {part: None for message in known for field in _fields(message) for part in _parts_of(field.type)}
    arrays = [part for part in inner if not isinstance(part, EnumMeta) and part not in known]
    inner |= {part: None for array in arrays for field in _fields(array) for part in _parts_of(field.type)}
    # Positions in an array and bits of a byte are enumerations, too, although no field has their type.
    enums = [*(part for part in inner if isinstance(part, EnumMeta)), *(enum for enum in also if enum not in inner)]
    rows = [(messages.tag_of(m), f"`{m.__name__}`", direction_of[m], _shape(m), _first_line(m)) for m in known]
    named = [(f"`{enum.__name__}`", _members(enum), _first_line(enum)) for enum in enums]
    inside = [(f"`{a.__name__}`", _shape(a), _first_line(a)) for a in arrays]
    parts = [_table(("tag", "message", "direction", "fields, in order", "meaning"), *rows)]
    if inside:
        note = "Arrays inside messages (no tag; `Settled` inside a `Report` keeps its own):"
        parts += [note, _table(("array", "fields, in order", "meaning"), *inside)]
    if named:
        parts += ["Enumerations (on the wire: the number):", _table(("name", "values", "meaning"), *named)]
    return "\n\n".join(parts)


def machine_table(machine: ModuleType) -> str:
    """Return the messages of one kind of machine, and every enumeration of its module."""
    enums = tuple(e for e in vars(machine).values() if isinstance(e, EnumMeta) and e.__module__ == machine.__name__)
    return message_table(_machine_directions(machine), enums)


def kinds_list() -> str:
    """Return a line for each kind of machine: its page, with its title, and its tags."""
    lines = []
    for machine in KIND_MESSAGES:
        page = (ROOT / "docs" / "devices" / f"{machine.KIND}.md").read_text("utf-8")
        title = page.partition("\n")[0].removeprefix("# The ")
        tags = re.search(r"\(tags ([^)]*)\)", machine.__doc__ or "")
        assert tags is not None, f"{machine.__name__} does not begin with its tags"
        lines.append(f"- [{title}](devices/{machine.KIND}.md): tags {tags[1]}")
    return "\n".join(lines)
