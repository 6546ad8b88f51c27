"""The control socket: access, invalid input, dropped clients. The table never waits for a client."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from firmware_bridge.errors import DataFolderUnusable, NoBox
from table_controller.access import control_socket as module
from table_controller.access.control_client import BoxClient, RefusedByBox
from table_controller.access.control_socket import ControlSocket
from table_controller.access.request_json import MAX_LINE
from tests.support.box.boxes import PIN, BoxTestBench
from tests.support.suite.required_tools import need

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[ControlSocket]:
    bench = BoxTestBench(folder)
    await bench.start(0.1)
    control = ControlSocket(bench.box, folder / "control.sock")
    await control.start()
    try:
        yield control
    finally:
        await bench.box.stop()
        await control.close()
        bench.close()


async def _exchange(path: Path, sent: bytes) -> list[dict[str, Any]]:
    """Send raw bytes, close the sending side, and read to the end."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(sent)
    writer.write_eof()
    async with asyncio.timeout(10):
        lines = (await reader.read()).splitlines()
    writer.close()
    await writer.wait_closed()
    return [msgspec.json.decode(line) for line in lines]


async def test_nonsense_is_answered_changes_nothing_and_disturbs_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as control:
        assert stat.S_IMODE(control.path.stat().st_mode) == 0o660
        pushed: list[dict[str, Any]] = []
        client = await BoxClient.connect(control.path, pushed.append)
        await client.request("follow")
        nonsense = [
            b"\x00\xff\xfe", b"{", b"[]", b'"status"', b'{"do": "deal_anyway"}', b'{"do": "status", "more": 1}',
            b'{"do": "submit", "event": 5}', b'{"do": "submit", "event": {"type": []}}', b'{"id": {}, "do": "status"}',
            b'{"do": "device", "slot": "shoe.1", "call": "__init__"}', b"[" * 60_000,
            b'{"do": "sign_on", "credential": "D1", "pin": 271828}',
        ]  # fmt: skip
        answer = await _exchange(control.path, b"\n".join(nonsense) + b"\n\n\n")
        assert "hello" in answer[0]
        assert len(answer) == 1 + len(nonsense)
        assert {line["error"]["code"] for line in answer[1:]} <= {"PB-814", "PB-813"}
        assert all(line["error"]["act"] for line in answer[1:])
        assert (await client.request("status"))["phase"] == "running"
        # On a busy computer a machine may report itself meanwhile; no event of a person may be there.
        assert not [push for push in pushed if "who" in push["step"]["event"]]
        await client.request("sign_on", credential="D1", pin=PIN)
        await client.request("deck", deck="blue", by="D1")
        assert [push["step"]["event"]["who"]["credential"] for push in pushed if "who" in push["step"]["event"]]
        await client.close()


async def test_a_line_without_an_end_ends_the_connection_and_half_a_line_is_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as control:
        answer = await _exchange(control.path, b"x" * (MAX_LINE + 100_000))
        assert answer[-1]["error"]["code"] == "PB-814"
        answer = await _exchange(control.path, b"y" * (MAX_LINE + 1) + b"\n" + b'{"do": "status"}\n')
        assert answer[-1]["error"]["code"] == "PB-814"
        assert len(await _exchange(control.path, b'{"do": "stat')) == 1
        assert not control.clients


async def test_a_client_that_does_not_read_is_dropped_and_the_table_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BACKLOG", 64 << 10)
    async with served(tmp_path) as control:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as lazy:
            lazy.setblocking(False)
            await asyncio.get_running_loop().sock_connect(lazy, str(control.path))
            reading = await BoxClient.connect(control.path)
            async with asyncio.timeout(30):
                while len(control.clients) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
                while len(control.clients) == 2:
                    with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                        lazy.send(b'{"do": "status"}\n' * 50)
                    await asyncio.sleep(0.001)
            assert (await reading.request("status"))["phase"] == "running"
            await reading.close()


async def test_a_flood_of_requests_lets_the_table_run_after_each(tmp_path: Path) -> None:
    async with served(tmp_path) as control:
        loop, turns, answers = asyncio.get_running_loop(), 0, 200

        def turn() -> None:
            nonlocal turns
            turns += 1
            if control.path.exists():
                loop.call_soon(turn)

        loop.call_soon(turn)
        answer = await _exchange(control.path, b'{"do": "status"}\n' * answers)
        assert len(answer) == 1 + answers
        assert turns >= answers


async def test_the_event_loop_runs_after_each_request_under_any_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as control:
        most = came = 0

        def look(client: module.ClientConnection, request: bytes) -> None:
            nonlocal most, came
            came += 1
            most = max(most, came)
            original(client, request)

        original = module.ClientConnection._handle_line
        monkeypatch.setattr(module.ClientConnection, "_handle_line", look)
        floods = [asyncio.create_task(_exchange(control.path, b'{"do": "sign_off", "credential": "x"}\n' * 300))
                  for _ in range(4)]  # fmt: skip
        while not all(flood.done() for flood in floods):
            came = 0  # other callbacks of the loop have run
            await asyncio.sleep(0)
        assert {len(flood.result()) for flood in floods} == {301}
        assert 1 <= most <= 2


async def test_a_file_in_the_sockets_place_is_left_as_it_is(tmp_path: Path) -> None:
    async with served(tmp_path) as control:
        path = tmp_path / "precious"
        path.write_text("meters")
        with pytest.raises(DataFolderUnusable, match="is not a socket"):
            await ControlSocket(control.box, path).start()
        assert path.read_text() == "meters"


async def test_no_more_clients_than_a_table_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CLIENTS", 2)
    async with served(tmp_path) as control:
        clients = [await BoxClient.connect(control.path) for _ in range(2)]
        for client in clients:
            await client.request("follow")
        with pytest.raises(RefusedByBox, match="takes no more") as refused:
            await BoxClient.connect(control.path)
        assert refused.value.code == "PB-813"
        await clients[0].close()
        async with asyncio.timeout(10):
            while len(control.clients) == 2:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        await (await BoxClient.connect(control.path)).close()
        await clients[1].close()


async def test_clients_that_do_nothing_keep_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CLIENTS", 3)
    async with served(tmp_path) as control:
        useful = await BoxClient.connect(control.path)
        await useful.request("sign_on", credential="D1", pin=PIN)
        idle = [await BoxClient.connect(control.path) for _ in range(2)]
        third = await BoxClient.connect(control.path)
        await asyncio.wait_for(idle[0].ended.wait(), 10)
        assert not idle[1].ended.is_set(), "the oldest goes first"
        assert await useful.request("status")
        assert await third.request("status")
        assert len(control.clients) <= 3
        for client in (useful, third, *idle):
            await client.close()


async def test_a_follower_receives_steps_and_device_events_until_the_box_ends(tmp_path: Path) -> None:
    pushed: list[dict[str, Any]] = []
    async with served(tmp_path) as control:
        client = await BoxClient.connect(control.path, pushed.append)
        for credential in ("D1", "T1"):
            await client.request("sign_on", credential=credential, pin=PIN)
        state = await client.request("follow", device_events=True)
        answer = await client.request("deck", deck="blue", by="D1")
        assert answer["seq"] > state["seq"]
        await client.request("device", slot="shoe.1", call="report", by="T1")
        steps = [push["step"] for push in pushed if "step" in push]
        assert [step["seq"] for step in steps] == [answer["seq"]]
        (received,) = [push["device_event"] for push in pushed if "device_event" in push]
        assert (received["slot"], received["event"]) == ("shoe.1", "Reported")
    async with asyncio.timeout(10):
        await client.ended.wait()
    with pytest.raises(NoBox):
        await client.request("status")
    await client.close()
    with pytest.raises(NoBox):
        await BoxClient.connect(control.path)


async def test_another_user_of_the_computer_is_refused(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "only root may become another user to be refused (run this as root)")
    async with served(tmp_path) as control:
        control.path.chmod(0o777)
        for folder in (tmp_path, *tmp_path.parents[:3]):
            folder.chmod(0o755)
        code = (
            "import os, socket, sys; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
            "s.connect(sys.argv[1]); sys.stdout.write(s.makefile().read())"
        )
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-I", "-S", "-c", code, str(control.path)],
            capture_output=True, text=True, timeout=30, check=True,
        )  # fmt: skip
        (line,) = done.stdout.splitlines()
        error = msgspec.json.decode(line)["error"]
        assert error["code"] == "PB-813"
        assert "user 65534 may not use this socket" in error["text"]
        assert "group" in error["act"]


async def test_a_socket_that_cannot_be_created_is_a_clear_error(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    await bench.start(0.1)
    try:
        with pytest.raises(DataFolderUnusable, match="at most 107 bytes"):
            await ControlSocket(bench.box, tmp_path / ("x" * 120)).start()
        with pytest.raises(DataFolderUnusable, match="No such file"):
            await ControlSocket(bench.box, tmp_path / "no" / "s").start()
    finally:
        await bench.box.stop()
        bench.close()


async def test_a_client_whose_close_was_canceled_can_be_closed_again(tmp_path: Path) -> None:
    async with served(tmp_path) as control:
        for turns in range(1, 7):  # how far the first close gets
            client = await BoxClient.connect(control.path)
            closing = asyncio.create_task(client.close())
            for _ in range(turns):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait({closing})
            await client.close()
            with pytest.raises(NoBox):
                await client.request("status")
