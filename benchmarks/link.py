"""Measures request and reply over a real pty between two processes: two floors, our stack, pymodbus.

The host's ends of all rows share this process and one event loop; each device is a separate process
(`benchmarks.remote_devices`).
"""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from pymodbus.client import AsyncModbusSerialClient

from benchmarks.budgets import BUDGETS
from benchmarks.remote_devices import CHUNK, DEVICE_KEY, PTY_ENDS, REGISTERS, device_codec, host_codec, status
from benchmarks.rows import BenchmarkRow, Role, arguments, interleave, print_table, print_verdict
from devices.kinds import SHUFFLER
from devices.shuffler import messages as m
from firmware_bridge.handshake import Trust, open_session
from firmware_bridge.transport.serial import open_serial
from firmware_bridge.wire import Wire
from simulators.engine.machine import approved_firmware

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

    from firmware_bridge.wire import Transport

    # Connects to a device process and returns a function that sends one request.
    Host = Callable[[Path, ExitStack], Coroutine[Any, Any, Callable[[], Awaitable[Any]]]]

# Round trips per row and round: enough to settle, few enough that noise affects all rows alike.
BATCH: Final = 100
ROUNDS: Final = 100
# Limits (s) for the start or end of a device process, for a reply, and for a batch.
START_PATIENCE: Final = 20.0
TRIP_PATIENCE: Final = 5.0
BATCH_PATIENCE: Final = 30.0


class EchoHost:
    """The host's end of both floors: sends bytes; the reply, decoded by `decode`, resolves a future."""

    def __init__(self, fd: int, decode: Callable[[bytes], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._decode = decode
        self._reply: asyncio.Future[Any]
        self._loop.add_reader(self._fd, self._readable)

    def ask(self, data: bytes) -> asyncio.Future[Any]:
        self._reply = self._loop.create_future()
        os.write(self._fd, data)
        return self._reply

    def _readable(self) -> None:
        self._reply.set_result(self._decode(os.read(self._fd, CHUNK)))

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        os.close(self._fd)


def _opened(port: Path) -> int:
    return os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def bare(opened: Callable[[Path], int]) -> Host:
    """Return the first floor: a plain echo."""

    async def host(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
        frame = device_codec().write(status())
        end = EchoHost(opened(port), bytes)
        closing.callback(end.close)
        assert await end.ask(frame) == frame
        return lambda: end.ask(frame)

    return host


def coded(opened: Callable[[Path], int]) -> Host:
    """The second floor: the same codec and MAC at both ends, and no link."""

    async def host(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
        half = host_codec()
        end = EchoHost(opened(port), half.read)
        closing.callback(end.close)
        assert await end.ask(half.write(m.GetStatus())) == [status()]
        return lambda: end.ask(half.write(m.GetStatus()))

    return host


async def linked(transport: Transport, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    """Our stack over an open transport."""
    trust = Trust(m.KIND, {DEVICE_KEY.serial: DEVICE_KEY}, frozenset([approved_firmware(m.KIND)]))
    closing.callback(transport.close)
    link, _ = await open_session(Wire(transport), trust, SHUFFLER.decoder)
    closing.callback(link.close)
    assert await link.request(m.GetStatus(), TRIP_PATIENCE) == status()
    return lambda: link.request(m.GetStatus(), TRIP_PATIENCE)


async def _pitbox(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    return await linked(await open_serial(str(port)), closing)


async def _pymodbus(port: Path, closing: ExitStack) -> Callable[[], Awaitable[Any]]:
    client = AsyncModbusSerialClient(str(port), timeout=TRIP_PATIENCE)
    if not await client.connect():
        raise SystemExit("pymodbus's client did not connect")
    closing.callback(client.close)
    reply = await client.read_holding_registers(0, count=len(REGISTERS), device_id=1)
    assert reply.registers == REGISTERS
    return lambda: client.read_holding_registers(0, count=len(REGISTERS), device_id=1)


HOSTS: Final[dict[str, tuple[str, Role, Host]]] = {
    "bare": ("bare echo", "floor", bare(_opened)),
    "codec": ("echo + codec + MAC", "floor", coded(_opened)),
    "pitbox": ("pitbox", "ours", _pitbox),
    "pymodbus": ("pymodbus", "peer", _pymodbus),
}
assert HOSTS.keys() == PTY_ENDS.keys()


@contextmanager
def remote_device(name: str, port: Path) -> Iterator[None]:
    """Run a device process; it ends with this block, or with this process."""
    command = [sys.executable, "-m", "benchmarks.remote_devices", name, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            readable, _, _ = select.select([process.stdout], [], [], START_PATIENCE)
            if not readable or process.stdout.readline() != b"ready\n":
                raise SystemExit(f"the device process {name!r} did not start")
            yield
        finally:
            process.stdin.close()
            try:
                process.wait(START_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def trips_row(runner: asyncio.Runner, name: str, role: Role, ask: Callable[[], Awaitable[Any]]) -> BenchmarkRow:
    async def trips() -> list[float]:
        took = []
        async with asyncio.timeout(BATCH_PATIENCE):
            for _ in range(BATCH):
                start = perf_counter()
                await ask()
                took.append(perf_counter() - start)
        return took

    return BenchmarkRow(name, lambda: runner.run(trips()), role)


def main() -> None:
    """Start the far ends, measure, print, judge."""
    rounds = arguments(
        "Authenticated request and reply over a pty compared with two floors and pymodbus. Ratios count.",
        "python -m benchmarks.link --rounds 40",
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
        bare, codec, ours, modbus = rows
        print_table("request -> reply over a pty, two processes", rows, [bare, codec])
        print_verdict(BUDGETS["link"], "pitbox / echo + codec + MAC, p50", ours.ratio(codec))
        print_verdict(BUDGETS["link, peer"], "pitbox / pymodbus, p50", ours.ratio(modbus))


if __name__ == "__main__":
    main()
