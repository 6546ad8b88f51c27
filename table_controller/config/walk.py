"""Turns the raw TOML into sections and finds every problem, with the path of its key and the allowed values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from devices.kinds import KINDS
from table_controller.config.sections import (
    DEVICE,
    FORMER_KEYS,
    REQUIRED,
    RULE_KEYS,
    RULES,
    SECTION_NAMES,
    SECTIONS,
    DeviceSection,
    Section,
)
from table_controller.rulebook import Submission

if TYPE_CHECKING:
    from collections.abc import Iterable

S = TypeVar("S", bound=Section)
_NUMBER: Final = re.compile(r"[1-9][0-9]?")
_MOST_SHOWN: Final = 60
# device.KIND.NUMBER.key
_DEVICE_PARTS: Final = 4


class ParsedFile:
    """The usable parts of a file. Every part that is missing here has its reason in `problems`."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.problems: list[str] = []
        self.sections: dict[str, Any] = {}
        self.devices: dict[tuple[str, str], DeviceSection] = {}
        self.rules: dict[str, Any] | None = (
            {} if RULES in raw else None
        )  # the known keys; None: the file has no [rules]
        self.are_rules_valid = True  # whether every choice has the right type
        self._unknown(raw, SECTION_NAMES, "")
        self.problems += [
            f"[{name}] is missing" + (", as in [device.shuffler.1]" if name == DEVICE else "")
            for name in REQUIRED
            if name not in raw
        ]
        for name, kind in SECTIONS.items():
            if name in raw:
                self.sections[name] = self._section(raw[name], kind, name)
        if DEVICE in raw:
            self._devices(raw[DEVICE])
        if RULES in raw:
            self._rules(raw[RULES])

    def section(self, name: str, kind: type[S]) -> S | None:
        """Return a section, or its defaults if the file does not have it; None if it has problems."""
        section: S | None = self.sections[name] if name in self.sections else kind()
        return section

    def _section(self, value: Any, kind: type[S], where: str) -> S | None:
        if not isinstance(value, dict):
            self.problems.append(f"{where} = {shown(value)}: this is a section, [{where}]")
            return None
        before = len(self.problems)
        hints = get_type_hints(kind, include_extras=True)
        self._unknown(value, hints, f"{where}.")
        fields: dict[str, Any] = {}
        for field in msgspec.structs.fields(kind):
            if field.name not in value:
                path = f"{where}.{field.name}"
                if field.required and path not in (former_key(f"{where}.{key}") for key in value):
                    self.problems.append(f"{path} is missing: {meaning(hints[field.name])}")
                continue
            try:
                fields[field.name] = msgspec.convert(value[field.name], hints[field.name])
            except msgspec.ValidationError:
                given = shown(value[field.name])
                known = allowed(hints[field.name]) + nearest(value[field.name], hints[field.name])
                self.problems.append(f"{where}.{field.name} = {given}: must be {known}")
        return kind(**fields) if len(self.problems) == before else None

    def _devices(self, kinds: Any) -> None:
        if not isinstance(kinds, dict):
            self.problems.append(f"{DEVICE} = {shown(kinds)}: devices are sections, as in [device.shuffler.1]")
            return
        self._unknown(kinds, KINDS, f"{DEVICE}.")
        for kind, numbers in kinds.items():
            if kind not in KINDS:
                continue
            where = f"{DEVICE}.{kind}"
            if not isinstance(numbers, dict) or not numbers:
                self.problems.append(f"{where} needs a number, as in [{where}.1]")
                continue
            for number, device in numbers.items():
                if not _NUMBER.fullmatch(number):
                    self.problems.append(f"{where}.{number}: slots are numbered 1 to 99, as in [{where}.1]")
                    continue
                section = self._section(device, DeviceSection, f"{where}.{number}")
                if section is not None:
                    self.devices[kind, number] = section

    def _rules(self, value: Any) -> None:
        if not isinstance(value, dict):
            self.problems.append(f"{RULES} = {shown(value)}: this is a section, [{RULES}]")
            self.are_rules_valid = False
            return
        for key in ("game", "edition"):
            if key in value:
                self.problems.append(f"{RULES}.{key} belongs in [table]")
        self._unknown({key: 0 for key in value if key not in ("game", "edition")}, RULE_KEYS, f"{RULES}.")
        hints = get_type_hints(Submission)
        self.rules = {}
        for key in RULE_KEYS:
            if key not in value:
                continue
            try:
                msgspec.convert(value[key], hints[key])
            except msgspec.ValidationError:
                self.problems.append(f"{RULES}.{key} = {shown(value[key])}: must be {allowed(hints[key])}")
                self.are_rules_valid = False
            self.rules[key] = value[key]

    def _unknown(self, section: dict[str, Any], known: Iterable[str], where: str) -> None:
        names = list(known)
        for key in section:
            if key in names:
                continue
            if replacement := former_key(f"{where}{key}"):
                self.problems.append(f"{where}{key} is now called {replacement}; rename it")
            else:
                near = get_close_matches(key, names, 1)
                meant = f"did you mean {where}{near[0]}?" if near else f"known here: {', '.join(names)}"
                self.problems.append(f"unknown key {where}{key}; {meant}")


# --- texts ------------------------------------------------------------------------------------------------------------


def former_key(path: str) -> str | None:
    """Return the path of the key that replaced a former one; None if the path never was a key."""
    parts = path.split(".")
    if parts[0] != DEVICE or len(parts) != _DEVICE_PARTS:
        return FORMER_KEYS.get(path)
    new = FORMER_KEYS.get(f"{DEVICE}.KIND.NUMBER.{parts[3]}")
    return None if new is None else new.replace("KIND", parts[1]).replace("NUMBER", parts[2])


def shown(value: Any) -> str:
    """Return a value as the file has it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def meaning(hint: Any) -> str:
    """Return the meaning of a key."""
    metas = [meta for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, msgspec.Meta)]
    return next((meta.description for meta in metas if meta.description), allowed(hint))


def nearest(value: Any, hint: Any) -> str:
    """Return the known name that is nearest to a value, as a question; empty if a key takes any text."""
    names = [name for meta in getattr(hint, "__metadata__", ()) for name in (meta.extra or {}).get("names", ())]
    near = get_close_matches(value, names, 1) if isinstance(value, str) else []
    return f"; did you mean {near[0]}?" if near else ""


def allowed(hint: Any) -> str:
    """Return the allowed values of a key, in words."""
    metas: list[msgspec.Meta] = []
    while True:
        if get_origin(hint) is Annotated:
            metas = [*hint.__metadata__, *metas]
            hint = hint.__origin__
        elif get_origin(hint) in (Union, UnionType):
            (hint,) = (each for each in get_args(hint) if each is not NoneType)
        else:
            break
    for meta in metas:
        if meta.extra and "allowed" in meta.extra:
            return str(meta.extra["allowed"])
    if get_origin(hint) is Literal:
        return " or ".join(str(each) for each in get_args(hint))
    low, high = (next((getattr(meta, end) for meta in metas if getattr(meta, end) is not None), None) for end in _ENDS)
    if get_origin(hint) is tuple:
        return "a list of texts"
    if get_origin(hint) is Mapping:
        return f"a table of names, each with {_TYPES[get_args(hint)[1]]}"
    return f"{_TYPES[hint]} from {low} to {high}" if low is not None else _TYPES[hint]


_ENDS: Final = ("ge", "le")
_TYPES: Final = {
    str: "a text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
