"""Converts events of drivers to JSON for clients of the control socket, and back.

A message that names cards is never converted.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from devices import driver_events
from firmware_bridge import commands
from firmware_bridge.errors import PitboxError
from firmware_bridge.messages import Message


def event_to_json(event: Any) -> dict[str, Any] | None:
    """Return the name and fields of an event; None if it names cards."""
    if isinstance(event, Message) and event.carries_cards:
        return None
    if isinstance(event, driver_events.Reported):  # its inventory is a message of the kind
        inventory = event_to_json(event.inventory)
        return {"event": "Reported", "fields": {"serial": event.hello.serial, "rebooted": event.rebooted,
                                                "inventory": inventory}}  # fmt: skip
    fields = {name: _plain(getattr(event, name)) for name in event.__struct_fields__}
    return {"event": type(event).__name__, "fields": fields}


def _plain(value: Any) -> Any:
    if isinstance(value, PitboxError):
        return {"code": value.code, "text": str(value)}
    return msgspec.to_builtins(value, enc_hook=str)


def event_from_json(kind: str, data: dict[str, Any]) -> Any:
    """Return the event object for JSON data; None if the event cannot be rebuilt from it."""
    name = data["event"]
    for module in (
        import_module(f"devices.{kind}.messages"),
        import_module(f"devices.{kind}.state"),
        commands,
        driver_events,
    ):
        event_class = getattr(module, name, None)
        if (
            isinstance(event_class, type)
            and issubclass(event_class, msgspec.Struct)
            and name not in ("Reported", "LinkUp")
        ):
            if name == "LinkDown":
                return None
            return event_class(**{
                field.name: msgspec.convert(data["fields"][field.name], field.type)
                for field in msgspec.structs.fields(event_class)
            })  # fmt: skip
    return None
