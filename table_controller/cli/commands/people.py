"""`pitbox people`: adds, lists and revokes credentials of the people who may sign on at a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from table_controller.access import people_file as people
from table_controller.cli import OK
from table_controller.cli.pins import add_people_arguments, ask_pin, authenticate, people_file
from table_controller.cli.subcommands import Subcommands, run

if TYPE_CHECKING:
    import argparse

    from table_controller.access.control_client import BlockingClient
    from table_controller.access.people_authority import Verb
    from table_controller.cli.subcommands import Handler

__all__ = ["EXAMPLE", "HELP", "add_arguments", "run"]

HELP = "add, list or revoke credentials of dealers, floorpersons, technicians and auditors; change a PIN"
EXAMPLE = "pitbox people add F17 --role floorperson --as A3 --config /etc/pitbox/table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    commands = Subcommands(parser, "people")

    def command(name: str, about: str, example: str, do: Handler) -> argparse.ArgumentParser:
        subparser = commands.add(name, about, example, do)
        add_people_arguments(subparser, pins=name != "list")
        if name != "list":
            subparser.add_argument(
                "--as", dest="by", metavar="CRED", help="who signs: an auditor, as soon as the table has one"
            )
            subparser.add_argument(
                "--socket", type=Path, metavar="PATH", help="a running box's socket, if not as configured"
            )
        return subparser

    add = command("add", "add a credential; asks for its PIN", "add F17 --role floorperson --person 4711", _add)
    add.add_argument("--role", required=True, choices=people.ROLES, help="the role of its holder")
    add.add_argument(
        "--person", metavar="NUMBER", help="number of the person, if one person has several credentials; not a name"
    )
    show = command("list", "print every credential", "list --json", _list)
    show.add_argument("--json", action="store_true", help="as JSON, one object per credential")
    for name, about, do in (
        ("revoke", "revoke a credential at once and for good", _revoke),
        ("pin", "change the PIN of a credential", _pin),
    ):
        command(name, about, f"{name} F17", do).add_argument("id", metavar="ID", help="the credential")
    add.add_argument(
        "id", metavar="ID", help="the credential, as on the badge; not a name, because the journal records it"
    )


def _add(args: argparse.Namespace) -> int:
    credential = _changed(args, "add", role=args.role, person=args.person)
    print(f"{credential['credential']}: {credential['role']}, added{credential['where']}")
    return OK


def _list(args: argparse.Namespace) -> int:
    credentials = people.load_credentials(people_file(args)).values()
    if args.json:
        import json

        fields = ("id", "person", "role", "added", "revoked")
        print(json.dumps([{name: getattr(each, name) for name in fields} for each in credentials], indent=2))
        return OK
    print(f"{'credential':14s}{'person':14s}{'role':14s}{'added':12s}revoked")
    for each in credentials:
        print(f"{each.id:14s}{each.person:14s}{each.role:14s}{each.added:12s}{each.revoked or ''}".rstrip())
    return OK


def _revoke(args: argparse.Namespace) -> int:
    credential = _changed(args, "revoke")
    print(
        f"{credential['credential']}: revoked on {credential['revoked']}; it cannot sign on any more, and its id "
        f"is not used again{credential['where']}"
    )
    return OK


def _pin(args: argparse.Namespace) -> int:
    credential = _changed(args, "pin")
    print(f"{credential['credential']}: PIN changed{credential['where']}")
    return OK


# --- one change, by a running box or without one ----------------------------------------------------------------------


def _changed(args: argparse.Namespace, change: Verb, **details: Any) -> dict[str, Any]:
    """Have a running box change a credential and journal it; without one, change the file (journaled at next start)."""
    from firmware_bridge.errors import BoxLocked, NoBox
    from table_controller.access.control_client import BlockingClient, RefusedByBox

    path = people_file(args)
    _needs_signature(args, path)
    socket = _socket(args)
    if socket is not None:
        try:
            with BlockingClient(socket) as caller:
                return _by_box(args, caller, change, details)
        except NoBox:
            pass
        except RefusedByBox as refused:
            if refused.error_class is not BoxLocked:
                raise
    return _in_file(args, path, change, details)


def _needs_signature(args: argparse.Namespace, path: Path) -> None:
    """Raise, before any PIN is asked for, if an auditor must sign and none is named."""
    from firmware_bridge.errors import BadPeopleFile, ChangeNotAuthorized
    from table_controller.access.people_authority import has_authority

    if args.by is not None:
        return
    try:
        credentials = people.load_credentials(path)
    except BadPeopleFile:  # it is missing or unreadable; the change itself reports which
        return
    if has_authority(credentials):
        raise ChangeNotAuthorized(
            f"{path} has an auditor, and an auditor must sign for the change of {args.id}: use --as"
        )


def _socket(args: argparse.Namespace) -> Path | None:
    """Return the control socket of a running box; None if only the people file is named."""
    from table_controller.cli.box_link import socket_path
    from table_controller.config import default_path

    if args.people is not None and args.socket is None:
        return None
    if args.config is None:
        args.config = default_path()
    return socket_path(args)


def _by_box(args: argparse.Namespace, caller: BlockingClient, change: Verb, details: dict[str, Any]) -> dict[str, Any]:
    if args.by is not None:
        signed = caller.request("sign_on", credential=args.by, pin=ask_pin(args, args.by))
        details = details | {"by": signed["credential"]}
    if change != "revoke":
        details = details | {"pin": ask_pin(args, args.id, twice=True)}
    changed: dict[str, Any] = caller.request("people", change=change, credential=args.id, **details)
    return changed | {"where": "; the journal has it"}


def _in_file(args: argparse.Namespace, path: Path, change: Verb, details: dict[str, Any]) -> dict[str, Any]:
    import os

    from table_controller.access.people_authority import change_credential
    from table_controller.access.pin_check import PinChecker

    who = None if args.by is None else authenticate(args, PinChecker(path), args.by)
    author = people.Author(who, people.user_name(os.geteuid()))
    pin = "" if change == "revoke" else ask_pin(args, args.id, twice=True)
    changed = change_credential(path, change, args.id, author, pin=pin, **details)
    where = f" to {path}" * (change == "add") + "; the next start of the box journals it"
    return {"credential": changed.id, "role": changed.role, "revoked": changed.revoked, "where": where}
