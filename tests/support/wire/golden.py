"""Reads the golden files and builds their messages, for the wire tests."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import msgspec

import tests
from devices.message_registry import KIND_MESSAGES, LINK_MESSAGES, union_members
from firmware_bridge.messages import Message, tag_of

FOLDER: Final = Path(tests.__file__).parent / "wire" / "golden"


def _classes(unions: list[Any]) -> dict[str, type[Message]]:
    return {message.__name__: message for union in unions for message in union_members(union)}


# Message classes by name, of the link and of each machine: machines may share names.
LINK_CLASSES: Final = _classes(list(LINK_MESSAGES))
CLASSES: Final = {"link": LINK_CLASSES} | {
    machine.KIND: {
        name: message
        for name, message in _classes([machine.ToDevice, machine.ToHost]).items()
        if name not in LINK_CLASSES
    }
    for machine in KIND_MESSAGES
}


def _entries(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["message"]
    for entry in entries:
        entry["kind"] = path.stem
    return entries


GOLDEN: Final[dict[str, Any]] = tomllib.loads((FOLDER / "link.toml").read_text("utf-8"))
# Every golden payload, with the file that it is from in `kind`.
MESSAGES: Final = [entry for path in sorted(FOLDER.glob("*.toml")) for entry in _entries(path)]


def value(written: Any) -> Any:
    """Return the value that a golden file denotes."""
    if isinstance(written, list):
        return [value(item) for item in written]
    if isinstance(written, str) and written.startswith("hex:"):
        return bytes.fromhex(written[4:])
    return None if written == "null" else written


def values(entry: dict[str, Any]) -> list[Any]:
    """Return the values of a golden message's fields, in their order."""
    return [value(written) for written in entry.get("fields", {}).values()]


def class_of(entry: dict[str, Any]) -> type[Message]:
    """Return the class of a golden message."""
    message_class: type[Message] = CLASSES[entry["kind"]][entry["name"]]
    return message_class


def message(entry: dict[str, Any]) -> Message:
    """Build a message from the field values of its golden entry."""
    cls = class_of(entry)
    built: Message = msgspec.convert([tag_of(cls), *values(entry)], cls)
    return built


def payload(name: str, kind: str = "shuffler") -> bytes:
    """Return the first golden payload of a message, of the link's or of a machine's."""
    matching = (e for e in MESSAGES if e["name"] == name and e["kind"] in ("link", kind))
    return bytes.fromhex(next(matching)["payload"])
