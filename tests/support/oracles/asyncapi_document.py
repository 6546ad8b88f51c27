"""Checks sent MQTT messages against docs/asyncapi.yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tests.support.oracles.json_schema import schema_errors
from tools import ROOT
from tools.docs import asyncapi

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCUMENT: Final = asyncapi.document()


def is_committed() -> bool:
    """Return whether the committed file equals the document used here."""
    return (ROOT / "docs" / "asyncapi.yaml").read_text("utf-8") == asyncapi.text()


def channel_of(topic: str) -> str | None:
    """Return the channel whose address matches a topic; for replies also topics below it."""
    for name, channel in DOCUMENT["channels"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(channel["address"]))
        if re.fullmatch(pattern + ("(/.+)?" if name == "reply" else ""), topic):
            return str(name)
    return None


def undescribed_messages(received: Iterable[tuple[str, bool, Any]]) -> list[str]:
    """Return the errors of messages (topic, retained, body) by the description."""
    errors = []
    for topic, _, body in received:
        name = channel_of(topic)
        if name is None:
            errors.append(f"{topic} is no channel")
            continue
        (message,) = DOCUMENT["channels"][name]["messages"]
        schema = DOCUMENT["components"]["messages"][message]["payload"]
        errors += [f"{topic}: {error}" for error in schema_errors(body, schema, DOCUMENT)]
    return errors
