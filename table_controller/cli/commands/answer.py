"""`pitbox answer`: sign on and answer one prompt of a running box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from table_controller.cli.box_link import add_box_arguments, connect_box, sign_on
from table_controller.cli.commands.submit import parse_seats, print_result

if TYPE_CHECKING:
    import argparse

HELP = "answer one prompt of a running box; `pitbox prompts` lists them"
EXAMPLE = "pitbox answer 4294967300 whole --as dealer-1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("prompt", type=int, help="the prompt's number")
    parser.add_argument("choice", help="one of its choices")
    parser.add_argument("--number", type=int, help="if the prompt asks for a number")
    parser.add_argument("--seats", metavar="1,3", help="if the prompt asks for seats")
    add_box_arguments(parser, people=1)


def answer_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of the request."""
    fields: dict[str, Any] = {"prompt": args.prompt, "choice": args.choice}
    fields |= {} if args.number is None else {"number": args.number}
    return fields | ({} if args.seats is None else {"seats": parse_seats(args.seats)})


def run(args: argparse.Namespace) -> int:
    """Send the answer and print what the box decided."""
    fields = answer_fields(args)
    with connect_box(args) as caller:
        return print_result(caller.request("answer", **fields, **sign_on(caller, args)))
