"""A running box with fault reports: a fault of its shuffler, and the repair step by step."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.shuffler import messages as m
from devices.shuffler.driver import ShufflerDriver
from firmware_bridge.errors import PitboxError
from simulators.world.table import TRAY
from table_controller.controller.slot import slots_of
from table_controller.maintenance.fault_reports import FaultReports
from tests.support.box.boxes import BoxTestBench, DirectClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from table_controller.controller.box import Box


SLOT = "shuffler.1"


def shuffler_of(box: Box) -> ShufflerDriver:
    return slots_of(box.slots, ShufflerDriver)[SLOT].driver


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[BoxTestBench, DirectClient]]:
    bench = BoxTestBench(folder, "face_up_pai_gow")
    await start(bench, folder)
    try:
        yield bench, DirectClient(bench.box)
    finally:
        if not bench.box.is_stopping:
            await bench.box.stop()
        bench.close()


async def start(bench: BoxTestBench, folder: Path) -> Box:
    box = await bench.start()
    box.fault_reports = FaultReports(box, folder / "fault-reports", threads=False)
    return box


async def fault(bench: BoxTestBench, *faults: str) -> None:
    """Let the shuffler fail while the deck is on the table."""
    machine: Any = bench.machines[SLOT]
    if not machine.world.count(machine.mechanics.intake):
        machine.world.make_deck(TRAY, "blue") if not machine.world.count(TRAY) else None
        machine.inject("load")
    for each in faults:
        machine.inject(each)
    with pytest.raises(PitboxError):
        await shuffler_of(bench.box).shuffle(1 << 61)
    await asyncio.sleep(1.0)


async def return_step(talk: DirectClient, step: str | None = None, **details: Any) -> Any:
    if step is None:
        return await talk.ask("fault", fault_report=1)
    return await talk.ask("return_step", fault_report=1, step=step, **details)


async def order_device(talk: DirectClient, call: str, **arguments: Any) -> Any:
    return await talk.ask("device", slot=SLOT, call=call, arguments=arguments, by="T1")


def protected_state(bench: BoxTestBench) -> tuple[Any, ...]:
    """What the table knows of money, cards and the round."""
    state = bench.box.running_controller().table.state
    return tuple(msgspec.json.encode(part) for part in (state.money.book.meters, state.decks, state.round))


async def jog(bench: BoxTestBench, talk: DirectClient) -> None:
    """Turn every motor, with nothing in the intake."""
    machine: Any = bench.machines[SLOT]
    machine.world.move_all(machine.mechanics.intake, TRAY)
    machine.firmware.hands_moved()
    for motor in m.Motor:
        reply = await order_device(talk, "jog", motor=motor.name.lower())
        assert not isinstance(reply, str), reply


async def send_cards_through(bench: BoxTestBench, talk: DirectClient, cards: int) -> None:
    """Send cards through the machine in test mode."""
    machine: Any = bench.machines[SLOT]
    world, mechanics = machine.world, machine.mechanics
    await take_out(bench, talk)
    for card in world.at(TRAY)[:cards]:
        world.move(card, mechanics.intake)
    machine.firmware.hands_moved()
    reply = await order_device(talk, "shuffle")
    assert not isinstance(reply, str), reply


async def take_out(bench: BoxTestBench, talk: DirectClient) -> None:
    """Have the machine give out what it holds, and take it: cards that no account has keep it from serving."""
    machine: Any = bench.machines[SLOT]
    world, mechanics = machine.world, machine.mechanics
    reply = await order_device(talk, "eject") if world.count(mechanics.gate) else None
    assert not isinstance(reply, str), reply
    for place in (mechanics.place("presented"), mechanics.intake):
        world.move_all(place, TRAY)
    machine.firmware.hands_moved()


async def counted(bench: BoxTestBench, talk: DirectClient) -> Any:
    await take_out(bench, talk)
    return await return_step(talk, "count", by="T1", cards=53)


async def complete_return(bench: BoxTestBench, talk: DirectClient, *, until: str | None = None) -> None:
    """Do the whole repair of fault report 1, or up to one step."""
    machine: Any = bench.machines[SLOT]

    async def clear() -> None:
        machine.inject("clear_path")
        await order_device(talk, "clear_jam")

    async def test() -> None:
        await order_device(talk, "self_test")

    actions: dict[str, Any] = {
        "clear": clear,
        "path_empty": lambda: return_step(talk, "path_empty", by="T1"),
        "sensor_test": test,
        "motor_jog": lambda: jog(bench, talk),
        "one_card": lambda: send_cards_through(bench, talk, 1),
        "full_deck": lambda: send_cards_through(bench, talk, 53),
        "count": lambda: counted(bench, talk),
        "return": lambda: return_step(talk, "return", by="F1"),
    }
    machine.inject("mend")
    if (await return_step(talk))["open"].startswith("begin"):
        assert (await return_step(talk, "begin", by="T1"))["technician"] == "t1"
    for name, go in actions.items():
        progress = await return_step(talk)
        if name in progress["done"]:
            continue
        if name == until:
            return
        assert progress["next"] == name
        await go()
        assert name in (await return_step(talk))["done"], name
