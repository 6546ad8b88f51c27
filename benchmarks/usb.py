"""Request and reply over USB/IP on loopback between two processes, beside TCP echoes. Far ends live elsewhere.

Ours goes through pyusb, our backend, a USB/IP server and the twin: four packets of USB/IP and three threads for one
question. No budget names it; it is a bench's way to a simulator, and what it costs is shown.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from benchmarks.far_ends import DEVICE_KEY, TCP_ENDS, device_codec, host_codec, status
from benchmarks.link import TRIP_PATIENCE, Echoed, far_end, trips_row
from benchmarks.rows import arguments, interleave, print_table
from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge.handshake import Trust, greet
from firmware_bridge.transport.ports import open_port
from firmware_bridge.wire import Wire
from simulators.machine import approved

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ROUNDS: Final = 60


def _number(port: Path) -> int:
    """Return the TCP port that a far end has written down."""
    return int(port.read_text())


def _connected(port: Path) -> int:
    with socket.create_connection(("127.0.0.1", _number(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        return os.dup(connection.fileno())


async def _bare(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    frame = device_codec().write(status())
    end = Echoed(_connected(port), bytes)
    closing.callback(end.close)
    assert await end.ask(frame) == frame
    return lambda: end.ask(frame)


async def _codec(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    half = host_codec()
    end = Echoed(_connected(port), half.read)
    closing.callback(end.close)
    assert await end.ask(half.write(m.GetStatus())) == [status()]
    return lambda: end.ask(half.write(m.GetStatus()))


async def _pitbox(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    trust = Trust(m.KIND, {DEVICE_KEY.serial: DEVICE_KEY}, frozenset([approved("shuffler")]))
    transport = await open_port(f"usbip://127.0.0.1:{_number(port)}/1209:0001:{DEVICE_KEY.serial}")
    closing.callback(transport.close)
    link, _ = await greet(Wire(transport), trust, SHUFFLER.decoder)
    closing.callback(link.close)
    assert await link.request(m.GetStatus(), TRIP_PATIENCE) == status()
    return lambda: link.request(m.GetStatus(), TRIP_PATIENCE)


HOSTS: Final = {
    "bare_tcp": ("bare TCP echo", _bare),
    "codec_tcp": ("TCP echo + codec + MAC", _codec),
    "usbip": ("pitbox over USB/IP", _pitbox),
}
assert HOSTS.keys() == TCP_ENDS.keys()


def main() -> None:
    """Start the far ends, measure, print."""
    rounds = arguments(
        "Authenticated request and reply over USB/IP beside TCP echoes on loopback. Ratios count.",
        "python -m benchmarks.usb --rounds 20",
        ROUNDS,
    )
    with TemporaryDirectory() as folder, ExitStack() as far_ends, asyncio.Runner() as runner, ExitStack() as hosts:
        for name in HOSTS:
            far_ends.enter_context(far_end(name, Path(folder, name)))
        rows = [
            trips_row(runner, title, runner.run(host(Path(folder, name), hosts)))
            for name, (title, host) in HOSTS.items()
        ]
        interleave(rows, rounds)
        print_table("request -> reply over loopback, two processes", rows, rows[:2])


if __name__ == "__main__":
    main()
