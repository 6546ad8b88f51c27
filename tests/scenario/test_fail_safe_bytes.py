"""Stops and locks are written in the call that decides them: their bytes are at the port before it returns."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from devices.message_registry import all_messages
from firmware_bridge.framer import Framer
from firmware_bridge.messages import tag_of
from simulators.casino.dealer import DEALER
from simulators.casino.table import CasinoTable
from table_controller.controller.safe_mode import EMERGENCY_ID_BASE
from table_controller.table import events as ev
from table_controller.table.decisions import Command

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from table_controller.controller.controller import DurableStep

GAME: Final = "face_up_pai_gow"
SENSORS: Final = tuple(f"bet_sensor.{seat}" for seat in range(1, 7))
# Every kind that can be stopped: the command that moves it, and the message that stops it.
MOTIONS: Final = {
    "shuffler.1": ("shuffle", "Stop"), "shoe.1": ("dispense", "Stop"), "shaker.1": ("arm_dice", "Disarm"),
}  # fmt: skip
NAMES: Final = {tag_of(message): message.__name__ for message in all_messages()}


class WrittenBytes:
    """The bytes that the box has written to the ports of some slots, as names of their messages."""

    def __init__(self, house: CasinoTable, slots: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        self._framers = {name: Framer() for name in slots}
        self.messages: dict[str, list[str]] = {name: [] for name in slots}
        for name in slots:
            link: Any = house.slots[name].driver.link
            transport = link.wire.transport

            def write(data: bytes, name: str = name, write: Any = transport.write) -> None:
                for frame in self._framers[name].feed(data):
                    if frame.payload:
                        self.messages[name].append(NAMES[msgspec.msgpack.decode(frame.payload)[0]])
                write(data)

            monkeypatch.setattr(transport, "write", write)


@asynccontextmanager
async def playing_table(seed: int) -> AsyncIterator[CasinoTable]:
    """Yield a table whose people bring two decks and play round after round."""
    house = CasinoTable(GAME, seed=seed)

    async def play() -> None:
        await house.open("blue", "red")
        while True:
            await house.round((1, 3))

    playing = asyncio.ensure_future(play())
    try:
        yield house
    finally:
        playing.cancel()
        await asyncio.wait({playing})
        await house.close()


async def _moves(house: CasinoTable, slot: str) -> None:
    """Wait until the command that moves a machine was sent to it."""
    sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def follow(step: DurableStep) -> None:
        moves = (d for d in step.decisions if isinstance(d, Command) and (d.slot, d.act) == (slot, MOTIONS[slot][0]))
        if any(moves) and not sent.done():
            sent.set_result(None)

    house.controller.followers.append(follow)
    await sent


@pytest.mark.parametrize("slot", MOTIONS)
async def test_the_stop_of_a_moving_machine_is_written_before_the_call_returns(
    slot: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing_table(seed) as house:
        await _moves(house, slot)
        written = WrittenBytes(house, (slot,), monkeypatch)
        house.controller.stop()
        assert written.messages[slot] == [MOTIONS[slot][1]]


async def test_the_locks_of_all_sensors_are_written_before_the_call_returns(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing_table(seed) as house:
        await house.until(lambda: house.slots and house.controller.table.state.round.state == "betting", 600.0)
        await house.until(lambda: not house.is_opening_bets())
        written = WrittenBytes(house, SENSORS, monkeypatch)
        house.controller.submit(ev.NoMoreBets(DEALER))
        assert written.messages == {name: ["Lock"] for name in SENSORS}


async def test_a_core_that_fails_has_stopped_and_locked_every_machine_before_the_call_returns(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing_table(seed) as house:
        await _moves(house, "shoe.1")
        slots = (*MOTIONS, *SENSORS)
        written = WrittenBytes(house, slots, monkeypatch)
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)

        def fail(_: ev.Event) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr(house.controller.table, "apply", fail)
        house.controller.submit(ev.OpenRound(DEALER))
        assert written.messages == {
            **{name: [message] for name, (_, message) in MOTIONS.items()}, **{name: ["Lock"] for name in SENSORS},
        }  # fmt: skip
        monkeypatch.undo()


async def test_a_stop_never_overtakes_a_command_of_the_same_callback_on_the_wire(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with playing_table(seed) as house:
        await house.until(lambda: house.controller.table.state.slots["shoe.1"].state == "in_service")
        written = WrittenBytes(house, ("shoe.1",), monkeypatch)
        driver: Any = house.slots["shoe.1"].driver
        ended = [driver.self_test(EMERGENCY_ID_BASE + 1), driver.stop(EMERGENCY_ID_BASE + 2)]
        assert written.messages["shoe.1"] == ["SelfTest", "Stop"]
        await asyncio.gather(*ended, return_exceptions=True)
