"""Power cuts and failures of the disk during a return to service: no step is skipped, and no line is lost."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import PitboxError
from simulators.casino.disk import PowerCut
from simulators.casino.disk_writer import DiskWriter
from simulators.world.table import TRAY
from table_controller.diagnosis import fault_report_store as files
from table_controller.table import events as ev
from table_controller.table.decisions import StateChanged
from tests.support.box import boxes
from tests.support.box.power_cuts import steps
from tests.support.box.return_to_service import (
    SLOT,
    complete_return,
    fault,
    order_device,
    return_step,
    running,
    shuffler_of,
    start,
)

if TYPE_CHECKING:
    from pathlib import Path


class PromptWriter(DiskWriter):
    """Writes the first record at once, as a thread that is faster than the loop; the next ones are another commit."""

    def _put(self, item: Any) -> int:
        number = super()._put(item)
        if self._timer is not None and not self._held and not self._group:
            self._timer.cancel()
            self._begin()
        return number


@pytest.mark.parametrize("after", range(1, 6))
@pytest.mark.parametrize("call", ["self_test", "shuffle"])
async def test_a_fault_on_disk_requires_its_steps_wherever_power_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, call: str
) -> None:
    monkeypatch.setattr(boxes, "DiskWriter", PromptWriter)
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        bench.machines[SLOT].inject("dust:sensor=lift,percent=70")
        bench.disk.on_cut = bench.box.lose_power
        bench.disk.cut_at = bench.disk.points + after
        with contextlib.suppress(PitboxError, TimeoutError):
            async with asyncio.timeout(30):
                await getattr(shuffler_of(bench.box), call)(1 << 61)
        bench.disk.on_cut = None
        with contextlib.suppress(PowerCut):
            await bench.box.stop()
        bench.disk.cut_at = None
        on_disk = steps(bench.disk.records)
        faulted = any(StateChanged(f"slot {SLOT}", "faulted") in step.decisions for step in on_disk)
        halted = any(isinstance(step.event, ev.MachineHalted) for step in on_disk)
        assert faulted is halted, "one commit has the fault and the halt"
        await start(bench, tmp_path)
        await asyncio.sleep(2.0)
        slot = bench.box.running_controller().table.state.slots[SLOT]
        assert not faulted or (slot.return_procedure is not None and slot.return_procedure.fault_report == 1)


async def test_a_fault_while_the_box_stops_requires_its_steps_after_the_start(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        bench.machines[SLOT].inject("dust:sensor=lift,percent=70")
        with contextlib.suppress(PitboxError):
            bench.box.is_stopping = True  # as in the first moment of the stop
            await shuffler_of(bench.box).self_test(1 << 61)
        await bench.box.stop()
        await start(bench, tmp_path)
        await asyncio.sleep(2.0)
        slot = bench.box.running_controller().table.state.slots[SLOT]
        assert slot.state == "faulted"
        assert slot.return_procedure is not None


@pytest.mark.parametrize("after", range(1, 9))
async def test_a_machine_whose_test_ended_on_disk_has_its_former_mode_wherever_power_was_cut(
    tmp_path: Path, after: int
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        machine: Any = bench.machines[SLOT]
        machine.world.move_all(machine.mechanics.intake, TRAY)
        machine.firmware.hands_moved()
        assert await order_device(talk, "begin_test") is None
        await order_device(talk, "set_mode", mode="sort")
        assert machine.firmware.mode.name == "SORT"
        bench.disk.on_cut = bench.box.lose_power
        bench.disk.cut_at = bench.disk.points + after
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await order_device(talk, "leave_test")
        bench.disk.on_cut = None
        with contextlib.suppress(PowerCut):
            await bench.box.stop()
        bench.disk.cut_at = None
        await start(bench, tmp_path)
        slot = bench.box.running_controller().table.state.slots[SLOT]
        assert slot.is_testing or machine.firmware.mode.name == "SHUFFLE"


async def test_lines_that_a_full_disk_refused_are_written_once_it_has_room(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        path = tmp_path / "fault-reports" / "000001.steps"
        kept = path.read_bytes()
        path.unlink()
        path.mkdir()  # nothing can be written to it
        await complete_return(bench, talk, until="path_empty")
        path.rmdir()
        path.write_bytes(kept)
        await return_step(talk, "path_empty", by="T1")
        names = [type(step).__name__ for step in files.steps_of(path.parent, 1)]
        assert names == ["ReturnBegan", "TechnicianAssigned", *["EvidenceShown"] * 2, *["StepCompleted"] * 2]


async def test_a_fault_is_recorded_although_the_folder_of_the_reports_was_deleted(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        shutil.rmtree(tmp_path / "fault-reports")
        await fault(bench, "dust:sensor=lift,percent=70")
        assert files.numbers(tmp_path / "fault-reports") == [1]
        await complete_return(bench, talk)
