"""The return steps of a fault are mandatory: refusals name the next step; restart, files and test mode skip none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from devices.service import UNVERIFIED
from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandRefused, PitboxError
from table_controller import people
from table_controller.controller.status import status_of
from table_controller.diagnosis import steps as st
from table_controller.diagnosis import store as files
from table_controller.panel.panel import Panel
from table_controller.panel.words import machine_name
from table_controller.table import events as ev
from table_controller.uplink.describe import describe_state
from tests.support.boxes import CHEAP, PIN, Bench, Talk
from tests.support.panels import here
from tests.support.ways import SLOT, fault, known, order, running, start, take_out, tell, walk

if TYPE_CHECKING:
    from pathlib import Path


async def acknowledge(bench: Bench, talk: Talk) -> Any:
    """Answer the questions of an irregularity up to the acknowledgment; return the answer to it."""
    by = {"dealer": "D1", "floorperson": "F1", "technician": "T1"}
    await talk.sign_on("D1")
    for _ in range(12):
        prompts = bench.box.running().table.state.prompts.values()
        prompt = next(prompt for prompt in prompts if prompt.hold is not None)
        number = {"number": 53} if prompt.number else {}
        answer = await talk.say("Answer", prompt=prompt.id, choice=prompt.choices[0], by=by[prompt.role], **number)
        if prompt.kind == "acknowledge":
            return answer
    raise AssertionError("nobody was asked to acknowledge")


def refusals(reported: Any) -> list[Any]:
    assert not isinstance(reported, str), reported
    return [decision for decision in reported["decisions"] if decision["type"] == "Refused"]


def against(reported: Any) -> str:
    """Return how a refusal names the next step."""
    assert not isinstance(reported, str), reported
    (refused,) = [decision for decision in reported["decisions"] if decision["type"] == "Refused"]
    (reason,) = [reason for reason in refused["reasons"] if reason["key"] == "steps_open"]
    return str(reason["evidence"])


@pytest.mark.parametrize("step", ["begin", *(each.name.lower() for each in st.SERVICE)])
async def test_a_fault_of_the_machine_binds_by_itself_and_every_refusal_names_the_next_step(
    tmp_path: Path, step: str
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        if step != "begin":
            await walk(bench, talk, until=step)
        await talk.say("SlotOrdered", slot=SLOT, act="clear", by="T1")
        assert f"next, in fault report 1: {step}: " in against(
            await talk.say("SlotOrdered", slot=SLOT, act="acknowledge", by="F1")
        )
        permit = bench.box.running().table.permit("return_to_service", SLOT)
        assert "steps_open" in [reason.key for reason in permit], "shown wherever permits are"
        assert f"next, in fault report 1: {step}: " in against(await acknowledge(bench, talk))
        bench.box.running().submit(ev.SlotOrdered(SLOT, "acknowledge", ev.Person("floorperson", "F1")))
        await asyncio.sleep(1.0)
        assert not bench.box.running().table.context.serves(SLOT)


async def test_between_the_fault_and_its_dossier_nobody_is_quicker(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        machine: Any = bench.machines[SLOT]
        machine.inject("dust:sensor=lift,percent=70")
        controller, seen = bench.box.running(), []

        def reported(name: str, event: Any) -> None:
            if name == SLOT and isinstance(event, m.Jam | m.Fault):  # in the same call that reports the fault
                for act, who in (("clear", "technician"), ("acknowledge", "floorperson")):
                    controller.submit(ev.SlotOrdered(SLOT, act, ev.Person(who, "X")))  # type: ignore[arg-type]
                procedure = controller.table.state.slots[SLOT].way
                seen.append(None if procedure is None else (procedure.dossier, procedure.step.partition(":")[0]))

        bench.box.on_told.append(reported)
        with pytest.raises(PitboxError):
            await bench.box.slots[SLOT].driver.shuffle(1 << 61)
        assert seen == [(0, "dossier")]
        await asyncio.sleep(2.0)
        procedure = controller.table.state.slots[SLOT].way
        assert procedure is not None
        assert procedure.dossier == 1
        assert not controller.table.context.serves(SLOT)


async def test_an_interruption_for_the_table_keeps_the_short_way(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "jam:segment=lift,card=9")
        assert bench.box.running().table.state.slots[SLOT].way is None
        assert not (await tell(talk))["begun"]
        machine: Any = bench.machines[SLOT]
        machine.inject("clear_path")
        await order(talk, "clear_jam")
        await take_out(bench, talk)
        await talk.say("SlotOrdered", slot=SLOT, act="clear", by="F1")
        assert not refusals(await acknowledge(bench, talk))
        assert bench.box.running().table.state.slots[SLOT].state == UNVERIFIED, "until it reports well"


async def test_after_the_last_step_the_floorperson_returns_it_and_not_before(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await walk(bench, talk)
        assert bench.box.running().table.state.slots[SLOT].way is None
        assert not bench.box.running().table.context.serves(SLOT), "the steps return nothing by themselves"
        await talk.say("SlotOrdered", slot=SLOT, act="clear", by="F1")
        assert not refusals(await acknowledge(bench, talk))
        machine: Any = bench.machines[SLOT]
        machine.inject("door:to=open")  # an inspection and a self-test make the count certain
        machine.inject("door:to=closed")
        await order(talk, "self_test")
        await talk.ask("device", slot=SLOT, call="report", arguments={}, by="T1")
        assert bench.box.running().table.context.serves(SLOT)


async def test_an_older_firmware_turns_no_motor_and_its_self_test_is_taken_and_said(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        dossier = files.DossierStore(tmp_path / "dossiers")
        await talk.sign_on("T1")
        machine: Any = bench.machines[SLOT]
        machine.board.identity.capabilities.remove(m.JOGS)
        machine.inject("unplug:seconds=1")
        await asyncio.sleep(5.0)
        await fault(bench, "dust:sensor=lift,percent=70")
        assert m.JOGS not in files.read(dossier.folder, 1).machine.capabilities
        await walk(bench, talk, until="sensor_test")
        assert str(await order(talk, "jog", motor="feed")).startswith("PB-428")
        await order(talk, "self_test")
        assert (await tell(talk))["next"] == "one_card"
        procedure = st.replay(files.steps_of(dossier.folder, 1))
        assert procedure is not None
        assert "cannot jog: SelfTested" in st.wanted(procedure, st.Step.MOTOR_JOG)


async def test_what_was_left_in_the_middle_is_taken_up_again_by_another_and_test_mode_restores_the_mode(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        people.add(tmp_path / "people.json", "T2", "technician", PIN, cost=CHEAP)
        await talk.sign_on("F1", "T1", "T2")
        await fault(bench, "dust:sensor=lift,percent=70")
        await walk(bench, talk, until="one_card")
        answer = await order(talk, "set_mode", mode="sort")
        assert not isinstance(answer, str), answer
        machine: Any = bench.machines[SLOT]
        assert machine.firmware.mode.name == "SORT"
        left = await tell(talk, "leave", by="T1")
        assert (left["technician"], left["open"]) == ("", "begin: a technician starts the return to service")
        assert SLOT not in bench.box.testing
        await asyncio.sleep(1.0)
        assert machine.firmware.mode.name == "SHUFFLE", "as it was before somebody took it up"
        assert str(await order(talk, "shuffle")).startswith("PB-814"), "out of test mode nothing moves"
        answer = await tell(talk, "begin", by="T2")
        assert (answer["next"], answer["technician"]) == ("one_card", "t2")
        await walk(bench, talk)
        assert SLOT not in bench.box.testing


@pytest.mark.parametrize("step", ["clear", "path_empty", "motor_jog", "one_card", "count", "return"])
async def test_a_box_that_loses_power_on_the_way_goes_on_where_it_was(tmp_path: Path, step: str) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await walk(bench, talk, until=step)
        done = (await tell(talk))["done"]
        bench.box.running().dead()  # nothing is accepted, sent or recorded from here on
        await bench.box.stop()
        await start(bench, tmp_path)
        again = await Talk(bench.box).sign_on("F1", "T1")
        answer = await tell(again)
        assert (answer["done"], answer["next"], bench.box.testing) == (done, step, {SLOT: 1})
        await again.say("SlotOrdered", slot=SLOT, act="clear", by="T1")
        assert f"{step}: " in against(await again.say("SlotOrdered", slot=SLOT, act="acknowledge", by="F1"))
        await walk(bench, again)


async def test_power_that_goes_while_the_dossier_is_written_unbinds_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        slot = bench.box.running().table.state.slots[SLOT]
        bench.box.running().submit(ev.WayBack(SLOT, 0, "dossier: the box is recording the fault"))
        (tmp_path / "dossiers" / "000001.steps").unlink()
        await asyncio.sleep(1.0)
        assert slot.way is not None
        bench.box.running().dead()
        await bench.box.stop()
        await start(bench, tmp_path)
        procedure = bench.box.running().table.state.slots[SLOT].way
        assert procedure is not None
        assert (procedure.dossier, procedure.step) == (1, "begin: a technician starts the return to service")


async def test_files_that_somebody_deletes_unbind_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await bench.box.stop()
        for path in (tmp_path / "dossiers").iterdir():
            path.unlink()
        await start(bench, tmp_path)
        assert bench.box.running().table.state.slots[SLOT].way is not None


async def test_test_mode_is_told_everywhere_moves_no_meter_and_ends_with_the_way(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        box, controller = bench.box, bench.box.running()
        panel = Panel(box, box.check_person, name="bench", status=str, in_thread=here)
        meters, decks = known(bench)[:2]

        def reported() -> set[bool]:
            """Return whether each of status, uplink and pages shows test mode."""
            state = describe_state(controller.table, None, 1, "now")
            pictures = [panel.live.picture(role) for role in ("dealer", "floorperson", "technician", "sign")]
            return {
                next(slot.testing for slot in status_of(box).slots if slot.name == SLOT) == 1,
                state.slots[SLOT].testing,
                *(machine_name(SLOT) in " ".join(picture["testing"]) for picture in pictures),
            }

        await fault(bench, "dust:sensor=lift,percent=70")
        assert reported() == {False}
        assert describe_state(controller.table, None, 1, "now").slots[SLOT].next_step.startswith("begin: ")
        await tell(talk, "begin", by="T1")
        assert reported() == {True}
        await walk(bench, talk, until="count")
        assert reported() == {True}
        await tell(talk, "leave", by="T1")
        assert reported() == {False}
        await tell(talk, "begin", by="T1")
        assert reported() == {True}
        await walk(bench, talk)
        assert reported() == {False}
        assert known(bench)[:2] == (meters, decks), "no cent and no card of the table moved"
        panel.close()


# --- a shoe that refuses to move --------------------------------------------------------------------------------------


SHOE_SLOT = "shoe.1"


async def refused(bench: Bench) -> None:
    """Make the shoe refuse a stack because its path is dark."""
    with pytest.raises(CommandRefused) as refusal:
        await bench.box.slots[SHOE_SLOT].driver.dispense(1 << 61, 7)
    assert refusal.value.reason == m.Reason.PATH_BLOCKED
    await asyncio.sleep(1.0)


async def test_dust_that_makes_a_shoe_refuse_is_a_fault_of_the_machine_and_binds(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SHOE_SLOT]
        await talk.sign_on("F1", "T1")
        assert bench.box.running().table.context.serves(SHOE_SLOT)
        machine.inject("dust:sensor=draw,percent=70")
        await refused(bench)
        dossier = files.read(tmp_path / "dossiers", 1)
        assert (dossier.machine.slot, dossier.halt.what, dossier.complete) == (SHOE_SLOT, "path_blocked", True)
        state = bench.box.running().table.state.slots[SHOE_SLOT]
        assert (state.state, bench.box.slots[SHOE_SLOT].service.state) == ("faulted", "faulted")
        assert state.way is not None
        assert (state.way.dossier, state.way.step) == (1, "begin: a technician starts the return to service")
        machine.inject("mend")
        await talk.say("SlotOrdered", slot=SHOE_SLOT, act="clear", by="T1")
        answer = await talk.say("SlotOrdered", slot=SHOE_SLOT, act="acknowledge", by="F1")
        assert "next, in fault report 1: begin: " in against(answer), "wiped is not back in service"
        assert (await tell(talk, "begin", by="F1")).startswith("PB-813"), "a technician's"
        assert (await tell(talk, "begin", by="T1"))["next"] == "clear"
        assert bench.box.testing == {SHOE_SLOT: 1}


async def test_a_card_left_in_a_shoe_binds_nobody_and_is_frozen_all_the_same(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SHOE_SLOT]
        await talk.sign_on("F1", "T1")
        machine.mechanics._edge(sh.Sensor.EXIT, True)
        await refused(bench)
        assert files.read(tmp_path / "dossiers", 1).halt.what == "path_blocked"
        assert bench.box.running().table.context.serves(SHOE_SLOT)
        assert bench.box.running().table.state.slots[SHOE_SLOT].way is None
        assert (await tell(talk, "begin", by="F1"))["next"] == "clear", "a floorperson may take it up"
