"""The same cycle through real port servers: socat for socket://, ser2net for rfc2217://, on loopback only."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from devices.driver_events import LinkDown, Reported
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import LinkError, PortMissing
from firmware_bridge.transport.serial import open_serial
from simulators.casino.broker import free_port
from tests.support.box.processes import simulator
from tests.support.suite.required_tools import need_tool
from tests.support.wire.connected_driver import connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.realtime


@contextmanager
def server(command: list[str], number: int, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a port server until the end of the block; ready once it listens."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        until = time.monotonic() + 10
        while not _listens(number):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, f"{command[0]} does not listen: {log.read_text()}"
            time.sleep(0.05)
        yield process
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()


def _listens(number: int) -> bool:
    """Return whether a server listens, without connecting: the servers accept one client at a time."""
    with open("/proc/net/tcp", encoding="ascii") as table:  # noqa: PTH123 - a kernel table, not a file
        return any(f":{number:04X} 00000000:0000 0A" in line for line in table)


def socat(port: Path, number: int) -> list[str]:
    listen = f"TCP-LISTEN:{number},bind=127.0.0.1,reuseaddr,fork,max-children=1"
    return [need_tool("socat", "socat"), listen, f"{port},raw,echo=0"]


def ser2net(port: Path, number: int, folder: Path) -> list[str]:
    config = folder / "ser2net.yaml"
    accepter = f"telnet(rfc2217),tcp,127.0.0.1,{number}"
    config.write_text(
        "%YAML 1.1\n---\n"
        f"connection: &c\n  accepter: {accepter}\n  connector: serialdev,{port},115200n81,local\n"
        "  options:\n    chardelay: false\n    kickolduser: true\n"
    )
    return [need_tool("ser2net", "ser2net"), "-n", "-c", str(config), "-P", str(folder / "ser2net.pid")]


async def test_a_cycle_over_a_socket(tmp_path: Path) -> None:
    number = free_port()
    with simulator(tmp_path, "--speed", "30") as port, server(socat(port, number), number, tmp_path / "log"):
        async with connected(f"socket://127.0.0.1:{number}", tmp_path) as c:
            assert (await c.driver.shuffle(1)).outcome is Outcome.DONE
            assert [completed.count for completed in c.events_of(m.Completed)] == [53]


async def test_a_cycle_over_rfc2217(tmp_path: Path) -> None:
    number = free_port()
    with (
        simulator(tmp_path, "--speed", "30") as port,
        server(ser2net(port, number, tmp_path), number, tmp_path / "log"),
    ):
        async with connected(f"rfc2217://127.0.0.1:{number}?ign_set_control&timeout=5", tmp_path) as c:
            assert (await c.driver.shuffle(1)).outcome is Outcome.DONE
            assert [completed.count for completed in c.events_of(m.Completed)] == [53]


@pytest.mark.parametrize("kind", ["socket", "rfc2217"])
async def test_a_server_that_dies_is_noticed_and_found_again(tmp_path: Path, kind: str) -> None:
    number = free_port()
    with simulator(tmp_path, "--speed", "30") as port:
        command = socat(port, number) if kind == "socket" else ser2net(port, number, tmp_path)
        url = f"socket://127.0.0.1:{number}"
        if kind == "rfc2217":
            url = f"rfc2217://127.0.0.1:{number}?ign_set_control&timeout=5"
        with server(command, number, tmp_path / "log") as first:
            c_context = connected(url, tmp_path)
            c = await c_context.__aenter__()
            down = asyncio.create_task(c.next(LinkDown))
            for pid in [first.pid, *_children(first.pid)]:  # socat serves each client from a child
                os.kill(pid, signal.SIGKILL)
            assert isinstance((await down).cause, LinkError)
        back = asyncio.create_task(c.next(Reported, 40))
        with server(command, number, tmp_path / "log"):
            assert (await back).report.boot_id == c.events_of(Reported)[0].report.boot_id
            await c_context.__aexit__(None, None, None)


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:  # noqa: PTH123 - a kernel table
        return [int(child) for child in file.read().split()]


async def test_nobody_at_the_address_is_a_missing_port() -> None:
    number = free_port()
    for scheme in ("socket", "rfc2217"):
        with pytest.raises(PortMissing, match="nothing answers"):
            await open_serial(f"{scheme}://127.0.0.1:{number}")


async def test_a_peer_that_resets_the_connection_leaves_no_open_socket() -> None:
    lost: list[LinkError] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        transport = await open_serial(f"socket://127.0.0.1:{listener.getsockname()[1]}")
        transport.on_lost = lost.append
        held: socket.socket = transport._port._socket  # type: ignore[attr-defined]
        peer, _ = listener.accept()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        async with asyncio.timeout(30):
            while not lost or held.fileno() != -1:  # noqa: ASYNC110 - the port is closed in a thread
                await asyncio.sleep(0.01)
