"""Measures request and reply over USB/IP on loopback between two processes, against TCP echoes.

Ours uses pyusb, our backend, a USB/IP server and a simulated machine: four USB/IP packets and three threads per
request. There is no budget: only benches use this connection.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from benchmarks.link import bare, coded, linked, remote_device, trips_row
from benchmarks.remote_devices import DEVICE_KEY, TCP_ENDS
from benchmarks.rows import arguments, interleave, print_table
from firmware_bridge.transport.ports import open_port

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from benchmarks.link import Host
    from benchmarks.rows import Role

ROUNDS: Final = 60


def _number(port: Path) -> int:
    """Return the TCP port that a device process has written to its file."""
    return int(port.read_text())


def _connected(port: Path) -> int:
    with socket.create_connection(("127.0.0.1", _number(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        return os.dup(connection.fileno())


async def _pitbox(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    address = f"usbip://127.0.0.1:{_number(port)}/1209:0001:{DEVICE_KEY.serial}"
    return await linked(await open_port(address), closing)


HOSTS: Final[dict[str, tuple[str, Role, Host]]] = {
    "bare_tcp": ("bare TCP echo", "floor", bare(_connected)),
    "codec_tcp": ("TCP echo + codec + MAC", "floor", coded(_connected)),
    "usbip": ("pitbox over USB/IP", "ours", _pitbox),
}
assert HOSTS.keys() == TCP_ENDS.keys()


def main() -> None:
    """Start the device processes, measure, print."""
    rounds = arguments(
        "Authenticated request and reply over USB/IP compared with TCP echoes on loopback. Ratios count.",
        "python -m benchmarks.usb --rounds 20",
        ROUNDS,
    )
    with TemporaryDirectory() as folder, ExitStack() as far_ends, asyncio.Runner() as runner, ExitStack() as hosts:
        for name in HOSTS:
            far_ends.enter_context(remote_device(name, Path(folder, name)))
        rows = [
            trips_row(runner, title, role, runner.run(host(Path(folder, name), hosts)))
            for name, (title, role, host) in HOSTS.items()
        ]
        interleave(rows, rounds)
        print_table("request -> reply over loopback, two processes", rows, rows[:2])


if __name__ == "__main__":
    main()
