"""A running box with dossiers: a fault of its shuffler, and the repair step by step."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.shuffler import messages as m
from firmware_bridge.errors import PitboxError
from simulators.world.table import TRAY
from table_controller.controller.dossiers import Dossiers
from tests.support.boxes import Bench, Talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from table_controller.controller.box import Box


SLOT = "shuffler.1"


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[Bench, Talk]]:
    bench = Bench(folder, "face_up_pai_gow")
    await start(bench, folder)
    try:
        yield bench, Talk(bench.box)
    finally:
        if not bench.box.stopping:
            await bench.box.stop()
        bench.close()


async def start(bench: Bench, folder: Path) -> Box:
    box = await bench.start()
    box.dossiers = Dossiers(box, folder / "dossiers", threads=False)
    return box


async def fault(bench: Bench, *faults: str) -> None:
    """Let the shuffler fail while the deck is on the table."""
    machine: Any = bench.machines[SLOT]
    if not machine.world.count(machine.mechanics.intake):
        machine.world.make_deck(TRAY, "blue") if not machine.world.count(TRAY) else None
        machine.inject("load")
    for each in faults:
        machine.inject(each)
    with pytest.raises(PitboxError):
        await bench.box.slots[SLOT].driver.shuffle(1 << 61)
    await asyncio.sleep(1.0)


async def tell(talk: Talk, step: str | None = None, **details: Any) -> Any:
    return await talk.ask("jam", dossier=1, step=step, **details)


async def order(talk: Talk, call: str, **arguments: Any) -> Any:
    return await talk.ask("device", slot=SLOT, call=call, arguments=arguments, by="T1")


def known(bench: Bench) -> tuple[Any, ...]:
    """What the table knows of money, cards and the round."""
    state = bench.box.running().table.state
    return tuple(msgspec.json.encode(part) for part in (state.money.book.meters, state.decks, state.round))


async def jog(bench: Bench, talk: Talk) -> None:
    """Turn every motor, with nothing in the intake."""
    machine: Any = bench.machines[SLOT]
    machine.world.move_all(machine.mechanics.intake, TRAY)
    machine.firmware.hands_moved()
    for motor in m.Motor:
        reply = await order(talk, "jog", motor=motor.name.lower())
        assert not isinstance(reply, str), reply


async def through(bench: Bench, talk: Talk, cards: int) -> None:
    """Send cards through the machine in test mode."""
    machine: Any = bench.machines[SLOT]
    world, mechanics = machine.world, machine.mechanics
    await take_out(bench, talk)
    for card in world.at(TRAY)[:cards]:
        world.move(card, mechanics.intake)
    machine.firmware.hands_moved()
    reply = await order(talk, "shuffle")
    assert not isinstance(reply, str), reply


async def take_out(bench: Bench, talk: Talk) -> None:
    """Have the machine give out what it holds, and take it: cards that no account has keep it from serving."""
    machine: Any = bench.machines[SLOT]
    world, mechanics = machine.world, machine.mechanics
    reply = await order(talk, "eject") if world.count(mechanics.gate) else None
    assert not isinstance(reply, str), reply
    for place in (mechanics.place("presented"), mechanics.intake):
        world.move_all(place, TRAY)
    machine.firmware.hands_moved()


async def counted(bench: Bench, talk: Talk) -> Any:
    await take_out(bench, talk)
    return await tell(talk, "count", by="T1", cards=53)


async def walk(bench: Bench, talk: Talk, *, until: str | None = None) -> None:
    """Do the whole repair of dossier 1, or up to one step."""
    machine: Any = bench.machines[SLOT]

    async def clear() -> None:
        machine.inject("clear_path")
        await order(talk, "clear_jam")

    async def test() -> None:
        await order(talk, "self_test")

    actions: dict[str, Any] = {
        "clear": clear,
        "path_empty": lambda: tell(talk, "path_empty", by="T1"),
        "sensor_test": test,
        "motor_jog": lambda: jog(bench, talk),
        "one_card": lambda: through(bench, talk, 1),
        "full_deck": lambda: through(bench, talk, 53),
        "count": lambda: counted(bench, talk),
        "return": lambda: tell(talk, "return", by="F1"),
    }
    machine.inject("mend")
    if (await tell(talk))["open"].startswith("begin"):
        assert (await tell(talk, "begin", by="T1"))["technician"] == "t1"
    for name, go in actions.items():
        progress = await tell(talk)
        if name in progress["done"]:
            continue
        if name == until:
            return
        assert progress["next"] == name
        await go()
        assert name in (await tell(talk))["done"], name
