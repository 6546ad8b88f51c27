"""A link on trial (PB-726) hides no lock-out, no lock, no halt and no revoked device from the table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from firmware_bridge.errors import DiskFull
from firmware_bridge.keys import save_key
from firmware_bridge.link_drops import REPORTED_DROPS
from firmware_bridge.supervisor import LinkPhase
from simulators.casino.dealer import DEALER
from simulators.casino.table import CasinoTable
from simulators.kinds.models import make_machine
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.boxes import BoxTestBench, DirectClient

if TYPE_CHECKING:
    from pathlib import Path

    from firmware_bridge.supervisor import Supervisor

SENSOR = "bet_sensor.3"


async def on_trial(supervisor: Supervisor) -> None:
    """Wait until a trial has begun."""
    async with asyncio.timeout(30.0):
        while not (supervisor.drops.is_flapping and supervisor.phase is LinkPhase.HANDSHAKE):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)
    assert supervisor.phase is LinkPhase.HANDSHAKE


async def fall(house: CasinoTable, slot: str) -> None:
    """Drop a link until it counts as unsteady."""
    for _ in range(REPORTED_DROPS):
        house.machines[slot].inject("unplug:seconds=1")
        await house.wait(15.0)
    assert house.slots[slot].supervisor.drops.is_flapping


async def opened(seed: int) -> CasinoTable:
    """A table whose round is open and whose people do nothing."""
    house = CasinoTable("face_up_pai_gow", seed=seed, models={"keypad.1": "keypad"})
    await house.open("blue", "red")
    house.people.is_ignoring = True
    house.controller.submit(ev.OpenRound(DEALER))
    await house.wait(1.0)
    assert house.controller.table.state.round.state == mc.BETTING
    return house


async def test_in_a_round_a_link_that_fell_often_is_trusted_at_once_and_a_lock_out_pressed_meanwhile_counts(
    seed: int,
) -> None:
    house = await opened(seed)
    try:
        await fall(house, "keypad.1")
        house.machines["keypad.1"].inject("unplug:seconds=1")
        await house.wait(0.3)
        house.machines["keypad.1"].inject("press:key=lock_out")
        await house.wait(10.0)
        assert house.controller.table.state.round.state != mc.BETTING
    finally:
        await house.close()


async def test_a_trial_ends_when_a_round_opens(seed: int) -> None:
    slot = "keypad.1"
    house = CasinoTable("face_up_pai_gow", seed=seed, models={"keypad.1": "keypad"})
    try:
        await house.open("blue", "red")
        await fall(house, slot)
        house.machines[slot].inject("unplug:seconds=1")
        await on_trial(house.slots[slot].supervisor)
        house.people.is_ignoring = True
        house.controller.submit(ev.OpenRound(DEALER))
        assert house.controller.table.state.round.state == mc.BETTING
        await house.wait(5.0)
        assert house.slots[slot].view.connected
        house.machines["keypad.1"].inject("press:key=lock_out")
        await house.wait(5.0)
        assert house.controller.table.state.round.state != mc.BETTING
    finally:
        await house.close()


async def test_a_lock_reaches_a_sensor_whose_link_fell_often(seed: int) -> None:
    house = await opened(seed)
    try:
        await fall(house, SENSOR)
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.wait(3.0)
        assert house.controller.table.state.progressive.seats[3].latched
    finally:
        await house.close()


async def test_a_halt_locks_a_sensor_whose_link_fell_often(seed: int) -> None:
    house = await opened(seed)
    try:
        await fall(house, SENSOR)
        house.box.halt(DiskFull("the disk is full"))
        await house.wait(10.0)
        states = {house.slots[f"bet_sensor.{seat}"].view.state for seat in range(1, 7)}
        assert len(states) == 1, states
    finally:
        await house.close()


async def test_a_device_that_is_replaced_while_its_link_is_on_trial_never_serves_again(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    box = await bench.start()
    old = bench.machines["shoe.1"]
    new = make_machine("shoe", "shoe.1", seed=77, speed=20.0, world=old.world)
    file = tmp_path / "new.key"
    save_key(file, new.key)
    try:
        talk = await DirectClient(box).sign_on("T1", "F1")
        for number in range(REPORTED_DROPS):
            bench.ports["shoe.1"].unplug(1)
            await asyncio.sleep(15 if number < REPORTED_DROPS - 1 else 0.5)
        await on_trial(box.slots["shoe.1"].supervisor)
        answer = await talk.ask("enroll", slot="shoe.1", file=str(file), by="T1", second="F1")
        assert answer["revoked"] == old.key.serial
        await asyncio.sleep(300)
        assert not box.slots["shoe.1"].view.connected
        assert getattr(box.slots["shoe.1"].cause, "code", "") == "PB-312", (
            "what is wrong is named, not the falls before"
        )
    finally:
        await box.stop()
        old.board.power_off()
        bench.close()
