"""Before anything moves: is this the software, the configuration, the folder and the disk that a box may run with?

What forbids a start is raised; what people should know is returned, a line each. Nothing is changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import SoftwareNotApproved
from firmware_bridge.transport.ports import is_path
from table_controller.journal.migrations import SOFTWARE
from table_controller.manifest import read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.controller.plan import Plan

# Lies beside the configuration, written by: pitbox version --manifest --json.
MANIFEST: Final = "manifest.json"
# Less room than this (bytes) is worth a word long before the ballast is needed.
LITTLE_ROOM: Final = 256 << 20


def check_software(folder: Path, digests: Mapping[str, str]) -> tuple[str, str]:
    """Compare the software that runs with the manifest beside the configuration, if there is one.

    SoftwareNotApproved if it is another. The rest of a manifest takes longer than a start may: `pitbox version --diff`.
    """
    path = folder / MANIFEST
    if not path.exists():
        return "software", f"there is no {path} to compare with"
    named = {part.name: part.digest for part in read_manifest(path).components}
    if named.get(SOFTWARE) != digests[SOFTWARE]:
        wanted = named.get(SOFTWARE, "none")
        raise SoftwareNotApproved(f"{path} names software {wanted[:16]}, and {digests[SOFTWARE][:16]} runs")
    return "software", f"as {path} names it"


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
