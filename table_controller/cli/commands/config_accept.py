"""`pitbox config accept`: two people accept, on a stopped box, that table.toml lists other devices than the journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from table_controller.cli import OK
from table_controller.cli.dual_authorization import add_signer_arguments, authenticate_signers, named_signers
from table_controller.cli.pins import add_pin_argument

if TYPE_CHECKING:
    import argparse

HELP: Final = (
    "record that two people accept a changed list of devices (added, removed, or another dealing method); the box must "
    "be stopped between rounds"
)
EXAMPLE: Final = "pitbox config accept --config /etc/pitbox/table.toml --technician T3 --floorperson F17"
_WHAT: Final = "a change of devices"
# The person who installs a machine, and the person who is responsible for the table.
_PEOPLE: Final = ("technician", "floorperson")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="the changed table.toml (default: /etc/pitbox/table.toml)"
    )
    add_signer_arguments(parser, _PEOPLE)
    add_pin_argument(parser)
    parser.set_defaults(people=None)


def run(args: argparse.Namespace) -> int:
    """Print the differences, authenticate both people, then record the change. Refused while a box runs."""
    from table_controller.config import default_path, load_config
    from table_controller.host.data_folder import DataFolder
    from table_controller.maintenance.device_acceptance import accept_changes, changes_to_accept
    from table_controller.table.events import Person

    named_ids = named_signers(args, _PEOPLE, _WHAT)
    config = load_config(args.config or default_path())
    data = DataFolder(config.data)
    try:
        for change in changes_to_accept(config, (Person("technician", ""), Person("floorperson", ""))):
            print(change)
        signers = authenticate_signers(args, named_ids, _WHAT)
        record = accept_changes(config, (signers["technician"].event_person, signers["floorperson"].event_person))
    finally:
        data.close()
    print(f"accepted by technician {signers['technician'].id} and floorperson {signers['floorperson'].id}: "
          f"record {record.seq}; start the box")  # fmt: skip
    return OK
