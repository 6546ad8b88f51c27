"""`pitbox jam`: what a frozen fault says: what the rule orders, where it is, how many cards, why, and the way back.

Reads dossiers from a folder, beside a running box or without one. A step is ticked by the box alone, over its socket.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadDossier, UsageMistake
from table_controller.cli import OK
from table_controller.cli.box_link import add_box_arguments, box, data_of, sign_on, socket_of
from table_controller.cli.pins import add_pin_argument
from table_controller.diagnosis import store

if TYPE_CHECKING:
    import argparse

    from table_controller.controller.client import Caller
    from table_controller.diagnosis.dossier import Dossier
    from table_controller.diagnosis.findings import Diagnosis
    from table_controller.diagnosis.steps import StepEvent

HELP = "diagnose a jam from its dossier: the rule, the place, the cards, the causes, the way back to service"
EXAMPLE = "pitbox jam 12 --folder /var/lib/pitbox/dossiers"
FOLDER = Path("/var/lib/pitbox/dossiers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("id", nargs="?", type=int, metavar="ID", help="a dossier's number (default: the newest)")
    parser.add_argument("--folder", type=Path, help="where dossiers are kept (default: the configured data folder's)")
    parser.add_argument(
        "--step",
        metavar="STEP",
        help="of a running box: begin, leave, clear, path_empty, sensor_test, motor_jog, count, return; "
        "the others tick by what the machine does",
    )
    parser.add_argument(
        "--order",
        nargs="+",
        metavar=("CALL", "NAME=VALUE"),
        help="of a running box, to the machine in test mode: eject, shuffle, load, jog motor=feed ...",
    )
    parser.add_argument(
        "--slot",
        help="with --order: a machine without a fault; begin_test takes it into test mode, leave_test out of it",
    )
    parser.add_argument("--cards", type=int, metavar="N", help="with --step count: how many were counted by hand")
    add_box_arguments(parser)
    parser.add_argument("--as", dest="by", metavar="CRED", help="with --step: the credential that says it")
    add_pin_argument(parser)
    parser.add_argument("--list", action="store_true", help="one line for every dossier, the newest first")
    parser.add_argument("--json", action="store_true", help="print the diagnosis as data")


def run(args: argparse.Namespace) -> int:
    """Print a list or one diagnosis."""
    if args.slot is not None:
        return _order_slot(args)
    folder = args.folder or folder_of(args)
    found = store.numbers(folder)
    if args.list:
        return _list(folder, found)
    if not found and args.id is None:
        raise BadDossier(f"there is no dossier in {folder}")
    number = found[-1] if args.id is None else args.id
    if args.step is not None or args.order is not None:
        _tick(args, folder, number)
    dossier = store.read(folder, number)
    from table_controller.diagnosis.causes import diagnose

    diagnosis = diagnose(dossier)
    if args.json:
        return _json(dossier, diagnosis)
    _print(dossier, diagnosis, store.steps_of(folder, number))
    return OK


def _order_slot(args: argparse.Namespace) -> int:
    """Have the box order something of a machine without a dossier; it says what stands against it."""
    if args.by is None or args.order is None:
        raise UsageMistake("--slot goes with --order and --as: whoever orders signs on")
    call, arguments = _order(args.order)
    with box(args) as caller:
        by = sign_on(caller, args)["by"]
        caller.ask("device", slot=args.slot, call=call, arguments=arguments, by=by)
    print(f"{args.slot}: {call}: done")
    return OK


def folder_of(args: argparse.Namespace) -> Path:
    """Return the folder of dossiers beside a box's control socket, or where a box keeps them unless told."""
    if args.socket is None and not args.config.exists():
        return FOLDER
    return socket_of(args).parent / FOLDER.name if args.socket is not None else data_of(args) / FOLDER.name


def _tick(args: argparse.Namespace, folder: Path, number: int) -> None:
    """Have the box take the way up, order of the machine what shows a step, or tick one; it says what is missing."""
    if args.by is None:
        raise UsageMistake("--step and --order need --as: whoever says it signs on")
    slot = store.read(folder, number).machine.slot
    with box(args) as caller:
        by = sign_on(caller, args)["by"]
        orders = [_order(args.order)] if args.order is not None else _shows(caller, args.step, number)
        for call, arguments in orders:
            caller.ask("device", slot=slot, call=call, arguments=arguments, by=by)
        caller.ask("jam", dossier=number)  # what the machine showed is on disk then
        if args.step is not None and not orders:
            caller.ask("jam", dossier=number, step=args.step, cards=args.cards, by=by)


def _shows(caller: Caller, step: str, number: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the orders by which a machine shows a step; none for what is said by people, or needs hands."""
    match step:
        case "clear":
            return [("clear_jam", {})]
        case "sensor_test":
            return [("self_test", {})]
        case "motor_jog":
            motors = caller.ask("jam", dossier=number).get("motors", [])
            return [("jog", {"motor": motor}) for motor in motors] or [("self_test", {})]
    return []


def _order(words: list[str]) -> tuple[str, dict[str, Any]]:
    """Read an order as it was typed: a name, then NAME=VALUE with whole numbers, yes, no, or words."""
    arguments: dict[str, Any] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageMistake(f"--order takes NAME=VALUE, not {word!r}")
        arguments[name] = int(value) if value.isdecimal() else {"yes": True, "no": False}.get(value, value)
    return words[0], arguments


def _list(folder: Path, found: list[int]) -> int:
    from table_controller.cli.jam_text import heading
    from table_controller.diagnosis.causes import diagnose

    for number in reversed(found):
        try:
            dossier = store.read(folder, number)
        except BadDossier as error:
            print(f"dossier {number}  unreadable: {error}")
        else:
            diagnosis = diagnose(dossier)
            whose = "for the table" if diagnosis.staff else "for a technician"
            print(f"{heading(dossier)}  {diagnosis.causes[0].why.value}, {whose}")
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


def _print(dossier: Dossier, diagnosis: Diagnosis, steps: list[StepEvent]) -> None:
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
        _section(screen, f"the way back: {who}", text.step_lines(dossier, diagnosis, steps))


def _section(screen: Any, title: str, lines: Any) -> None:
    screen.line()
    screen.line(title, "bold")
    for line in lines:
        screen.line("  " + line)
