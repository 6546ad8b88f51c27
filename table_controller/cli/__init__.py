"""The `pitbox` command: finds the subcommand, runs it, and turns errors into sentences and exit codes.

Every subcommand is a module with HELP, EXAMPLE, `add_arguments(parser)` and `run(args) -> exit code`. Only the module
of the typed subcommand is imported, so that `pitbox --version` starts as fast as the interpreter.
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

    from table_controller.cli.render.screen import Screen

# The commands of this package. Other packages add theirs through the entry-point group "pitbox.commands".
_OWN: Final = {
    "answer": "table_controller.cli.commands.answer",
    "approve": "table_controller.cli.commands.approve",
    "bundle": "table_controller.cli.commands.bundle",
    "config": "table_controller.cli.commands.config",
    "device": "table_controller.cli.commands.device",
    "devices": "table_controller.cli.commands.devices",
    "doctor": "table_controller.cli.commands.doctor",
    "document": "table_controller.cli.commands.document",
    "enroll": "table_controller.cli.commands.enroll",
    "explain": "table_controller.cli.commands.explain",
    "fault": "table_controller.cli.commands.fault",
    "faults": "table_controller.cli.commands.faults",
    "hand": "table_controller.cli.commands.hand",
    "hits": "table_controller.cli.commands.hits",
    "journal": "table_controller.cli.commands.journal",
    "keys": "table_controller.cli.commands.keys",
    "payback": "table_controller.cli.commands.payback",
    "people": "table_controller.cli.commands.people",
    "prompts": "table_controller.cli.commands.prompts",
    "rng": "table_controller.cli.commands.rng",
    "rules": "table_controller.cli.commands.rules",
    "run": "table_controller.cli.commands.run",
    "status": "table_controller.cli.commands.status",
    "submit": "table_controller.cli.commands.submit",
    "trace": "table_controller.cli.commands.trace",
    "usb": "table_controller.cli.commands.usb",
    "version": "table_controller.cli.commands.version",
}
# Short names that stay.
_ALIASES: Final = {"jam": "fault", "jams": "faults"}
# Names of an earlier version: they work, and a line on standard error gives the new name.
_RENAMED: Final = {"say": "submit"}

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
    arguments = _with_current_name(arguments)
    parser, args = _parse(arguments)
    if args is None:
        parser.print_help()
        return USAGE if arguments else OK
    import io
    import logging
    import os

    from firmware_bridge.errors import PitboxError, UsageError

    logging.getLogger().addHandler(logging.NullHandler())  # commands print; they do not log
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may lack our drawing characters
    try:
        result: int = args.run(args)
    except PitboxError as error:
        _explain(error)
        if isinstance(error, UsageError):
            print(_usage(args.parser, arguments), end="", file=sys.stderr)
        return exit_code(error)
    except BrokenPipeError:  # the reader of our output has closed: `pitbox ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # drop what is still buffered
        return OK
    return result


def _with_current_name(arguments: list[str]) -> list[str]:
    """Return the arguments with an alias or a former name of a command replaced by its name."""
    at = next((at for at, word in enumerate(arguments) if not word.startswith("-")), None)
    if at is None or arguments[at] not in _ALIASES | _RENAMED:
        return arguments
    typed = arguments[at]
    name = (_ALIASES | _RENAMED)[typed]
    if typed in _RENAMED:
        print(f"pitbox: `pitbox {typed}` is now `pitbox {name}`", file=sys.stderr)
    return [*arguments[:at], name, *arguments[at + 1 :]]


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
        (errors.QuestionClosed, FAULT),
        (errors.RecordLate, UNKNOWN),
        (errors.PanelNotServed, USAGE),
        (errors.BoxLocked, LOCKED),
        (errors.BoxFailed, LOCKED),
        (errors.BoxError, NO_BOX),
        (errors.JournalBusy, NO_BOX),
    ]
    kind_of_error: type[BaseException] = getattr(
        error, "error_class", type(error)
    )  # the error that a box answered with
    return next((code for kind, code in table if issubclass(kind_of_error, kind)), FAULT)


def _parse(arguments: list[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace | None]:
    parser = command_parser(next((word for word in arguments if not word.startswith("-")), None))
    args = parser.parse_args(arguments)
    return parser, args if hasattr(args, "run") else None


def command_parser(typed: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of `pitbox`: with the typed command alone if there is one of that name, else with all."""
    import argparse

    modules = _modules(typed)
    parser = argparse.ArgumentParser(
        prog="pitbox",
        description="Drives a card table's machines and makes them obey the table-game regulations.",
        epilog=f"example: pitbox {'demo' if 'demo' in modules else 'status'}\n\n"
        "exit codes: 0 done, 1 a device refused or failed, 2 wrong command line or configuration, 3 a device cannot\n"
        "be reached, 4 a device or a person did not prove its identity, 5 the outcome is unknown, 6 no box answers\n"
        "or another box runs, 7 the box is locked, 8 not allowed, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"pitbox {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, module in modules.items():
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=f"example: {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run, parser=command, make_screen=_make_screen)
    if typed is not None and typed not in modules:
        _refuse_missing(parser, typed)
    return parser


def _refuse_missing(parser: argparse.ArgumentParser, typed: str) -> None:
    """End with a usage error if the typed command exists and its package is not installed."""
    from firmware_bridge.plugins import COMMANDS, missing_plugins

    package = missing_plugins(COMMANDS).get(typed)
    if package is not None:
        parser.error(f"invalid choice: {typed!r} is not installed on this box: the package {package} is missing")


def _make_screen() -> Screen:
    """Return a screen on standard output, for commands of packages that cannot import this one."""
    from table_controller.cli.render.screen import PipeSafeConsole, Screen

    return Screen(PipeSafeConsole(highlight=False))


def _usage(parser: argparse.ArgumentParser, arguments: list[str]) -> str:
    """Return the usage of the command, or of its own subcommand, that was typed."""
    import argparse

    for word in arguments:
        below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        parser = next((action.choices[word] for action in below if word in action.choices), parser)
    return parser.format_usage()


def _modules(typed: str | None) -> dict[str, Any]:
    """Return the command modules: only the typed one if there is one of that name, else all of them."""
    from importlib import import_module

    if typed in _OWN:
        return {typed: import_module(_OWN[typed])}
    from firmware_bridge.plugins import COMMANDS, installed_plugins  # takes longer than most commands

    joined = installed_plugins(COMMANDS)
    if typed in joined:
        return {typed: joined[typed].load()}
    modules = {name: import_module(path) for name, path in _OWN.items()}
    modules |= {name: point.load() for name, point in joined.items()}
    return dict(sorted(modules.items()))


def _explain(error: Any) -> None:
    """Print what happened and what to do, on standard error."""
    from table_controller.catalogue import catalogue

    entry = catalogue().get(error.code)
    title = f" {entry.title}" if entry else ""
    print(f"pitbox: {error.code}{title}: {error}", file=sys.stderr)
    if entry:
        print(f"  what to do: {entry.act}", file=sys.stderr)
