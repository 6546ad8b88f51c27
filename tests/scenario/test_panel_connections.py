"""The panel's connections on a real port: each has a deadline and releases its place however it ends."""

from __future__ import annotations

import asyncio
import gc
import socket
import struct
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from simulators.casino.panel import make_silent_table, people_file
from table_controller.config import PanelConfig
from table_controller.panel import connections
from table_controller.panel.live import SIGNS_EACH
from table_controller.panel.serve import serve
from tests.support.box.configs import certificate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

pytestmark = pytest.mark.realtime

LIMIT = 60.0


class Served:
    """A panel on a real port; `door` is what accepts its connections."""

    def __init__(self, port: int, doors: list[connections.ConnectionAcceptor]) -> None:
        self.port = port
        self.doors = doors

    @property
    def door(self) -> connections.ConnectionAcceptor:
        return self.doors[0]

    async def connect(self, address: str = "127.5.5.5") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))

    def head(self, line: str, *more: str) -> bytes:
        return "\r\n".join((line, f"Host: 127.0.0.1:{self.port}", *more, "", "")).encode()


@asynccontextmanager
async def served(folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> AsyncIterator[Served]:
    doors: list[connections.ConnectionAcceptor] = []

    class Watched(connections.ConnectionAcceptor):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            doors.append(self)

    monkeypatch.setattr(connections, "ConnectionAcceptor", Watched)
    house, _ = make_silent_table("saigon_5_card", people_file(folder))
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    config = PanelConfig(True, "127.0.0.1", 0, options.get("cert"), options.get("key"), options.get("screens", ()))
    panel = asyncio.create_task(serve(config, house.box, house.box.check_person, name="t", on_ready=ready.set_result))
    try:
        port = await ready
        await until(lambda: bool(doors))
        yield Served(port, doors)
    finally:
        panel.cancel()
        await asyncio.wait({panel})
        await house.close()


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def at_end(reader: asyncio.StreamReader) -> bytes:
    """Read until the box closes the connection."""
    async with asyncio.timeout(LIMIT):
        with suppress(ConnectionError):
            return await reader.read()
    return b""


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /dealer HTTP/1.1\r\nHost: ", b"POST /api/sign_on HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{"],
)
async def test_a_request_that_is_not_whole_in_time_ends_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "WHOLE_REQUEST_S", 0.3)
    async with served(tmp_path, monkeypatch) as panel:
        reader, writer = await panel.connect()
        writer.write(sent)
        await at_end(reader)
        await until(lambda: len(panel.door.places) == 0)
        await _closed(writer)


async def test_bytes_that_drip_in_and_a_second_request_have_the_same_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WHOLE_REQUEST_S", 0.5)
    async with served(tmp_path, monkeypatch) as panel:
        reader, writer = await panel.connect()
        writer.write(panel.head("GET /api/labels HTTP/1.1"))
        assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LIMIT)
        ended = asyncio.create_task(at_end(reader))
        while not ended.done():  # each byte comes sooner than any idle time ends
            with suppress(ConnectionError):
                writer.write(b"G")
            await asyncio.wait({ended}, timeout=0.05)
        await until(lambda: len(panel.door.places) == 0)
        await _closed(writer)


async def test_a_body_without_end_is_answered_once_and_read_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, monkeypatch) as panel:
        reader, writer = await panel.connect()
        origin = f"Origin: http://127.0.0.1:{panel.port}"
        writer.write(panel.head("POST /api/sign_on HTTP/1.1", origin, "Content-Length: 999999999"))
        writer.write(b"x" * 100_000)
        assert b"413" in await asyncio.wait_for(reader.readline(), LIMIT)
        await at_end(reader)
        await until(lambda: len(panel.door.places) == 0)
        await _closed(writer)


async def test_an_answer_that_nobody_reads_ends_its_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD_S", 0.5)
    async with served(tmp_path, monkeypatch) as panel:
        with socket.socket() as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            lazy.setblocking(False)
            lazy.bind(("127.5.5.5", 0))
            loop = asyncio.get_running_loop()
            await loop.sock_connect(lazy, ("127.0.0.1", panel.port))
            await until(lambda: len(panel.door.places) == 1)
            async with asyncio.timeout(LIMIT):
                while len(panel.door.places):
                    with suppress(BlockingIOError, ConnectionError):
                        lazy.send(panel.head("GET /static/panel.css HTTP/1.1") * 20)
                    await asyncio.sleep(0.02)


async def test_a_stream_whose_client_is_gone_at_once_keeps_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, monkeypatch) as panel:
        for _ in range(100):
            reader, writer = await panel.connect()
            writer.write(panel.head("GET /api/sign HTTP/1.1"))
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends with a reset
            writer.transport.abort()
            await _closed(writer)
        await until(lambda: len(panel.door.places) == 0)
        for _ in range(SIGNS_EACH[0]):
            reader, writer = await panel.connect()
            writer.write(panel.head("GET /api/sign HTTP/1.1"))
            assert b"200 OK" in await asyncio.wait_for(reader.readline(), LIMIT)
            await _closed(writer)
            await until(lambda: len(panel.door.places) == 0)


async def test_a_tls_greeting_that_never_ends_has_a_place_and_a_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HANDSHAKE_S", 0.5)
    certificate(tmp_path, "panel")
    cert, key = tmp_path / "panel.pem", tmp_path / "panel.key"
    async with served(tmp_path, monkeypatch, cert=cert, key=key) as panel:
        each = connections.CONNECTIONS_EACH[0]
        clients = [await panel.connect() for _ in range(each + 5)]
        assert len(panel.door.places) <= each, "one network has its part, also before TLS"
        for reader, writer in clients:
            await at_end(reader)
            await _closed(writer)
        await until(lambda: len(panel.door.places) == 0)
        silent = await panel.connect()
        await until(lambda: len(panel.door.places) == 1)
    await at_end(silent[0])  # the panel stopped in the middle of a greeting
    await _closed(silent[1])
    gc.collect()


async def test_a_screen_that_is_configured_has_the_places_of_the_tables_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, monkeypatch, screens=("127.44.4.4",)) as panel:
        streams = []

        async def follow(address: str) -> bytes:
            reader, writer = await panel.connect(address)
            streams.append(writer)
            writer.write(panel.head("GET /api/sign HTTP/1.1"))
            return (await asyncio.wait_for(reader.readline(), LIMIT)).split()[1]

        strangers = [await follow(f"127.1.{n}.1") for n in range(20)]
        assert strangers.count(b"200") == 8
        assert await follow("127.44.4.5") == b"503", "its neighbor is a stranger"
        assert await follow("127.44.4.4") == b"200"
        for writer in streams:
            await _closed(writer)


async def test_a_failed_listener_ends_the_panel_so_that_the_box_restarts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_door: connections.ConnectionAcceptor, accepted: socket.socket) -> None:
        accepted.close()
        raise RuntimeError("a bug")

    monkeypatch.setattr(connections.ConnectionAcceptor, "_admit", broken)
    house, _ = make_silent_table("saigon_5_card", people_file(tmp_path))
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    config = PanelConfig(True, "127.0.0.1", 0, None, None)
    panel = asyncio.create_task(serve(config, house.box, house.box.check_person, name="t", on_ready=ready.set_result))
    _, writer = await asyncio.open_connection("127.0.0.1", await ready)
    with pytest.raises(RuntimeError, match="a bug"):
        await asyncio.wait_for(panel, LIMIT)
    await _closed(writer)
    await house.close()
