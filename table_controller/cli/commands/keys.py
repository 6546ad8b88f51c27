"""`pitbox keys`: makes the key of a new device. `pitbox enroll` assigns the device to a slot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from devices.message_registry import KIND_MESSAGES
from firmware_bridge.errors import BadKeyFile, UsageError
from firmware_bridge.keys import load_key, new_key, save_key
from firmware_bridge.messages import Name
from table_controller.cli import OK

if TYPE_CHECKING:
    import argparse

HELP = "make a device's key file, which is installed in the device and named in table.toml"
EXAMPLE = "pitbox keys new shuffler S-20417 --out /etc/pitbox/keys/shuffler.1.key"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    commands = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    about = "make a key from the system's entropy; an existing file is never overwritten"
    new = commands.add_parser(
        "new", help=about, description=about, epilog=f"example: {EXAMPLE}", formatter_class=parser.formatter_class
    )
    kinds = [machine.KIND for machine in KIND_MESSAGES]
    new.add_argument("kind", choices=kinds, metavar="KIND", help=", ".join(kinds))
    new.add_argument("serial", metavar="SERIAL", help="the device's serial number, exactly as the device reports it")
    new.add_argument("--out", type=Path, metavar="FILE", help="default: KIND-SERIAL.key here")
    new.set_defaults(do=_new)
    about = "print whose key a key file contains; the key itself is never shown"
    show = commands.add_parser(
        "show", help=about, description=about, epilog="example: pitbox keys show shuffler.1.key",
        formatter_class=parser.formatter_class,
    )  # fmt: skip
    show.add_argument("file", type=Path, metavar="FILE")
    show.set_defaults(do=_show)


def run(args: argparse.Namespace) -> int:
    """Run the typed subcommand."""
    done: int = args.do(args)
    return done


def _new(args: argparse.Namespace) -> int:
    try:
        serial = msgspec.convert(args.serial, Name)
    except msgspec.ValidationError:
        raise UsageError(f"{args.serial!r} is not a serial number: use 1 to 32 plain characters") from None
    if args.out is None and not serial.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise UsageError(f"the serial number {serial!r} cannot be a file name; name the file with --out")
    path = args.out or Path(f"{args.kind}-{serial}.key")
    try:
        save_key(path, new_key(serial, args.kind))
    except FileExistsError:
        raise BadKeyFile(f"{path} exists already; a key file is never overwritten") from None
    except OSError as error:
        raise BadKeyFile(f"{path}: {error.strerror}") from error
    print(f"{path}: the key of {args.kind} {serial}; only its owner can read the file")
    print("Install the same file in the device by hand: keys are never sent over a link.")
    return OK


def _show(args: argparse.Namespace) -> int:
    key = load_key(args.file)
    print(f"{key.kind} {key.serial}, {f'enrolled at {key.enrolled}' if key.enrolled else 'not enrolled'}")
    return OK
