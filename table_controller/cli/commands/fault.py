"""`pitbox fault`: prints a fault report: what the rule orders, where, how many cards, why, and the steps to return.

Reads fault reports from a folder, with or without a running box. How far an open return to service is comes from the
picture of the running box; without one, the lines stored with the report show it. Only a running box can complete a
step (`--step`).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import BadFaultReport, PitboxError, UsageError
from table_controller.cli import OK
from table_controller.cli.box_link import add_box_arguments, configured_data_folder, connect_box, sign_on, socket_path
from table_controller.cli.pins import add_pin_argument
from table_controller.diagnosis import fault_report_store

if TYPE_CHECKING:
    import argparse

    from table_controller.access.control_client import BlockingClient
    from table_controller.diagnosis.fault_report import FaultReport
    from table_controller.diagnosis.findings import Diagnosis
    from table_controller.table.return_progress import ReturnProgress

HELP = "diagnose a fault from its report: rule, place, cards, causes, steps of the return to service (former name: jam)"
EXAMPLE = "pitbox fault 12 --folder /var/lib/pitbox/fault-reports"
DEFAULT_DATA = Path("/var/lib/pitbox")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("id", nargs="?", type=int, metavar="ID", help="a fault report's number (default: the newest)")
    parser.add_argument(
        "--folder", type=Path, help="the folder of fault reports (default: in the configured data folder)"
    )
    parser.add_argument(
        "--step",
        metavar="STEP",
        help="complete a step at a running box: begin, leave, clear, path_empty, sensor_test, motor_jog, count, "
        "return; the other steps complete when the machine does them",
    )
    parser.add_argument(
        "--order",
        nargs="+",
        metavar=("CALL", "NAME=VALUE"),
        help="have a running box command the machine in test mode: eject, shuffle, load, jog motor=feed ...",
    )
    parser.add_argument(
        "--slot",
        help="with --order: a machine without a fault; begin_test starts test mode, leave_test ends it",
    )
    parser.add_argument("--cards", type=int, metavar="N", help="with --step count: how many cards were counted by hand")
    add_box_arguments(parser)
    parser.add_argument(
        "--as", dest="by", metavar="CRED", help="with --step and --order: the credential of the person who signs"
    )
    add_pin_argument(parser)
    parser.add_argument("--list", action="store_true", help="print one line for every fault report, newest first")
    parser.add_argument("--json", action="store_true", help="print the diagnosis as data")


def run(args: argparse.Namespace) -> int:
    """Print the list or one diagnosis."""
    if args.slot is not None:
        return _order_slot(args)
    folder = args.folder or fault_report_folder(args)
    numbers = fault_report_store.numbers(folder)
    if args.list:
        return _list(folder, numbers)
    if not numbers and args.id is None:
        raise BadFaultReport(f"there is no fault report in {folder}")
    number = numbers[-1] if args.id is None else args.id
    if args.step is not None or args.order is not None:
        _tick(args, folder, number)
    report = fault_report_store.read(folder, number)
    from table_controller.diagnosis.causes import diagnose

    diagnosis = diagnose(report)
    if args.json:
        return _json(report, diagnosis)
    from table_controller.cli.render.fault_text import progress_of

    lines = fault_report_store.steps_of(folder, number)
    _print(report, diagnosis, progress_of(report, diagnosis, _open_return(args, number), lines))
    return OK


def _open_return(args: argparse.Namespace, number: int) -> ReturnProgress | None:
    """Return the open return to service of a report at the running box; None without one, or of a named folder."""
    if args.folder is not None:
        return None
    from table_controller.picture.types import picture_in

    with suppress(PitboxError), connect_box(args) as caller:
        table = picture_in(caller.request("status")).state
        return None if table is None else table.open_returns.get(number)
    return None


def _order_slot(args: argparse.Namespace) -> int:
    """Have the box command a machine that has no fault; the box refuses with its reasons."""
    if args.by is None or args.order is None:
        raise UsageError("--slot needs --order and --as: the person who gives the order signs on")
    call, arguments = _order(args.order)
    with connect_box(args) as caller:
        by = sign_on(caller, args)["by"]
        caller.request("device", slot=args.slot, call=call, arguments=arguments, by=by)
    print(f"{args.slot}: {call}: done")
    return OK


def fault_report_folder(args: argparse.Namespace) -> Path:
    """Return the folder of fault reports: next to the named control socket, as configured, or the default."""
    if args.socket is not None:
        data = socket_path(args).parent
    else:
        data = configured_data_folder(args) if args.config.exists() else DEFAULT_DATA
    return fault_report_store.folder_in(data)


def _tick(args: argparse.Namespace, folder: Path, number: int) -> None:
    """Have the box tick a step, or command the machine to do what proves the step; it refuses with what is missing."""
    if args.by is None:
        raise UsageError("--step and --order need --as: the person who does it signs on")
    slot = fault_report_store.read(folder, number).machine.slot
    with connect_box(args) as caller:
        by = sign_on(caller, args)["by"]
        orders = [_order(args.order)] if args.order is not None else _shows(caller, args.step, number)
        for call, arguments in orders:
            caller.request("device", slot=slot, call=call, arguments=arguments, by=by)
        caller.request("fault", fault_report=number)  # returns when the machine's evidence is on disk
        if args.step is not None and not orders:
            caller.request("return_step", fault_report=number, step=args.step, cards=args.cards, by=by)


def _shows(caller: BlockingClient, step: str, number: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the commands that make a machine prove a step; none for a step that people confirm."""
    match step:
        case "clear":
            return [("clear_jam", {})]
        case "sensor_test":
            return [("self_test", {})]
        case "motor_jog":
            motors = caller.request("fault", fault_report=number).get("motors", [])
            return [("jog", {"motor": motor}) for motor in motors] or [("self_test", {})]
    return []


def _order(words: list[str]) -> tuple[str, dict[str, Any]]:
    """Parse a typed order: a name, then NAME=VALUE with whole numbers, yes, no, or words."""
    arguments: dict[str, Any] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--order takes NAME=VALUE, not {word!r}")
        arguments[name] = int(value) if value.isdecimal() else {"yes": True, "no": False}.get(value, value)
    return words[0], arguments


def _list(folder: Path, numbers: list[int]) -> int:
    from table_controller.cli.render.fault_text import heading
    from table_controller.diagnosis.causes import diagnose

    for number in reversed(numbers):
        try:
            report = fault_report_store.read(folder, number)
        except BadFaultReport as error:
            print(f"fault report {number}  unreadable: {error}")
        else:
            diagnosis = diagnose(report)
            whose = "for the table" if diagnosis.staff else "for a technician"
            print(f"{heading(report)}  {diagnosis.causes[0].why.value}, {whose}")
    if not numbers:
        print(f"no fault report in {folder}")
    return OK


def _json(report: FaultReport, diagnosis: Diagnosis) -> int:
    import msgspec

    data: dict[str, Any] = {"number": report.number, "slot": report.machine.slot, "at_ns": report.at_ns}
    sys.stdout.write(
        msgspec.json.format(msgspec.json.encode({**data, "diagnosis": diagnosis}), indent=2).decode() + "\n"
    )
    return OK


def _print(report: FaultReport, diagnosis: Diagnosis, progress: ReturnProgress) -> None:
    from table_controller.cli.render import fault_text as text
    from table_controller.cli.render.screen import Screen

    with Screen() as screen:
        screen.line(text.heading(report), "bold")
        if not report.complete:
            screen.line("the machine did not answer after the fault; its own memory is not in this report", "yellow")
        _section(screen, "by rule", text.rule_lines(report))
        screen.line()
        screen.show(screen.to_text(text.draw_fault(report, diagnosis)), last=True)
        _section(screen, "where", text.where_lines(diagnosis))
        _section(screen, "cards", [text.cards_line(diagnosis.cards)])
        _section(screen, "why", text.cause_lines(diagnosis))
        who = "table staff may clear it" if diagnosis.staff else "a technician must clear it"
        _section(screen, f"return to service: {who}", text.step_lines(progress))


def _section(screen: Any, title: str, lines: Any) -> None:
    screen.line()
    screen.line(title, "bold")
    for line in lines:
        screen.line("  " + line)
