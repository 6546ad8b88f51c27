"""Reads PINs, from the terminal without echo or from a private file, and finds the people file."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from firmware_bridge.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    import argparse

    from table_controller.access.people_file import CredentialHolder
    from table_controller.access.pin_check import PinChecker


def add_people_arguments(parser: argparse.ArgumentParser, *, pins: bool = True) -> None:
    """Add the arguments that name the people file and, with `pins`, the PIN file."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--people", type=Path, metavar="FILE", help="the people file")
    where.add_argument(
        "--config", type=Path, metavar="FILE", help="the table.toml that names it (default: /etc/pitbox/table.toml)"
    )
    if pins:
        add_pin_argument(parser)


def add_pin_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the PIN file; one file serves all named people."""
    parser.add_argument(
        "--pin-file", type=Path, metavar="FILE",
        help="lines of a credential and its PIN, mode 0600 (default: ask on the terminal)",
    )  # fmt: skip


def people_file(args: argparse.Namespace) -> Path:
    """Return the people file, named directly or by a configuration."""
    from table_controller.config import default_path, load_config

    named: Path | None = args.people
    if named is not None:
        return named
    config: Path = args.config or default_path()
    if args.config is None and not config.exists():
        raise UsageError(f"name the people file with --people, or a table.toml with --config ({config} does not exist)")
    return load_config(config).people


def authenticate(args: argparse.Namespace, checker: PinChecker, id_: str) -> CredentialHolder:
    """Check a person's PIN while no box runs; a wrong PIN is noted in the file, and the next start journals it."""
    from contextlib import suppress

    from firmware_bridge.errors import BadPeopleFile, CredentialRefused
    from table_controller.access.people_file import record_refused_pin, user_name

    try:
        return checker.check(id_, ask_pin(args, id_))
    except CredentialRefused:
        with suppress(BadPeopleFile):  # a user who may not write the file is refused all the same
            record_refused_pin(checker.path, id_, user_name(os.geteuid()))
        raise


def ask_pin(args: argparse.Namespace, id_: str, *, twice: bool = False) -> str:
    """Return the PIN of a credential, from the PIN file or typed."""
    file: Path | None = args.pin_file
    if file is not None:
        return _from_file(file, id_)
    if not sys.stdin.isatty():
        raise UsageError(f"there is no terminal to ask for the PIN of {id_}: use --pin-file")
    from getpass import getpass

    try:
        pin = getpass(f"PIN of {id_}: ")
        if twice and getpass("again: ") != pin:
            raise ConfigurationError("the two PINs differ; nothing was changed")
    except EOFError:
        raise ConfigurationError("no PIN was entered; nothing was changed") from None
    return pin


def _from_file(file: Path, id_: str) -> str:
    try:
        mode = file.stat().st_mode
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise ConfigurationError(f"{file}: {reason}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(f"{file}: others can read these PINs; run: chmod 600 {file}")
    for line in lines:
        name, _, pin = line.strip().partition(" ")
        if name.casefold() == id_.casefold():
            return pin.strip()
    raise ConfigurationError(f"{file}: no line begins with {id_}; a line is a credential, a space and its PIN")
