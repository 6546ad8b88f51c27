"""The `pitbox` command: finds the subcommand, turns errors into sentences and exit codes. No work is done here.

Every subcommand is a module with HELP, EXAMPLE, `add_arguments(parser)` and `run(args) -> exit code`, imported only
when it is asked for, so that `pitbox --version` stays as quick as an interpreter can be.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.exit_codes import (
    FAULT,
    INTERRUPTED,
    LINK,
    LOCKED,
    NO_BOX,
    OK,
    REFUSED,
    TRUST,
    UNKNOWN,
    USAGE,
)
from firmware_bridge.version import VERSION

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from table_controller.cli.screen import Screen

# Our own commands. Others join through the entry-point group "pitbox.commands".
_OWN: Final = {
    "answer": "table_controller.cli.answer",
    "approve": "table_controller.cli.approve",
    "bundle": "table_controller.cli.bundle",
    "config": "table_controller.cli.config",
    "device": "table_controller.cli.device",
    "devices": "table_controller.cli.devices",
    "doctor": "table_controller.cli.doctor",
    "enroll": "table_controller.cli.enroll",
    "explain": "table_controller.cli.explain",
    "hand": "table_controller.cli.hand",
    "hits": "table_controller.cli.hits",
    "jam": "table_controller.cli.jam",
    "jams": "table_controller.cli.jams",
    "journal": "table_controller.cli.journal",
    "keys": "table_controller.cli.keys",
    "payback": "table_controller.cli.payback",
    "people": "table_controller.cli.people",
    "prompts": "table_controller.cli.prompts",
    "rng": "table_controller.cli.rng",
    "rules": "table_controller.cli.rules",
    "run": "table_controller.cli.run",
    "say": "table_controller.cli.say",
    "status": "table_controller.cli.status",
    "trace": "table_controller.cli.trace",
    "usb": "table_controller.cli.usb",
    "version": "table_controller.cli.version",
}

__all__ = [
    "FAULT", "INTERRUPTED", "LINK", "LOCKED", "NO_BOX", "OK", "REFUSED", "TRUST", "UNKNOWN", "USAGE", "exit_code",
    "main",
]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run `pitbox`; return its exit code."""
    try:
        return _run(argv)
    except KeyboardInterrupt:
        print("\npitbox: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        print(f"pitbox {VERSION}")
        return OK
    parser, args = _parse(arguments)
    if args is None:
        parser.print_help()
        return USAGE if arguments else OK
    import io
    import logging
    import os

    from firmware_bridge.errors import PitboxError, UsageMistake

    logging.getLogger().addHandler(logging.NullHandler())  # what a command has to say, it prints
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our drawing characters is no reason to stop
    try:
        result: int = args.run(args)
    except PitboxError as error:
        _explain(error)
        if isinstance(error, UsageMistake):
            print(_usage(args.parser, arguments), end="", file=sys.stderr)
        return exit_code(error)
    except BrokenPipeError:  # the reader of our output has gone: `pitbox ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        return OK
    return result


def exit_code(error: Exception) -> int:
    """Return the exit code for an error, by who must act."""
    from firmware_bridge import errors

    table: list[tuple[type[Exception], int]] = [
        (errors.LinkError, LINK),
        (errors.TrustError, TRUST),
        (errors.OutcomeUnknown, UNKNOWN),
        (errors.ConfigurationError, USAGE),
        (errors.NotAllowed, REFUSED),
        (errors.BadRequest, USAGE),
        (errors.PanelNotServed, USAGE),
        (errors.BoxLocked, LOCKED),
        (errors.BoxFailed, LOCKED),
        (errors.BoxError, NO_BOX),
        (errors.JournalBusy, NO_BOX),
    ]
    said: type[BaseException] = getattr(error, "named", type(error))  # what a box said instead of doing it
    return next((code for kind, code in table if issubclass(said, kind)), FAULT)


def _parse(arguments: list[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace | None]:
    import argparse

    parser = argparse.ArgumentParser(
        prog="pitbox",
        description="Drives a card table's machines and makes them obey the table-game regulations.",
        epilog="example: pitbox demo\n\n"
        "exit codes: 0 done, 1 a device refused or failed, 2 what was typed cannot be used, 3 a device cannot\n"
        "be reached, 4 a device or a person did not prove who it is, 5 the outcome is unknown, 6 no box answers or\n"
        "another one runs, 7 the box is locked, 8 whoever asked may not, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"pitbox {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    wanted = next((word for word in arguments if not word.startswith("-")), None)
    for name, module in _modules(wanted).items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=f"example: {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run, parser=command, make_screen=_make_screen)
    args = parser.parse_args(arguments)
    return parser, args if hasattr(args, "run") else None


def _make_screen() -> Screen:
    """Return a screen on standard output, for commands of packages that cannot import this one."""
    from table_controller.cli.screen import PatientConsole, Screen

    return Screen(PatientConsole(highlight=False))


def _usage(parser: argparse.ArgumentParser, arguments: list[str]) -> str:
    """Return the usage of the command, or of its own subcommand, that was typed."""
    import argparse

    for word in arguments:
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        parser = next((action.choices[word] for action in below if word in action.choices), parser)
    return parser.format_usage()


def _modules(wanted: str | None) -> dict[str, Any]:
    """Return the command modules: only the wanted one if it is ours, else all of them."""
    from importlib import import_module

    if wanted in _OWN:
        return {wanted: import_module(_OWN[wanted])}
    from firmware_bridge.plugins import COMMANDS, installed_plugins  # costs more than most commands

    joined = installed_plugins(COMMANDS)
    if wanted in joined:
        return {wanted: joined[wanted].load()}
    found = {name: import_module(path) for name, path in _OWN.items()}
    found |= {name: point.load() for name, point in joined.items()}
    return dict(sorted(found.items()))


def _explain(error: Any) -> None:
    """Say what happened and what to do, on standard error."""
    from table_controller.catalogue import catalogue

    entry = catalogue().get(error.code)
    title = f" {entry.title}" if entry else ""
    print(f"pitbox: {error.code}{title}: {error}", file=sys.stderr)
    if entry:
        print(f"  what to do: {entry.act}", file=sys.stderr)
