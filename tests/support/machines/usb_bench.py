"""One simulated shuffler on a device bench in real time, reached by pyusb over USB/IP on loopback."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from devices.kinds import SHUFFLER
from firmware_bridge.transport.ports import open_port
from simulators.casino.device_bench import DeviceBench
from simulators.engine.ports.usb import UsbPort
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.usbip.device import UsbDevice
from simulators.usbip.server import UsbIpServer
from tests.support.machines.bench import LADDER, ShufflerTestBench
from tests.support.machines.card_checks import until_true

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Transport

# A cycle of 25 machine seconds in half a second.
SPEED: Final = 50.0


class UsbBench(ShufflerTestBench):
    """A device bench whose port is a USB device on a server of its own."""

    def __init__(self, machine: SimulatedShuffler, server: UsbIpServer, trust: Trust | None = None) -> None:
        self.server = server
        self.usb = UsbPort(machine, server)
        self.port = self.usb.port
        DeviceBench.__init__(self, machine, SHUFFLER, lambda: open_port(self.port), trust=trust)


@asynccontextmanager
async def usb_server() -> AsyncIterator[UsbIpServer]:
    """A server without devices, at a free port."""
    server = UsbIpServer()
    await server.start()
    try:
        yield server
    finally:
        server.close()
        await asyncio.sleep(0)  # lets the cut connections end


@asynccontextmanager
async def usb_bench(
    seed: int, rung: str = "clean", *, speed: float = SPEED, trust: Trust | None = None, **options: Any
) -> AsyncIterator[UsbBench]:
    """A bench whose driver has its first report, unless it is given a trust of its own."""
    async with usb_server() as server:
        b = UsbBench(SimulatedShuffler(seed=seed, speed=speed, **options), server, trust)
        for fault in LADDER[rung]:
            b.inject(fault)
        b.supervisor.start()
        try:
            if trust is None:
                await b.until_reported()
            yield b
        finally:
            await b.close()
            b.usb.close()


class BareUsbDevice:
    """A bare device without a machine: records what a host sends, and sends what a test provides."""

    def __init__(self, server: UsbIpServer, serial: str = "SN-1") -> None:
        self.port = f"usbip://127.0.0.1:{server.number}/1209:0001:{serial}"
        self.received = bytearray()
        self.device = UsbDevice(serial, "test")
        self.device.on_bytes = self.received.extend
        server.plug(server.place(), self.device)

    async def until_released(self) -> None:
        """Wait until no host has the device."""
        await until_true(lambda: not self.device.attached)


class TransportListener:
    """Takes what a transport brings."""

    def __init__(self, transport: Transport) -> None:
        self.chunks: list[bytes] = []
        self.lost: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        transport.on_bytes = self.chunks.append
        transport.on_lost = self.lost.set_result

    @property
    def received(self) -> bytes:
        """All bytes so far."""
        return b"".join(self.chunks)
