"""`pitbox run` as a real process, with waits for its status."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import NoBox
from simulators.casino.box_process import BoxProcess
from table_controller.access.control_client import BlockingClient
from tests.support.box.processes import LIMIT

if TYPE_CHECKING:
    from pathlib import Path


class RunningBox(BoxProcess):
    """One process, asked over its control socket."""

    @property
    def socket(self) -> Path:
        return self.config.parent / "data" / "control.sock"

    def status(self) -> dict[str, Any]:
        """Read its status, waiting until it answers."""
        until = time.monotonic() + LIMIT
        while True:
            try:
                with BlockingClient(self.socket) as caller:
                    status: dict[str, Any] = caller.request("status")
                    return status
            except NoBox:
                assert self.is_running, self.log_text()
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
