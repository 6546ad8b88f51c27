"""`pitbox run` and its second copy as real processes: rounds need the copy; a copy restored elsewhere locks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from simulators.casino.remote_table import RemoteTable
from table_controller.journal.copy import begin_copy, restore
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


def _reasons_against(reported: dict[str, Any]) -> set[str]:
    return {reason["key"] for reason in reported["state"]["permits"][0]["reasons"]}


async def _until(box: RunningBox, holds: Any) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            status = await asyncio.to_thread(box.status)
            if holds(status):
                return status
            await asyncio.sleep(0.1)


async def test_a_box_waits_for_its_copy_and_locks_once_the_copy_was_restored_elsewhere(tmp_path: Path) -> None:
    async with RemoteTable(tmp_path, "face_up_pai_gow", seed=5, speed=400.0) as table:
        (tmp_path / "copy").mkdir()
        table.config.write_text(table.config.read_text() + '\n[journal]\ncopy = "copy"\n')
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert "copy_not_reached" in _reasons_against(status), "nobody has begun a copy there"
            begin_copy(tmp_path / "copy")
            await _until(box, lambda status: "copy_not_reached" not in _reasons_against(status))
            by = {"floorperson": "F1", "auditor": "A1"}
            await asyncio.to_thread(restore, tmp_path / "copy", tmp_path / "new", by=by)
            status = await _until(box, lambda status: status["phase"] == "halted")
            assert status["cause"]["code"] == "PB-724"
            assert "floorperson F1 and auditor A1" in status["cause"]["text"]
        with RunningBox(table.config) as box:
            status = await asyncio.to_thread(box.status)
            assert (status["phase"], status["cause"]["code"]) == ("locked", "PB-724")
