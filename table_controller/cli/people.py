"""`pitbox people`: who may sign on at this table. The file and its rules are elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller import people
from table_controller.cli import OK
from table_controller.cli.pins import add_people_arguments, ask_pin, people_file
from table_controller.cli.subcommands import Subcommands, run

if TYPE_CHECKING:
    import argparse

    from table_controller.cli.subcommands import Do

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "credentials of dealers, floorpersons, technicians and auditors: add, list, revoke, change a PIN"
EXAMPLE = "pitbox people add F17 --role floorperson --config /etc/pitbox/table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    commands = Subcommands(parser, "people")

    def command(name: str, about: str, example: str, do: Do) -> argparse.ArgumentParser:
        made = commands.add(name, about, example, do)
        add_people_arguments(made, pins=name in ("add", "pin"))
        return made

    add = command("add", "add a credential; its PIN is asked for", "add F17 --role floorperson --person 4711", _add)
    add.add_argument("--role", required=True, choices=people.ROLES, help="what its holder may do")
    add.add_argument("--person", metavar="NUMBER", help="who holds it, if one person holds several; no name")
    show = command("list", "print every credential", "list --json", _list)
    show.add_argument("--json", action="store_true", help="as JSON, one object per credential")
    for name, about, do in (
        ("revoke", "revoke a credential at once and for ever", _revoke),
        ("pin", "give a credential another PIN", _pin),
    ):
        command(name, about, f"{name} F17", do).add_argument("id", metavar="ID", help="the credential")
    add.add_argument("id", metavar="ID", help="the credential, as on the badge; no name, for the journal records it")


def _add(args: argparse.Namespace) -> int:
    path = people_file(args)
    made = people.add(path, args.id, args.role, ask_pin(args, args.id, twice=True), person=args.person)
    print(f"{made.id}: {made.role}, added to {path}")
    return OK


def _list(args: argparse.Namespace) -> int:
    found = people.load_people(people_file(args)).values()
    if args.json:
        import json

        fields = ("id", "person", "role", "added", "revoked")
        print(json.dumps([{name: getattr(each, name) for name in fields} for each in found], indent=2))
        return OK
    print(f"{'credential':14s}{'person':14s}{'role':14s}{'added':12s}revoked")
    for each in found:
        print(f"{each.id:14s}{each.person:14s}{each.role:14s}{each.added:12s}{each.revoked or ''}".rstrip())
    return OK


def _revoke(args: argparse.Namespace) -> int:
    made = people.revoke(people_file(args), args.id)
    print(f"{made.id}: revoked on {made.revoked}; it opens nothing any more, and its id is not given again")
    return OK


def _pin(args: argparse.Namespace) -> int:
    path = people_file(args)
    made = people.set_pin(path, args.id, ask_pin(args, args.id, twice=True))
    print(f"{made.id}: has another PIN from now on")
    return OK
