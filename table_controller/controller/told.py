"""A driver's events as plain data, for whoever follows the machines over the control socket; and back. No cards.

A message that names cards is never passed on.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from devices import report
from firmware_bridge import commands
from firmware_bridge.errors import PitboxError
from firmware_bridge.messages import Message


def plain(event: Any) -> dict[str, Any] | None:
    """Return name and fields of an event; None if it may not leave the box."""
    if isinstance(event, Message) and event.carries_cards:
        return None
    if isinstance(event, report.Reported):  # its inventory is the kind's own message, named like an event
        inventory = plain(event.inventory)
        return {"event": "Reported", "fields": {"serial": event.hello.serial, "rebooted": event.rebooted,
                                                "inventory": inventory}}  # fmt: skip
    fields = {name: _plain(getattr(event, name)) for name in event.__struct_fields__}
    return {"event": type(event).__name__, "fields": fields}


def _plain(value: Any) -> Any:
    if isinstance(value, PitboxError):
        return {"code": value.code, "text": str(value)}
    return msgspec.to_builtins(value, enc_hook=str)


def lively(kind: str, told: dict[str, Any]) -> Any:
    """Return an event of a machine as its class; None if it is none that can be made again from what was told."""
    name = told["event"]
    for module in (import_module(f"devices.{kind}.messages"), import_module(f"devices.{kind}.state"), commands, report):
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, msgspec.Struct) and name not in ("Reported", "LinkUp"):
            if name == "LinkDown":
                return None
            return found(**{
                field.name: msgspec.convert(told["fields"][field.name], field.type)
                for field in msgspec.structs.fields(found)
            })  # fmt: skip
    return None
