"""`pitbox jam`: what a frozen fault says: what the rule orders, where it is, how many cards, why, and the way back.

Reads dossiers from a folder, beside a running box or without one; writes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadDossier
from table_controller.cli import OK
from table_controller.diagnosis import store

if TYPE_CHECKING:
    import argparse

    from table_controller.diagnosis.dossier import Dossier
    from table_controller.diagnosis.findings import Diagnosis

HELP = "diagnose a jam from its dossier: the rule, the place, the cards, the causes, the way back to service"
EXAMPLE = "pitbox jam 12 --folder /var/lib/pitbox/dossiers"
FOLDER = Path("/var/lib/pitbox/dossiers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("id", nargs="?", type=int, metavar="ID", help="a dossier's number (default: the newest)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"where dossiers are kept (default {FOLDER})")
    parser.add_argument("--list", action="store_true", help="one line for every dossier, the newest first")
    parser.add_argument("--json", action="store_true", help="print the diagnosis as data")


def run(args: argparse.Namespace) -> int:
    """Print a list or one diagnosis."""
    found = store.numbers(args.folder)
    if args.list:
        return _list(args.folder, found)
    if not found and args.id is None:
        raise BadDossier(f"there is no dossier in {args.folder}")
    dossier = store.read(args.folder, found[-1] if args.id is None else args.id)
    from table_controller.diagnosis.causes import diagnose

    diagnosis = diagnose(dossier)
    if args.json:
        return _json(dossier, diagnosis)
    _print(dossier, diagnosis)
    return OK


def _list(folder: Path, found: list[int]) -> int:
    from table_controller.cli.jam_text import heading
    from table_controller.diagnosis.causes import diagnose

    for number in reversed(found):
        try:
            dossier = store.read(folder, number)
        except BadDossier as error:
            print(f"dossier {number}  unreadable: {error}")
        else:
            print(f"{heading(dossier)}  {diagnose(dossier).causes[0].why.value}")
    if not found:
        print(f"no dossier in {folder}")
    return OK


def _json(dossier: Dossier, diagnosis: Diagnosis) -> int:
    import msgspec

    data: dict[str, Any] = {"number": dossier.number, "slot": dossier.machine.slot, "at_ns": dossier.at_ns}
    sys.stdout.write(
        msgspec.json.format(msgspec.json.encode({**data, "diagnosis": diagnosis}), indent=2).decode() + "\n"
    )
    return OK


def _print(dossier: Dossier, diagnosis: Diagnosis) -> None:
    from table_controller.cli import jam_text as text
    from table_controller.cli.screen import Screen

    with Screen() as screen:
        screen.line(text.heading(dossier), "bold")
        if not dossier.complete:
            screen.line("the machine did not answer after the fault; what it remembers is not in here", "yellow")
        _section(screen, "by rule", text.rule_lines(dossier))
        screen.line()
        screen.show(screen.styled(text.drawing(dossier, diagnosis)), last=True)
        _section(screen, "where", text.where_lines(diagnosis))
        _section(screen, "cards", [text.cards_line(diagnosis.cards)])
        _section(screen, "why", text.cause_lines(diagnosis))
        who = "people of the table may clear it" if diagnosis.staff else "a technician clears it"
        _section(screen, f"the way back: {who}", text.step_lines(dossier, diagnosis, []))


def _section(screen: Any, title: str, lines: Any) -> None:
    screen.line()
    screen.line(title, "bold")
    for line in lines:
        screen.line("  " + line)
