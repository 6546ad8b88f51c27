"""Support for capture tests: a capture in memory, frames for it, and the real tshark."""

from __future__ import annotations

import asyncio
import io
import subprocess
from typing import TYPE_CHECKING, Final

from devices.message_registry import all_messages
from firmware_bridge import frame as fr
from firmware_bridge import pcapng
from firmware_bridge.capture import CaptureFile
from tests.support.suite.required_tools import need_tool
from tools.docs import dissector

if TYPE_CHECKING:
    from pathlib import Path

    from firmware_bridge.messages import Message

START_NS: Final = 1_700_000_000_123_456_789  # a wall clock whose nanoseconds show


def virtual_ns() -> int:
    """A wall clock that follows virtual time."""
    return START_NS + round(asyncio.get_running_loop().time() * 1e9)


def tshark(path: Path, *options: str, cut: bool = False) -> str:
    """Run tshark with our dissector and no preferences; return its output."""
    environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(path.parent), "WIRESHARK_CONFIG_DIR": str(path.parent)}
    command = [need_tool("tshark", "tshark"), "-X", f"lua_script:{dissector.DISSECTOR}", "-r", str(path), *options]
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Lua" not in done.stdout + done.stderr, "the dissector failed"
    if cut:
        assert "cut short" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
    return done.stdout


def rows(path: Path, *fields: str, only: str = "pitbox") -> list[list[str]]:
    """Return the chosen fields of the packets that match a display filter."""
    chosen = [part for field in fields for part in ("-e", field)]
    return [line.split("\t") for line in tshark(path, "-Y", only, "-T", "fields", *chosen).splitlines()]


def keep_in_memory(known: list[type[Message]] | None = None) -> tuple[io.BytesIO, CaptureFile]:
    """A capture with a standing clock, and the bytes it writes to."""
    file = io.BytesIO()
    return file, CaptureFile(file, all_messages() if known is None else known, lambda: START_NS)


def signed_with(payload: bytes, type_: int = fr.EVENT) -> bytes:
    """A sealed frame's header and payload."""
    return fr.pack_header(fr.SEALED, type_, fr.FIRST_SEQ, fr.FIRST_SEQ, fr.NO_RE, fr.FIRST_COUNTER) + payload


def captured_so_far(file: io.BytesIO) -> list[pcapng.CapturedPacket]:
    """Return the blocks of a capture so far, without decoding packets."""
    return list(pcapng.read(io.BytesIO(file.getvalue())))
