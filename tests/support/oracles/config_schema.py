"""A small JSON Schema validator: the keywords that the configuration schema uses, and an error for any other."""

from __future__ import annotations

import re
from typing import Any, Final

_TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "string": str,
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}
_DESCRIPTIVE: Final = ("title", "description", "default", "examples", "$schema", "$defs")
_CHECKED: Final = (
    "type", "enum", "properties", "patternProperties", "additionalProperties", "required", "items", "$ref", "pattern",
    "minLength", "maxLength", "minimum", "maximum", "maxItems",
)  # fmt: skip


def schema_errors(
    value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, where: str = "$"
) -> list[str]:
    """Return what does not fit, each with its place."""
    root = schema if root is None else root
    unknown = set(schema) - {*_DESCRIPTIVE, *_CHECKED, "allowed"}
    assert not unknown, f"the schema uses {unknown} at {where}, which this validator does not check"
    errors: list[str] = []
    if "$ref" in schema:
        errors += schema_errors(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, _TYPES[kind]) or (kind != "boolean" and isinstance(value, bool))):
        return [*errors, f"{where} is no {kind}"]
    if "enum" in schema and value not in schema["enum"]:
        errors.append(f"{where} is none of {schema['enum']}")
    if isinstance(value, str):
        errors += _text(value, schema, where)
    elif isinstance(value, dict):
        errors += _object(value, schema, root, where)
    elif isinstance(value, list):
        errors += [f"{where} has too many"] if len(value) > schema.get("maxItems", len(value)) else []
        for number, each in enumerate(value):
            errors += schema_errors(each, schema.get("items", {}), root, f"{where}[{number}]")
    elif isinstance(value, int | float):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        errors += [] if low <= value <= high else [f"{where} is not from {low} to {high}"]
    return errors


def _text(value: str, schema: dict[str, Any], where: str) -> list[str]:
    errors = [] if re.search(schema.get("pattern", ""), value) else [f"{where} does not match"]
    fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    return errors if fits else [*errors, f"{where} is too short or too long"]


def _object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], where: str) -> list[str]:
    errors = [f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in value]
    for name, each in value.items():
        place = f"{where}.{name}"
        patterns = [
            subschema for pattern, subschema in schema.get("patternProperties", {}).items() if re.search(pattern, name)
        ]
        if name in schema.get("properties", {}):
            errors += schema_errors(each, schema["properties"][name], root, place)
        elif patterns:
            errors += schema_errors(each, patterns[0], root, place)
        elif schema.get("additionalProperties") is False:
            errors.append(f"{place} is not known")
        elif isinstance(schema.get("additionalProperties"), dict):
            errors += schema_errors(each, schema["additionalProperties"], root, place)
    return errors
