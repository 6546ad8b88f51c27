"""Writes docs/asyncapi.yaml from the messages, topics and commands of the uplink. Part of `python -m tools.docs`."""

from __future__ import annotations

import inspect
import json
from typing import Any, Final

import msgspec

from firmware_bridge.version import VERSION
from table_controller.uplink import messages as m
from table_controller.uplink.commands import COMMANDS, MAX_PAYLOAD, ROLES
from table_controller.uplink.topics import CHANNELS, COMMAND, REPLY

_PREFIX: Final = "pitbox/{site}/{table}"
_SCHEMAS: Final = "#/components/schemas/"
_ID: Final = "up to 32 of a-z, 0-9, - and _"


def _summary(subject: Any) -> str:
    return " ".join((inspect.getdoc(subject) or "").split())


def schemas() -> dict[str, Any]:
    """Return the JSON Schemas of all messages and their parts, by name."""
    bodies = [*(channel.message for channel in CHANNELS.values()), m.CommandMessage, m.ReplyMessage]
    _, components = msgspec.json.schema_components(bodies, ref_template=f"{_SCHEMAS}{{name}}")
    for schema in components.values():
        if "description" in schema:
            schema["description"] = " ".join(schema["description"].split())
        schema.setdefault("additionalProperties", False)  # other fields are never sent
        _name_tags(schema)
    return dict(sorted(components.items()))


def _name_tags(schema: Any) -> None:
    """Write discriminators as AsyncAPI expects them: the field name alone."""
    if isinstance(schema, list):
        for inner in schema:
            _name_tags(inner)
    elif isinstance(schema, dict):
        if isinstance(schema.get("discriminator"), dict):
            schema["discriminator"] = schema["discriminator"]["propertyName"]
        for inner in schema.values():
            _name_tags(inner)


def document() -> dict[str, Any]:
    """Return the whole description as an AsyncAPI 3.0 document."""
    channels, operations, messages = {}, {}, {}
    place = {"site": {"description": f"The site's id: {_ID}."}, "table": {"description": f"The table's id: {_ID}."}}
    for channel in CHANNELS.values():
        name = channel.message.__name__
        messages[name] = _message(channel.message)
        channels[channel.name] = {
            "address": f"{_PREFIX}/{channel.name}",
            "description": channel.meaning,
            "parameters": place,
            "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        }
        operations[f"publish_{channel.name}"] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{channel.name}"},
            "summary": channel.meaning,
            "bindings": {"mqtt": {"qos": 1, "retain": channel.retained}},
        }
    command_name, reply_name = m.CommandMessage.__name__, m.ReplyMessage.__name__
    messages |= {command_name: _message(m.CommandMessage), reply_name: _message(m.ReplyMessage)}
    role = {"description": "The broker's ACL gives clients their roles.", "enum": list(ROLES)}
    channels[REPLY] = {
        "address": f"{_PREFIX}/{REPLY}/{{role}}",
        "description": "Replies, unless the command's response topic names a topic below this one.",
        "parameters": place | {"role": role},
        "messages": {reply_name: {"$ref": f"#/components/messages/{reply_name}"}},
    }
    for name, rule in COMMANDS.items():
        channels[f"{COMMAND}_{name}"] = {
            "address": f"{_PREFIX}/{COMMAND}/{{role}}/{name}",
            "description": f"{rule.meaning} At most {MAX_PAYLOAD} bytes; anything else below {COMMAND}/ is refused.",
            "parameters": place | {"role": role | {"enum": list(rule.roles)}},
            "messages": {command_name: {"$ref": f"#/components/messages/{command_name}"}},
        }
        operations[f"handle_{name}"] = {
            "action": "receive",
            "channel": {"$ref": f"#/channels/{COMMAND}_{name}"},
            "summary": rule.meaning,
            "reply": {"channel": {"$ref": f"#/channels/{REPLY}"}},
        }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "pitbox uplink",
            "version": VERSION,
            "description": "The messages that a table controller box publishes over MQTT, and the commands it accepts. "
            "Generated from the code by python -m tools.docs; docs/uplink.md explains it.",
            "license": {"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "broker": {
                "host": "broker.example:8883",
                "protocol": "secure-mqtt",
                "protocolVersion": "5.0",
                "description": "The broker of the site. The box plays without one.",
            }
        },
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": schemas()},
    }


def _message(body: type[m.UplinkMessage]) -> dict[str, Any]:
    return {
        "name": body.__name__,
        "summary": _summary(body),
        "contentType": "application/json",
        "payload": {"$ref": f"{_SCHEMAS}{body.__name__}"},
    }


def _lines(value: Any, indent: int) -> list[str]:
    """Return a value as lines of plain YAML: blocks, with scalars as in JSON."""
    lead = " " * indent
    lines = []
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    for key, item in pairs:
        name = "-" if key is None else f"{key if str(key).isidentifier() else json.dumps(key)}:"
        if isinstance(item, dict | list) and item:
            inner = _lines(item, indent + 2)
            if key is None:  # the first line of a block follows its dash
                lines += [f"{lead}- {inner[0].lstrip()}", *inner[1:]]
            else:
                lines += [f"{lead}{name}", *inner]
        else:
            lines.append(f"{lead}{name} {json.dumps(item, ensure_ascii=False)}")
    return lines


def text() -> str:
    """Return the text of the file."""
    head = "# Generated by python -m tools.docs from the uplink's code: do not edit.\n"
    return head + "\n".join(_lines(document(), 0)) + "\n"
