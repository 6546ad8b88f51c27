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

from firmware_bridge.errors import NoManifest, SoftwareNotApproved
from firmware_bridge.transport.ports import is_path
from table_controller.approval import check_approval, manifest_path
from table_controller.controller.key_files import fingerprint
from table_controller.journal import records as rec
from table_controller.journal.migrations import SOFTWARE
from table_controller.manifest import FILE, configuration, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box
    from table_controller.controller.plan import Plan

log = logging.getLogger(__name__)

# What a development table is marked with, wherever it is shown.
UNVERIFIED: Final = "UNVERIFIED: a development table (table.development = true); nobody approved what runs here"
# The approved manifest is looked at again after so long (s): a file that was deleted or replaced locks the table.
LOOK_EVERY: Final = 30.0
# So many differences are told one by one; more is another computer altogether.
MOST_DIFFERENCES: Final = 20
# The same `pitbox`, behind everything else that runs: the table comes first.
_LOOK: Final = "import os, sys; os.nice(19); from table_controller.cli import main; sys.exit(main())"
# Less room than this (bytes) is worth a word long before the ballast is needed.
LITTLE_ROOM: Final = 256 << 20


def describe_files(config: TableConfig) -> str:
    """Return what identifies the configuration file and each slot's key, so that the journal shows every exchange."""
    digest = next(part.digest for part in configuration(config) if part.name == FILE)
    keys = ", ".join(f"{slot.name} {slot.key.serial} {fingerprint(slot.key)[:16]}" for slot in config.slots)
    return f"{config.path.name} {digest[:16]}; keys by serial number and fingerprint: {keys}"


def check_software(config: TableConfig, digests: Mapping[str, str]) -> tuple[str, str]:
    """Compare what decides at the table with the manifest that two people approved; return the finding.

    NoManifest without one. SoftwareNotApproved if the software is another, or the choices of the Rules Submission, the
    edition or the list of approved firmware. The rest takes longer than a start may: `compare_whole`, once the box
    runs. A development table needs no manifest.
    """
    approval = check_approval(config)
    if approval is None:
        return "software", UNVERIFIED
    path = manifest_path(config)
    named = {part.name: part.digest for part in read_manifest(path).components}
    runs = {part.name: part.digest for part in configuration(config) if part.name != FILE}
    for name, digest in {SOFTWARE: digests[SOFTWARE], **runs}.items():
        if named.get(name) != digest:
            wanted = named.get(name, "none")
            raise SoftwareNotApproved(f"{path} names {name} {wanted[:16]}, and this is {digest[:16]}")
    return "software", f"software and configuration as approved: {approval.sentence}"


async def watch_approval(box: Box, config: TableConfig) -> None:
    """Lock the table when its approved manifest is deleted or replaced while it runs. Until cancelled."""
    while not config.development:
        await asyncio.sleep(LOOK_EVERY)
        try:
            await box.aside(lambda: check_approval(config))
        except (NoManifest, SoftwareNotApproved) as cause:
            box.halt(cause)
            return


async def compare_whole(box: Box, config: TableConfig) -> None:
    """Compare everything that is installed with the manifest, in a process of its own; what differs locks the table.

    Another text of table.toml with the same choices, as a port that was moved, is a note in the journal.
    """
    path = manifest_path(config)
    if config.development:
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
    locking = [line for line in lines if not line.startswith(f"~ {FILE} ")]
    if locking:
        box.halt(SoftwareNotApproved(f"{len(locking)} not as {path} names it, the first: {locking[0]}"))


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
