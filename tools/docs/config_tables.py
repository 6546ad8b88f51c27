"""The generated part of docs/configuration.md: every key of table.toml, from the types that check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_type_hints

import msgspec

from table_controller.config.example import toml
from table_controller.config.sections import DEVICE, RULE_MEANINGS, RULES, SECTION_NAMES, SECTIONS, DeviceSection
from table_controller.config.walk import allowed, meaning
from table_controller.rulebook import Submission
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def keys() -> str:
    """Return one table for every section."""
    parts = []
    for name in SECTION_NAMES:
        if name == RULES:
            parts += ["### [rules]", "The choices of the Rules Submission, within what the edition permits.", _rules()]
        elif name == DEVICE:
            parts += ["### [device.KIND.NUMBER]", (DeviceSection.__doc__ or "").strip(), _table(DeviceSection)]
        else:
            about = (SECTIONS[name].__doc__ or "").partition("\n")[0]
            parts += [f"### [{name}]", about, _table(SECTIONS[name])]
    return "\n\n".join(parts)


def _table(section: type[msgspec.Struct]) -> str:
    return table(("key", "allowed", "default", "meaning"), *_rows(section))


def _rows(section: type[msgspec.Struct]) -> Iterator[tuple[str, ...]]:
    hints = get_type_hints(section, include_extras=True)
    for field in msgspec.structs.fields(section):
        hint = hints[field.name]
        default = "**required**" if field.required else _default(field.default)
        yield f"`{field.name}`", allowed(hint), default, meaning(hint)


def _default(value: Any) -> str:
    return "" if value is None else f"`{toml(value)}`"


def _rules() -> str:
    hints = get_type_hints(Submission)
    rows = [(f"`{key}`", allowed(hints[key]), means) for key, means in RULE_MEANINGS.items()]
    return table(("key", "allowed", "meaning"), *rows)


PARTS: Final[dict[str, Callable[[], str]]] = {"keys": keys}
