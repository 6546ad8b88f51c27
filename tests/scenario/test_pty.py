"""Real ptys and real pyserial: a cycle, the cable pulled and put back, and wrong ports."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tty
from typing import TYPE_CHECKING, Any

import pytest

from devices.driver_events import LinkDown, Reported
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadPort, LinkError, OutcomeUnknown, PortBusy, PortFailed, PortMissing
from firmware_bridge.transport.serial import open_serial
from firmware_bridge.transport.threaded import MAX_BACKLOG
from simulators.engine.control import send_request
from tests.support.box.processes import kill_machine, pitbox, simulator
from tests.support.wire.connected_driver import connected

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


async def inject(folder: Path, fault: str) -> None:
    """Inject directly: on a loaded computer another process would start after the cycle is over."""
    await asyncio.to_thread(send_request, folder, "shuffler.1", {"do": "inject", "fault": fault})


async def test_a_cycle_between_two_processes(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "30") as port:
        async with connected(str(port), tmp_path) as c:
            assert (await c.driver.shuffle(1)).outcome is Outcome.DONE
            (completed,) = c.events_of(m.Completed)
            assert completed.count == 53
            assert len(c.events_of(m.Progress)) > 0


async def test_unplug_and_replug_under_the_same_name(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "4") as port:
        async with connected(str(port), tmp_path) as c:
            first = c.events_of(Reported)[0]
            running = c.driver.shuffle(1)
            await c.next(m.Progress)
            back = asyncio.create_task(c.next(Reported))
            await inject(tmp_path, "unplug:seconds=0.5")
            with pytest.raises(OutcomeUnknown):
                await running
            again = await back
            assert isinstance(c.events_of(LinkDown)[0].cause, PortFailed | PortMissing)
            assert again.report.boot_id == first.report.boot_id
            assert not again.rebooted
            assert (await c.driver.outcome(1)).outcome in (Outcome.RUNNING, Outcome.DONE)


async def test_a_reboot_is_seen_as_one(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "10") as port:
        async with connected(str(port), tmp_path) as c:
            back = asyncio.create_task(c.next(Reported))
            await inject(tmp_path, "reboot")
            again = await back
            assert again.rebooted
            assert again.report.boot_id != c.events_of(Reported)[0].report.boot_id


async def test_a_port_held_by_another_process_is_busy_and_ours_is_busy_for_others(tmp_path: Path) -> None:
    hold = "p = serial.Serial(sys.argv[1], exclusive=True); print('held', flush=True); sys.stdin.read()"
    program = [sys.executable, "-c", f"import serial, sys; {hold}"]
    with simulator(tmp_path) as port:
        with subprocess.Popen([*program, str(port)], stdin=-1, stdout=-1) as holder:  # noqa: ASYNC220 - starts at once
            assert holder.stdout is not None
            assert await asyncio.to_thread(holder.stdout.readline) == b"held\n"
            with pytest.raises(PortBusy):
                await open_serial(str(port))
            holder.kill()
        ours = await open_serial(str(port))
        try:
            other = await asyncio.to_thread(subprocess.run, [*program, str(port)], capture_output=True, timeout=20)
            assert other.returncode != 0
            assert b"exclusively lock" in other.stderr
        finally:
            ours.close()
        (await open_serial(str(port))).close()


async def test_ports_that_cannot_be_opened_give_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a port")
    os.mkfifo(tmp_path / "fifo")
    reasons = {
        f"{tmp_path}/nothing": (PortMissing, "no such port"),
        f"{tmp_path}/file/nothing": (PortMissing, "no such port"),
        f"{tmp_path}": (BadPort, "is not a serial port"),
        f"{tmp_path}/file": (BadPort, "is not a serial port"),
        f"{tmp_path}/fifo": (BadPort, "is not a serial port"),
        "/dev/null": (BadPort, "is not a serial port"),
        "": (BadPort, "a port is a device path"),
        "gopher://x": (BadPort, "a port is a device path"),
        "loop://": (BadPort, "a port is a device path"),
        "spy:///dev/null": (BadPort, "a port is a device path"),
        "socket://nonsense": (BadPort, "a port is a device path"),
        "socket://127.0.0.1:99999": (BadPort, "a port is a device path"),
        "rfc2217://:": (BadPort, "a port is a device path"),
        "rfc2217://127.0.0.1:1?nonsense": (BadPort, "a port is a device path"),
    }
    for url, (kind, words) in reasons.items():
        with pytest.raises(kind, match=words) as refused:
            await open_serial(url)
        assert "Errno" not in str(refused.value), "a sentence, not a number"


async def test_a_peer_that_never_reads_is_declared_lost_with_bounded_memory() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    try:
        transport = await open_serial(os.ttyname(slave))
        lost: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        transport.on_lost = lost.set_result
        most = 0
        for _ in range(200):
            transport.write(b"x" * 1000)
            most = max(most, transport.backlog)
            if lost.done():
                break
        async with asyncio.timeout(5):
            cause = await lost
        assert isinstance(cause, PortFailed)
        assert 0 < most <= MAX_BACKLOG
        transport.write(b"after the loss")
        transport.close()
    finally:
        os.close(master)
        os.close(slave)


async def test_bytes_that_wait_for_a_slow_reader_arrive_whole_and_in_order() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    transport = await open_serial(os.ttyname(slave))
    try:
        sent = bytes(range(1, 251)) * 160
        transport.write(sent)
        assert transport.backlog > 0
        got = b""
        async with asyncio.timeout(10):
            while len(got) < len(sent):
                await asyncio.sleep(0)
                try:
                    got += os.read(master, 4096)
                except BlockingIOError:
                    continue
        assert got == sent
        assert transport.backlog == 0
    finally:
        transport.close()
        os.close(master)
        os.close(slave)


async def test_a_simulator_that_is_killed_releases_everybody(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "2") as port:
        answer = await asyncio.to_thread(pitbox, "sim", "list", "--folder", str(tmp_path))
        pid = int(answer.split("pid ")[1])
        async with connected(str(port), tmp_path) as c:
            running = c.driver.shuffle(1)
            await c.next(m.Progress)
            kill_machine(port, pid)
            with pytest.raises(OutcomeUnknown) as unknown:
                async with asyncio.timeout(10):
                    await running
            assert unknown.value.command == 1
            assert isinstance(unknown.value.__cause__, LinkError)
