"""Simulated machines attached to this computer's own kernel by the stock `usbip`, and reached through the real libusb.

For root on a computer where `modprobe vhci-hcd` was done. `make vhci` starts such a computer in QEMU and runs these;
`make proof` does too (test_real_kernel.py), and `make test` leaves them to it.
"""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import libusb_package
import pytest
import usb.core
import usb.util

from devices.driver_events import LinkDown
from devices.shuffler import messages as m
from devices.shuffler.state import verdict
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import DuplicateSerial, OutcomeUnknown, PortBusy, PortFailed, PortMissing
from firmware_bridge.transport.ports import open_port
from firmware_bridge.transport.usb import find_ports
from simulators.kinds.shuffler.machine import SimulatedShuffler
from tests.support.machines.bench import LADDER
from tests.support.machines.card_checks import until_moving, until_true
from tests.support.machines.usb_bench import BareUsbDevice, TransportListener, UsbBench, usb_server
from tests.support.suite.required_tools import need, need_tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulators.usbip.server import UsbIpServer

pytestmark = [pytest.mark.realtime, pytest.mark.vhci]


@pytest.fixture(autouse=True, scope="module")
def _libusb() -> None:
    """libusb keeps a socket for the life of its process; that is no leak of a test."""
    loaded = Path("/sys/module/vhci_hcd").exists() and os.geteuid() == 0
    need(loaded, "the kernel's vhci_hcd is not loaded, or this is not root: `make vhci` runs these tests in QEMU")
    libusb_package.get_libusb1_backend()


def on_the_bus(serial: str) -> int:
    """Return how many devices of this computer have this serial number. Blocks: never call it on the loop."""
    files = Path("/sys/bus/usb/devices").glob("*/serial")
    with suppress(OSError):  # one that has just gone
        return sum(file.read_text().strip() == serial for file in files)
    return -1


async def there_are(count: int, serial: str) -> None:
    """Wait until this many devices with this serial number are on the bus."""
    async with asyncio.timeout(60):
        while await asyncio.to_thread(on_the_bus, serial) != count:  # noqa: ASYNC110 - the kernel notifies nobody
            await asyncio.sleep(0.05)


async def attach(server: UsbIpServer, place: int = 0) -> None:
    """Attach a device to this computer."""
    busid = server.exported()[place].busid
    where = ["--tcp-port", str(server.number), "attach", "-r", "127.0.0.1", "-b", busid]
    command = [need_tool("usbip", "usbip"), *where]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@asynccontextmanager
async def attached(seed: int, rung: str = "clean", speed: float = 5.0) -> AsyncIterator[UsbBench]:
    async with usb_server() as server:
        b = UsbBench(SimulatedShuffler(seed=seed, speed=speed), server)
        b.port = f"usb:1209:0001:{b.machine.key.serial}"
        await attach(server)
        await there_are(1, b.machine.key.serial)
        for fault in LADDER[rung]:
            b.inject(fault)
        b.supervisor.start()
        try:
            await b.until_reported()
            yield b
        finally:
            await b.close()
            b.usb.close()
            await there_are(0, b.machine.key.serial)


@pytest.mark.parametrize(
    "rung", ["clean", "lossy", "slow"]
)  # a packet per byte is more than an emulated computer can do
async def test_a_cycle_over_the_kernel(seed: int, rung: str) -> None:
    async with attached(seed, rung) as b:
        assert (await b.driver.shuffle(b.next_id())).outcome is Outcome.DONE
        (completed,) = b.events_of(m.Completed)
        assert verdict(completed, 53) == []
        assert b.machine.true_counts() == {"shuffler.1/gate": 53}


async def test_unplugged_in_mid_cycle_and_attached_again(seed: int) -> None:
    async with attached(seed) as b:
        cycle = b.driver.shuffle(b.next_id())
        await until_moving(b)
        b.inject("unplug:seconds=1")
        with pytest.raises(OutcomeUnknown):
            await cycle
        assert isinstance(b.events_of(LinkDown)[0].cause, PortFailed)
        missing = await b.until(lambda event: isinstance(event, LinkDown) and isinstance(event.cause, PortMissing))
        assert "no such device is plugged in" in str(missing.cause)
        await until_true(b.server.exported)
        await attach(b.server)
        await b.until_reported()
        assert b.service.state == "unverified"


async def test_a_stall_is_cleared_and_a_busy_device_is_waited_for(seed: int) -> None:
    async with attached(seed) as b:
        for fault in ("usb_stall:endpoint=in", "usb_stall:endpoint=out", "usb_busy:seconds=1"):
            b.inject(fault)
            assert (await b.driver.status()).state is m.State.IDLE
        assert not b.usb.device.halted
        assert not b.events_of(LinkDown)


async def test_one_host_at_a_time_and_two_devices_with_one_serial_number(seed: int) -> None:
    async with attached(seed) as b:
        assert await asyncio.to_thread(find_ports) == [b.port]
        with pytest.raises(PortBusy):
            await open_port(b.port)
        await b.supervisor.close()
        (await open_port(b.port)).close()
        twin = BareUsbDevice(b.server, b.machine.key.serial)
        await attach(b.server, 1)
        await there_are(2, b.machine.key.serial)
        with pytest.raises(DuplicateSerial):
            await open_port(b.port)
        twin.device.close()
        await there_are(1, b.machine.key.serial)


async def test_long_and_short_writes_arrive_whole() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server, "SN-1")
        await attach(server)
        await there_are(1, "SN-1")
        transport = await open_port("usb:1209:0001:SN-1")
        listener = TransportListener(transport)
        sizes = [1, 63, 64, 65, 128, 4096, 5000]
        for size in sizes:
            transport.write(bytes([size % 251]) * size)
            end.device.write(bytes([size % 251]) * size)
        expected = b"".join(bytes([size % 251]) * size for size in sizes)
        await until_true(lambda: len(listener.received) + len(end.received) == 2 * len(expected))
        assert listener.received == bytes(end.received) == expected
        transport.close()
        end.device.close()
        await there_are(0, "SN-1")


async def test_libusb_numbers_its_errors_as_our_backend_does() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server, "SN-1")
        await attach(server)
        await there_are(1, "SN-1")
        backend = libusb_package.get_libusb1_backend()
        device = await asyncio.to_thread(usb.core.find, backend=backend, idVendor=0x1209)

        async def number() -> int | None:
            with pytest.raises(usb.core.USBError) as raised:
                await asyncio.to_thread(device.read, 0x81, 64, 200)
            result: int | None = raised.value.errno
            return result

        assert await number() == errno.ETIMEDOUT
        end.device.stall(0x81)
        assert await number() == errno.EPIPE
        await asyncio.to_thread(device.clear_halt, 0x81)
        assert await number() == errno.ETIMEDOUT
        reading = asyncio.create_task(number())
        await until_true(lambda: end.device._reads)
        end.device.close()
        assert await reading in (errno.ENODEV, errno.EIO, errno.ETIMEDOUT)
        await there_are(0, "SN-1")
        assert await number() == errno.ENODEV
        await asyncio.to_thread(usb.util.dispose_resources, device)
