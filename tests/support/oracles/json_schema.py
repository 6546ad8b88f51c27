"""Checks values against JSON Schemas with the reference validator; a keyword that it does not check is an error."""

from __future__ import annotations

from typing import Any, Final

from jsonschema import Draft202012Validator

# Keywords without a constraint: annotations of the standard, of AsyncAPI and of the schema of table.toml.
_ANNOTATIONS: Final = {
    "title", "description", "default", "examples", "$schema", "$id", "$defs", "components", "discriminator", "allowed",
}  # fmt: skip


def schema_errors(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> list[str]:
    """Return what a schema does not allow about a value, each with its place; `root` is what `$ref` points into."""
    components = {} if root is None else {"components": root["components"]}
    for each in (schema, *components.get("components", {}).get("schemas", {}).values()):
        check_keywords(each)
    errors = Draft202012Validator(schema | components).iter_errors(value)
    return [f"{error.json_path}: {error.message}" for error in errors]


def check_keywords(schema: Any) -> None:
    """Raise KeyError for a keyword that is neither checked nor an annotation: it would constrain nothing."""
    for keyword, asked in schema.items() if isinstance(schema, dict) else ():
        if keyword not in _ANNOTATIONS and keyword not in Draft202012Validator.VALIDATORS:
            raise KeyError(keyword)
        if keyword in ("properties", "patternProperties", "$defs"):
            for inner in asked.values():
                check_keywords(inner)
        elif keyword in ("anyOf", "allOf", "oneOf"):
            for inner in asked:
                check_keywords(inner)
        elif keyword in ("items", "additionalProperties"):
            check_keywords(asked)
