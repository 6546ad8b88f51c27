"""A running box records faults and enforces the return to service, recorded and resumed after a restart."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from devices.shuffler import messages as m
from table_controller.access import people_file
from table_controller.diagnosis import fault_report_store as files
from table_controller.journal import records as rec
from table_controller.table import events as ev
from table_controller.table.decisions import StepCompleted, TechnicianAssigned
from tests.support.box.boxes import CHEAP, PIN, DirectClient
from tests.support.box.return_to_service import (
    SLOT,
    complete_return,
    fault,
    jog,
    order_device,
    protected_state,
    return_step,
    running,
    send_cards_through,
    start,
    take_out,
)

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_fault_is_recorded_with_the_state_of_the_table(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("D1", "F1", "T1")
        await talk.submit("deck", deck="blue", by="F1")
        await fault(bench, "jam:segment=lift,card=9")
        report = files.read(tmp_path / "fault-reports", 1)
        assert report.complete
        assert (report.halt.what, report.halt.segment, report.machine.slot) == ("jam", "lift", SLOT)
        assert {each.slot for each in report.table} == set(bench.box.slots)
        assert next(each for each in report.table if each.slot == SLOT).service == "faulted"
        assert any(permit.act == "shuffle" and permit.reasons and permit.clauses for permit in report.permits)
        assert {permit.on for permit in report.permits} >= set(bench.box.slots) - {"keypad.1", "sign.1"}
        assert report.orders[-1] == "acknowledge"
        assert report.clauses
        assert report.versions["game"] == "face_up_pai_gow"
        assert [deck.name for deck in report.decks] == ["blue"]
        assert report.decks[0].age_s is not None
        assert report.account.expected == bench.plan.edition.cards.count
        assert report.frames
        assert report.edges


async def test_steps_of_a_return_to_service_complete_only_by_what_the_machine_does(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("F1", "T1")
        await fault(bench, "jam:segment=lift,card=9", "dust:sensor=lift,percent=70")
        assert (await return_step(talk, "begin", by="F1")).startswith("PB-813"), (
            "a fault of the machine is a technician's"
        )
        assert (await order_device(talk, "shuffle")).startswith("PB-814"), (
            "nobody moves cards of a machine not in test mode"
        )
        answer = await return_step(talk, "begin", by="T1")
        assert (answer["done"], answer["next"]) == ([], "clear")
        assert next(s.testing for s in bench.box.pictures.box().slots if s.name == SLOT) == 1
        assert (await return_step(talk, "clear", by="T1")).startswith("PB-631"), "a word is no evidence"
        assert (await return_step(talk, "count", by="T1", cards=53)).startswith("PB-631"), "not its turn"
        machine.inject("mend")
        machine.inject("clear_path")
        await order_device(talk, "clear_jam")
        assert (await return_step(talk))["next"] == "path_empty"
        machine.inject("dust:sensor=exit,percent=70")
        assert "sensor exit is dark" in await return_step(talk, "path_empty", by="T1")
        machine.inject("mend")
        assert (await return_step(talk, "path_empty", by="T1"))["next"] == "sensor_test"
        await order_device(talk, "self_test")
        assert (await return_step(talk))["next"] == "motor_jog"
        await jog(bench, talk)
        assert (await return_step(talk))["next"] == "one_card"
        before, all_known = bench.box.running_controller().newest_seq, protected_state(bench)
        await send_cards_through(bench, talk, 1)
        assert (await return_step(talk))["next"] == "full_deck"
        await send_cards_through(bench, talk, 53)
        assert (await return_step(talk))["next"] == "count"
        assert not [r for r in bench.records() if r.seq > before and b"ShuffleEnded" in r.body], (
            "the table gets no event"
        )
        assert protected_state(bench) == all_known, "no meter, deck or round has changed"
        assert "53 should be there" in await return_step(talk, "count", by="T1", cards=52)
        assert (await return_step(talk, "count", by="T1", cards=53))["next"] == "return"
        assert "second person" in await return_step(talk, "return", by="T1") or "floorperson" in await return_step(
            talk, "return", by="T1"
        )
        assert "cards are behind its gate" in await return_step(talk, "return", by="F1")
        await take_out(bench, talk)
        assert (await return_step(talk, "return", by="F1"))["next"] is None
        assert bench.box.test_mode.tested_report(SLOT) is None
        steps = [rec.decode_step(record.body) for record in bench.records() if record.kind == rec.STEP]
        ticks = [each for step in steps for each in step.decisions if isinstance(each, StepCompleted)]
        assert len(ticks) == 8, "every tick is in the journal"
        taken = next(step.event for step in steps if any(isinstance(d, TechnicianAssigned) for d in step.decisions))
        assert isinstance(taken, ev.ReturnTaken)
        assert taken.who.credential == "T1"
        lines = files.steps_of(tmp_path / "fault-reports", 1)
        assert [line for line in lines if isinstance(line, StepCompleted)] == ticks, "and with the fault report"


async def test_one_person_with_two_credentials_is_no_second_person(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        people_file.add_credential(tmp_path / "people.json", "F7", "floorperson", PIN, person="T1", cost=CHEAP)
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("F1", "F7", "T1")
        await fault(bench, "jam:segment=lift,card=9")
        assert (await return_step(talk, "begin", by="T1"))["next"] == "clear"
        machine.inject("clear_path")
        await order_device(talk, "clear_jam")
        await return_step(talk, "path_empty", by="T1")
        assert (await return_step(talk, "count", by="T1", cards=53))["next"] == "return"
        assert "second person" in await return_step(talk, "return", by="F7")
        assert (await return_step(talk, "return", by="F1"))["next"] is None


async def test_a_return_to_service_begins_its_steps_again_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await return_step(talk, "begin", by="T1")
        machine.inject("mend")
        machine.inject("clear_path")
        await order_device(talk, "clear_jam")
        assert (await return_step(talk, "path_empty", by="T1"))["done"] == ["clear", "path_empty"]
        await bench.box.stop()
        await start(bench, tmp_path)
        again = DirectClient(bench.box)
        answer = await return_step(again)
        assert (answer["begun"], answer["done"], answer["next"]) == (True, [], "clear")
        assert bench.box.test_mode.tested_report(SLOT) == 1


async def test_a_new_fault_in_test_mode_restarts_the_return_to_service_with_its_own_fault_report(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await return_step(talk, "begin", by="T1")
        machine.inject("mend")
        machine.inject("clear_path")
        await order_device(talk, "clear_jam")
        await return_step(talk, "path_empty", by="T1")
        await order_device(talk, "self_test")
        await jog(bench, talk)
        assert (await return_step(talk))["next"] == "one_card"
        await order_device(talk, "eject")
        machine.inject("take_deck")
        machine.inject("load")
        machine.inject("jam:segment=bridge,card=2")
        assert str(await order_device(talk, "shuffle")).startswith("PB-430")
        assert [m.Jam.__name__] == [files.read(tmp_path / "fault-reports", 2).halt.message]
        assert (await return_step(talk))["next"] == "clear"
        assert "an open return to service, of report 1" in await talk.ask(
            "return_step", fault_report=2, step="begin", by="T1"
        )


async def test_a_fault_report_is_pinned_until_its_machine_serves_again(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        folder, machine = tmp_path / "fault-reports", bench.machines[SLOT]
        await talk.sign_on("F1", "T1")
        machine.inject("dust:sensor=lift,percent=40")
        await order_device(talk, "self_test")
        await asyncio.sleep(1.0)
        assert files.is_pinned(folder, 1)
        await bench.box.stop()
        await start(bench, tmp_path)
        again = await DirectClient(bench.box).sign_on("F1", "T1")
        assert files.is_pinned(folder, 1), "a restart is no repair"
        machine.inject("mend")
        await complete_return(bench, again)
        for act in ("clear", "acknowledge"):
            answer = await again.submit("slot", slot=SLOT, act=act, by="F1")
            assert not isinstance(answer, str), answer
        await asyncio.sleep(2.0)
        assert bench.box.running_controller().table.context.is_in_service(SLOT)
        assert not files.is_pinned(folder, 1)
