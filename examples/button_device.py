"""A device in Python: a flat button (docs/devices/button.md) on a pty, with its key and its approved firmware.

    python examples/button_device.py bench
    pitbox device button --port bench/button.1 where
    pitbox conform --port bench/button.1 --no-hands --out report

The first command prints the port and then every message that the host sends; Ctrl-C ends it. The second one prints
"position number 3", the third one a line per requirement: this device passes all that need no person to move the
button. A real device does the same in its own language: docs/protocol.md has every byte. Here firmware_bridge provides
framing, handshake, MAC, acknowledgment and the memory of commands; the device adds its state and its replies.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import os
import secrets
import sys
import tty
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from devices.button import messages as m
from firmware_bridge.commands import Accepted, AskCommand, CommandMemory, GetReport, Outcome, Report
from firmware_bridge.errors import LinkError
from firmware_bridge.handshake import DeviceHandshake
from firmware_bridge.keys import ApprovedFirmware, new_key, save_approved, save_key
from firmware_bridge.messages import DeviceHello, Message, decoder, tag_of
from firmware_bridge.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.link import Link

SERIAL: Final = "EXAMPLE-1"
FIRMWARE: Final = "example-1.0"
# A device reports the digest of its firmware image. This program is its own image.
DIGEST: Final = sha256(Path(__file__).read_bytes()).digest()
SELF_TEST_S: Final = 0.2
# A reset waits until its reply has left.
RESET_S: Final = 0.05
# Sensor levels: a button raises its place above PRESENT; every other place stays below ABSENT.
LEVEL_BUTTON, LEVEL_EMPTY, PRESENT, ABSENT = 900, 50, 600, 280


class PtyPort:
    """The device end of a pty: a Transport of firmware_bridge. Hosts may open and close the other end."""

    def __init__(self, port: Path) -> None:
        self.on_bytes: Callable[[bytes], None] = lambda _: None
        self.on_lost: Callable[[LinkError], None] = lambda _: None
        self.backlog = 0
        self._fd, host_end = os.openpty()
        tty.setraw(host_end)
        port.unlink(missing_ok=True)
        port.symlink_to(os.ttyname(host_end))
        os.close(host_end)
        os.set_blocking(self._fd, False)
        self._watch()

    def _watch(self) -> None:
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    def _read(self) -> None:
        try:
            self.on_bytes(os.read(self._fd, 4096))
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            loop = asyncio.get_running_loop()  # no host has the port open; look again soon
            loop.remove_reader(self._fd)
            loop.call_later(0.02, self._watch)

    def write(self, data: bytes) -> None:
        """Send bytes. A frame fits into the buffer of a pty; with no host the bytes are lost, as on a real line."""
        try:
            os.write(self._fd, data)
        except OSError:
            return

    def close(self) -> None:
        """Close the port."""
        asyncio.get_running_loop().remove_reader(self._fd)
        os.close(self._fd)


class ButtonDevice:
    """The program of the device: one button at place 3, a self-test and a reset."""

    def __init__(self, port: PtyPort, key: bytes) -> None:
        self._port = port
        self._key = key
        self._memory = CommandMemory()  # makes sure that no command runs twice; survives a reset
        self._bench_visits = 0  # survives a reset, too
        self._link: Link | None = None
        self._boot()

    def _boot(self) -> None:
        """Start, or start again after a reset: a new boot id, no session, no running command."""
        if self._link is not None:
            self._link.fail(LinkError("the device restarts"))
        self._link = None
        self._memory.fail_running(m.Reason.POWER_LOST)
        self._state = m.State.WATCHING
        self._place = 3
        self._boot_id = secrets.randbits(32)
        self._booted_s = asyncio.get_running_loop().time()
        self._test: asyncio.TimerHandle | None = None
        # The Greeter puts a fresh challenge into every hello.
        hello = DeviceHello(m.KIND, SERIAL, "EX-B7", FIRMWARE, DIGEST, [m.LOCATES], self._boot_id, challenge=bytes(16))
        DeviceHandshake(
            Wire(self._port), self._key, hello, decoder(m.ToDevice), self._begin_session, secrets.token_bytes
        )

    def _begin_session(self, link: Link, role: str) -> None:
        self._link = link
        self._bench_visits += role == "bench"
        link.on_request = self._reply

    def _reply(self, message: Any, seq: int) -> None:
        print(type(message).__name__, flush=True)
        assert self._link is not None
        self._link.send_reply(seq, self._answer(message))

    def _answer(self, message: Any) -> Message:
        match message:
            case GetReport():
                uptime_s = int(asyncio.get_running_loop().time() - self._booted_s)
                return Report(self._boot_id, uptime_s, self._bench_visits, self._memory.recent())
            case AskCommand():
                return self._memory.recall(message.command)
            case m.GetStatus():
                return m.Status(self._state, self._place, m.Reason.NONE, 0)
            case m.GetSensors():
                levels = [LEVEL_BUTTON if place == self._place else LEVEL_EMPTY for place in range(1, m.PLACES + 1)]
                return m.Sensors(levels, ABSENT, PRESENT)
        return self._command(message)

    def _command(self, message: m.Actuation) -> Message:
        known = self._memory.begin(message.command, tag_of(type(message)))
        if known is not None:
            return known  # sent again: report the first result
        loop = asyncio.get_running_loop()
        if isinstance(message, m.Reset):
            if self._test is not None:
                self._test.cancel()
            loop.call_later(RESET_S, self._boot)
            return self._memory.settle(message.command, Outcome.DONE)
        if self._state is m.State.TESTING:
            return self._memory.settle(message.command, Outcome.REFUSED, m.Reason.BUSY)
        self._state = m.State.TESTING
        self._test = loop.call_later(SELF_TEST_S, self._end_self_test, message.command)
        return Accepted(message.command)

    def _end_self_test(self, command: int) -> None:
        self._state = m.State.WATCHING
        settled = self._memory.settle(command, Outcome.DONE)
        if self._link is not None and self._link.down is None:
            self._link.send_event(m.SelfTested(command, bad_places=0))
            self._link.send_event(settled)


async def run(folder: Path) -> None:
    """Serve the device until the program ends."""
    folder.mkdir(parents=True, exist_ok=True)
    key = new_key(SERIAL, m.KIND)
    (folder / "button.1.key").unlink(missing_ok=True)
    save_key(folder / "button.1.key", key)
    save_approved(folder / "approved.toml", frozenset({ApprovedFirmware(m.KIND, FIRMWARE, DIGEST)}))
    port = PtyPort(folder / "button.1")
    ButtonDevice(port, key.key)
    print(f"Port {folder / 'button.1'}", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        port.close()
        (folder / "button.1").unlink(missing_ok=True)


def main() -> int:
    """Read the arguments and serve the device."""
    parser = argparse.ArgumentParser(description="a flat button on a pty")
    parser.add_argument("folder", type=Path, help="folder for the port, the key file and the list of approved firmware")
    try:
        asyncio.run(run(parser.parse_args().folder))
    except KeyboardInterrupt:
        print("Stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
