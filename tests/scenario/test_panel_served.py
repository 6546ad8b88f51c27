"""The panel on a real port: it needs TLS beyond loopback, stops at once, and leaves signals and the table alone."""

from __future__ import annotations

import asyncio
import signal
import ssl
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import ConfigurationError, PanelNotServed
from simulators.casino.panel import PINS, make_silent_table, people_file, serve_panel
from table_controller.config import PanelConfig
from table_controller.host.addresses import is_loopback
from table_controller.panel.serve import serve
from tests.support.box.processes import pitbox
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


async def _http(port: int, request: str, tls: ssl.SSLContext | None = None) -> tuple[Any, Any, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    writer.write(request.replace("\n", "\r\n").encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    return reader, writer, head


async def test_a_panel_is_served_stops_with_open_streams_and_takes_no_signals(tmp_path: Path) -> None:
    house, _ = make_silent_table("saigon_5_card", people_file(tmp_path), speed=200.0, pace=0.004)
    followed = list(house.controller.followers)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    panel = asyncio.create_task(serve_panel(house, on_ready=ready.set_result))
    port = await ready
    _, one, head = await _http(port, f"GET /metrics HTTP/1.1\nHost: 127.0.0.1:{port}\n\n")
    assert b"200 OK" in head
    assert b"version=0.0.4" in head
    reader, two, head = await _http(port, f"GET /api/sign HTTP/1.1\nHost: localhost:{port}\n\n")
    assert b"text/event-stream" in head
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
    panel.cancel()
    async with asyncio.timeout(20):  # the streams are ended, so nobody waits for the grace period
        await asyncio.wait({panel})
        while await reader.read(4096):
            pass
    assert panel.cancelled()
    for writer in (one, two):
        writer.close()
        await writer.wait_closed()
    assert house.controller.followers == followed, "no page follows the table any more"
    await house.close()


async def test_a_port_that_is_taken_is_an_error_and_not_the_end_of_the_box(tmp_path: Path) -> None:
    house, _ = make_silent_table("saigon_5_card", people_file(tmp_path))
    followed = list(house.controller.followers)
    taken = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    with pytest.raises(PanelNotServed, match=rf"panel.listen 127.0.0.1, panel.port {port}: .* in use"):
        await serve_panel(house, port=port)
    assert house.controller.followers == followed
    output = await asyncio.to_thread(pitbox, "panel", "--port", str(port), expect=2)
    assert "PB-818" in output
    taken.close()
    await taken.wait_closed()
    await house.close()


async def test_beyond_loopback_a_panel_needs_tls(tmp_path: Path) -> None:
    house, _ = make_silent_table("saigon_5_card", people_file(tmp_path))
    with pytest.raises(ConfigurationError, match="not a loopback address"):
        await serve(PanelConfig(True, "0.0.0.0", 0, None, None), house.box, house.box.check_person, name="t")
    assert [is_loopback(a) for a in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.1.2.3", "box.example")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    await house.close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [need_tool("openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


async def test_a_pin_travels_under_tls_only(tmp_path: Path) -> None:
    cert, key = _certificate(tmp_path)
    house, _ = make_silent_table("saigon_5_card", people_file(tmp_path))
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    config = PanelConfig(True, "0.0.0.0", 0, cert, key)
    panel = asyncio.create_task(serve(config, house.box, house.box.check_person, name="t", on_ready=ready.set_result))
    port = await ready
    trust = ssl.create_default_context(cafile=str(cert))
    body = '{{"who": {{"id": "dealer-1", "pin": "{}"}}}}'.format(PINS["dealer-1"])
    request = (
        f"POST /api/sign_on HTTP/1.1\nHost: 127.0.0.1:{port}\nOrigin: https://127.0.0.1:{port}\n"
        f"Content-Length: {len(body)}\n\n{body}"
    )
    _, writer, head = await _http(port, request, trust)
    assert b"200 OK" in head
    assert b"__Host-pitbox=" in head
    assert b"secure" in head.lower()
    writer.close()
    panel.cancel()
    await asyncio.wait({panel})
    await house.close()
