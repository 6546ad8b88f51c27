"""Validates a value against a JSON Schema, strictly: an unknown keyword is an error."""

from __future__ import annotations

from typing import Any, Final

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_WORDS: Final = {"title", "description", "default", "discriminator"}  # annotations, without a constraint


def schema_errors(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> list[str]:
    """Return everything about a value that its schema does not allow; `root` is what `$ref` points into."""
    errors: list[str] = []
    for keyword, asked in schema.items():
        if keyword in _WORDS or keyword in ("required", "properties"):
            continue
        errors += _KEYWORDS[keyword](value, asked, root, at, schema)
    if isinstance(value, dict):
        errors += [f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                errors += schema_errors(value[name], inner, root, f"{at}.{name}")
    return errors


def _looked_up(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    target = root
    for part in reference.removeprefix("#/").split("/"):
        target = target[part]
    return target


def _ref(value: Any, asked: str, root: dict[str, Any], at: str, _: Any) -> list[str]:
    return schema_errors(value, _looked_up(asked, root), root, at)


def _type(value: Any, asked: str, _root: Any, at: str, _: Any) -> list[str]:
    right = isinstance(value, _TYPES[asked]) and (not isinstance(value, bool) or asked == "boolean")
    return [] if right else [f"{at}: {value!r} is no {asked}"]


def _enum(value: Any, asked: list[Any], _root: Any, at: str, _: Any) -> list[str]:
    return [] if value in asked else [f"{at}: {value!r} is none of {asked}"]


def _any_of(value: Any, asked: list[Any], root: dict[str, Any], at: str, schema: Any) -> list[str]:
    tag = schema.get("discriminator")
    if tag is not None and isinstance(value, dict):  # the selected variant gives the best error message
        meant = [one for one in asked if value.get(tag) in _looked_up(one["$ref"], root)["properties"][tag]["enum"]]
        return schema_errors(value, meant[0], root, at) if meant else [f"{at}: no such {tag}"]
    tries = [schema_errors(value, one, root, at) for one in asked]
    return [] if not all(tries) else [f"{at}: fits none: {tries}"]


def _items(value: Any, asked: dict[str, Any], root: dict[str, Any], at: str, _: Any) -> list[str]:
    each = value if isinstance(value, list) else []
    return [error for number, item in enumerate(each) for error in schema_errors(item, asked, root, f"{at}[{number}]")]


def _additional(value: Any, asked: Any, root: dict[str, Any], at: str, schema: Any) -> list[str]:
    if not isinstance(value, dict):
        return []
    others = {name: item for name, item in value.items() if name not in schema.get("properties", {})}
    if asked is False:
        return [f"{at}: nobody knows {name}" for name in others]
    return [error for name, item in others.items() for error in schema_errors(item, asked, root, f"{at}.{name}")]


_KEYWORDS: Final[dict[str, Any]] = {
    "$ref": _ref, "type": _type, "enum": _enum, "anyOf": _any_of, "items": _items, "additionalProperties": _additional,
}  # fmt: skip
