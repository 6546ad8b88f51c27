"""Writes docs/picture.schema.json from the types of the picture. Part of `python -m tools.docs`."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from table_controller.picture.types import PICTURE_VERSION, BoxPicture

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def _one_line(schema: Any) -> None:
    """Write each description as one line."""
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _one_line(inner)
    if isinstance(schema, dict) and isinstance(schema.get("description"), str):
        schema["description"] = " ".join(schema["description"].split())


def document() -> dict[str, Any]:
    """Return the JSON Schema of the picture of a box, which is the answer to `status`."""
    schema = msgspec.json.schema(BoxPicture)
    _one_line(schema)
    schema["$defs"] = dict(sorted(schema["$defs"].items()))
    about = f"The picture of a table, version {PICTURE_VERSION}. Readers ignore fields that they do not know."
    return {"$schema": DIALECT, "title": "pitbox picture", "description": about} | schema


def text() -> str:
    """Return the text of the file."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
