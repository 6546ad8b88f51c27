"""Lists every message of the protocol: those of the link and those of each kind of machine."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import devices
from firmware_bridge import commands, messages
from firmware_bridge.messages import Message, tag_of

if TYPE_CHECKING:
    from types import ModuleType


def union_members(union: Any) -> tuple[type[Message], ...]:
    """Return the message classes of a union; a single message class counts as a union of one."""
    return get_args(union) or (union,)


def _kind_messages() -> tuple[ModuleType, ...]:
    """Return the messages of every folder of `devices` that has some, in the order of their tags."""
    files = [file for folder in devices.__path__ for file in Path(folder).glob("*/messages.py")]
    modules = [import_module(f"devices.{file.parent.name}.messages") for file in files]
    return tuple(sorted(modules, key=lambda machine: min(map(tag_of, union_members(machine.Question)))))


# The messages of each kind of machine, in the order of their tags. Every module has ToDevice and ToHost.
KIND_MESSAGES: Final = _kind_messages()
# Messages of the link, for every kind of machine.
LINK_MESSAGES: Final[tuple[Any, ...]] = (
    messages.HandshakeToHost,
    messages.HandshakeToDevice,
    commands.HostCommands,
    commands.DeviceCommands,
)


def all_messages() -> list[type[Message]]:
    """Return every message class once, in the order of the tags; no two share a tag."""
    by_tag: dict[int, type[Message]] = {}
    unions = [*LINK_MESSAGES, *(union for machine in KIND_MESSAGES for union in (machine.ToDevice, machine.ToHost))]
    for union in unions:
        for message in union_members(union):
            known = by_tag.setdefault(tag_of(message), message)
            assert known is message, f"{known.__name__} and {message.__name__} share tag {tag_of(message)}"
    return [by_tag[tag] for tag in sorted(by_tag)]
