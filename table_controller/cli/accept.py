"""`pitbox config accept`: two people accept that table.toml has other devices than the journal, on a stopped box."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from table_controller.cli import OK
from table_controller.cli.pins import add_pin_argument
from table_controller.cli.two_people import add_two_arguments, named, proved

if TYPE_CHECKING:
    import argparse

ABOUT: Final = (
    "accept, by two people on a stopped box between rounds, that table.toml has other devices than the journal: added, "
    "removed, or another way to deal"
)
EXAMPLE: Final = "pitbox config accept --config /etc/pitbox/table.toml --technician T3 --floorperson F17"
_WHAT: Final = "a change of devices"
# Who installs a machine, and who answers for what stands at the table.
_PEOPLE: Final = ("technician", "floorperson")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="the changed table.toml (default: /etc/pitbox/table.toml)"
    )
    add_two_arguments(parser, _PEOPLE)
    add_pin_argument(parser)
    parser.set_defaults(people=None)


def accept(args: argparse.Namespace) -> int:
    """Show what differs, prove both people, then record it. Refused while a box runs."""
    from table_controller.config import default_path, load_config
    from table_controller.controller.accept import accept_changes, changes_to_accept
    from table_controller.controller.data_folder import DataFolder
    from table_controller.table.events import Person

    who = named(args, _PEOPLE, _WHAT)
    config = load_config(args.config or default_path())
    data = DataFolder(config.data)
    try:
        for change in changes_to_accept(config, (Person("technician", ""), Person("floorperson", ""))):
            print(change)
        found = proved(args, who, _WHAT)
        record = accept_changes(config, (found["technician"].speaker, found["floorperson"].speaker))
    finally:
        data.close()
    print(f"accepted by technician {found['technician'].id} and floorperson {found['floorperson'].id}: "
          f"record {record.seq}; start the box")  # fmt: skip
    return OK
