"""`pitbox prompts`: the questions that a running box asks, and of whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.cli import LOCKED, OK
from table_controller.cli.box_link import add_box_arguments, box
from table_controller.cli.status import prompt_words

if TYPE_CHECKING:
    import argparse

HELP = "the questions that a running box asks, each with its number, its role and its answers"
EXAMPLE = "pitbox prompts --config table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_box_arguments(parser)
    parser.add_argument("--role", help="only the questions to this role")


def run(args: argparse.Namespace) -> int:
    """Ask and print."""
    with box(args) as caller:
        told = caller.ask("status")
    state = told["state"]
    if told["cause"] is not None:  # that nobody is asked anything would be the wrong comfort
        print(f"LOCKED by {told['cause']['code']}: {told['cause']['text']}")
        return LOCKED
    asked = [] if state is None else [p for p in state["prompts"] if args.role in (None, p["role"])]
    for prompt in asked:
        clauses = f"  [{', '.join(prompt['clauses'])}]" if prompt["clauses"] else ""
        print(f"{prompt['role']}: {prompt_words(prompt)}{clauses}")
    if not asked:
        print("nobody is asked anything" if args.role is None else f"the {args.role} is asked nothing")
    return OK
