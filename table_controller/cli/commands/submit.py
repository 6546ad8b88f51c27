"""`pitbox submit`: signs on and sends one request to the table of a running box, such as open_round.

Its words, details and help come from the types of the requests.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from firmware_bridge.errors import UsageError
from table_controller.access.requests import TABLE_REQUESTS, AnswerRequest
from table_controller.cli import FAULT, OK
from table_controller.cli.box_link import add_box_arguments, connect_box, sign_on
from table_controller.ledger.money import CENT, format_dollars, parse_dollars

if TYPE_CHECKING:
    import argparse

    from table_controller.access.control_client import BlockingClient
    from table_controller.access.requests import Request

HELP = "submit a request to a running box: open a round, no more bets, add a deck, report, order"
EXAMPLE = "pitbox submit open_round --as dealer-1"

# The request of each word on the command line; its fields are typed as KEY=VALUE. `pitbox answer` sends the answers.
WORDS: Final[dict[str, type[Request]]] = {kind.name(): kind for kind in TABLE_REQUESTS if kind is not AnswerRequest}
# Money and rates are typed as people write them; the box takes whole numbers. By field: the typed name, the form, and
# how many micro-dollars (or hundredths of a percent) make one unit of the field.
_TYPED: Final[dict[str, tuple[str, str, int]]] = {
    "amount": ("amount", "dollars", 1),
    "limit_cents": ("limit", "dollars", CENT),
    "cents": ("amount", "dollars", CENT),
    "rate_bp": ("rate", "percent", 1),
}
# Words whose amount has a sign.
_SIGNED: Final = ("correct_meter",)
# Words of an earlier version.
_RENAMED: Final = {"declare": "report"}
# Words that move money: the command shows the change and asks before anybody signs.
_CONFIRMED: Final = ("correct_meter", "reset_meter", "transfer_overflow")
_PERCENT: Final = re.compile(r"([0-9]{1,3})(?:\.([0-9]{1,2}))?%?", re.ASCII)
_YES: Final = ("yes", "true", "1")
_NO: Final = ("no", "false", "0")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("what", choices=[*WORDS, *_RENAMED], metavar="WHAT", help=", ".join(WORDS))
    parser.add_argument("details", nargs="*", metavar="KEY=VALUE", help="its details, see below")
    parser.add_argument("--yes", action="store_true", help=f"do not ask before money moves ({', '.join(_CONFIRMED)})")
    add_box_arguments(parser, people=2)
    summary = "\n".join(f"  {what:15s} {keys}".rstrip() for what, keys in detail_summaries().items())
    parser.epilog = f"WHAT and its details ([] is optional):\n{summary}\n\n{parser.epilog}"


def detail_summaries() -> dict[str, str]:
    """Return the details of each WHAT, one line each."""
    return {what: " ".join(_detail_text(key) for key in _keys(what)) + _second(what) for what in WORDS}


def _second(what: str) -> str:
    from table_controller.access.request_rules import RULES

    return " (two people: --second)" if RULES[WORDS[what]].second else ""


def _keys(what: str) -> list[Detail]:
    import msgspec

    return [_key(what, field) for field in msgspec.structs.fields(WORDS[what])]


def _key(what: str, field: Any) -> Detail:
    import msgspec

    form_of_type, choices = _form(msgspec.inspect.type_info(field.type))
    typed, form, one = _TYPED.get(field.name, (field.name, form_of_type, 1))
    form = "signed" if form == "dollars" and what in _SIGNED else form
    return Detail(typed, field.required, form, choices, field.name, one)


class Detail(NamedTuple):
    """One detail of a request: the typed name, whether it is required, and the form of its value."""

    name: str
    required: bool
    form: str  # text, number, seats, flag, dollars, signed (dollars), percent
    choices: tuple[str, ...] = ()
    field: str = ""  # of the request
    unit: int = 1  # so many of the smallest typed unit make one unit of the field


def _form(kind: Any) -> tuple[str, tuple[str, ...]]:
    """Return the form of a type's values, and the choices if there are any."""
    name = type(kind).__name__
    if name == "UnionType":  # an optional value
        return _form(next(part for part in kind.types if type(part).__name__ != "NoneType"))
    if name == "LiteralType":
        return "text", tuple(kind.values)
    return {"IntType": "number", "BoolType": "flag", "VarTupleType": "seats"}.get(name, "text"), ()


_FORMS: Final = {
    "number": "N", "seats": "N,N", "flag": "yes|no", "dollars": "DOLLARS.CENTS", "signed": "±DOLLARS.CENTS",
    "percent": "PERCENT",
}  # fmt: skip


def _detail_text(key: Detail) -> str:
    value = "|".join(key.choices) or _FORMS.get(key.form, "TEXT")
    return f"{key.name}={value}" if key.required else f"[{key.name}={value}]"


def run(args: argparse.Namespace) -> int:
    """Send the request and print what the box decided."""
    args.what = _RENAMED.get(args.what, args.what)
    fields = parse_details(args.what, args.details)
    with connect_box(args) as caller:
        if args.what in _CONFIRMED and not _confirmed(caller, args, fields):
            print("nothing was changed")
            return FAULT
        return print_result(caller.request(args.what, **fields, **sign_on(caller, args)))


def parse_details(what: str, details: list[str]) -> dict[str, Any]:
    """Return the fields of a request from its typed details; raise UsageError with what it takes."""
    fields: dict[str, Any] = {}
    keys = {key.name: key for key in _keys(what)}
    for detail in details:
        name, equals, value = detail.partition("=")
        if not equals:
            raise UsageError(f"{detail!r} is not KEY=VALUE")
        if name not in keys:
            raise UsageError(f"{what} has no {name!r}; it takes: {detail_summaries()[what] or 'nothing'}")
        fields[keys[name].field] = _value(keys[name], value)
    lacking = [key.name for key in keys.values() if key.required and key.field not in fields]
    if lacking:
        raise UsageError(f"{what} needs {lacking[0]}=…; it takes: {detail_summaries()[what]}")
    return fields


def _confirmed(caller: BlockingClient, args: argparse.Namespace, fields: dict[str, Any]) -> bool:
    """Show the meter before and after; return whether the person confirms. --yes confirms without a question."""
    meters = ((caller.request("status") or {}).get("state") or {}).get("meters")
    if meters is None:
        return True  # this table has no meter; the box will refuse
    before = meters["current"]
    after = meters["seed"] if args.what == "reset_meter" else before + fields["amount"]
    change = f"{'+' if after >= before else ''}{format_dollars(after - before)}"
    print(f"meter before  {format_dollars(before):>20s}")
    print(f"meter after   {format_dollars(after):>20s}  ({change}, document {fields['document']})")
    if args.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for confirmation: confirm with --yes")
    return input("Change the meter? Type yes: ").strip().lower() == "yes"


def _value(key: Detail, text: str) -> Any:
    if key.form in ("dollars", "signed"):
        return _dollars(key, text)
    if key.form == "percent":
        return _percent(key, text)
    if key.form == "flag":
        if text not in (*_YES, *_NO):
            raise UsageError(f"{key.name} takes yes or no, not {text!r}")
        return text in _YES
    if key.choices and text not in key.choices:
        raise UsageError(f"{key.name} takes one of {', '.join(key.choices)}, not {text!r}")
    if key.form == "seats":
        return parse_seats(text)
    if key.form != "number":
        return text
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{key.name} takes a number, not {text!r}") from None


def _dollars(key: Detail, text: str) -> int:
    try:
        amount, remainder = divmod(parse_dollars(text, signed=key.form == "signed"), key.unit)
    except ValueError as wrong:
        raise UsageError(f"{key.name}: {wrong}") from None
    if remainder:
        raise UsageError(f"{key.name} takes whole cents, not {text}")
    return amount


def _percent(key: Detail, text: str) -> int:
    """Return a rate in hundredths of a percent."""
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise UsageError(f"{key.name} takes a percentage such as 15 or 15.25, not {text!r}")
    return int(match[1]) * 100 + int((match[2] or "").ljust(2, "0"))


def parse_seats(text: str) -> list[int]:
    """Return seats that were typed with commas between them."""
    try:
        return [int(seat) for seat in text.split(",") if seat]
    except ValueError:
        raise UsageError(f"seats are numbers with commas between them, not {text!r}") from None


def print_result(result: dict[str, Any]) -> int:
    """Print each decision on a line; return exit code 1 if the table refused the request."""
    from table_controller.journal.record_text import decision_text

    refused = False
    for decision in result["decisions"]:
        refused = refused or decision["type"] == "RequestRefused"
        print(decision_text(decision))
    print(f"record {result['seq']}")
    return FAULT if refused else OK
