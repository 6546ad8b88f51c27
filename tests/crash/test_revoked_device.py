"""A replaced machine never serves again, also on a box that was replaced: real processes, ptys, copy and restore."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.keys import load_key, new_key, save_key
from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN
from table_controller.journal.copy import begin_copy
from tests.support.box.processes import pitbox
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


def _pins(folder: Path) -> list[str]:
    file = folder / "pins"
    file.write_text("".join(f"{id_} {BENCH_PIN}\n" for id_ in BENCH_PEOPLE))
    file.chmod(0o600)
    return ["--pin-file", str(file)]


def _other_box(old: Path, new: Path) -> Path:
    """Set up another computer from a backup of the configuration that is older than the enrollment."""
    new.mkdir()
    for name in ("table.toml", "approved.toml", "backup.key"):
        shutil.copy(old / name, new / name)
    for key in old.glob("*.*.key"):
        shutil.copy(key, new / key.name)
    (new / "shoe.1.key").unlink()
    shutil.move(new / "backup.key", new / "shoe.1.key")
    (new / "data").mkdir(mode=0o700)
    shutil.copy(old / "data" / "people.json", new / "data" / "people.json")
    config = new / "table.toml"
    config.write_text(config.read_text().replace('copy = "copy"', f'copy = "{old / "copy"}"'))
    return config


async def test_a_replaced_machine_is_refused_by_a_box_that_was_restored_from_the_copy(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    async with RemoteTable(folder, "face_up_pai_gow", seed=5, speed=400.0) as table:
        pins = _pins(tmp_path)
        (folder / "copy").mkdir()
        begin_copy(folder / "copy")
        table.config.write_text(table.config.read_text() + '\n[journal]\ncopy = "copy"\n')
        shutil.copy(folder / "shoe.1.key", folder / "backup.key")
        old, new = load_key(folder / "shoe.1.key").serial, new_key("SN-other", "shoe")
        save_key(tmp_path / "new.key", new)
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, "shoe.1", "in_service")
            answer = await asyncio.to_thread(
                pitbox, "enroll", "shoe.1", "--key", str(tmp_path / "new.key"), "--config", str(table.config),
                "--as", "tech-1", "--second", "floor-1", *pins,
            )  # fmt: skip
            assert f"the key of {old} is revoked" in answer
            await asyncio.to_thread(box.until, "shoe.1", "PB-312")
        config = _other_box(folder, tmp_path / "new")
        restored = await asyncio.to_thread(
            pitbox, "journal", "restore", "--from", str(folder / "copy"),
            "--to", str(config.parent / "data" / "journal"),
            "--floorperson", "floor-1", "--auditor", "audit-1", "--config", str(config), *pins,
        )  # fmt: skip
        assert "restored into" in restored
        with RunningBox(config) as box:
            assert await asyncio.to_thread(box.process.wait, 60) == 4, box.log_text()
            assert "PB-318" in box.log_text()
            assert "SN-other is enrolled there now" in box.log_text()
        (config.parent / "shoe.1.key").unlink()
        shutil.copy(folder / "shoe.1.key", config.parent / "shoe.1.key")
        with RunningBox(config) as box:  # with the key that was enrolled it starts, and the old machine is refused
            status = await asyncio.to_thread(box.until, "shoe.1", "PB-312")
            assert status["phase"] == "running"
            with_old = await asyncio.to_thread(
                pitbox, "enroll", "shoe.1", "--key", str(folder / "backup.key"), "--config", str(config),
                "--as", "tech-1", "--second", "floor-1", *pins, expect=4,
            )  # fmt: skip
            assert "PB-318" in with_old


async def test_a_journal_that_is_begun_anew_keeps_what_the_one_before_had_revoked(tmp_path: Path) -> None:
    async with RemoteTable(tmp_path, "saigon_5_card", seed=5, speed=400.0) as table:
        pins, config = _pins(tmp_path), ["--config", str(table.config)]
        shutil.copy(tmp_path / "shoe.1.key", tmp_path / "backup.key")
        save_key(tmp_path / "new.key", new_key("SN-other", "shoe"))
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, "shoe.1", "in_service")
            await asyncio.to_thread(
                pitbox, "enroll", "shoe.1", "--key", str(tmp_path / "new.key"), *config, "--as", "tech-1",
                "--second", "floor-1", *pins,
            )  # fmt: skip
        (tmp_path / "data" / "journal").rename(tmp_path / "evidence")
        begun = await asyncio.to_thread(
            pitbox, "journal", "begin", *config, "--technician", "tech-1", "--floorperson", "floor-1", *pins,
            "--before", str(tmp_path / "evidence"),
        )  # fmt: skip
        assert "1 keys of the previous journal stay revoked" in begun
        shutil.copy(tmp_path / "backup.key", tmp_path / "shoe.1.key")
        with RunningBox(table.config) as box:
            assert await asyncio.to_thread(box.process.wait, 60) == 4, box.log_text()
            assert "PB-318" in box.log_text()
