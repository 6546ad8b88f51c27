"""Test mode of a machine in service: begun where the permits allow it, shown everywhere, ended as before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from devices.service import FAULTED, IN_SERVICE, UNVERIFIED
from devices.shuffler.messages import Mode
from simulators.world.table import TRAY
from table_controller.cli.commands.status import status_lines
from table_controller.panel.devices import devices
from table_controller.panel.labels import machine_name
from table_controller.panel.panel import Panel
from table_controller.picture.types import picture_in
from table_controller.uplink.state_messages import describe_state
from tests.support.box.boxes import DirectClient
from tests.support.box.panel_threads import run_inline
from tests.support.box.pictures import picture_of
from tests.support.box.return_to_service import SLOT, order_device, running, shuffler_of, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.box.boxes import BoxTestBench


def _state(bench: BoxTestBench) -> str:
    return str(bench.box.running_controller().table.state.slots[SLOT].state)


async def _begin(bench: BoxTestBench, talk: DirectClient) -> None:
    """Take the cards out of the machine and begin test mode."""
    assert "cards are in its intake" in await order_device(talk, "begin_test")
    _remove_cards(bench)
    assert await order_device(talk, "begin_test") is None


def _lay(bench: BoxTestBench, cards: int) -> None:
    """Put some cards of a test deck into the intake."""
    machine: Any = bench.machines[SLOT]
    machine.world.make_deck(TRAY, "test")
    for card in machine.world.at(TRAY)[:cards]:
        machine.world.move(card, machine.mechanics.intake)
    machine.firmware.hands_moved()


def _remove_cards(bench: BoxTestBench) -> None:
    machine: Any = bench.machines[SLOT]
    for place in (machine.mechanics.place("presented"), machine.mechanics.intake):
        machine.world.move_all(place, TRAY)
    machine.firmware.hands_moved()


async def test_a_machine_that_serves_is_tested_and_serves_again_as_it_was(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("D1", "F1", "T1")
        box, controller = bench.box, bench.box.running_controller()
        panel = Panel(box, box.check_person, name="bench", status=str, in_thread=run_inline)

        def reported() -> set[bool]:
            """Return whether each of status, uplink and pages shows test mode."""
            pictures = [panel.live.view(role) for role in ("dealer", "floorperson", "technician", "sign")]
            return {
                next(slot.testing for slot in box.pictures.box().slots if slot.name == SLOT) == 0,
                any("IN TEST MODE" in line for line in status_lines(picture_in(status))),
                describe_state(picture_of(box), None, "now").slots[SLOT].testing,
                *(machine_name(SLOT) in picture["testing"] for picture in pictures),
            }

        status = await talk.ask("status")
        assert reported() == {False}
        assert (await order_device(talk, "shuffle")).startswith("PB-814"), (
            "a machine that serves moves no card for anybody"
        )
        await _begin(bench, talk)
        status = await talk.ask("status")
        assert reported() == {True}
        assert _state(bench) == UNVERIFIED
        assert "slot_not_in_service" in [r.key for r in controller.table.permit("shuffle", SLOT)]
        assert (await order_device(talk, "begin_test")).startswith("PB-813"), "it is tested already"
        await box.slots[SLOT].driver.report()
        assert _state(bench) == UNVERIFIED, "no report ends a test"
        word = str(await talk.submit("slot", slot=SLOT, act="acknowledge", by="F1"))
        assert "a technician leaves test mode" in word, "nor a word"
        known = controller.table.state.decks.copy()
        _lay(bench, 5)
        assert await order_device(talk, "set_mode", mode="sort") is not None
        assert not isinstance(await order_device(talk, "shuffle"), str)
        await box.slots[SLOT].driver.report()  # as after its cable was pulled: a deck is behind the gate
        await asyncio.sleep(10.0)
        assert controller.table.state.decks == known, "no deck came of it"
        assert not controller.table.state.holds, "and no irregularity"
        assert "behind its gate" in await order_device(talk, "leave_test")
        await order_device(talk, "eject")
        _remove_cards(bench)
        assert await order_device(talk, "leave_test") is None
        assert (await shuffler_of(box).status()).mode is Mode.SHUFFLE, "what was is restored"
        assert _state(bench) == IN_SERVICE
        status = await talk.ask("status")
        assert reported() == {False}
        entries = [(note.text, note.who and note.who.credential) for note in bench.notes("service")]
        assert [text for text, _ in entries if text.endswith("_test: done")] == ["begin_test: done", "leave_test: done"]
        assert {who for _, who in entries} == {"T1"}
        panel.close()


async def test_every_reason_against_test_mode_is_given_and_only_technicians_begin_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("D1", "F1", "T1")
        for by in ("D1", "F1"):
            refused = await talk.ask("device", slot=SLOT, call="begin_test", arguments={}, by=by)
            assert refused.startswith("PB-813"), refused
        box = bench.box
        _remove_cards(bench)
        await asyncio.sleep(0.5)
        (one,) = [each for each in devices(box) if each["name"] == SLOT]
        assert one["test"] == {"call": "begin_test", "blocked_by": []}
        assert "begin_test" not in [each["call"] for each in one["orders"]], "it has its own button"
        box.running_controller().table.state.slots[SLOT].deck = "blue"  # as if it held one
        refused = await order_device(talk, "begin_test")
        assert "cards are inside the device" in refused
        assert "cards are in its intake" not in refused
        (one,) = [each for each in devices(box) if each["name"] == SLOT]
        assert [reason["clears"] for reason in one["test"]["blocked_by"]] == ["dealer"]
        box.running_controller().table.state.slots[SLOT].deck = None
        others = [each["test"] for each in devices(box) if each["kind"] == "bet_sensor"]
        assert others
        assert set(others) == {None}, "what moves no cards is asked while it serves"
        assert (await order_device(talk, "leave_test")).startswith("PB-813"), "nobody has begun it"


async def test_a_fault_in_test_mode_latches_and_needs_its_own_return_to_service(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        await _begin(bench, talk)
        _lay(bench, 20)
        bench.machines[SLOT].inject("dust:sensor=lift,percent=70")
        assert (await order_device(talk, "shuffle")).startswith("PB-")
        await asyncio.sleep(2.0)
        procedure = bench.box.running_controller().table.state.slots[SLOT].return_procedure
        assert procedure is not None
        assert (procedure.fault_report, procedure.is_testing, _state(bench)) == (1, False, FAULTED)
        assert bench.box.test_mode.tested_report(SLOT) is None
        assert (await order_device(talk, "leave_test")).startswith("PB-813")


async def test_test_mode_continues_after_the_box_was_switched_off(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        await _begin(bench, talk)
        await order_device(talk, "set_mode", mode="sort")
        await bench.box.stop()
        await start(bench, tmp_path)
        await asyncio.sleep(5.0)
        assert bench.box.test_mode.tested_report(SLOT) == 0
        assert _state(bench) == UNVERIFIED
        again = DirectClient(bench.box)
        await again.sign_on("T1")
        assert await order_device(again, "leave_test") is None
        assert (await shuffler_of(bench.box).status()).mode is Mode.SHUFFLE
        assert _state(bench) == IN_SERVICE


async def test_an_order_that_needs_test_mode_is_not_sent_when_the_test_ends_while_it_is_recorded(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        await _begin(bench, talk)
        other = await DirectClient(bench.box).sign_on("T1")
        left, refused = await asyncio.gather(order_device(other, "leave_test"), order_device(talk, "jog", motor="feed"))
        assert left is None
        assert refused == f"PB-813 jog {SLOT}: it is not in test mode any more"
        assert "jog: PB-813" in [note.text[:11] for note in bench.notes("service")]
