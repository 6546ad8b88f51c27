"""The generated tables of docs/uplink.md: topics, commands, settings, each from the code. Part of `tools.docs`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from msgspec.structs import fields

from table_controller.uplink.commands import COMMANDS
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.topics import CHANNELS
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable


def topics() -> str:
    """Return every topic that the box publishes."""
    rows = [
        (f"`{channel.name}`", "yes" if channel.retained else "no", f"`{channel.message.__name__}`", channel.meaning)
        for channel in CHANNELS.values()
    ]
    return table(("topic", "retained", "message", "content"), *rows)


def commands() -> str:
    """Return every command with the roles that may send it."""
    rows = [(f"`{name}`", ", ".join(rule.roles), rule.meaning) for name, rule in COMMANDS.items()]
    return table(("command", "roles", "what happens"), *rows)


def settings() -> str:
    """Return every field of the settings."""
    defaults = MqttSettings(host="", port=0, prefix="", client_id="")
    rows = []
    for field in fields(MqttSettings):
        default = "none" if field.required else f"`{getattr(defaults, field.name)}`"
        kind = inspect.formatannotation(field.type).replace("pathlib._local.", "").replace("pathlib.", "")
        rows.append((f"`{field.name}`", kind.replace("|", "or"), default))
    return table(("field", "type", "default"), *rows)


PARTS: Final[dict[str, Callable[[], str]]] = {"topics": topics, "commands": commands, "mqtt settings": settings}
