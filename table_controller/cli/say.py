"""`pitbox say`: one of the people's events to a running box, signed on. What may be said, the box knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from firmware_bridge.errors import UsageMistake
from table_controller.cli import FAULT, OK
from table_controller.cli.box_link import add_box_arguments, box, sign_on

if TYPE_CHECKING:
    import argparse

HELP = "say something to a running box: open a round, no more bets, bring a deck, report, order"
EXAMPLE = "pitbox say open_round --as dealer-1"

# What is said, by the word on the command line; further details are KEY=VALUE.
WORDS: Final = {
    "deck": "DeckReceived",
    "open_round": "OpenRound",
    "no_more_bets": "NoMoreBets",
    "declare": "Declared",
    "order": "Ordered",
    "slot": "SlotOrdered",
    "dealer_changed": "DealerChanged",
    "cover_card": "CoverCardOut",
    "correct_meter": "MeterCorrected",
    "reset_meter": "MeterReset",
    "set_meter": "MeterParameters",
    "close_meter": "MeterClosed",
    "open_meter": "MeterOpened",
    "transfer_overflow": "OverflowTransferred",
    "confirm_copy_absent": "CopyAbsenceConfirmed",
}
# What the box adds, or a machine says.
_NOT_TYPED: Final = ("who", "second")
_OF_MACHINES: Final = {"cover_card": ("slot",)}
_YES: Final = ("yes", "true", "1")
_NO: Final = ("no", "false", "0")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("what", choices=list(WORDS), metavar="WHAT", help=", ".join(WORDS))
    parser.add_argument("details", nargs="*", metavar="KEY=VALUE", help="what is said about it, see below")
    add_box_arguments(parser, people=2)
    told = "\n".join(f"  {what:15s} {keys}".rstrip() for what, keys in keys_told().items())
    parser.epilog = f"what can be said, and its details ([] may be left out):\n{told}\n\n{parser.epilog}"


def keys_told() -> dict[str, str]:
    """Return what each WHAT takes, in a line each."""
    return {what: " ".join(_told(key) for key in _keys(what)) + _second(what) for what in WORDS}


def _second(what: str) -> str:
    return " (two people: --second)" if "second" in _event(what).__struct_fields__ else ""


def _event(what: str) -> Any:
    from table_controller.table import events

    return getattr(events, WORDS[what])


def _keys(what: str) -> list[Key]:
    import msgspec

    unsaid = (*_NOT_TYPED, *_OF_MACHINES.get(what, ()))
    fields = [field for field in msgspec.structs.fields(_event(what)) if field.name not in unsaid]
    return [Key(f.name, f.required, *_form(msgspec.inspect.type_info(f.type))) for f in fields]


class Key(NamedTuple):
    """One detail: its name, whether it must be given, and what it takes."""

    name: str
    required: bool
    takes: str  # text, number, flag
    choices: tuple[str, ...] = ()


def _form(kind: Any) -> tuple[str, tuple[str, ...]]:
    """Return what a type takes, and between what one chooses."""
    name = type(kind).__name__
    if name == "UnionType":  # one thing, or nothing
        return _form(next(part for part in kind.types if type(part).__name__ != "NoneType"))
    if name == "LiteralType":
        return "text", tuple(kind.values)
    return {"IntType": "number", "BoolType": "flag"}.get(name, "text"), ()


def _told(key: Key) -> str:
    value = "|".join(key.choices) or {"number": "N", "flag": "yes|no"}.get(key.takes, "TEXT")
    return f"{key.name}={value}" if key.required else f"[{key.name}={value}]"


def run(args: argparse.Namespace) -> int:
    """Say it, and tell what came of it."""
    event: dict[str, Any] = {"type": WORDS[args.what]}
    keys = {key.name: key for key in _keys(args.what)}
    for detail in args.details:
        name, equals, value = detail.partition("=")
        if not equals:
            raise UsageMistake(f"{detail!r} is no KEY=VALUE")
        if name not in keys:
            raise UsageMistake(f"{args.what} has no {name!r}; it takes: {keys_told()[args.what] or 'nothing'}")
        event[name] = _value(keys[name], value)
    lacking = [key.name for key in keys.values() if key.required and key.name not in event]
    if lacking:
        raise UsageMistake(f"{args.what} needs {lacking[0]}=…; it takes: {keys_told()[args.what]}")
    with box(args) as caller:
        return told_code(caller.ask("say", event=event, **sign_on(caller, args)))


def _value(key: Key, text: str) -> Any:
    if key.takes == "flag":
        if text not in (*_YES, *_NO):
            raise UsageMistake(f"{key.name} takes yes or no, and {text!r} is neither")
        return text in _YES
    if key.choices and text not in key.choices:
        raise UsageMistake(f"{key.name} takes one of {', '.join(key.choices)}, and {text!r} is none")
    if key.takes != "number":
        return text
    try:
        return int(text)
    except ValueError:
        raise UsageMistake(f"{key.name} takes a number, and {text!r} is none") from None


def seats_of(text: str) -> list[int]:
    """Return seats as they were typed, with commas between them."""
    try:
        return [int(seat) for seat in text.split(",") if seat]
    except ValueError:
        raise UsageMistake(f"seats are numbers with commas between them, and {text!r} is not that") from None


def told_code(told: dict[str, Any]) -> int:
    """Print what was decided, a line each; the exit code says whether it was refused."""
    from table_controller.journal.wording import decision_text

    refused = False
    for decision in told["decisions"]:
        refused = refused or decision["type"] == "Refused"
        print(decision_text(decision))
    print(f"record {told['seq']}")
    return FAULT if refused else OK
