"""The JSON Schema of `table.toml`, generated from the types that check it, for editors."""

from __future__ import annotations

from typing import Any

import msgspec

from devices.kinds import KINDS
from table_controller.config.sections import (
    DEVICE,
    REQUIRED,
    RULE_MEANINGS,
    RULES,
    SECTION_NAMES,
    SECTIONS,
    DeviceSection,
)
from table_controller.rulebook import Submission


def schema() -> dict[str, Any]:
    """Return the schema as JSON values."""
    refs, defs = msgspec.json.schema_components([*SECTIONS.values(), DeviceSection], ref_template="#/$defs/{name}")
    sections: dict[str, Any] = dict(zip(SECTIONS, refs, strict=False))
    sections[DEVICE] = {
        "description": "[device.KIND.NUMBER]; the number of a bet sensor is its seat",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            kind: {
                "type": "object",
                "additionalProperties": False,
                "patternProperties": {"^[1-9][0-9]?$": refs[-1]},
            }
            for kind in KINDS
        },
    }
    sections[RULES] = _rules()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "table.toml",
        "type": "object",
        "additionalProperties": False,
        "required": list(REQUIRED),
        "properties": {name: sections[name] for name in SECTION_NAMES},
        "$defs": {name: _without_null(definition) for name, definition in defs.items()},
    }


def _rules() -> dict[str, Any]:
    """Return the schema of the choices of the Rules Submission. The edition of a game decides which of them it has."""
    known = msgspec.json.schema(Submission)["$defs"]["Submission"]["properties"]
    fragment = {
        "description": "the choices of the Rules Submission, within what the edition permits",
        "type": "object",
        "additionalProperties": False,
        "properties": {key: {**known[key], "description": means} for key, means in RULE_MEANINGS.items()},
    }
    return dict(_without_null(fragment))


def _without_null(fragment: Any) -> Any:
    """Return a schema without null types and defaults: TOML has no null, an optional key is left out."""
    if isinstance(fragment, list | tuple):
        return [_without_null(each) for each in fragment]
    if not isinstance(fragment, dict):
        return fragment
    kept = {key: _without_null(each) for key, each in fragment.items() if not (key == "default" and each is None)}
    some = [each for each in kept.get("anyOf", ()) if each != {"type": "null"}]
    if len(some) == 1:
        del kept["anyOf"]
        kept = {**some[0], **kept}
    return kept
