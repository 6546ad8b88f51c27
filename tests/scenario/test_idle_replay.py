"""A table that idles: refused requests and links that flap never make the next start replay more than its budget."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
import pytest

from devices.service import ABSENT, IN_SERVICE
from firmware_bridge.errors import LinkUnsteady, PortBusy, PortMissing
from firmware_bridge.link_drops import DROP_WINDOW_S, FIRST_TRIAL_S, LONGEST_TRIAL_S, REPORTED_DROPS
from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.table import CasinoTable
from table_controller.journal.records import NOTE, STEP, VERSION, Note, decode_step
from table_controller.journal.recovery import Recovered, recover
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table

if TYPE_CHECKING:
    from table_controller.journal.chain import Record

# Replay after any idle time reads at most this many records.
BUDGET = 1000


def since_snapshot(house: CasinoTable) -> list[Record]:
    """Return what a start would replay: every record after the newest snapshot's state."""
    newest = house.disk.snapshots[-1].seq if house.disk.snapshots else 0
    return [record for record in house.disk.records if record.seq > newest]


def recovered(house: CasinoTable) -> tuple[Recovered, Table]:
    """Recover from the disk by the shipped function, into a fresh table, as a start does first."""
    slots = {place.name: place.kind for place in house.plan.slots}
    table = Table(house.edition, house.submission, slots)
    store = house.disk.open(version=VERSION, digests=house.box.digests)
    recovery = recover(store, table, house.box.digests)
    house.disk.release(store)
    return recovery, table


async def idle(house: CasinoTable, hours: int, *, refused: int = 0, flaps: str = "") -> None:
    """Let hours pass: `refused` requests of the dealer a minute, and a link that drops once a minute."""
    for _ in range(hours * 60):
        for _ in range(refused):
            house.controller.submit(ev.OpenRound(DEALER) if _busy(house) else ev.NoMoreBets(DEALER))
        if flaps:
            house.machines[flaps].inject("unplug:seconds=1")
        await house.wait(60.0)


def _busy(house: CasinoTable) -> bool:
    return house.controller.table.state.round.state != mc.IDLE


async def killed_and_compared(house: CasinoTable) -> None:
    """Kill the box, recover, compare state and length of the replay, and let the shipped box start."""
    await house.until(lambda: house.writer.waiting == 0)
    before = house.controller.table.snapshot()
    house.disk.cut()
    length = len(since_snapshot(house))
    recovery, table = recovered(house)
    assert table.snapshot() == before, "the state is not the one that the killed box had"
    assert recovery.steps <= length <= BUDGET, f"{length} records to replay"
    await house.power_up()
    assert house.box.cause is None


@pytest.mark.parametrize("place", ["between rounds", "in a round", "with a hold open"])
async def test_a_table_that_idles_for_hours_replays_at_most_its_budget(seed: int, place: str) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        await house.round((1, 4))
        if place != "between rounds":
            house.controller.submit(ev.OpenRound(DEALER))
            await house.wait(1.0)
            assert house.controller.table.state.round.state == mc.BETTING
        if place == "with a hold open":
            house.people.is_ignoring = True  # nobody answers the questions
            house.controller.submit(ev.SlotOrdered("shuffler.1", "give_up", FLOOR))
            assert house.controller.table.state.holds
        await idle(house, 5, refused=12, flaps="bet_sensor.3")
        await killed_and_compared(house)
    finally:
        await house.close()


def changes(house: CasinoTable, slot: str) -> list[str]:
    """Return every recorded change of one slot's link and report."""
    steps = [decode_step(record.body).event for record in house.disk.records if record.kind == STEP]
    return [event.trigger for event in steps if isinstance(event, ev.SlotChanged) and event.slot == slot]


def notes(house: CasinoTable) -> list[str]:
    """Return the recorded notes about links."""
    results = [msgspec.json.decode(record.body, type=Note) for record in house.disk.records if record.kind == NOTE]
    return [note.text for note in results if note.kind == "link"]


async def test_a_link_that_flaps_all_day_is_loud_first_and_then_counted(seed: int) -> None:
    slot = "bet_sensor.3"
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        before = len(changes(house, slot))
        await idle(house, 12, flaps=slot)
        recorded = changes(house, slot)[before:]
        assert recorded.count("vanish") <= 2 * REPORTED_DROPS, (
            f"720 falls, and {recorded.count('vanish')} were recorded"
        )
        assert recorded[: 3 * REPORTED_DROPS] == ["vanish", "appear", "verify"] * REPORTED_DROPS, (
            "the first falls are recorded each"
        )
        assert recorded[-1] == "vanish", "what matters is recorded: it is gone"
        assert house.controller.table.state.slots[slot].state == ABSENT
        assert isinstance(house.slots[slot].cause, LinkUnsteady)
        assert 2 <= len(notes(house)) <= 12, "loud at first, then each time the count has doubled"
        await killed_and_compared(house)
        await house.wait(2 * DROP_WINDOW_S)
        assert house.controller.table.state.slots[slot].state == IN_SERVICE
    finally:
        await house.close()


async def test_a_link_that_holds_again_serves_and_the_unrecorded_falls_are_counted_in_a_note(seed: int) -> None:
    slot = "bet_sensor.3"
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        await idle(house, 1, flaps=slot)
        counted = house.slots[slot].supervisor.drops.unreported
        assert counted > 30
        await house.wait(LONGEST_TRIAL_S + 10.0)
        assert house.controller.table.state.slots[slot].state == IN_SERVICE, "no person need do anything"
        await house.wait(DROP_WINDOW_S)
        assert f"{counted} losses were counted and not recorded" in notes(house)[-1]
        await house.round((1, 3))
        assert house.controller.table.state.round.number == 1
        house.machines[slot].inject("unplug:seconds=1")
        await house.wait(20.0)
        assert changes(house, slot)[-3:] == ["vanish", "appear", "verify"], "a steady link is trusted at once again"
    finally:
        await house.close()


async def test_while_rounds_are_played_a_link_on_trial_holds_nobody_up_for_long(seed: int) -> None:
    slot = "bet_sensor.3"
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        await idle(house, 1, flaps=slot)
        falls = house.slots[slot].supervisor.drops
        assert house.slots[slot].longest_trial_s() == LONGEST_TRIAL_S
        await house.wait(LONGEST_TRIAL_S + 10.0)
        await house.round((1, 4))
        assert falls.trial_s() > FIRST_TRIAL_S
        assert house.slots[slot].longest_trial_s() == FIRST_TRIAL_S
        house.machines[slot].inject("unplug:seconds=1")
        await house.wait(FIRST_TRIAL_S / 2)
        assert house.controller.table.state.slots[slot].state == ABSENT
        await house.wait(FIRST_TRIAL_S + 5.0)
        assert house.controller.table.state.slots[slot].state == IN_SERVICE
    finally:
        await house.close()


async def test_a_machine_that_may_still_move_cards_is_met_at_once_however_its_link_flaps(seed: int) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue")
        await idle(house, 1, flaps="shuffler.1")
        await house.wait(LONGEST_TRIAL_S + 10.0)
        shuffling = asyncio.create_task(house.bring_deck("red"))
        table = house.controller.table
        await house.until(lambda: any(issued.act == "shuffle" for issued in table.state.commands.values()))
        assert house.slots["shuffler.1"].supervisor.drops.is_flapping
        house.machines["shuffler.1"].inject("unplug:seconds=1")
        await house.wait(0.5)
        assert table.state.slots["shuffler.1"].state == ABSENT
        await house.wait(FIRST_TRIAL_S / 2)
        assert table.state.slots["shuffler.1"].state != ABSENT, "it was asked at once how its shuffle ended"
        await shuffling
    finally:
        await house.close()


async def test_a_link_that_cannot_be_made_for_ever_other_causes_is_recorded_once(seed: int) -> None:
    """An absent device whose port alternates between missing and busy once wrote a record at each change."""
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        driver, before = house.slots["bet_sensor.3"].driver, len(changes(house, "bet_sensor.3"))
        house.machines["bet_sensor.3"].inject("unplug:seconds=0")
        await house.wait(30.0)
        for _ in range(200):
            driver.link_down(PortMissing("gone"))
            driver.link_down(PortBusy("held"))
        await house.wait(1.0)
        assert changes(house, "bet_sensor.3")[before:] == ["vanish"]
        assert isinstance(house.slots["bet_sensor.3"].cause, PortBusy), "people are shown the newest cause all the same"
    finally:
        await house.close()
