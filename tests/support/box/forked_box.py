"""Forks one `pitbox run` after the other, so that a start needs no imports; each may be killed at a named point.

Run as a program with the path of a table.toml. Each line of standard input starts a box: it is POINT:N, and the box
kills itself with SIGKILL at its N-th pass of that point, or empty.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from firmware_bridge.transport.serial import _FdTransport
from table_controller.config import load_config
from table_controller.controller.box import Box
from table_controller.host import serve
from table_controller.journal.segment import JournalSegment
from table_controller.journal.store import Policy
from table_controller.journal.versions import software_digest

POINTS: Final = ("before_sync", "after_sync", "before_write", "after_write")
# Small segments and many snapshots, so that a run goes through several of both (bytes, steps).
_POLICY: Final = Policy(segment_bytes=256 << 10, ballast_bytes=1 << 20)
_SNAPSHOT_EVERY: Final = 150


class CrashPoints:
    """Counts the passes of each point, and kills the process at the named one."""

    def __init__(self, named: str) -> None:
        self.point, _, number = named.partition(":")
        self._left = int(number or 0)
        self._lock = threading.Lock()

    def count(self, point: str) -> None:
        if point == self.point:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, owner: Any, method: str, before: str, after: str) -> None:
        """Make the start and the end of a method points of this process."""
        real = getattr(owner, method)

        def watched(*given: Any) -> Any:
            self.count(before)
            done = real(*given)
            self.count(after)
            return done

        setattr(owner, method, watched)


async def _run(config_path: Path, crash: str) -> None:
    points = CrashPoints(crash)
    points.watch(JournalSegment, "append", "before_sync", "after_sync")  # each commit is one sync
    points.watch(_FdTransport, "write", "before_write", "after_write")
    serve.Box = partial(Box, snapshot_every=_SNAPSHOT_EVERY)  # type: ignore[attr-defined,assignment]
    config = load_config(config_path)
    await serve.serve(replace(config, journal=replace(config.journal, policy=_POLICY)))


def main(config_path: Path) -> None:
    """Fork a box for every line of standard input; print its process id, and when it ended."""
    logging.basicConfig(filename=config_path.parent / "box.log", level=logging.INFO)
    software_digest()
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(_run(config_path, line.strip()))
            os._exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(f"ended {status}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
