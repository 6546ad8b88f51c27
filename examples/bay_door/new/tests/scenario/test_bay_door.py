"""The bay door: on the bench over every line, and at a table whose box is the shipped one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from devices.bay_door import messages as m
from devices.kinds import BAY_DOOR
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import CommandFailed
from simulators.kinds.bay_door.machine import SimulatedBayDoor
from tests.support.box.boxes import running
from tests.support.machines.bench import device_bench, over_the_ladder
from tests.support.machines.card_checks import run_command

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.controller.box import Box

SLOT = "bay_door.1"


@over_the_ladder
async def test_an_opened_door_is_a_fault_that_closing_does_not_clear(seed: int, rung: str) -> None:
    async with device_bench(SimulatedBayDoor(seed=seed), BAY_DOOR, rung) as b:
        assert b.service.state == "in_service"
        b.inject("open_bay")
        await asyncio.sleep(2)
        assert (b.view.state, b.view.openings, b.service.state) == (m.State.OPEN, 1, "faulted")
        b.inject("close_bay")
        await asyncio.sleep(2)
        assert (b.view.state, b.service.state) == (m.State.CLOSED, "faulted")


@over_the_ladder
async def test_a_self_test_finds_a_dead_lamp(seed: int, rung: str) -> None:
    async with device_bench(SimulatedBayDoor(seed=seed), BAY_DOOR, rung) as b:
        await run_command(b, b.driver.self_test)
        b.inject("dead_lamp")
        with pytest.raises(CommandFailed) as failed:
            await run_command(b, b.driver.self_test)
        assert failed.value.code == "PB-436"
        assert b.service.state == "faulted"


async def test_a_self_test_whose_reply_is_withheld_is_asked_about_and_not_sent_again(seed: int) -> None:
    async with device_bench(SimulatedBayDoor(seed=seed), BAY_DOOR) as b:
        b.inject("withhold:message=SelfTest")
        command = b.next_id()
        assert (await b.driver.self_test(command)).outcome is Outcome.DONE
        assert b.events_of(m.SelfTested) == [m.SelfTested(command, lamp=True)]


async def test_a_box_has_the_door_in_service_until_it_is_opened_and_again_when_people_returned_it(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "asia_poker", more={SLOT: "bay-door"}) as (bench, box, talk):
        assert _state(box) == "in_service"
        await talk.sign_on("T1", "F1")
        assert (await talk.ask("device", slot=SLOT, call="self_test", by="T1"))["type"] == "Settled"
        bench.machines[SLOT].inject("open_bay")
        await asyncio.sleep(1)
        assert _state(box) == "faulted"
        bench.machines[SLOT].inject("close_bay")
        await talk.submit("slot", slot=SLOT, act="clear", by="T1")
        await talk.submit("slot", slot=SLOT, act="acknowledge", by="F1")
        await asyncio.sleep(1)
        assert _state(box) == "in_service"


def _state(box: Box) -> str:
    return box.running_controller().table.state.slots[SLOT].state
