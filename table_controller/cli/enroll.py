"""`pitbox enroll`: a device takes a slot of a running box, under a technician and a floorperson."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from table_controller.cli import OK
from table_controller.cli.box_link import add_box_arguments, box, sign_on

if TYPE_CHECKING:
    import argparse

HELP = "enroll a device in a slot of a running box; the key of the one before is revoked"
EXAMPLE = "pitbox enroll shuffler.1 --key SN124.key --as T3 --second F17"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("slot", help="as in `pitbox status`")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the key file of another device; none: the slot's own")
    add_box_arguments(parser, people=2)


def run(args: argparse.Namespace) -> int:
    """Have the box do it, and say what it did."""
    from firmware_bridge.errors import NotAllowed

    if args.second is None:
        raise NotAllowed("a device is enrolled by a technician and a floorperson; name the other one with --second")
    with box(args) as caller:
        file = {} if args.key is None else {"file": str(args.key.resolve())}
        told = caller.ask("enroll", slot=args.slot, **file, **sign_on(caller, args))
    revoked = f"; the key of {told['revoked']} is revoked" if told["revoked"] else ""
    print(f"{told['slot']}: {told['serial']} is enrolled{revoked}")
    return OK
