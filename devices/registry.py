"""Lists every message that may travel, the link's own and each kind of machine's. Drivers are not listed here."""

from __future__ import annotations

from typing import Any, Final, get_args

from devices.shuffler import messages as shuffler
from firmware_bridge import commands, messages
from firmware_bridge.messages import Message, tag_of

# What either end may receive, for each layer and kind of machine.
_UNIONS: Final[tuple[Any, ...]] = (
    messages.HandshakeToHost,
    messages.HandshakeToDevice,
    commands.HostCommands,
    commands.DeviceCommands,
    shuffler.ToDevice,
    shuffler.ToHost,
)


def all_messages() -> list[type[Message]]:
    """Return every message class once, in the order of the tags; no two share a tag."""
    by_tag: dict[int, type[Message]] = {}
    for union in _UNIONS:
        for message in get_args(union) or (union,):  # a "union" of one message is that message itself
            known = by_tag.setdefault(tag_of(message), message)
            assert known is message, f"{known.__name__} and {message.__name__} share tag {tag_of(message)}"
    return [by_tag[tag] for tag in sorted(by_tag)]
