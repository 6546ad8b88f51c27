"""A data folder on a disk that turned read-only: the box runs locked and shows the reason; files are private."""

from __future__ import annotations

import stat
import time
import urllib.request
from typing import TYPE_CHECKING

import pytest

from simulators.casino.broker import free_port
from simulators.casino.table_layout import table_slots, table_toml, write_bench_people
from tests.support.box.configs import write_config
from tests.support.box.processes import LIMIT
from tests.support.box.running_box import RunningBox
from tests.support.box.small_disk import remount, small_disk

if TYPE_CHECKING:
    from pathlib import Path

GAME = "over_under"

pytestmark = pytest.mark.realtime


def configured(folder: Path, data: Path, port: int) -> Path:
    text = table_toml(GAME, {slot: str(folder / slot) for slot in table_slots(GAME)})
    write_bench_people(data)
    panel = f"\n[panel]\nenabled = true\nport = {port}\n"
    return write_config(folder, text.replace('folder = "data"', f'folder = "{data}"') + panel)


def shown(box: RunningBox, words: str) -> None:
    until = time.monotonic() + LIMIT
    while words not in box.log_text():
        assert box.process.poll() is None, box.log_text()
        assert time.monotonic() < until, box.log_text()
        time.sleep(0.05)


def test_a_data_folder_that_turned_read_only_locks_the_box_and_the_panel_gives_the_reason(tmp_path: Path) -> None:
    with small_disk(tmp_path, 64 << 10) as disk:
        port = free_port()
        config = configured(tmp_path, disk, port)
        with RunningBox(config) as box:
            shown(box, "ready: ")
        remount(disk, "ro")
        (tmp_path / "box.log").unlink()
        with RunningBox(config) as box:
            shown(box, "locked: PB-717")
            shown(box, "panel: ")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT) as answer:
                assert b"pitbox" in answer.read()
            assert box.end() == 0
        remount(disk, "rw")
        (tmp_path / "box.log").unlink()
        with RunningBox(config) as box:
            shown(box, "ready: ")
            assert "locked" not in box.log_text()


def test_files_of_a_box_are_readable_by_its_user_only(tmp_path: Path) -> None:
    config = configured(tmp_path, tmp_path / "data", free_port())
    with RunningBox(config) as box:
        shown(box, "ready: ")
    open_files = [
        str(path.relative_to(tmp_path))
        for path in (tmp_path / "data").rglob("*")
        if not path.is_socket() and path.stat().st_mode & (stat.S_IRWXO | stat.S_IWGRP)
    ]
    assert open_files == []
