"""Return to service at a real box: by commands, killed in the middle, and done again."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import PitboxError
from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PIN
from table_controller.access.control_client import BlockingClient
from tests.support.box.processes import pitbox
from tests.support.box.running_box import RunningBox

if TYPE_CHECKING:
    from pathlib import Path

SLOT = "shuffler.1"
pytestmark = pytest.mark.realtime


def ask(box: RunningBox, do: str, *people: str, **details: Any) -> Any:
    """Ask the box over its socket, signed on; return the answer, or the error's text."""
    with BlockingClient(box.socket) as caller:
        for credential in people:
            caller.request("sign_on", credential=credential, pin=BENCH_PIN)
        try:
            return caller.request(do, **details)
        except PitboxError as refused:
            return f"{refused.code} {refused}"


def refused_by(box: RunningBox) -> str:
    """Return the table's refusal to a floorperson who returns the machine."""
    (reasons,) = ask(box, "slot", "floor-1", slot=SLOT, act="acknowledge")["decisions"]
    return " ".join(reason["evidence"] for reason in reasons["reasons"] if reason["key"] == "steps_open")


@pytest.mark.timeout(180)
async def test_a_box_that_is_killed_during_a_return_to_service_keeps_it_open_and_voids_its_evidence(
    tmp_path: Path,
) -> None:
    pin = tmp_path / "pin"
    pin.write_text(f"tech-1 {BENCH_PIN}\n")
    pin.chmod(0o600)

    async def jam(config: Path, *words: str) -> str:
        who = ("--as", "tech-1", "--pin-file", str(pin)) if words else ()
        return await asyncio.to_thread(pitbox, "fault", "1", "--config", str(config), *words, *who)

    async with RemoteTable(tmp_path, "face_up_pai_gow", seed=5, speed=400.0, pace=0.01) as table:
        machine: Any = table.machines[SLOT]
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, SLOT, "in_service")
            machine.inject("dust:sensor=lift,percent=40")
            await asyncio.to_thread(ask, box, "device", "tech-1", slot=SLOT, call="self_test", by="tech-1")
            await asyncio.to_thread(box.until, SLOT, "faulted")
            while not list((tmp_path / "data" / "fault-reports").glob("*.steps")):  # noqa: ASYNC110 - another process writes
                await asyncio.sleep(0.02)
            machine.inject("mend")
            assert "TEST MODE" not in await asyncio.to_thread(pitbox, "status", "--config", str(table.config))
            await jam(table.config, "--step", "begin")
            machine.inject("clear_path")
            for step in ("clear", "path_empty", "sensor_test"):
                await jam(table.config, "--step", step)
            output = await jam(table.config, "--order", "jog", "motor=feed", "reverse=yes")
            assert "☑ sensor test" in output
            assert "Jogged, turned: transport, elevator, eject" in output
            box.end(signal.SIGKILL)
        with RunningBox(table.config) as box:
            await asyncio.to_thread(box.until, SLOT, "faulted")
            far = await asyncio.to_thread(ask, box, "fault", fault_report=1)
            assert (far["done"], far["next"], far["technician"]) == ([], "clear", "tech-1")
            assert "IN TEST MODE" in await asyncio.to_thread(pitbox, "status", "--config", str(table.config))
            await asyncio.to_thread(ask, box, "slot", "tech-1", slot=SLOT, act="clear")
            assert "clear: " in await asyncio.to_thread(refused_by, box)
            machine.inject("clear_path")
            for step in ("clear", "path_empty", "sensor_test"):
                await jam(table.config, "--step", step)
            assert "▶ one card" in await jam(table.config, "--step", "motor_jog")
            (tmp_path / "data" / "fault-reports" / "000001.steps").unlink()
            assert "▶ one card" in await jam(table.config), "a running box shows its picture, and not a file"
            assert "one_card: " in await asyncio.to_thread(refused_by, box)


@pytest.mark.timeout(180)
async def test_a_simulated_technician_completes_every_step_at_a_box_that_keeps_fault_reports(tmp_path: Path) -> None:
    async with RemoteTable(tmp_path, "face_up_pai_gow", seed=5, speed=400.0, pace=0.01) as table:
        with RunningBox(table.config):
            await table.connect_to_box()
            serving = table.controller.table.context.is_in_service
            await table.until(lambda: serving(SLOT), 3600.0)
            table.machines[SLOT].inject("dust:sensor=lift,percent=40")
            driver: Any = table.slots[SLOT].driver  # of the box in the other process
            with pytest.raises(PitboxError):
                await driver.self_test()
            await table.until(lambda: not serving(SLOT), 3600.0)
            table.people.look_at_screen()
            async with asyncio.timeout(120):
                while not serving(SLOT):
                    table.people.repair_idle_machine()
                    await asyncio.sleep(0.1)
            assert table.controller.table.state.slots[SLOT].return_procedure is None
            answer = await table.box.do_return_step(1, None, None)
            assert (len(answer["done"]), answer["next"]) == (8, None)
