"""A fault that nobody acknowledges is escalated at the configured time: in virtual time, to the second."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from simulators.casino.table_layout import table_slots, table_toml
from table_controller.config import load_config
from table_controller.host.configured_plan import plan_of
from table_controller.panel.live import LivePages
from table_controller.uplink.state_messages import describe_state
from tests.support.box.boxes import BoxTestBench, DirectClient
from tests.support.box.configs import write_config

if TYPE_CHECKING:
    from pathlib import Path

GAME = "face_up_pai_gow"


def configured(folder: Path, seconds: int | None) -> float:
    """Return the escalation time of a table with this text in its table.toml."""
    text = table_toml(GAME, {slot: f"/dev/{slot}" for slot in table_slots(GAME)})
    people = "" if seconds is None else f"\n[people]\nescalate_after_s = {seconds}\n"
    return plan_of(load_config(write_config(folder, text + people))).escalate_after_s


@pytest.mark.parametrize(("written", "after"), [(None, 300.0), (10, 10.0), (61, 61.0)])
async def test_a_fault_that_nobody_acknowledges_is_escalated_at_the_configured_time_and_not_before(
    tmp_path: Path, written: int | None, after: float
) -> None:
    (tmp_path / "table").mkdir()
    bench = BoxTestBench(tmp_path)
    bench.plan = replace(bench.plan, escalate_after_s=configured(tmp_path / "table", written))
    box = await bench.start()
    try:
        talk = await DirectClient(box).sign_on("D1")
        answer = await talk.submit("report", trigger="device_unusable", slot="shoe.1", by="D1")
        (hold,) = (each["hold"] for each in answer["decisions"] if each["type"] == "HoldOpened")
        assert box.escalation is not None
        result = box.escalation.first_seen[hold]

        async def at(seconds: float) -> list[int | None]:
            await asyncio.sleep(result + seconds - asyncio.get_running_loop().time())
            return [note.hold for note in bench.notes("escalated")]

        assert await at(after - 0.1) == [], "not before"
        assert await at(after + 0.1) == [hold]
        (note,) = bench.notes("escalated")
        assert note.slot == "shoe.1"
        assert "has waited for the floorperson" in note.text
        assert await at(2 * after - 0.1) == [hold]
        assert await at(2 * after + 0.1) == [hold, hold]
        state = box.pictures.box().state
        assert state is not None
        assert [each.escalated for each in state.holds] == [2]
        assert [each.escalated for each in describe_state(state, None, "now").holds] == [2], "over MQTT too"
        live = LivePages(box, "bench")
        assert [each["escalated"] for each in live.view("floorperson")["holds"]] == [2], "and on the floor page"
        live.close()
        assert not state.round.number, "and the table stands still all the while"
    finally:
        await box.stop()
        bench.close()


async def test_a_restart_counts_anew_from_the_start(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    try:
        talk = await DirectClient(box).sign_on("D1")
        await talk.submit("report", trigger="device_unusable", slot="shoe.1", by="D1")
        await asyncio.sleep(bench.plan.escalate_after_s - 1.0)
        assert not bench.notes("escalated")
        await box.stop()
        await asyncio.sleep(1000.0)
        assert not bench.notes("escalated"), "a box that is off escalates nothing"
        box = await bench.start(settle=bench.plan.escalate_after_s - 1.0)
        assert not bench.notes("escalated"), "the time while the box was off does not count"
        await asyncio.sleep(2.0)
        assert len(bench.notes("escalated")) == 1
    finally:
        await box.stop()
        bench.close()
