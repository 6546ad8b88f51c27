"""Notifications to systemd and log lines, line by line."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
import pytest

from table_controller.host.log import JsonLineFormatter
from table_controller.host.systemd import SystemdNotifier

if TYPE_CHECKING:
    from pathlib import Path


def test_systemd_is_notified_that_the_box_is_ready_and_stopping(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        notifier = SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        notifier.ready("running")
        notifier.stopping()
        assert systemd.recv(1000) == b"READY=1\nSTATUS=running"
        assert systemd.recv(1000) == b"STOPPING=1\nSTATUS=stopping"


def test_a_missing_systemd_socket_is_no_error(tmp_path: Path) -> None:
    SystemdNotifier({}).ready("running")
    SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready("running")
    SystemdNotifier({"NOTIFY_SOCKET": "@pitbox-test-nobody"}).ready("running")


async def test_the_watchdog_is_fed_twice_in_its_limit_and_only_by_the_process_that_is_meant(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        watched = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "10000000"}
        task = asyncio.create_task(SystemdNotifier({**watched, "WATCHDOG_PID": str(os.getpid())}).watchdog())
        await asyncio.sleep(14)
        task.cancel()
        await asyncio.wait({task})
        assert [systemd.recv(1000) for _ in range(3)] == [b"WATCHDOG=1"] * 3
        await SystemdNotifier({**watched, "WATCHDOG_PID": "1"}).watchdog()
        await SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")}).watchdog()
        with pytest.raises(BlockingIOError):
            systemd.recv(1000)


@pytest.mark.realtime
async def test_a_blocked_event_loop_feeds_no_watchdog(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        notifier = SystemdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"})
        task = asyncio.create_task(notifier.watchdog())

        async def fed() -> None:
            async with asyncio.timeout(30):
                while True:
                    try:
                        assert systemd.recv(1000) == b"WATCHDOG=1"
                    except BlockingIOError:
                        await asyncio.sleep(0.005)
                    else:
                        return

        await fed()
        with suppress(BlockingIOError):
            while True:
                systemd.recv(1000)
        time.sleep(0.3)  # noqa: ASYNC251 - the whole loop, for three times the limit
        with pytest.raises(BlockingIOError):
            systemd.recv(1000)
        await fed()  # and on it goes
        task.cancel()
        await asyncio.wait({task})


def test_a_log_line_is_one_json_object_with_its_priority() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    log = logging.getLogger("tests.log_lines")
    log.propagate = False
    log.addHandler(handler)
    try:
        handler.setFormatter(JsonLineFormatter("t1", with_priorities=True))
        log.error("it %s", "failed", exc_info=ValueError("two\nlines"))
        handler.setFormatter(JsonLineFormatter("t1", with_priorities=False))
        log.warning('say "no"')
    finally:
        log.removeHandler(handler)
    first, second = stream.getvalue().splitlines()
    assert first.startswith("<3>{")
    data = msgspec.json.decode(first[3:])
    assert (data["level"], data["table"], data["message"]) == ("error", "t1", "it failed")
    assert "ValueError: two\nlines" in data["error"]
    assert "at" not in data
    plain = msgspec.json.decode(second)
    assert (plain["message"], plain["level"]) == ('say "no"', "warning")
    assert plain["at"]
