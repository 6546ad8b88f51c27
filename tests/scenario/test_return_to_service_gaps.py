"""What people and machines may do while a return to service or a test is open, at a running box, and are refused."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from simulators.world.table import TRAY
from table_controller.access import people_file
from table_controller.table import return_progress as rp
from tests.support.box.boxes import CHEAP, PIN
from tests.support.box.return_to_service import (
    SLOT,
    complete_return,
    fault,
    order_device,
    return_step,
    running,
    start,
    take_out,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.box.boxes import BoxTestBench, DirectClient

SHOE_SLOT = "shoe.1"


def procedure_of(bench: BoxTestBench, slot: str = SLOT) -> Any:
    return bench.box.running_controller().table.state.slots[slot].return_procedure


async def order_of(talk: DirectClient, by: str, call: str, **arguments: Any) -> Any:
    return await talk.ask("device", slot=SLOT, call=call, arguments=arguments, by=by)


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.05])
async def test_a_tested_machine_that_refuses_to_move_and_is_unplugged_halts_no_table(
    tmp_path: Path, delay: float
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        assert await talk.ask("device", slot=SHOE_SLOT, call="begin_test", arguments={}, by="T1") is None
        machine: Any = bench.machines[SHOE_SLOT]
        machine.inject("dust:sensor=draw,percent=70")
        seen = asyncio.Event()
        bench.box.on_device_event.append(
            lambda _, event: seen.set() if type(event).__name__ == "DeviceRefused" else None
        )
        order = asyncio.ensure_future(
            talk.ask("device", slot=SHOE_SLOT, call="dispense", arguments={"cards": 7}, by="T1")
        )
        await seen.wait()
        await asyncio.sleep(delay)
        machine.inject("unplug:seconds=5")
        assert (await order).startswith("PB-")
        await asyncio.sleep(8.0)
        assert bench.box.cause is None
        assert isinstance(procedure_of(bench, SHOE_SLOT), rp.ReturnProgress)
        assert not bench.box.running_controller().table.context.is_in_service(SHOE_SLOT)


async def test_a_power_cut_while_a_refused_motion_of_a_tested_machine_is_recorded_forgets_no_fault(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        assert await talk.ask("device", slot=SHOE_SLOT, call="begin_test", arguments={}, by="T1") is None
        machine: Any = bench.machines[SHOE_SLOT]
        machine.inject("dust:sensor=draw,percent=70")
        controller = bench.box.running_controller()

        def cut(_: str, event: Any) -> None:
            if type(event).__name__ == "DeviceRefused":
                asyncio.get_running_loop().call_soon(controller.abandon)

        bench.box.on_device_event.append(cut)
        await talk.ask("device", slot=SHOE_SLOT, call="dispense", arguments={"cards": 7}, by="T1")
        assert isinstance(procedure_of(bench, SHOE_SLOT), rp.TestMode)
        await bench.box.stop()
        await start(bench, tmp_path)
        await asyncio.sleep(2.0)
        procedure = procedure_of(bench, SHOE_SLOT)
        assert isinstance(procedure, rp.ReturnProgress)
        assert procedure.began.service


async def test_a_self_test_that_fails_before_the_signature_restarts_the_return_to_service(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk, until="return")
        await take_out(bench, talk)
        bench.machines[SLOT].inject("dust:sensor=lift,percent=70")
        await order_device(talk, "self_test")
        await asyncio.sleep(2.0)
        assert procedure_of(bench).done == ()
        assert "return is not the next step; the next step is clear" in await return_step(talk, "return", by="F1")


async def test_only_the_assigned_technician_gives_orders_in_test_mode_so_nobody_signs_for_their_own_work(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        for id_, role in (("T2", "technician"), ("F2", "floorperson")):
            people_file.add_credential(tmp_path / "people.json", id_, role, PIN, person="pat", cost=CHEAP)
        await talk.sign_on("F1", "T1", "T2", "F2")
        await fault(bench, "dust:sensor=lift,percent=70")
        assert (await return_step(talk, "begin", by="T1"))["technician"] == "t1"
        bench.machines[SLOT].inject("mend")
        for call in ("clear_jam", "self_test", "shuffle"):
            refused = await order_of(talk, "T2", call)
            assert refused.startswith("PB-813"), refused
            assert "it is in test mode of t1; take over the return to service first" in refused
        assert not isinstance(await order_of(talk, "T2", "stop"), str), "any technician may stop it"
        assert (await return_step(talk, "begin", by="T2"))["technician"] == "pat"
        assert procedure_of(bench).people == ("t1", "pat")
        assert "it is in test mode of pat" in await order_device(talk, "self_test")


async def test_a_technician_who_empties_a_machine_for_the_table_staff_does_not_sign_their_return(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        for id_, role in (("T2", "technician"), ("F2", "floorperson")):
            people_file.add_credential(tmp_path / "people.json", id_, role, PIN, person="pat", cost=CHEAP)
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("F1", "T2", "F2")
        await fault(bench, "jam:segment=lift,card=9")
        assert (await return_step(talk, "begin", by="F1"))["next"] == "clear"
        machine.inject("clear_path")
        await order_of(talk, "T2", "clear_jam")
        await return_step(talk, "path_empty", by="F1")
        assert (await return_step(talk, "count", by="F1", cards=53))["next"] == "return"
        assert set(procedure_of(bench).people) == {"f1", "pat"}
        assert "a second person must sign" in await return_step(talk, "return", by="F2")


async def test_test_mode_does_not_end_while_the_machine_moves(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk, until="return")
        await take_out(bench, talk)
        machine: Any = bench.machines[SLOT]
        for card in machine.world.at(TRAY)[:53]:
            machine.world.move(card, machine.mechanics.intake)
        machine.firmware.hands_moved()
        moving = asyncio.ensure_future(order_device(talk, "shuffle"))
        await asyncio.sleep(0.3)
        for step, by in (("return", "F1"), ("leave", "T1")):
            assert "its last command has not ended" in await return_step(talk, step, by=by)
            assert procedure_of(bench).is_testing
        assert not isinstance(await moving, str)
        await take_out(bench, talk)
        assert (await return_step(talk, "return", by="F1"))["next"] is None


@pytest.mark.parametrize("ahead_s", [0.0, 0.001, 0.003])
@pytest.mark.parametrize("is_order_first", [True, False])
async def test_an_order_that_crosses_the_end_of_a_test_is_refused_or_keeps_the_test_open(
    tmp_path: Path, ahead_s: float, is_order_first: bool
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk, until="return")
        await take_out(bench, talk)
        acts = [lambda: order_device(talk, "jog", motor="feed"), lambda: return_step(talk, "leave", by="T1")]
        first, second = acts if is_order_first else reversed(acts)
        tasks = [asyncio.ensure_future(first())]
        await asyncio.sleep(ahead_s)
        tasks.append(asyncio.ensure_future(second()))
        replies = await asyncio.gather(*tasks)
        ordered, left = replies if is_order_first else reversed(replies)
        assert isinstance(ordered, str) != isinstance(left, str), "one of them is refused"
        assert procedure_of(bench).is_testing == isinstance(left, str)
