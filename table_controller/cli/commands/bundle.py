"""`pitbox bundle`: a support file with all evidence of a fault and no keys, PINs, cards or patrons."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from firmware_bridge.errors import ConfigurationError, PitboxError
from table_controller.cli import OK
from table_controller.cli.commands.faults import add_data_arguments, data_folder, read_history, reason_titles

if TYPE_CHECKING:
    import argparse

    from table_controller.maintenance.support_bundle import Bundle

HELP = "write a support bundle that is safe to send: no keys, no PINs, no cards, no patrons"
EXAMPLE = "pitbox bundle --config /etc/pitbox/table.toml --out table12.tar.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_data_arguments(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the .tar.gz to write; it must not exist"
    )


def run(args: argparse.Namespace) -> int:
    """Collect the evidence, write the bundle, and print its contents."""
    from table_controller.maintenance.support_bundle import Bundle, collect

    args.data = data_folder(args)
    if not args.data.is_dir():
        raise ConfigurationError(f"{args.data} is not a folder; --data takes a box's data folder")
    if args.out.exists():
        raise ConfigurationError(f"{args.out} exists already; a bundle never overwrites a file")
    bundle = Bundle()
    config = None
    if args.config.exists():
        from table_controller.config import examine

        config = examine(args.config).config
        if config is None:
            bundle.left_out.append(
                "configuration and check-up: table.toml cannot be used; pitbox config check prints why"
            )
    collect(args.data, config, bundle)
    _history(args.data, bundle)
    if config is not None:
        _doctor(args.config, bundle)
    _manifest_of_software(bundle)
    _write(args.out, bundle.archive())
    manifest = bundle.manifest()
    for entry in manifest.files:
        print(f"{entry.size:>9,}  {entry.name:32s} {entry.about}")
    for line in manifest.left_out:
        print(f"{'left out':>9s}  {line}")
    print(f"{args.out}: {len(manifest.files)} files, {args.out.stat().st_size:,} bytes; safe to send: {manifest.safe}")
    return OK


def _history(data: Path, bundle: Bundle) -> None:
    import msgspec

    from table_controller.cli.commands.faults import journal_folder, known_faults
    from table_controller.diagnosis.summary import summarize

    try:
        summary = summarize(read_history(journal_folder(data), 0, known_faults(data)), reason_titles())
    except (PitboxError, OSError):
        return  # the line about the journal reports it
    bundle.add_json(
        "history.json", "faults and repairs, as pitbox faults --json prints them", msgspec.to_builtins(summary)
    )


def _doctor(config: Path, bundle: Bundle) -> None:
    from table_controller.cli.commands.doctor import check_all
    from table_controller.maintenance.doctor.check_result import OK as GOOD

    # Full lines contain paths and addresses, which must not leave the casino: only names and states are included.
    lines = [
        {"what": line.what, "state": line.state}
        for line in check_all(config, full=False, bench=False)
        if line.state != GOOD
    ]
    bundle.add_json("doctor.json", "checks of pitbox doctor that are not ok", lines)


def _manifest_of_software(bundle: Bundle) -> None:
    from table_controller.journal.versions import software_digest

    bundle.add_json(
        "software.json", "the digest of the software that wrote this bundle", {"software": software_digest()}
    )


def _write(path: Path, data: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    with os.fdopen(handle, "wb") as file:
        file.write(data)
