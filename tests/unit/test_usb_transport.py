"""The USB transport on a bare device: bytes both ways in any packets, opening, closing, and failures."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from random import Random
from typing import Any

import pytest

from firmware_bridge.errors import BadPort, PortBusy, PortFailed, PortMissing
from firmware_bridge.transport import usb as transport_module
from firmware_bridge.transport.ports import open_port
from firmware_bridge.transport.threaded import MAX_BACKLOG
from firmware_bridge.transport.usb import find_ports
from firmware_bridge.transport.usb_address import parse_usb
from simulators.usbip import device as simulated
from simulators.usbip.device import BULK_IN, BULK_OUT
from tests.support.machines.card_checks import until_true
from tests.support.machines.usb_bench import BareUsbDevice, TransportListener, usb_server

pytestmark = pytest.mark.realtime


async def test_bytes_arrive_whole_and_in_order_in_any_packets(seed: int) -> None:
    """Writes shorter and longer than a packet, and of exactly one, two and sixty-four: those end with an empty one."""
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        random = Random(seed)
        sizes = [1, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, *(random.randint(1, 700) for _ in range(40))]
        down = [random.randbytes(size) for size in sizes]
        up = [random.randbytes(size) for size in sizes]
        for to_device, to_host in zip(down, up, strict=True):
            transport.write(to_device)
            end.device.write(to_host)
        await until_true(lambda: len(listener.received) + len(end.received) == 2 * sum(sizes))
        assert end.received == b"".join(down)
        assert listener.received == b"".join(up)
        assert all(listener.chunks), "an empty packet is no chunk of bytes"
        assert max(map(len, listener.chunks)) == 64
        await until_true(lambda: transport.backlog == 0)
        transport.close()
        await end.until_released()


async def test_an_unplugged_device_is_lost_once_and_takes_no_more() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        end.device.close()
        cause = await asyncio.wait_for(listener.lost, 5)
        assert isinstance(cause, PortFailed)
        assert "was unplugged" in str(cause)
        transport.write(b"after the loss")
        transport.close()
        assert transport.backlog == 0


async def test_a_device_that_is_silent_is_not_lost() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        await asyncio.sleep(3.5 * transport_module.TRANSFER_TIMEOUT_MS / 1000)  # several reads time out
        end.device.write(b"still there")
        await until_true(lambda: listener.received == b"still there")
        assert not listener.lost.done()
        transport.close()


async def test_a_device_that_takes_nothing_is_given_up_with_bounded_memory() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        end.device.keep_busy(60)
        most = 0
        for _ in range(200):
            transport.write(b"x" * 1000)
            most = max(most, transport.backlog)
        cause = await asyncio.wait_for(listener.lost, 5)
        assert isinstance(cause, PortFailed)
        assert "accepts no more bytes" in str(cause)
        assert 0 < most <= MAX_BACKLOG
        await end.until_released()
        end.device.close()


async def test_bytes_wait_while_a_device_is_busy_and_none_is_lost() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        end.device.keep_busy(3.5 * transport_module.TRANSFER_TIMEOUT_MS / 1000)
        transport.write(b"a" * 500)
        end.device.write(b"b" * 500)
        await until_true(lambda: end.received == b"a" * 500 and listener.received == b"b" * 500)
        transport.close()


async def test_closing_does_not_wait_and_the_device_is_given_back_soon() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        transport.close()
        transport.close()
        assert end.device.attached, "the loop was not held up until the server knew"
        await end.until_released()


async def test_reopening_at_once_waits_for_the_release_of_the_port() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        for _ in range(5):
            (await open_port(end.port)).close()
        transport = await open_port(end.port)
        with pytest.raises(PortBusy):
            await open_port(end.port)
        transport.close()


async def test_what_was_meant_for_an_earlier_host_is_dropped() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        real = end.device.attach

        def attach() -> None:
            real()
            end.device.write(b"old" * 100)

        end.device.attach = attach  # type: ignore[method-assign]
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        assert end.device.backlog == 0
        end.device.write(b"new")
        await until_true(lambda: listener.received)
        assert listener.received == b"new"
        transport.close()


async def test_a_device_that_never_falls_silent_is_opened_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport_module, "DRAIN_LIMIT_S", 0.1)
    async with usb_server() as server:
        end = BareUsbDevice(server)
        talking = asyncio.create_task(_talk(end))
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        await until_true(lambda: len(listener.chunks) > 10)
        talking.cancel()
        transport.close()
        await end.until_released()


async def _talk(end: BareUsbDevice) -> None:
    while True:
        end.device.write(b"blah")
        await asyncio.sleep(0.001)


async def test_a_canceled_open_gives_the_device_back() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        real = end.device.attach

        def attach() -> None:
            real()
            opening.cancel()  # in the middle of it: the import is not yet answered

        end.device.attach = attach  # type: ignore[method-assign]
        opening = asyncio.create_task(open_port(end.port))
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert end.device.attached
        end.device.attach = real  # type: ignore[method-assign]
        (await open_port(end.port)).close()  # waits until the canceled one has released the device
        await end.until_released()


async def test_an_open_waits_for_a_canceled_one_however_slow_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open imports the device more than once: between two imports it is free, though the open is not over."""
    real, reached, ends = transport_module._drain, threading.Event(), threading.Event()

    def drain(incoming: Any) -> None:
        reached.set()
        ends.wait(30)
        real(incoming)

    monkeypatch.setattr(transport_module, "_drain", drain)
    async with usb_server() as server:
        end = BareUsbDevice(server)
        first = asyncio.create_task(open_port(end.port))
        await until_true(reached.is_set)  # it is attached for a moment before, too, when its descriptors are read
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        monkeypatch.setattr(transport_module, "_drain", real)
        second = asyncio.create_task(open_port(end.port))
        await asyncio.sleep(0.1)
        second.cancel()
        third = asyncio.create_task(open_port(end.port))
        await asyncio.sleep(0.3)
        assert not third.done(), "neither open nor refused while a canceled one holds the device"
        ends.set()
        (await third).close()
        assert second.cancelled()
        await end.until_released()


async def test_an_open_that_was_canceled_before_it_began_touches_no_device() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        attached: list[bool] = []
        end.device.attach = lambda: attached.append(True)  # type: ignore[method-assign]
        hold = transport_module._Claim(parse_usb(end.port))
        hold.leaving = True
        with pytest.raises(PortBusy, match="opening was canceled"):
            await asyncio.to_thread(transport_module._open, hold)
        assert not attached
        assert hold.gone.is_set()


LEAVES = """
import asyncio, sys, usb.core
from firmware_bridge.transport.ports import open_port

async def main():
    transport = await open_port(sys.argv[1])
    transport.write(b"hello")
    if sys.argv[2] == "closed":
        transport.close()
    transport.write(b"x" * 1000)

asyncio.run(main())
print("left")
"""


@pytest.mark.parametrize("how", ["closed", "not closed"])
async def test_a_program_that_ends_gives_its_port_back_before_pyusb_does(how: str) -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        command = [sys.executable, "-W", "always", "-c", LEAVES, end.port, how]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")
        await end.until_released()


@pytest.mark.parametrize("endpoint", [BULK_IN, BULK_OUT])
async def test_a_stall_is_cleared_once_and_then_is_a_failure(endpoint: int) -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        end.device.stall(endpoint)
        transport.write(b"perhaps lost")
        await until_true(lambda: endpoint not in end.device.halted)
        end.device.write(b"up")
        transport.write(b"down")
        await until_true(lambda: listener.received == b"up" and end.received.endswith(b"down"))
        end.device.stall(endpoint, 2)
        transport.write(b"lost")
        transport.write(b"lost")
        cause = await asyncio.wait_for(listener.lost, 5)
        assert isinstance(cause, PortFailed)
        assert "stalls again at once" in str(cause)
        await end.until_released()


@pytest.mark.parametrize("endpoint", [BULK_IN, BULK_OUT])
async def test_a_stall_that_an_earlier_host_left_behind_is_cleared(endpoint: int) -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        end.device.stall(endpoint)
        transport = await open_port(end.port)
        listener = TransportListener(transport)
        transport.write(b"perhaps lost")
        await until_true(lambda: not end.device.halted)
        end.device.write(b"up")
        transport.write(b"down")
        await until_true(lambda: listener.received == b"up" and end.received.endswith(b"down"))
        assert not listener.lost.done()
        transport.close()


async def test_ports_that_cannot_be_opened_give_the_reason() -> None:
    async with usb_server() as server:
        BareUsbDevice(server, "SN-1")
        BareUsbDevice(server, "SN-2")
        at = f"usbip://127.0.0.1:{server.number}"
        with pytest.raises(PortMissing, match="serial numbers SN-1, SN-2"):
            await open_port(f"{at}/1209:0001:SN-3")
        with pytest.raises(PortMissing, match=r"no such device is plugged in$"):
            await open_port(f"{at}/1209:0002:SN-1")
        held = await open_port(f"{at}/1209:0001:SN-1")
        with pytest.raises(PortBusy, match="in use by another program"):
            await open_port(f"{at}/1209:0001:SN-1")
        (await open_port(f"{at}/1209:0001:SN-2")).close()
        held.close()


async def test_a_device_without_a_bulk_pair_is_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    # a keyboard's class; interrupt endpoints; endpoints for packets without room
    for name, value in (("VENDOR_CLASS", (3, 0, 0)), ("_BULK", 3), ("MAX_PACKET", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(simulated, name, value)
            async with usb_server() as server:
                end = BareUsbDevice(server)
                with pytest.raises(BadPort, match="not a pitbox device"):
                    await open_port(end.port)
                await end.until_released()


async def test_the_list_of_ports_disturbs_nobody() -> None:
    async with usb_server() as server:
        assert await asyncio.to_thread(find_ports, ("127.0.0.1", server.number)) == []
        ends = [BareUsbDevice(server, serial) for serial in ("SN-2", "SN-1")]
        held = await open_port(ends[0].port)
        result = await asyncio.to_thread(find_ports, ("127.0.0.1", server.number))
        assert result == sorted(end.port for end in ends)
        assert not ends[1].device.attached
        held.close()
        where = ("127.0.0.1", server.number)
    with pytest.raises(PortMissing, match="nothing answers"):
        await asyncio.to_thread(find_ports, where)
