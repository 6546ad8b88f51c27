"""Follows the frames of a running box through its control socket, and keeps them as a capture. Opens no port."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

from devices.registry import all_messages
from firmware_bridge.capture import CaptureFile
from firmware_bridge.errors import BadCapture, NoBox
from table_controller.cli.frame_text import frame_text
from table_controller.controller.client import BoxClient

if TYPE_CHECKING:
    from pathlib import Path


class BoxTrace:
    """Prints every frame that the box shows, with its slot, and hands it on to a file. The box has blanked cards."""

    def __init__(self, out: Path | None) -> None:
        self.file: CaptureFile | None = None
        self.unheard: OSError | None = None
        self._began_ns = 0
        self._now_ns = 0
        if out is not None:
            try:
                self.file = CaptureFile(out.open("xb", buffering=0), all_messages(), lambda: self._now_ns)
            except OSError as error:
                raise BadCapture(f"{out}: {error.strerror}") from error

    async def follow(self, socket: Path, slots: list[str], seconds: float | None) -> None:
        """Follow until the time is up or the box ends; NoBox if it ends first."""
        client = await BoxClient.connect(socket, self._push)
        try:
            await client.request("trace", slots=slots)
            async with asyncio.timeout(seconds):
                await client.gone.wait()
        except TimeoutError:
            return
        finally:
            await client.close()
        if self.unheard is not None:
            raise self.unheard
        raise NoBox("the box has ended")

    def _push(self, told: dict[str, Any]) -> None:
        frame = told.get("frame")
        if frame is None:
            return
        self._now_ns = frame["time_ns"]
        self._began_ns = self._began_ns or self._now_ns
        signed, mac = base64.b64decode(frame["signed"]), base64.b64decode(frame["mac"])
        if self.file is not None:
            self.file.port(frame["slot"])(frame["outgoing"], signed, mac)
        if self.unheard is None:
            at = (self._now_ns - self._began_ns) / 1e9
            try:
                print(f"{at:9.4f} {frame['slot']:14s} {frame_text(frame['outgoing'], signed)}", flush=True)
            except OSError as error:  # whoever read our output has gone
                self.unheard = error
