"""`pitbox version`: lists every component that this box runs, and compares two lists."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import UsageError
from firmware_bridge.version import VERSION
from table_controller.cli import FAULT, OK

if TYPE_CHECKING:
    import argparse

    from table_controller.host.manifest import Manifest

HELP = "print what this box runs: every component with its digest; compare with another list"
EXAMPLE = "pitbox version --diff approved.json here"

HERE: Final = "here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--manifest", action="store_true", help="list every component with its digest")
    what.add_argument(
        "--diff", nargs=2, metavar=("A", "B"),
        help=f"compare two manifests written with --json, or one with {HERE!r}; exit code 1 if they differ",
    )  # fmt: skip
    parser.add_argument("--config", type=Path, metavar="FILE", help="include this table.toml")
    parser.add_argument("--json", action="store_true", help="with --manifest: as JSON, to keep and compare")
    parser.add_argument("--files", action="store_true", help="with --manifest: include every file of pitbox")


def run(args: argparse.Namespace) -> int:
    """Print the version, the manifest or the differences."""
    if args.diff:
        return _diff(args)
    if not args.manifest:
        if args.json or args.files or args.config:
            raise UsageError("--json, --files and --config need --manifest or --diff")
        from table_controller.journal.versions import software_digest

        print(f"pitbox {VERSION}")
        print(f"software {software_digest()}")
        return OK
    from table_controller.host.manifest import manifest_json, manifest_lines

    manifest_here = _here(args)
    if args.json:
        sys.stdout.write(manifest_json(manifest_here).decode())
    else:
        print("\n".join(manifest_lines(manifest_here, files=args.files)))
    return FAULT if any(each.altered for each in manifest_here.components) else OK


def _here(args: argparse.Namespace) -> Manifest:
    from table_controller.config import load_config
    from table_controller.host.manifest import build_manifest

    return build_manifest(None if args.config is None else load_config(args.config))


def _diff(args: argparse.Namespace) -> int:
    from table_controller.host.manifest import differences, read_manifest

    old, new = (_here(args) if name == HERE else read_manifest(Path(name)) for name in args.diff)
    changes = differences(old, new)
    print("\n".join(changes) if changes else f"the same: {len(old.components)} components")
    return FAULT if changes else OK
