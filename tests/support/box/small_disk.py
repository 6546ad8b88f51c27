"""A disk that is really full or read-only: a small tmpfs, mounted by root; skips with a reason elsewhere."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.suite.required_tools import need, need_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a disk of this size, and take it away again."""
    need(os.geteuid() == 0, "only root may mount a small disk to fill (run this as root)")
    mount, umount = need_tool("mount", "mount"), need_tool("umount", "mount")
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    need(done.returncode == 0, f"this system does not let its root mount a disk: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run([umount, "-l", str(disk)], check=True)


def remount(disk: Path, how: str) -> None:
    """Turn a mounted disk read-only ("ro") or writable ("rw")."""
    subprocess.run([need_tool("mount", "mount"), "-o", f"remount,{how}", str(disk)], check=True, capture_output=True)
