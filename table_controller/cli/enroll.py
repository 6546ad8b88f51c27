"""`pitbox enroll`: another device takes a slot of a running box, under a technician and a floorperson."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from table_controller.cli import OK
from table_controller.cli.box_link import add_box_arguments, box, sign_on

if TYPE_CHECKING:
    import argparse

HELP = "enroll the device of a key file in a slot of a running box; the key of the one before is revoked"
EXAMPLE = "pitbox enroll shuffler.1 --key SN124.key --as T3 --second F17"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("slot", help="as in `pitbox status`")
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the key file of the new device")
    add_box_arguments(parser, people=2)


def run(args: argparse.Namespace) -> int:
    """Have the box do it, and say what it did."""
    from firmware_bridge.errors import NotAllowed

    if args.second is None:
        raise NotAllowed("a device is enrolled by a technician and a floorperson; name the other one with --second")
    with box(args) as caller:
        told = caller.ask("enroll", slot=args.slot, file=str(args.key.resolve()), **sign_on(caller, args))
    print(f"{told['slot']}: {told['serial']} is enrolled; the key of {told['revoked']} is revoked")
    return OK
