"""A broker that declares a packet larger than we accept: the connection ends at the declared length."""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING, Final

import pytest

from firmware_bridge.errors import BrokerLost
from table_controller.uplink import connection
from table_controller.uplink.connection import BrokerConnection, IncomingMessage
from table_controller.uplink.settings import MqttSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.realtime

CONNACK: Final = b"\x20\x03\x00\x00\x00"
TOPIC: Final = b"\x00\x0bp/command/x\x00"  # and no properties
DECLARED: Final = 80_000_000
LIMIT: Final = 20.0


def varint(number: int) -> bytes:
    result = b""
    while True:
        number, digit = divmod(number, 128)
        result += bytes([digit | 128 if number else digit])
        if not number:
            return result


async def packet(reader: asyncio.StreamReader) -> bytes:
    """Read one packet of a client; all of them are short."""
    head = await reader.readexactly(2)
    assert head[1] < 128
    return head + await reader.readexactly(head[1])


class Broker:
    """Accepts a client, then declares a publish of `size` bytes and sends the requested part of it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken = 0  # bytes of the body that the client read
        self.ended = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await packet(reader)
        writer.write(CONNACK)
        asked = await packet(reader)
        writer.write(b"\x90\x04" + asked[2:4] + b"\x00\x01")
        await asyncio.sleep(0.2)  # until the client knows that it may send
        writer.write(b"\x30" + varint(self.size) + TOPIC)
        self.taken = len(TOPIC)
        try:
            while self.taken < self.size:
                part = bytes(min(1 << 16, self.size - self.taken))
                writer.write(part)
                async with asyncio.timeout(LIMIT):
                    await writer.drain()
                self.taken += len(part)
            async with asyncio.timeout(LIMIT):
                while await reader.read(4096):
                    pass
        except (ConnectionError, TimeoutError):
            pass
        self.ended.set()
        writer.close()


async def connected(broker: Broker, came: list[IncomingMessage]) -> tuple[asyncio.Server, BrokerConnection]:
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] = broker.serve
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = MqttSettings(host="127.0.0.1", port=port, client_id="t", prefix="p", keep_alive_s=30)
    created = BrokerConnection(settings, ("will", b""), came.append, lambda: None)
    await created.open("p/command/#")
    return server, created


async def test_a_packet_that_is_declared_too_large_ends_the_connection_before_its_body_is_read() -> None:
    broker = Broker(DECLARED)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    server, created = await connected(broker, [])
    async with asyncio.timeout(LIMIT):
        cause = await created.lost
    assert isinstance(cause, BrokerLost)
    assert "80,000,000 bytes" in str(cause)
    await created.drop()
    async with asyncio.timeout(LIMIT):
        await broker.ended.wait()
    assert broker.taken < DECLARED // 2, "the client hung up, and the rest was not sent"
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 40_000, f"{grown_kb} kB more than before"
    server.close()
    await server.wait_closed()


async def test_a_packet_of_the_largest_size_is_still_read() -> None:
    broker, came = Broker(connection.MAX_PACKET), list[IncomingMessage]()
    server, created = await connected(broker, came)
    async with asyncio.timeout(LIMIT):
        while not came:  # noqa: ASYNC110 - a callback without an event of its own
            await asyncio.sleep(0.01)
    assert len(came[0].payload) == connection.MAX_PACKET - len(TOPIC)
    await created.drop()
    async with asyncio.timeout(LIMIT):
        await broker.ended.wait()
    server.close()
    await server.wait_closed()
