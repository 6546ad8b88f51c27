"""`pitbox approve`: two people approve the installed software and this configuration for a table."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from table_controller.cli import OK
from table_controller.cli.dual_authorization import add_signer_arguments, authenticate_signers, named_signers
from table_controller.cli.pins import add_pin_argument

if TYPE_CHECKING:
    import argparse

HELP = "have two people approve the installed software and configuration of a table; a box needs this to start"
EXAMPLE = "pitbox approve --config /etc/pitbox/table.toml --technician T3 --auditor A3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    from table_controller.host.approval import APPROVERS

    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="the table.toml to approve (default: /etc/pitbox/table.toml)"
    )
    add_signer_arguments(parser, APPROVERS)
    add_pin_argument(parser)
    parser.set_defaults(people=None)


def run(args: argparse.Namespace) -> int:
    """Authenticate both people, then write the manifest and the record. Refused while a box runs."""
    from firmware_bridge.errors import ConfigurationError, DataFolderUnusable
    from table_controller.config import default_path, load_config
    from table_controller.host.approval import APPROVERS, approve, manifest_path
    from table_controller.host.data_folder import DataFolder

    what = "the software of a table"
    who = named_signers(args, APPROVERS, what)
    config = load_config(args.config or default_path())
    if config.development:
        raise ConfigurationError(
            f"{config.path} has table.development = true: a development table cannot be approved; remove the key first"
        )
    data = DataFolder(config.data)
    try:
        people = authenticate_signers(args, who, what)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        approval = approve(config, people["technician"].id, people["auditor"].id, at)
    except OSError as error:
        raise DataFolderUnusable(f"{error.filename}: {error.strerror}; nothing was approved") from error
    finally:
        data.close()
    print(f"{manifest_path(config)}: {approval.sentence}")
    print("The next start compares software, edition, choices and every dependency with this manifest.")
    return OK
