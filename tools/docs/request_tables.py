"""The generated parts of docs/box.md: every request, from its type and its rule."""

from __future__ import annotations

import inspect
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import inspect as types

from table_controller.access.request_rules import RULES
from table_controller.cli.commands.submit import detail_summaries
from table_controller.panel.page_requests import PAGE_REQUESTS
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.access import requests as r
    from table_controller.access.request_rules import RequestRule

# The credentials in the examples, by role.
_CREDENTIALS: Final = {"dealer": "D4", "floorperson": "F17", "technician": "T3", "auditor": "A3"}
_WIDTH: Final = 100
_NONE: Final = "-"


def overview() -> str:
    """Return one line for every request: who signs it, and where it can be sent from."""
    rows = [
        (
            f"`{rule.sample.name()}`",
            _first_signer(rule),
            _second_signer(rule),
            "yes" if kind.name() in PAGE_REQUESTS else _NONE,
        )
        for kind, rule in RULES.items()
    ]
    return table(("`do`", "signs", "second person", "on pages"), *rows)


def details() -> str:
    """Return a section for every request: meaning, fields with limits, permit, and an example of each form."""
    return "\n\n".join(_section(kind, rule) for kind, rule in RULES.items())


def words() -> str:
    """Return what `pitbox submit` takes."""
    lines = [f"{what:15s} {keys}".rstrip() for what, keys in detail_summaries().items()]
    return "\n".join(["```text", *lines, "```"])


def _section(kind: type[r.Request], rule: RequestRule) -> str:
    about = " ".join((inspect.getdoc(kind) or "").split())
    if rule.permit is not None:
        about += f" Permit: `{rule.permit}`."
    fields = [(f"`{each.name}`", _limits(each.type), _default(each)) for each in msgspec.structs.fields(kind)]
    parts = [f"#### {kind.name()}", "\n".join(wrap(about, _WIDTH))]
    if fields:
        parts.append(table(("field", "value", "default"), *fields))
    commands = [f"    $ {rule.command}"] if rule.command else []
    parts.append("\n".join([f"    > {example_line(rule)}", *commands]))
    return "\n\n".join(parts)


def example_line(rule: RequestRule) -> str:
    """Return the sample of a request as a line of the control socket, with its signers."""
    line: dict[str, Any] = msgspec.to_builtins(rule.sample)
    for name, roles in (("by", rule.roles), ("second", rule.second)):
        if roles:
            line[name] = _CREDENTIALS[next(role for role in roles if _CREDENTIALS[role] != line.get("by"))]
    return msgspec.json.format(msgspec.json.encode(line), indent=0).decode()


def _first_signer(rule: RequestRule) -> str:
    roles = " or ".join(rule.roles)
    if roles and rule.condition and not rule.second:
        return f"{roles}; {rule.condition}"
    return roles or rule.condition or _NONE


def _second_signer(rule: RequestRule) -> str:
    roles = " or ".join(rule.second)
    return f"{roles}; {rule.condition}" if roles and rule.condition else roles or _NONE


def _default(field: Any) -> str:
    if field.required:
        return "**required**"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return "" if value in (None, "", (), {}) else f"`{msgspec.json.encode(value).decode()}`"


def _limits(hint: Any) -> str:
    """Return the allowed values of a field in words."""
    return _words(types.type_info(hint))


def _words(kind: types.Type) -> str:
    match kind:
        case types.IntType(ge=least, le=most):
            return f"whole number, {_number(least)} to {_number(most)}" if most is not None else "whole number"
        case types.StrType(min_length=least, max_length=most):
            return f"text, {least or 0} to {most} characters"
        case types.BoolType():
            return "true or false"
        case types.LiteralType():
            return ", ".join(f"`{value}`" for value in kind.values)
        case types.VarTupleType() | types.ListType():
            bound = "" if kind.max_length is None else f"at most {kind.max_length}: "
            return f"list, {bound}{_words(kind.item_type)}"
        case types.DictType():
            return f"object, each value: {_words(kind.value_type)}"
        case types.UnionType():
            return " or ".join(_words(part) for part in kind.types if not isinstance(part, types.NoneType))
    raise TypeError(f"no words for {kind}")


def _number(value: int | None) -> str:
    if value is None:
        return ""
    for power, text in ((1 << 53, "2^53"), (10**15, "10^15"), (-(10**15), "-10^15"), (10**12, "10^12")):
        if value == power:
            return text
    return str(value)


PARTS: Final[dict[str, Callable[[], str]]] = {
    "requests": overview, "request details": details, "submit words": words,
}  # fmt: skip
