"""`pitbox prompts`: prints the open prompts of a running box and the role that must answer each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.cli import LOCKED, OK
from table_controller.cli.box_link import add_box_arguments, connect_box
from table_controller.cli.commands.status import prompt_text, trigger_of

if TYPE_CHECKING:
    import argparse

    from table_controller.table.decisions import Prompt

HELP = "print the open prompts of a running box: number, role and choices of each"
EXAMPLE = "pitbox prompts --config table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_box_arguments(parser)
    parser.add_argument("--role", help="only the prompts for this role")


def facts_of(prompt: Prompt) -> list[str]:
    """Return what a person compares with the table, such as hand, line and amount, and what the rules decide."""
    import msgspec

    from table_controller.journal.record_text import result_text

    results = [result_text(msgspec.to_builtins(each)) for each in prompt.proposals]
    return [*([prompt.shows] if prompt.shows else []), *results]


def run(args: argparse.Namespace) -> int:
    """Ask the box and print."""
    from table_controller.picture.types import picture_in

    with connect_box(args) as caller:
        box = picture_in(caller.request("status"))
    if box.cause is not None:  # a locked box must not look like an idle one
        print(f"LOCKED by {box.cause.code}: {box.cause.text}")
        return LOCKED
    asked = [] if box.state is None else [p for p in box.state.prompts if args.role in (None, p.role)]
    for prompt in asked:
        clauses = f"  [{', '.join(prompt.clauses)}]" if prompt.clauses else ""
        proposed = ""
        if prompt.kind == "hand_pay" and box.state is not None and box.state.meters is not None:
            proposed = f"; the next slip number is {box.state.meters.next_slip}"
        trigger = "" if box.state is None else trigger_of(box.state, prompt)
        print(f"{prompt.role}: {prompt_text(prompt, trigger)}{proposed}{clauses}")
        for line in facts_of(prompt):
            print(f"    {line}")
    if not asked:
        print("no open prompts" if args.role is None else f"no open prompts for the {args.role}")
    return OK
