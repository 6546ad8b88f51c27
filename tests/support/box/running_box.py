"""`pitbox run` as a real process of its own: started, queried, signalled, ended by its process id."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import NoBox
from table_controller.access.control_client import BlockingClient
from tests.support.box.processes import LIMIT, PITBOX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class RunningBox:
    """One process."""

    def __init__(self, config: Path, environment: Mapping[str, str] | None = None) -> None:
        self.config = config
        self.log = config.parent / "box.log"
        self._file = self.log.open("ab")
        self.process = subprocess.Popen(
            [*PITBOX, "run", "--config", str(config)], stdin=subprocess.DEVNULL, stdout=self._file, stderr=self._file,
            env=None if environment is None else {**os.environ, **environment},
        )  # fmt: skip

    @property
    def socket(self) -> Path:
        return self.config.parent / "data" / "control.sock"

    def log_text(self) -> str:
        return self.log.read_text()

    def status(self) -> dict[str, Any]:
        """Read its status, waiting until it answers."""
        until = time.monotonic() + LIMIT
        while True:
            try:
                with BlockingClient(self.socket) as caller:
                    status: dict[str, Any] = caller.request("status")
                    return status
            except NoBox:
                assert self.process.poll() is None, self.log_text()
                assert time.monotonic() < until, "the box does not answer"
                time.sleep(0.02)

    def until(self, name: str, *states: str) -> dict[str, Any]:
        """Wait until a slot is in one of these states; return the status."""
        until = time.monotonic() + LIMIT
        while True:
            status = self.status()
            (slot,) = [slot for slot in status["slots"] if slot["name"] == name]
            if slot["state"] in states or (slot["cause"] or {}).get("code") in states:
                return status
            assert time.monotonic() < until, f"{name} is {slot}"
            time.sleep(0.02)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its end; return the exit code."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        try:
            return self.process.wait(LIMIT)
        finally:
            self._file.close()


@contextmanager
def running(config: Path, environment: Mapping[str, str] | None = None) -> Iterator[RunningBox]:
    """Run a box; at the end it is stopped in order, if it still runs."""
    box = RunningBox(config, environment)
    try:
        yield box
    finally:
        if box.process.poll() is None:
            os.kill(box.process.pid, signal.SIGTERM)
            try:
                box.process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.kill(box.process.pid, signal.SIGKILL)
                box.process.wait()
        box._file.close()
