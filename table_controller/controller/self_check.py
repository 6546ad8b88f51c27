"""Before anything moves: is this the software, the configuration, the folder and the disk that a box may run with?

What forbids a start is raised; what people should know is returned, a line each. Nothing is changed. What takes too
long for a start is looked at beside the running table.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import SoftwareNotApproved
from firmware_bridge.transport.ports import is_path
from table_controller.journal import records as rec
from table_controller.journal.migrations import SOFTWARE
from table_controller.manifest import FILE, configuration, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box
    from table_controller.controller.plan import Plan

log = logging.getLogger(__name__)

# Lies beside the configuration, written by: pitbox version --manifest --json --config table.toml.
MANIFEST: Final = "manifest.json"
# So many differences are told one by one; more is another computer altogether.
MOST_DIFFERENCES: Final = 20
# The same `pitbox`, behind everything else that runs: the table comes first.
_LOOK: Final = "import os, sys; os.nice(19); from table_controller.cli import main; sys.exit(main())"
# Less room than this (bytes) is worth a word long before the ballast is needed.
LITTLE_ROOM: Final = 256 << 20


def check_software(config: TableConfig, digests: Mapping[str, str]) -> tuple[str, str]:
    """Compare what decides at the table with the manifest beside the configuration, if there is one.

    SoftwareNotApproved if the software is another, or (where the manifest was written with `--config`) the choices of
    the Rules Submission, the edition or the list of approved firmware. The rest takes longer than a start may and is
    looked at once the box runs (`compare_whole`).
    """
    path = config.path.parent / MANIFEST
    if not path.exists():
        return "software", f"there is no {path} to compare with"
    named = {part.name: part.digest for part in read_manifest(path).components}
    runs = {part.name: part.digest for part in configuration(config) if part.name in named and part.name != FILE}
    for name, digest in {SOFTWARE: digests[SOFTWARE], **runs}.items():
        if named.get(name) != digest:
            wanted = named.get(name, "none")
            raise SoftwareNotApproved(f"{path} names {name} {wanted[:16]}, and this is {digest[:16]}")
    about = "software and configuration" if runs else "software (it names no configuration)"
    return "software", f"{about} as {path} names it"


async def compare_whole(box: Box, config: TableConfig) -> None:
    """Compare everything that is installed with the manifest, in a process of its own, and write down what differs."""
    path = config.path.parent / MANIFEST
    if not path.exists():
        return
    look = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _LOOK, "version", "--diff", path, "here", "--config", config.path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        told, _ = await look.communicate()
    except asyncio.CancelledError:
        if look.returncode is None:
            look.kill()
            await look.wait()
        raise
    lines = told.decode("utf-8", "replace").splitlines()
    if look.returncode == 0:
        box.checks.append(("manifest", f"everything is as {path} names it"))
        return
    shown = lines[:MOST_DIFFERENCES] + [f"and {len(lines) - MOST_DIFFERENCES} more"] * (len(lines) > MOST_DIFFERENCES)
    for line in shown:
        box.checks.append(("manifest", line))
        log.warning("not as %s names it: %s", path, line)
    box.note(rec.Note("manifest", f"{len(lines)} not as {path.name} names it: " + "; ".join(shown)))


def look_around(plan: Plan, folder: Path, digests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what was looked at and found: (what, finding)."""
    found = [(f"{name} digest", digest) for name, digest in sorted(digests.items())]
    missing = [f"{place.name} ({place.port})" for place in plan.places if not _there(place.port)]
    found.append(("ports", f"not there: {', '.join(missing)}" if missing else "all there"))
    disk = os.statvfs(folder)
    room = disk.f_bavail * disk.f_frsize
    little = "" if room >= LITTLE_ROOM else "; that is little: make room, or the table locks when it is used up"
    found.append(("data folder", f"{folder}, {room >> 20} MB free{little}"))
    return found


def _there(port: str) -> bool:
    return not is_path(port) or Path(port).exists()
