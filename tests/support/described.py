"""docs/asyncapi.yaml as a judge of what is really sent. No tests here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tests.support.schema import objections
from tools import ROOT, asyncapi

if TYPE_CHECKING:
    from collections.abc import Iterable

DOCUMENT: Final = asyncapi.document()


def is_the_file() -> bool:
    """Tell whether the committed file says what is judged by here."""
    return (ROOT / "docs" / "asyncapi.yaml").read_text("utf-8") == asyncapi.text()


def channel_of(topic: str) -> str | None:
    """Return the channel whose address fits a topic; of an answer, also a topic below its address."""
    for name, channel in DOCUMENT["channels"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(channel["address"]))
        if re.fullmatch(pattern + ("(/.+)?" if name == "reply" else ""), topic):
            return str(name)
    return None


def undescribed(heard: Iterable[tuple[str, bool, Any]]) -> list[str]:
    """Return what is wrong with messages (topic, retained, body) by the description."""
    found = []
    for topic, _, body in heard:
        name = channel_of(topic)
        if name is None:
            found.append(f"{topic} is no channel")
            continue
        (message,) = DOCUMENT["channels"][name]["messages"]
        schema = DOCUMENT["components"]["messages"][message]["payload"]
        found += [f"{topic}: {said}" for said in objections(body, schema, DOCUMENT)]
    return found
