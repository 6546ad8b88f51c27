"""`pitbox enroll`: enrolls a device in a slot of a running box; a technician and a floorperson sign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from table_controller.cli import OK
from table_controller.cli.box_link import add_box_arguments, connect_box, sign_on

if TYPE_CHECKING:
    import argparse

HELP = "enroll a device in a slot of a running box; the key of the previous device is revoked"
EXAMPLE = "pitbox enroll shuffler.1 --key SN124.key --as T3 --second F17"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("slot", help="as in `pitbox status`")
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="the key file of the new device (default: the slot's own)"
    )
    add_box_arguments(parser, people=2)


def run(args: argparse.Namespace) -> int:
    """Send the request and print the result."""
    from firmware_bridge.errors import NotAllowed

    if args.second is None:
        raise NotAllowed("a technician and a floorperson enroll a device; name the second person with --second")
    with connect_box(args) as caller:
        file = {} if args.key is None else {"file": str(args.key.resolve())}
        result = caller.request("enroll", slot=args.slot, **file, **sign_on(caller, args))
    revoked = f"; the key of {result['revoked']} is revoked" if result["revoked"] else ""
    print(f"{result['slot']}: {result['serial']} is enrolled{revoked}")
    return OK
