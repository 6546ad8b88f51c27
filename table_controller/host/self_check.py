"""The self-check before anything moves: are software, configuration, folder and disk those that a box may run with?

A problem that forbids the start is raised; other results are returned for people. Nothing is changed. Checks that take
too long for a start run while the table plays.
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
from table_controller.host.approval import check_approval, manifest_path
from table_controller.host.manifest import CONFIGURATION_FILE, configuration_components, read_manifest
from table_controller.journal import records as rec
from table_controller.journal.migrations import SOFTWARE
from table_controller.maintenance.key_files import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.config import TableConfig
    from table_controller.controller.box import Box
    from table_controller.controller.plan import Plan

log = logging.getLogger(__name__)

# Shown on every page of a development table.
UNVERIFIED: Final = "UNVERIFIED: a development table (table.development = true) that runs without an approval"
# How often the approved manifest is checked (s): if it was deleted or replaced, the table locks.
CHECK_EVERY_S: Final = 30.0
# The most differences that are listed.
MOST_DIFFERENCES: Final = 20
# The same `pitbox`, at the lowest priority: the table comes first.
_COMPARE: Final = "import os, sys; os.nice(19); from table_controller.cli import main; sys.exit(main())"
# Below this free space (bytes) the self-check warns, long before the ballast is needed.
LOW_SPACE_BYTES: Final = 256 << 20


def describe_files(config: TableConfig) -> str:
    """Return the digests of the configuration file and of each key, so that the journal shows every exchange."""
    digest = next(part.digest for part in configuration_components(config) if part.name == CONFIGURATION_FILE)
    keys = ", ".join(f"{slot.name} {slot.key.serial} {fingerprint(slot.key)[:16]}" for slot in config.slots)
    return f"{config.path.name} {digest[:16]}; keys by serial number and fingerprint: {keys}"


def check_software(config: TableConfig, digests: Mapping[str, str]) -> tuple[str, str]:
    """Compare software and configuration with the manifest that two people approved; return the result.

    Raise NoManifest without one, and SoftwareNotApproved if the software, the choices of the Rules Submission, the
    edition or the list of approved firmware differs. `compare_installation` compares everything else while the box
    runs. A development table needs no manifest.
    """
    approval = check_approval(config)
    if approval is None:
        return "software", UNVERIFIED
    path = manifest_path(config)
    named = {part.name: part.digest for part in read_manifest(path).components}
    runs = {part.name: part.digest for part in configuration_components(config) if part.name != CONFIGURATION_FILE}
    for name, digest in {SOFTWARE: digests[SOFTWARE], **runs}.items():
        if named.get(name) != digest:
            approved = named.get(name, "none")
            raise SoftwareNotApproved(f"{path} names {name} {approved[:16]}, but this is {digest[:16]}")
    return "software", f"software and configuration as approved: {approval.sentence}"


async def watch_approval(box: Box, config: TableConfig) -> None:
    """Lock the table when its approved manifest is deleted or replaced while it runs. Runs until canceled."""
    while not config.development:
        await asyncio.sleep(CHECK_EVERY_S)
        try:
            await box.run_in_thread(lambda: check_approval(config))
        except (NoManifest, SoftwareNotApproved) as cause:
            box.halt(cause)
            return


async def compare_installation(box: Box, config: TableConfig) -> None:
    """Compare everything that is installed with the manifest, in a separate process; a difference locks the table.

    A table.toml with other text but the same choices, for example another port, is only a note in the journal.
    """
    path = manifest_path(config)
    if config.development:
        return
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _COMPARE, "version", "--diff", path, "here", "--config", config.path,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise
    lines = output.decode("utf-8", "replace").splitlines()
    if process.returncode == 0:
        box.checks.append(("manifest", f"everything matches {path}"))
        return
    shown = lines[:MOST_DIFFERENCES] + [f"and {len(lines) - MOST_DIFFERENCES} more"] * (len(lines) > MOST_DIFFERENCES)
    for line in shown:
        box.checks.append(("manifest", line))
        log.warning("differs from %s: %s", path, line)
    box.note(rec.Note("manifest", f"{_differences(lines)} from {path.name}: " + "; ".join(shown)))
    locking = [line for line in lines if not line.startswith(f"~ {CONFIGURATION_FILE} ")]
    if locking:
        box.halt(SoftwareNotApproved(f"{_differences(locking)} from {path}, the first: {locking[0]}"))


def _differences(lines: list[str]) -> str:
    return "1 difference" if len(lines) == 1 else f"{len(lines)} differences"


def check_ports_and_disk(plan: Plan, folder: Path, digests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the results of the check of ports and disk: (what, result)."""
    results = [(f"{name} digest", digest) for name, digest in sorted(digests.items())]
    missing = [f"{place.name} ({place.port})" for place in plan.slots if not _is_present(place.port)]
    results.append(("ports", f"missing: {', '.join(missing)}" if missing else "all present"))
    disk = os.statvfs(folder)
    room = disk.f_bavail * disk.f_frsize
    little = "" if room >= LOW_SPACE_BYTES else "; that is little: make room, or the table locks when the disk is full"
    results.append(("data folder", f"{folder}, {room >> 20} MB free{little}"))
    return results


def _is_present(port: str) -> bool:
    return not is_path(port) or Path(port).exists()
