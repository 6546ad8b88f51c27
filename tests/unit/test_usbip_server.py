"""The USB/IP server against a client made of bare bytes: every packet as worked out by hand, and every wrong one."""

from __future__ import annotations

import asyncio
import errno
import struct
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING

import pytest

from simulators.usbip.device import BULK_IN, BULK_OUT
from simulators.usbip.server import MAX_TRANSFER, MAX_WAITING
from tests.support.machines.card_checks import until_true
from tests.support.machines.usb_bench import BareUsbDevice, usb_server
from tests.support.wire import usbip_golden as golden

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from simulators.usbip.server import UsbIpServer

pytestmark = pytest.mark.realtime


class Client:
    """Sends and expects bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def get(self, size: int) -> bytes:
        async with asyncio.timeout(5):
            return await self._reader.readexactly(size)

    async def expect(self, data: bytes) -> None:
        assert (await self.get(len(data))).hex(" ", 4) == data.hex(" ", 4)

    async def ended(self) -> bytes:
        """Wait for the end of the connection; return what came before it."""
        async with asyncio.timeout(5):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return b""

    def end(self) -> None:
        """Close the sending side."""
        self._writer.write_eof()

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            return  # the server closed first


@asynccontextmanager
async def client(server: UsbIpServer, *, imported: bool = False) -> AsyncIterator[Client]:
    c = Client(*await asyncio.open_connection("127.0.0.1", server.number))
    try:
        if imported:
            c.send(golden.REQ_IMPORT)
            await c.expect(golden.REP_IMPORT)
        yield c
    finally:
        await c.close()


@asynccontextmanager
async def imported() -> AsyncIterator[tuple[BareUsbDevice, Client]]:
    async with usb_server() as server:
        end = BareUsbDevice(server, golden.SERIAL)
        async with client(server, imported=True) as c:
            yield end, c


def submit(number: int, direction: int, endpoint: int, length: int, setup: str = "00" * 8) -> bytes:
    head = struct.pack(">10I", 1, number, 0x10002, direction, endpoint, 0, length, 0, 0xFFFFFFFF, 0)
    return head + bytes.fromhex(setup)


async def status(c: Client) -> tuple[int, int, bytes]:
    """Return sequence number, status and bytes of a transfer's end."""
    head = struct.unpack(">5Ii4I8x", await c.get(48))
    return head[1], head[5], await c.get(head[6])


async def control(c: Client, setup: str, size: int = 255) -> tuple[int, bytes]:
    c.send(submit(1, int(setup, 16) >> 63, 0, size if int(setup, 16) >> 63 else 0, setup))
    _, code, data = await status(c)
    return code, data


# --- what the protocol allows --------------------------------------------------------------------------------


async def test_the_list() -> None:
    async with usb_server() as server:
        async with client(server) as c:
            c.send(golden.REQ_DEVLIST)
            assert await c.ended() == golden.REP_NO_DEVICES
        end = BareUsbDevice(server, golden.SERIAL)
        async with client(server) as c:
            c.send(golden.REQ_DEVLIST)
            assert await c.ended() == golden.REP_DEVLIST
        end.device.close()
        async with client(server) as c:
            c.send(golden.REQ_DEVLIST)
            assert await c.ended() == golden.REP_NO_DEVICES


async def test_a_request_in_single_bytes_is_the_same_request() -> None:
    async with usb_server() as server:
        BareUsbDevice(server, golden.SERIAL)
        async with client(server) as c:
            for at in range(len(golden.REQ_IMPORT)):
                c.send(golden.REQ_IMPORT[at : at + 1])
                await asyncio.sleep(0)
            await c.expect(golden.REP_IMPORT)


async def test_a_device_is_imported_by_one_client_at_a_time_and_stays_in_the_list() -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server, golden.SERIAL)
        async with client(server, imported=True):
            async with client(server) as other:
                other.send(golden.REQ_IMPORT)
                assert await other.ended() == golden.REP_BUSY
            async with client(server) as other:
                other.send(golden.REQ_DEVLIST)
                assert await other.ended() == golden.REP_DEVLIST
        await end.until_released()
        async with client(server, imported=True):
            assert end.device.attached
        end.device.close()
        async with client(server) as other:
            other.send(golden.REQ_IMPORT)
            assert await other.ended() == golden.REP_NO_DEVICE


async def test_transfers() -> None:
    async with imported() as (end, c):
        c.send(golden.GET_DEVICE_DESCRIPTOR)
        await c.expect(golden.RET_DEVICE_DESCRIPTOR)
        c.send(golden.SUBMIT_OUT)
        await c.expect(golden.RET_OUT)
        assert end.received == b"abc"
        c.send(golden.SUBMIT_IN)
        await until_true(lambda: end.device._reads)
        end.device.write(b"ok")
        await c.expect(golden.RET_IN)


async def test_a_transfer_that_waits_can_be_taken_back_and_one_that_ended_cannot() -> None:
    async with imported() as (end, c):
        c.send(golden.SUBMIT_IN + golden.UNLINK)
        await c.expect(golden.RET_UNLINKED)
        end.device.write(b"ok")
        c.send(golden.SUBMIT_IN)
        await c.expect(golden.RET_IN)
        c.send(golden.UNLINK)
        await c.expect(golden.RET_UNLINKED_TOO_LATE)


async def test_unplugging_ends_what_waits_and_then_the_connection() -> None:
    async with imported() as (end, c):
        c.send(golden.SUBMIT_IN)
        await until_true(lambda: end.device._reads)
        end.device.close()
        assert await c.ended() == golden.RET_UNPLUGGED


async def test_a_stalled_endpoint_stays_so_until_it_is_cleared() -> None:
    async with imported() as (end, c):
        c.send(golden.SUBMIT_IN)
        await until_true(lambda: end.device._reads)
        end.device.stall(BULK_IN)
        await c.expect(golden.RET_STALL)
        c.send(golden.SUBMIT_IN)
        await c.expect(golden.RET_STALL)
        assert await control(c, "8200000081000200") == (0, b"\x01\x00")
        assert await control(c, "0201000081000000") == (0, b"")
        assert await control(c, "8200000081000200") == (0, b"\x00\x00")
        end.device.write(b"ok")
        c.send(golden.SUBMIT_IN)
        await c.expect(golden.RET_IN)


async def test_packets_fill_transfers_as_on_the_bus() -> None:
    async with imported() as (end, c):
        end.device.write(b"a" * 128)
        c.send(submit(1, 1, 1, 512))  # two full packets, then an empty one ends it
        assert await status(c) == (1, 0, b"a" * 128)
        end.device.write(b"b" * 128)
        c.send(submit(2, 1, 1, 128))  # full before the empty one, which ends the next
        assert await status(c) == (2, 0, b"b" * 128)
        c.send(submit(3, 1, 1, 128))
        assert await status(c) == (3, 0, b"")
        end.device.write(b"c" * 64 + b"d")
        c.send(submit(4, 1, 1, 512))
        assert await status(c) == (4, 0, b"c" * 64 + b"d")
        end.device.write(b"e" * 10)
        c.send(submit(5, 1, 1, 3))  # no room for the packet
        assert await status(c) == (5, -errno.EOVERFLOW, b"eee")
        assert end.device.backlog == 0


CONTROL = {
    "8006000100000800": golden.DEVICE_DESCRIPTOR[:8],
    "8006000100004000": golden.DEVICE_DESCRIPTOR,
    "8006000200000900": golden.CONFIGURATION_DESCRIPTOR[:9],
    "800600020000ff00": golden.CONFIGURATION_DESCRIPTOR,
    "800600030000ff00": bytes.fromhex("04030904"),
    "800603030904ff00": bytes.fromhex("0a03") + golden.SERIAL.encode("utf-16-le"),
    "8000000000000200": b"\x01\x00",
    "8100000000000200": b"\x00\x00",
    "8008000000000100": b"\x01",
    "810a000000000100": b"\x00",
    "0009010000000000": b"",
    "010b000000000000": b"",
}
REFUSED = [
    "8006000600000a00",  # device qualifier: full speed only
    "800604030904ff00",  # no such string
    "8006010200000900",  # no such configuration
    "0009020000000000",
    "010b010000000000",
    "c001000000000800",  # a vendor's request
    "2122030000000000",  # a serial adapter's
    "0005070000000000",  # the host controller sets the address
]


@pytest.mark.parametrize("setup", list(CONTROL))
async def test_endpoint_0_answers(setup: str) -> None:
    async with imported() as (_, c):
        assert await control(c, setup) == (0, CONTROL[setup])


@pytest.mark.parametrize("setup", REFUSED)
async def test_endpoint_0_stalls(setup: str) -> None:
    async with imported() as (_, c):
        assert await control(c, setup) == (-errno.EPIPE, b"")


async def test_configurations_are_set_and_halts_are_set_and_cleared_by_requests() -> None:
    async with imported() as (end, c):
        assert await control(c, "0009000000000000") == (0, b"")
        assert await control(c, "8008000000000100") == (0, b"\x00")
        assert await control(c, "0203000001000000") == (0, b"")
        assert end.device.halted == {BULK_OUT}
        assert await control(c, "0009010000000000") == (0, b"")
        assert end.device.halted == set()


async def test_no_other_endpoint_is_there() -> None:
    async with imported() as (_, c):
        for direction, endpoint in ((0, 2), (1, 2), (1, 15)):
            c.send(submit(9, direction, endpoint, 0))
            assert await status(c) == (9, -errno.EPIPE, b"")


# --- what it does not ------------------------------------------------------------------------------------------


def changed(wire: bytes, at: int, value: str) -> bytes:
    new = bytes.fromhex(value)
    return wire[:at] + new + wire[at + len(new) :]


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        bytes(100),
        b"\xff" * 100,
        changed(golden.REQ_DEVLIST, 0, "0106"),
        changed(golden.REQ_DEVLIST, 2, "8006"),
        changed(golden.REQ_DEVLIST, 2, "0005"),
        golden.REP_DEVLIST,
        golden.SUBMIT_IN,
        changed(golden.REQ_IMPORT, 8, "ff" * 32),
    ],
)
async def test_a_client_that_breaks_the_protocol_is_disconnected(
    request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server, golden.SERIAL)
        async with client(server) as c:
            c.send(request_)
            assert await c.ended() == b""
        assert "cut off" in caplog.text
        assert not end.device.attached
        async with client(server, imported=True):
            assert end.device.attached, "others are served"


@pytest.mark.parametrize("cut_at", [1, 7, 8, 39])
async def test_a_request_that_breaks_off_leaves_nothing_behind(cut_at: int) -> None:
    async with usb_server() as server:
        end = BareUsbDevice(server, golden.SERIAL)
        async with client(server) as c:
            c.send(golden.REQ_IMPORT[:cut_at])
            c.end()
            assert await c.ended() == b""
        assert not end.device.attached


@pytest.mark.parametrize(
    "packet",
    [
        changed(golden.SUBMIT_IN, 0, "00000003"),
        changed(golden.SUBMIT_IN, 0, "00000000"),
        changed(golden.SUBMIT_IN, 8, "00010003"),  # another device
        changed(golden.SUBMIT_IN, 12, "00000002"),
        changed(golden.SUBMIT_IN, 16, "00000010"),
        changed(golden.SUBMIT_IN, 24, "ffffffff"),  # four gigabytes
        changed(golden.SUBMIT_OUT, 24, f"{MAX_TRANSFER + 1:08x}"),
        changed(golden.SUBMIT_IN, 32, "00000008"),  # isochronous
        golden.SUBMIT_IN + golden.SUBMIT_IN,  # one number twice
        changed(golden.UNLINK, 8, "00010003"),
        golden.REQ_DEVLIST * 6,
    ],
)
async def test_a_wrong_packet_after_the_import_costs_the_connection_and_frees_the_device(packet: bytes) -> None:
    async with imported() as (end, c):
        c.send(packet)
        assert await c.ended() == b""
        assert not end.device.attached
        assert end.device.backlog == 0


async def test_a_client_that_vanishes_in_the_middle_of_a_transfer_frees_the_device() -> None:
    async with imported() as (end, c):
        c.send(golden.SUBMIT_IN + golden.SUBMIT_OUT[:-1])
        await c.close()
        await end.until_released()
        assert end.received == b""
        end.device.write(b"nobody hears this")
        assert end.device.backlog == 0


async def test_transfers_without_end_are_bounded() -> None:
    async with imported() as (end, c):
        for at in range(MAX_WAITING + 1):
            c.send(submit(at + 1, 1, 1, 64))
        assert await c.ended() == b""
        await end.until_released()


async def test_a_client_that_reads_no_replies_is_disconnected(caplog: pytest.LogCaptureFixture) -> None:
    async with imported() as (end, c):
        reading = c._reader._transport  # type: ignore[attr-defined]
        reading.pause_reading()
        asked = submit(1, 1, 0, 255, "800600020000ff00") * 1000
        for _ in range(2000):
            c.send(asked)
            await asyncio.sleep(0)
            if not end.device.attached:
                break
        await end.until_released()
        assert "does not read its answers" in caplog.text


async def test_random_bytes_never_hurt(seed: int) -> None:
    random = Random(seed)
    async with usb_server() as server:
        end = BareUsbDevice(server, golden.SERIAL)
        for turn in range(60):
            async with client(server, imported=turn % 2 == 0) as c:
                good = bytearray(random.choice([golden.SUBMIT_IN, golden.SUBMIT_OUT, golden.UNLINK, golden.REQ_IMPORT]))
                for _ in range(random.randint(1, 8)):
                    good[random.randrange(len(good))] = random.randrange(256)
                c.send(bytes(good) + random.randbytes(random.randint(0, 100)))
                c.end()
                await c.ended()
            await end.until_released()
        async with client(server) as c:
            c.send(golden.REQ_DEVLIST)
            assert await c.ended() == golden.REP_DEVLIST
