"""Stop and start of a real box: its last record reaches the copy, and systemd waits for a long start."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.errors import CopyUnreachable
from simulators.casino.remote_table import RemoteTable
from table_controller.journal import copier as copier_module
from table_controller.journal import reader
from table_controller.journal.chain import STOP
from table_controller.journal.copier import Copier, CopyState
from table_controller.journal.copy import Ack, Copy, begin_copy
from tests.support.box.journals import newest, open_journal
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


def with_copy(table: RemoteTable, folder: Path) -> Path:
    """Give a table a second copy."""
    (folder / "copy").mkdir()
    begin_copy(folder / "copy")
    table.config.write_text(table.config.read_text() + '\n[journal]\ncopy = "copy"\n')
    return folder / "copy"


async def test_the_stop_of_a_box_reaches_its_copy_before_the_process_ends(tmp_path: Path) -> None:
    async with RemoteTable(tmp_path, "face_up_pai_gow", seed=5, speed=400.0, pace=0.01) as table:
        copy = with_copy(table, tmp_path)
        for _ in range(2):
            with RunningBox(table.config) as box:
                await asyncio.to_thread(box.until, "shuffler.1", "in_service")
                assert await asyncio.to_thread(box.end) == 0
            *_, last = reader.read(copy, 1)
            assert last.kind == STOP
            assert list(reader.read(copy, 1)) == list(reader.read(tmp_path / "data" / "journal", 1))
            assert "lacks the last records" not in box.log_text()


async def test_systemd_is_asked_for_more_time_while_the_journal_is_read(tmp_path: Path) -> None:
    async with RemoteTable(tmp_path, "face_up_pai_gow", seed=5, speed=400.0, pace=0.01) as table:
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, "shuffler.1", "in_service")
            await asyncio.to_thread(box.end, signal.SIGKILL)  # what it recorded is to be replayed
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind(str(tmp_path / "notify"))
            systemd.settimeout(30.0)
            with RunningBox(table.config, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")}):
                received = [await asyncio.to_thread(systemd.recv, 4096)]
                while b"READY=1" not in received[-1]:
                    received.append(await asyncio.to_thread(systemd.recv, 4096))
        assert b"EXTEND_TIMEOUT_USEC=60000000" in received[0]
        assert b"reading the journal: record" in received[0]


class Hanging(Copy):
    """A copy on a disk that does not answer any more."""

    def __init__(self, source: Path, folder: Path, until: threading.Event) -> None:
        super().__init__(source, folder)
        self.until = until

    def ship(self) -> Ack:
        """Answer after every caller has given up."""
        self.until.wait(60.0)
        raise CopyUnreachable("it hung")


async def test_a_copy_that_hangs_does_not_hold_the_stop_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(copier_module, "CLOSE_TIMEOUT_S", 0.1)
    store, released, reported = open_journal(tmp_path / "journal"), threading.Event(), list[CopyState]()
    copier = Copier(store, Hanging(store.folder, tmp_path / "copy", released), reported.append)
    store.end()
    assert newest(store).kind == STOP
    await copier.close()
    assert "the second copy lacks the last records of this run; it did not answer within" in caplog.text
    store.close()
    assert newest(store).kind == STOP, "one stop, and nothing after it"
    assert [r.kind for r in reader.read(store.folder, 1)].count(STOP) == 1
    released.set()
    thread = copier._thread
    assert thread is not None
    await asyncio.to_thread(thread.join, 30.0)
