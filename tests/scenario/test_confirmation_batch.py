"""Fail-safe first: six locks and their confirmations precede the disk, in one commit, with a short wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from simulators.casino.dealer import DEALER
from simulators.casino.table import CasinoTable
from table_controller.controller.confirmation_batch import LONGEST_S, ConfirmationBatch
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    import pytest

    from table_controller.journal.chain import Record

GAME: Final = "face_up_pai_gow"
SEATS: Final = range(1, 7)


class Watched:
    """A table with open bets; `groups` holds the events of each commit."""

    def __init__(self, house: CasinoTable, monkeypatch: pytest.MonkeyPatch) -> None:
        self.house = house
        self.groups: list[list[ev.Event]] = []
        disk = house.disk
        write = disk.write

        def watch(owner: Any, records: list[Record], snapshot: Any) -> None:
            self.groups.append([rec.decode_step(each.body).event for each in records if each.kind == rec.STEP])
            write(owner, records, snapshot)

        monkeypatch.setattr(disk, "write", watch)

    @classmethod
    async def opened(cls, seed: int, monkeypatch: pytest.MonkeyPatch) -> Watched:
        house = CasinoTable(GAME, seed=seed)
        await house.open("blue", "red")
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(1.0)
        return cls(house, monkeypatch)

    def sensor(self, seat: int) -> Any:
        return self.house.machines[f"bet_sensor.{seat}"]

    def latched(self) -> list[int]:
        return [seat for seat in SEATS if self.sensor(seat).firmware.memory.latch is not None]


async def test_the_call_and_its_six_confirmations_are_one_commit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = await Watched.opened(seed, monkeypatch)
    try:
        table.house.controller.submit(ev.NoMoreBets(DEALER))
        assert table.groups == [], "nothing came to disk in the call that locks"
        await table.house.until(lambda: table.groups)
        assert table.latched() == list(SEATS), "the disk was asked before a sensor was latched"
        first, *latches = [e for e in table.groups[0] if isinstance(e, ev.NoMoreBets | ev.SeatLatched)]
        assert isinstance(first, ev.NoMoreBets)
        assert sorted(latch.seat for latch in latches if isinstance(latch, ev.SeatLatched)) == list(SEATS)
    finally:
        await table.house.close()


async def test_a_sensor_that_does_not_answer_keeps_nobody_waiting(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = await Watched.opened(seed, monkeypatch)
    try:
        table.sensor(3).inject("withhold:message=Lock")
        loop = asyncio.get_running_loop()
        began = loop.time()
        table.house.controller.submit(ev.NoMoreBets(DEALER))
        while not table.groups:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(LONGEST_S / 10)
        assert loop.time() - began <= 1.2 * LONGEST_S
        taken = [event.seat for event in table.groups[0] if isinstance(event, ev.SeatLatched)]
        assert sorted(taken) == [seat for seat in SEATS if seat != 3]
    finally:
        await table.house.close()


async def test_events_during_the_batch_are_applied_at_once_and_recorded_after_earlier_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await Watched.opened(seed, monkeypatch)
    try:
        controller = table.house.controller
        seen: list[str] = []
        original = controller.table.apply

        def watch(event: ev.Event) -> Any:
            seen.append(type(event).__name__)
            return original(event)

        monkeypatch.setattr(controller.table, "apply", watch)
        table.sensor(3).inject("withhold:message=Lock")
        controller.submit(ev.NoMoreBets(DEALER))
        while len(controller.confirmation_batch._kept) < 5:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(LONGEST_S / 100)
        assert seen == ["NoMoreBets"], "a confirmation was taken while another was on its way"
        controller.submit(ev.NoMoreBets(DEALER))  # sent again: refused
        assert seen[-1] == "NoMoreBets"
        assert seen.count("SeatLatched") == 5
    finally:
        await table.house.close()


async def test_locks_are_on_the_wire_before_other_consequences_are_computed(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await Watched.opened(seed, monkeypatch)
    try:
        controller = table.house.controller
        written: list[str] = []
        for name, slot in controller.slots.items():
            if slot.kind.name == "bet_sensor":
                assert slot.driver.link is not None
                monkeypatch.setattr(slot.driver.link.wire, "capture", lambda *_, name=name: written.append(name))

        def watch(event: ev.Event) -> Any:
            assert written == [f"bet_sensor.{seat}" for seat in SEATS]
            return go_on(event)

        go_on = controller.table.advance
        monkeypatch.setattr(controller.table, "advance", watch)
        controller.submit(ev.NoMoreBets(DEALER))
        assert controller.halted is None
    finally:
        monkeypatch.undo()
        await table.house.close()


async def test_a_power_cut_during_the_batch_leaves_nothing_behind(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = await Watched.opened(seed, monkeypatch)
    try:
        table.house.controller.submit(ev.NoMoreBets(DEALER))
        table.house.controller.abandon()
        await table.house.wait(1.0)
        assert table.latched() == list(SEATS), "the locks were on the wire already"
        assert table.groups == [], "what was not on disk when power went does not come there later"
    finally:
        await table.house.close()


async def test_without_a_fail_safe_command_nothing_is_batched(seed: int) -> None:
    house = CasinoTable(GAME, seed=seed)
    try:
        hold = ConfirmationBatch(house.writer)
        done: list[int] = []
        assert not hold.defer(lambda: done.append(1)), "a request ends the batch now"
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        hold.on_answer(answer, lambda: done.append(2))
        assert done == [2]
    finally:
        await house.close()
