"""Before anything moves: is this the software, the configuration, the folder and the disk that a box may run with?

What forbids a start is raised; what people should know is returned, a line each. Nothing is changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_bridge.transport.ports import is_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.controller.plan import Plan

# Less room than this (bytes) is worth a word long before the ballast is needed.
LITTLE_ROOM: Final = 256 << 20


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
