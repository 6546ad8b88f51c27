"""`pitbox say`: one of the people's events to a running box, signed on. What may be said, the box knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import ConfigurationError
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
}
_NUMBERS: Final = ("seat", "amount", "rate_bp", "limit_cents")
_FLAGS: Final = ("preshuffled", "two_jokers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("what", choices=list(WORDS), metavar="WHAT", help=", ".join(WORDS))
    parser.add_argument(
        "details", nargs="*", metavar="KEY=VALUE", help="as in docs/box.md: deck=blue, trigger=other, act=clear …"
    )
    add_box_arguments(parser, people=2)


def run(args: argparse.Namespace) -> int:
    """Say it, and tell what came of it."""
    event: dict[str, Any] = {"type": WORDS[args.what]}
    for detail in args.details:
        key, equals, value = detail.partition("=")
        if not equals:
            raise ConfigurationError(f"{detail!r} is no KEY=VALUE")
        event[key] = _value(key, value)
    with box(args) as caller:
        return told_code(caller.ask("say", event=event, **sign_on(caller, args)))


def _value(key: str, text: str) -> Any:
    if key in _FLAGS:
        return text in ("true", "yes", "1")
    if key not in _NUMBERS:
        return text
    try:
        return int(text)
    except ValueError:
        raise ConfigurationError(f"{key} takes a number, and {text!r} is none") from None


def seats_of(text: str) -> list[int]:
    """Return seats as they were typed, with commas between them."""
    try:
        return [int(seat) for seat in text.split(",") if seat]
    except ValueError:
        raise ConfigurationError(f"seats are numbers with commas between them, and {text!r} is not that") from None


def told_code(told: dict[str, Any]) -> int:
    """Print what was decided, a line each; the exit code says whether it was refused."""
    from table_controller.journal.wording import decision_text

    refused = False
    for decision in told["decisions"]:
        refused = refused or decision["type"] == "Refused"
        print(decision_text(decision))
    print(f"record {told['seq']}")
    return FAULT if refused else OK
