"""Device changes accepted by two people: what continues, what blocks them, and their records."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from firmware_bridge.errors import DeviceChangeRefused, VersionsDiffer
from table_controller.journal import records as rec
from table_controller.journal.device_migration import change_devices, differences
from table_controller.journal.migrations import CONFIGURATION
from table_controller.journal.recovery import encode_snapshot, recover
from table_controller.journal.timers import Timers
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt
from tests.support.box.journal_prefixes import RecordedRun, restart, resume_play
from tests.support.core.ideal_table import DEALER, FLOOR, NO_MACHINES, SLOTS, TECH, IdealTable

GAME = "face_up_pai_gow"
WITH_KEYPAD: dict[str, Any] = {**SLOTS[GAME], "keypad.1": "keypad", "meter_sign.1": "meter_sign"}
BY_HAND: dict[str, Any] = {**NO_MACHINES, "dealing": "manual_shoe"}


def _without(*names: str) -> dict[str, Any]:
    return {name: kind for name, kind in SLOTS[GAME].items() if name not in names}


def _played() -> tuple[RecordedRun, IdealTable]:
    """Return a table that played a round and was stopped in order."""
    run = RecordedRun(GAME, 1, 1)
    floor = run.recovered(len(run.disk.records))
    store = run.disk.open(version=rec.VERSION, digests=run.digests) if run.disk._owner is None else run.disk._owner
    assert store is not None
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel")))
    store.close()
    return run, floor


def test_a_changed_device_blocks_the_start_and_the_error_names_the_procedure() -> None:
    run, _ = _played()
    other = run.digests | {CONFIGURATION: "1" * 64}
    floor = IdealTable(GAME, WITH_KEYPAD)
    with pytest.raises(VersionsDiffer, match=r"added: keypad.1 \(keypad\); added: meter_sign.1") as refused:
        recover(run.disk.open(version=rec.VERSION, digests=other), floor.table, other)
    assert "pitbox config accept" in str(refused.value)
    assert "once more" not in str(refused.value), "no start of the old configuration ever helps"


def test_accepted_devices_are_in_the_record_and_the_table_plays_on_with_its_money() -> None:
    run, before = _played()
    other = run.digests | {CONFIGURATION: "1" * 64}
    floor = IdealTable(GAME, WITH_KEYPAD)
    store = run.disk.open(version=rec.VERSION, digests=other)
    recovered = recover(store, floor.table, other, (TECH, FLOOR))
    assert recovered.migration is not None
    assert recovered.migration.name == "devices_accepted"
    assert (recovered.migration.who, recovered.migration.second) == (TECH, FLOOR)
    assert recovered.migration.changes == ("added: keypad.1 (keypad)", "added: meter_sign.1 (meter_sign)")
    assert list(floor.state.slots) == list(WITH_KEYPAD)
    assert floor.state.money == before.state.money
    assert floor.state.decks == before.state.decks
    assert floor.round_.number == before.round_.number
    restart(floor, store.boot, Random(1))
    resume_play(floor)
    floor.play(ev.OpenRound(DEALER))
    resume_play(floor)
    assert (floor.phase, floor.round_.number) == (mc.IDLE, before.round_.number + 1)


def test_people_accept_devices_and_nothing_else() -> None:
    run, _ = _played()
    floor = IdealTable(GAME, WITH_KEYPAD, paytables={"progressive": "688a-progressive-2"})
    other = run.digests | {CONFIGURATION: "1" * 64}
    with pytest.raises(VersionsDiffer, match="688a-progressive-1 -> 688a-progressive-2"):
        recover(run.disk.open(version=rec.VERSION, digests=other), floor.table, other, (TECH, FLOOR))


def test_nothing_is_accepted_in_the_middle_of_a_round() -> None:
    run, floor = _played()
    floor.state.round.state = mc.BETTING
    store = run.disk.open(version=rec.VERSION, digests=run.digests)
    last = store.last()
    assert last is not None
    store.snapshot(last.seq, encode_snapshot(floor.table, Timers(), run.digests, rec.Timestamp(1, 1, "kernel")))
    store.close()
    other = run.digests | {CONFIGURATION: "1" * 64}
    with pytest.raises(VersionsDiffer, match="while a round or an irregularity was open"):
        recover(
            run.disk.open(version=rec.VERSION, digests=other), IdealTable(GAME, WITH_KEYPAD).table, other, (TECH, FLOOR)
        )


def test_a_machine_with_cards_inside_is_not_removed() -> None:
    _, floor = _played()
    held = next(slot.deck for slot in floor.state.slots.values() if slot.deck is not None)
    new = IdealTable(GAME, _without("shuffler.1", "shoe.1"), **BY_HAND)
    with pytest.raises(DeviceChangeRefused, match=f"is removed and contains cards of .*{held}") as refused:
        change_devices(floor.state, new.table)
    assert "at the table" in str(refused.value), "and the cards would be dealt in another way"


@pytest.mark.parametrize("where", ["place", "intake", "book", "hold"])
def test_a_machine_with_possible_cards_or_an_irregularity_is_not_removed(where: str) -> None:
    from table_controller.table.state import Deck, Hold

    floor = IdealTable(GAME)
    state = floor.state
    if where == "place":
        state.decks["blue"] = Deck("blue", mc.REMOVED, "shuffler.1/gate")
    elif where == "intake":
        state.slots["shuffler.1"].intake = True
    elif where == "book":
        state.book.held["blue"] = {"shuffler.1/path": 1}
    else:
        state.holds[1] = Hold(1, "shuffler_fault", (), [], slot="shuffler.1")
    new = IdealTable(GAME, _without("shuffler.1"), **NO_MACHINES)
    with pytest.raises(DeviceChangeRefused, match=r"shuffler\.1 is removed"):
        change_devices(state, new.table)


def test_without_cards_at_the_table_the_dealing_method_may_change() -> None:
    _, floor = _played()
    for name in list(floor.state.decks):
        floor.play(ev.Ordered("remove_deck", FLOOR, deck=name))
        resume_play(floor)
    assert {deck.state for deck in floor.state.decks.values()} == {mc.REMOVED}
    money, number, decks = floor.state.money, floor.round_.number, dict(floor.state.decks)
    new = IdealTable(GAME, _without("shuffler.1", "shoe.1"), **BY_HAND)
    assert "dealing: automated_shoe -> manual_shoe" in differences(floor.state, new.table)
    new.table.context.state = change_devices(floor.state, new.table)
    assert not [p for p in new.state.prompts.values() if p.slot in ("shuffler.1", "shoe.1")]
    assert (new.state.dealing, new.state.shuffling) == ("manual_shoe", "hand")
    assert (new.state.money, new.round_.number, new.state.decks) == (money, number, decks)
    restart(new, 7, Random(1))
    new.play(ev.DeckReceived("green", FLOOR))
    resume_play(new)
    new.play(ev.OpenRound(DEALER))
    resume_play(new)
    assert (new.phase, new.round_.number) == (mc.IDLE, number + 1)
    asked = [d for _, decisions in new.log for d in decisions if isinstance(d, Prompt)]
    assert not [prompt for prompt in asked if prompt.slot in ("shuffler.1", "shoe.1")]


def test_a_removed_sensor_and_shaker_leave_nothing_behind() -> None:
    _, floor = _played()
    floor.state.lid_off = True
    new = IdealTable(GAME, {**_without("shaker.1", "bet_sensor.6"), "rng.1": "rng"}, start="rng")
    for deck in floor.state.decks.values():
        deck.state, deck.place = mc.REMOVED, "removed"
    floor.state.book.held.clear()
    for slot in floor.state.slots.values():
        slot.deck = None
    state = change_devices(floor.state, new.table)
    assert (state.start, state.dice, state.lid_off) == ("rng", "none", False)
    assert 6 not in state.spots
    assert list(state.slots) == list(new.slots)
