"""The USB/IP backend under real pyusb, against a server made of bare bytes: right, wrong, late, or gone."""

from __future__ import annotations

import asyncio
import errno
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
import usb.core
import usb.util

from firmware_bridge.errors import PortFailed, PortMissing
from firmware_bridge.transport.ports import open_port
from firmware_bridge.transport.usb import find_ports
from simulators.usbip.client import connection
from simulators.usbip.client.backend import UsbIpBackend
from simulators.usbip.client.connection import UsbIpConnection, list_devices
from simulators.usbip.packets import ExportedDevice, read_device
from tests.support.machines.card_checks import until_true
from tests.support.machines.usb_bench import BareUsbDevice, usb_server
from tests.support.wire import usbip_golden as golden

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

pytestmark = pytest.mark.realtime

DEVICE = read_device(golden.DEVICE, golden.REP_DEVLIST[-4:])
HANG = b"hang"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the wait for a server that does not answer."""
    monkeypatch.setattr(connection, "SERVER_TIMEOUT_S", 0.3)


@asynccontextmanager
async def scripted(*steps: bytes) -> AsyncIterator[int]:
    """A server for one client: expects the first step, sends the second, and so on; then disconnects.

    An expected step must come byte for byte. HANG as a last step keeps the connection open instead.
    """
    failures: list[str] = []
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for at, step in enumerate(steps):
                if step == HANG:
                    await reader.read()
                elif at % 2:
                    writer.write(step)
                else:
                    came = await reader.readexactly(len(step))
                    if came != step:
                        failures.append(f"step {at}: {came.hex(' ', 4)} is not {step.hex(' ', 4)}")
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            failures.append(f"the client left: {error!r}")
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            done.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
        async with asyncio.timeout(5):
            await done.wait()
    finally:
        server.close()
        await server.wait_closed()
    assert not failures, failures


async def raises(number: int, call: Callable[..., Any], *arguments: Any) -> usb.core.USBError:
    with pytest.raises(usb.core.USBError) as raised:
        async with asyncio.timeout(5):
            await asyncio.to_thread(call, *arguments)
    assert raised.value.errno == number, raised.value
    assert isinstance(raised.value, usb.core.USBTimeoutError) == (number == errno.ETIMEDOUT)
    return raised.value


# --- the list ------------------------------------------------------------------------------------------------


async def test_the_list_is_asked_for_and_read() -> None:
    async with scripted(golden.REQ_DEVLIST, golden.REP_DEVLIST) as port:
        assert await asyncio.to_thread(list_devices, "127.0.0.1", port) == [DEVICE]
    async with scripted(golden.REQ_DEVLIST, golden.REP_NO_DEVICES) as port:
        assert await asyncio.to_thread(list_devices, "127.0.0.1", port) == []


WRONG_LISTS = {
    "garbage": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "another version": b"\x01\x06" + golden.REP_DEVLIST[2:],
    "another reply": golden.REP_IMPORT,
    "a refusal": bytes.fromhex("0111 0005 00000001"),
    "a list without end": bytes.fromhex("0111 0005 00000000 ffffffff"),
    "cut off in the head": golden.REP_DEVLIST[:5],
    "cut off in a device": golden.REP_DEVLIST[:200],
    "cut off before the interfaces": golden.REP_DEVLIST[:-4],
    "nothing": b"",
    "a name of rubbish": golden.REP_DEVLIST[:12] + b"\xff" * 256 + golden.REP_DEVLIST[268:],
}


@pytest.mark.parametrize("reply", list(WRONG_LISTS))
async def test_an_invalid_list_is_a_coded_error(reply: str) -> None:
    async with scripted(golden.REQ_DEVLIST, WRONG_LISTS[reply]) as port:
        error = await raises(errno.EPROTO, list_devices, "127.0.0.1", port)
        assert f"127.0.0.1:{port}" in str(error)
        assert reply != "a list without end" or "a list of 4294967295 devices" in str(error), (
            "refused before it is read"
        )
    async with scripted(golden.REQ_DEVLIST, WRONG_LISTS[reply]) as port:
        with pytest.raises(PortFailed, match=f"127.0.0.1:{port}"):
            await asyncio.to_thread(find_ports, ("127.0.0.1", port))
    async with scripted(golden.REQ_DEVLIST, WRONG_LISTS[reply]) as port:
        with pytest.raises(PortFailed, match=f"127.0.0.1:{port}"):
            await open_port(f"usbip://127.0.0.1:{port}/1209:0001:SN-1")


async def test_a_server_that_does_not_answer_is_given_up() -> None:
    async with scripted(golden.REQ_DEVLIST, HANG) as port:
        await raises(errno.ETIMEDOUT, list_devices, "127.0.0.1", port)
    async with scripted(golden.REQ_DEVLIST, golden.REP_DEVLIST[:100], HANG) as port:
        await raises(errno.ETIMEDOUT, list_devices, "127.0.0.1", port)
    async with scripted(golden.REQ_DEVLIST, HANG) as port:
        with pytest.raises(PortFailed, match="does not answer"):
            await open_port(f"usbip://127.0.0.1:{port}/1209:0001:SN-1")


async def test_a_server_that_drips_is_given_up_too() -> None:
    dripped = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            for at in range(len(golden.REP_DEVLIST)):
                writer.write(golden.REP_DEVLIST[at : at + 1])
                await writer.drain()
                await asyncio.sleep(0.02)
        writer.close()
        dripped.set()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    await raises(errno.ETIMEDOUT, list_devices, "127.0.0.1", server.sockets[0].getsockname()[1])
    server.close()
    await asyncio.wait_for(dripped.wait(), 30)  # it ends by itself, later on a busy computer
    await asyncio.sleep(0)  # and so does its task


async def test_an_unreachable_server() -> None:
    async with usb_server() as server:
        port = server.number
    error = await raises(errno.ENODEV, list_devices, "127.0.0.1", port)
    assert "nothing answers" in str(error)
    with pytest.raises(PortMissing, match="nothing answers"):
        await open_port(f"usbip://127.0.0.1:{port}/1209:0001:SN-1")


# --- the import ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        (golden.REP_BUSY, errno.EBUSY),
        (golden.REP_NO_DEVICE, errno.ENODEV),
        (bytes.fromhex("0111 0003 00000001"), errno.EBUSY),  # the reply of old servers
        (bytes.fromhex("0111 0003 00000005"), errno.EIO),
        (bytes.fromhex("0106 0003 00000000"), errno.EPROTO),
        (golden.REP_DEVLIST, errno.EPROTO),
        (golden.REP_IMPORT[:-1], errno.EPROTO),
        (golden.REP_IMPORT[:264] + b"1-2" + golden.REP_IMPORT[267:], errno.EPROTO),  # another device
    ],
)
async def test_an_import_that_is_refused(reply: bytes, number: int) -> None:
    async with scripted(golden.REQ_IMPORT, reply) as port:
        await raises(number, UsbIpConnection, "127.0.0.1", port, DEVICE)


# --- transfers -----------------------------------------------------------------------------------------------


@asynccontextmanager
async def imported(*steps: bytes) -> AsyncIterator[UsbIpConnection]:
    async with scripted(golden.REQ_IMPORT, golden.REP_IMPORT, *steps) as port:
        device = await asyncio.to_thread(UsbIpConnection, "127.0.0.1", port, DEVICE)
        try:
            yield device
        finally:
            await asyncio.to_thread(device.close)


def _after(number: int, device: UsbIpConnection) -> UsbIpConnection:
    """Give the next transfer the number of its golden packet."""
    device._seqnum = number - 1
    return device


async def test_transfers_byte_for_byte() -> None:
    steps = (
        golden.GET_DEVICE_DESCRIPTOR, golden.RET_DEVICE_DESCRIPTOR, golden.SUBMIT_OUT, golden.RET_OUT,
        golden.SUBMIT_IN, golden.RET_IN,
    )  # fmt: skip
    async with imported(*steps) as device:
        setup = bytes.fromhex("8006000100001200")
        assert await asyncio.to_thread(device.read, 0, 18, 1000, setup) == golden.DEVICE_DESCRIPTOR
        assert await asyncio.to_thread(device.write, 0x01, b"abc", 1000) == 3
        assert await asyncio.to_thread(device.read, 0x81, 64, 0) == b"ok"


async def test_a_transfer_that_takes_too_long_is_taken_back() -> None:
    async with imported(golden.SUBMIT_IN, b"", golden.UNLINK, golden.RET_UNLINKED) as device:
        await raises(errno.ETIMEDOUT, _after(3, device).read, 0x81, 64, 20)


async def test_an_end_that_crosses_the_taking_back_is_not_lost() -> None:
    async with imported(golden.SUBMIT_IN, b"", golden.UNLINK, golden.RET_IN + golden.RET_UNLINKED_TOO_LATE) as device:
        assert await asyncio.to_thread(_after(3, device).read, 0x81, 64, 20) == b"ok"


async def test_a_stall_and_an_unplugged_device_are_distinguished_from_a_timeout() -> None:
    async with imported(golden.SUBMIT_IN, golden.RET_STALL) as device:
        await raises(errno.EPIPE, _after(3, device).read, 0x81, 64, 1000)
    async with imported(golden.SUBMIT_IN, golden.RET_UNPLUGGED) as device:
        await raises(errno.ENODEV, _after(3, device).read, 0x81, 64, 1000)
    shut_down = golden.RET_UNPLUGGED.replace(bytes.fromhex("ffffffed"), bytes.fromhex("ffffff94"))  # -108
    async with imported(golden.SUBMIT_IN, shut_down) as device:
        await raises(errno.ENODEV, _after(3, device).read, 0x81, 64, 1000)


@pytest.mark.parametrize("cut_at", [0, 20, 48, 49])
async def test_a_connection_that_breaks_off_is_a_device_that_is_gone(cut_at: int) -> None:
    async with imported(golden.SUBMIT_IN, golden.RET_IN[:cut_at]) as device:
        error = await raises(errno.ENODEV, _after(3, device).read, 0x81, 64, 0)
        assert "closed the connection" in str(error)
        await raises(errno.ENODEV, device.write, 0x01, b"abc", 0)


WRONG_ANSWERS = {
    "garbage": b"\xff" * 48,
    "an unknown number": golden.RET_OUT,
    "more bytes than asked for": golden.RET_IN.replace(bytes.fromhex("00000002"), bytes.fromhex("00000041"), 1),
    "four gigabytes": golden.RET_IN.replace(bytes.fromhex("00000002"), bytes.fromhex("ffffffff"), 1),
    "a status that is no error": golden.RET_STALL.replace(bytes.fromhex("ffffffe0"), bytes.fromhex("00000020")),
    "a request": golden.SUBMIT_IN,
    "a second end": golden.RET_IN + golden.RET_IN,
}


@pytest.mark.parametrize("answer", list(WRONG_ANSWERS))
async def test_a_wrong_answer_ends_the_connection_and_releases_everybody(answer: str) -> None:
    async with imported(golden.SUBMIT_IN, WRONG_ANSWERS[answer], HANG) as device:
        first = asyncio.to_thread(_after(3, device).read, 0x81, 64, 0)
        if answer == "a second end":
            assert await first == b"ok"
            await asyncio.to_thread(device._receiver.join)
        else:
            with pytest.raises(usb.core.USBError, match="not USB/IP") as raised:
                await asyncio.wait_for(first, 5)
            assert raised.value.errno == errno.EPROTO
        await raises(errno.EPROTO, device.read, 0x81, 64, 0)


async def test_an_answer_to_an_unlink_that_nobody_sent_is_ignored() -> None:
    async with imported(golden.SUBMIT_IN, golden.RET_UNLINKED + golden.RET_IN) as device:
        assert await asyncio.to_thread(_after(3, device).read, 0x81, 64, 1000) == b"ok"


async def test_a_server_that_freezes_is_not_waited_for_without_end() -> None:
    async with imported(golden.SUBMIT_IN, HANG) as device:
        error = await raises(errno.EIO, _after(3, device).read, 0x81, 64, 20)
        assert "does not answer" in str(error)


async def test_a_server_that_takes_nothing_is_not_waited_for_without_end() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(golden.REQ_IMPORT))
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(golden.REP_IMPORT)
        await ended.wait()
        writer.close()

    ended = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1024)
    device = await asyncio.to_thread(UsbIpConnection, "127.0.0.1", server.sockets[0].getsockname()[1], DEVICE)
    error = await raises(errno.ENODEV, device.write, 0x01, bytes(64 * 1024 * 1024), 0)
    assert "accepts no more data" in str(error)
    await asyncio.to_thread(device.close)
    ended.set()
    server.close()
    await asyncio.sleep(0.05)


async def test_closing_releases_every_waiting_caller() -> None:
    async with imported(golden.SUBMIT_IN, HANG) as device:
        waiting = asyncio.create_task(asyncio.to_thread(_after(3, device).read, 0x81, 64, 0))
        await until_true(lambda: device._waiting)
        await asyncio.to_thread(device.close)
        with pytest.raises(usb.core.USBError, match="was closed"):
            await waiting


# --- under pyusb -----------------------------------------------------------------------------------------------


async def test_finding_a_device_needs_no_import_and_sees_held_ones() -> None:
    async with usb_server() as server:
        ends = [BareUsbDevice(server, serial) for serial in ("SN-1", "SN-2")]
        held = await open_port(ends[0].port)
        backend = UsbIpBackend("127.0.0.1", server.number)

        def look() -> list[tuple[str, int, int]]:
            result = usb.core.find(find_all=True, backend=backend, idVendor=0x1209)
            return [(device.serial_number, device.bus, device.address) for device in result]

        assert await asyncio.to_thread(look) == [("SN-1", 1, 2), ("SN-2", 1, 3)]
        assert not ends[1].device.attached
        held.close()
        await ends[0].until_released()


async def test_pyusb_reads_all_descriptors_and_gives_the_device_back() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        backend = UsbIpBackend("127.0.0.1", server.number)

        def look() -> tuple[str, bool, int]:
            device = usb.core.find(backend=backend)
            text = str(device)
            active = device.get_active_configuration()
            device.set_configuration()
            device.set_interface_altsetting(0, 0)
            driver = device.is_kernel_driver_active(0)
            number = len(list(active[(0, 0)]))
            usb.util.dispose_resources(device)
            return text, driver, number

        text, driver, number = await asyncio.to_thread(look)
        assert "ENDPOINT 0x81: Bulk IN" in text
        assert "ENDPOINT 0x1: Bulk OUT" in text
        assert "SN-1" in text
        assert (driver, number) == (False, 2)
        await end.until_released()


async def test_a_server_that_lists_no_serial_numbers_is_queried_device_by_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The stock server's paths hold none, and a device that another client imported cannot be queried."""
    monkeypatch.setattr(ExportedDevice, "serial", property(lambda _: None))
    async with usb_server() as server:
        ends = [BareUsbDevice(server, serial) for serial in ("SN-1", "SN-2")]
        first = await open_port(ends[0].port)
        assert ends[0].device.attached
        second = await open_port(ends[1].port)
        assert ends[1].device.attached
        with pytest.raises(PortMissing, match="one that cannot be read, one that cannot be read"):  # who is who?
            await open_port(ends[0].port)
        first.close()
        second.close()
        for end in ends:
            await end.until_released()


@pytest.mark.parametrize("broken", [b"", b"\x09\x02\x20\x00", bytes(32)])
async def test_a_device_that_describes_itself_wrongly_is_a_failed_port(broken: bytes) -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server)
        real = end.device._descriptor
        end.device._descriptor = lambda kind, index: broken if kind == 2 else real(kind, index)  # type: ignore[method-assign]
        with pytest.raises(PortFailed, match="describes itself wrongly"):
            await open_port(end.port)
        await end.until_released()
