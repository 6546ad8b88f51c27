"""The return steps of a fault are mandatory: refusals name the next step; restart, files and test mode skip none."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from devices.service import UNVERIFIED
from devices.shoe import messages as sh
from devices.shoe.driver import ShoeDriver
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandRefused, PitboxError
from table_controller.access import people_file
from table_controller.controller.slot import slots_of
from table_controller.diagnosis import fault_report_store as files
from table_controller.panel.labels import machine_name
from table_controller.panel.panel import Panel
from table_controller.table import events as ev
from table_controller.table import return_progress as rp
from table_controller.table import return_steps as st
from table_controller.table.decisions import RequestRefused, StepsUndone
from table_controller.uplink.state_messages import describe_state
from tests.support.box.boxes import CHEAP, PIN, BoxTestBench, DirectClient
from tests.support.box.panel_threads import run_inline
from tests.support.box.pictures import picture_of
from tests.support.box.return_to_service import (
    SLOT,
    complete_return,
    fault,
    order_device,
    protected_state,
    return_step,
    running,
    shuffler_of,
    start,
    take_out,
)

if TYPE_CHECKING:
    from pathlib import Path


async def acknowledge(bench: BoxTestBench, talk: DirectClient) -> Any:
    """Answer the questions of an irregularity up to the acknowledgment; return the answer to it."""
    by = {"dealer": "D1", "floorperson": "F1", "technician": "T1"}
    await talk.sign_on("D1")
    for _ in range(12):
        prompts = bench.box.running_controller().table.state.prompts.values()
        prompt = next(prompt for prompt in prompts if prompt.hold is not None)
        number = {"number": 53} if prompt.number else {}
        answer = await talk.submit("answer", prompt=prompt.id, choice=prompt.choices[0], by=by[prompt.role], **number)
        if prompt.kind == "acknowledge":
            return answer
    raise AssertionError("nobody was asked to acknowledge")


def progress_of(bench: BoxTestBench) -> rp.ReturnProgress:
    procedure = bench.box.running_controller().table.state.slots[SLOT].return_procedure
    assert isinstance(procedure, rp.ReturnProgress)
    return procedure


def refusals(reported: Any) -> list[Any]:
    assert not isinstance(reported, str), reported
    return [decision for decision in reported["decisions"] if decision["type"] == "RequestRefused"]


def next_step_of_refusal(reported: Any) -> str:
    """Return how a refusal names the next step."""
    assert not isinstance(reported, str), reported
    (refused,) = [decision for decision in reported["decisions"] if decision["type"] == "RequestRefused"]
    (reason,) = [reason for reason in refused["reasons"] if reason["key"] == "steps_open"]
    return str(reason["evidence"])


@pytest.mark.parametrize("step", ["begin", *(each.name.lower() for each in st.SERVICE_STEPS)])
async def test_a_fault_of_the_machine_requires_the_return_steps_and_every_refusal_names_the_next(
    tmp_path: Path, step: str
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        if step != "begin":
            await complete_return(bench, talk, until=step)
        await talk.submit("slot", slot=SLOT, act="clear", by="T1")
        assert f"next, in fault report 1: {step}: " in next_step_of_refusal(
            await talk.submit("slot", slot=SLOT, act="acknowledge", by="F1")
        )
        permit = bench.box.running_controller().table.permit("return_to_service", SLOT)
        assert "steps_open" in [reason.key for reason in permit], "shown wherever permits are"
        assert f"next, in fault report 1: {step}: " in next_step_of_refusal(await acknowledge(bench, talk))
        bench.box.running_controller().submit(ev.SlotOrdered(SLOT, "acknowledge", ev.Person("floorperson", "F1")))
        await asyncio.sleep(1.0)
        assert not bench.box.running_controller().table.context.is_in_service(SLOT)


async def test_nobody_returns_a_machine_between_its_fault_and_its_fault_report(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        machine: Any = bench.machines[SLOT]
        machine.inject("dust:sensor=lift,percent=70")
        controller = bench.box.running_controller()
        seen: list[tuple[int, str] | None] = []

        def reported(name: str, event: Any) -> None:
            if name == SLOT and isinstance(event, m.Jam | m.Fault):  # in the same call that reports the fault
                for act, who in (("clear", "technician"), ("acknowledge", "floorperson")):
                    controller.submit(ev.SlotOrdered(SLOT, act, ev.Person(who, "X")))  # type: ignore[arg-type]
                procedure = controller.table.state.slots[SLOT].return_procedure
                seen.append(
                    None if procedure is None else (procedure.fault_report, procedure.next_text.partition(":")[0])
                )

        bench.box.on_device_event.append(reported)
        with pytest.raises(PitboxError):
            await shuffler_of(bench.box).shuffle(1 << 61)
        assert seen == [(0, "report")]
        await asyncio.sleep(2.0)
        procedure = controller.table.state.slots[SLOT].return_procedure
        assert procedure is not None
        assert procedure.fault_report == 1
        assert not controller.table.context.is_in_service(SLOT)


async def test_an_interruption_that_the_table_clears_has_the_short_procedure(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "jam:segment=lift,card=9")
        assert bench.box.running_controller().table.state.slots[SLOT].return_procedure is None
        assert not (await return_step(talk))["begun"]
        machine: Any = bench.machines[SLOT]
        machine.inject("clear_path")
        await order_device(talk, "clear_jam")
        await take_out(bench, talk)
        await talk.submit("slot", slot=SLOT, act="clear", by="F1")
        assert not refusals(await acknowledge(bench, talk))
        assert bench.box.running_controller().table.state.slots[SLOT].state == UNVERIFIED, "until it reports well"


async def test_the_floorperson_returns_a_machine_after_the_last_step_and_not_before(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk)
        assert bench.box.running_controller().table.state.slots[SLOT].return_procedure is None
        assert not bench.box.running_controller().table.context.is_in_service(SLOT), (
            "the steps return nothing by themselves"
        )
        await talk.submit("slot", slot=SLOT, act="clear", by="F1")
        assert not refusals(await acknowledge(bench, talk))
        machine: Any = bench.machines[SLOT]
        machine.inject("door:to=open")  # an inspection and a self-test make the count certain
        machine.inject("door:to=closed")
        await order_device(talk, "self_test")
        await talk.ask("device", slot=SLOT, call="report", arguments={}, by="T1")
        assert bench.box.running_controller().table.context.is_in_service(SLOT)


async def test_with_older_firmware_the_self_test_replaces_turning_motors_and_the_step_states_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        report = files.FaultReportStore(tmp_path / "fault-reports")
        await talk.sign_on("T1")
        machine: Any = bench.machines[SLOT]
        machine.board.identity.capabilities.remove(m.JOGS)
        machine.inject("unplug:seconds=1")
        await asyncio.sleep(5.0)
        await fault(bench, "dust:sensor=lift,percent=70")
        assert m.JOGS not in files.read(report.folder, 1).machine.capabilities
        await complete_return(bench, talk, until="sensor_test")
        assert str(await order_device(talk, "jog", motor="feed")).startswith("PB-428")
        await order_device(talk, "self_test")
        assert (await return_step(talk))["next"] == "one_card"
        procedure = rp.replay(files.steps_of(report.folder, 1))
        assert procedure is not None
        assert "cannot jog: SelfTested" in rp.required_evidence(procedure, st.ReturnStep.MOTOR_JOG)


async def test_another_technician_continues_an_interrupted_return_and_test_mode_is_restored(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        people_file.add_credential(tmp_path / "people.json", "T2", "technician", PIN, cost=CHEAP)
        await talk.sign_on("F1", "T1", "T2")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk, until="one_card")
        answer = await order_device(talk, "set_mode", mode="sort")
        assert not isinstance(answer, str), answer
        machine: Any = bench.machines[SLOT]
        assert machine.firmware.mode.name == "SORT"
        assert "cards are behind its gate" in await return_step(talk, "leave", by="T1")
        await take_out(bench, talk)
        left = await return_step(talk, "leave", by="T1")
        assert (left["technician"], left["open"]) == ("", "begin: a technician starts the return to service")
        assert bench.box.test_mode.tested_report(SLOT) is None
        await asyncio.sleep(1.0)
        assert machine.firmware.mode.name == "SHUFFLE", "as it was before somebody took it up"
        assert str(await order_device(talk, "shuffle")).startswith("PB-814"), "out of test mode nothing moves"
        answer = await return_step(talk, "begin", by="T2")
        assert (answer["next"], answer["technician"]) == ("one_card", "t2")
        assert "it is in test mode of t2" in await order_device(talk, "shuffle")
        assert (await return_step(talk, "begin", by="T1"))["technician"] == "t1"
        await complete_return(bench, talk)
        assert bench.box.test_mode.tested_report(SLOT) is None


@pytest.mark.parametrize("step", ["clear", "path_empty", "motor_jog", "one_card", "count", "return"])
async def test_a_box_that_loses_power_during_a_return_to_service_voids_its_evidence_and_keeps_its_people(
    tmp_path: Path, step: str
) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk, until=step)
        people = progress_of(bench).people
        bench.box.running_controller().abandon()  # nothing is accepted, sent or recorded from here on
        await bench.box.stop()
        await start(bench, tmp_path)
        again = await DirectClient(bench.box).sign_on("F1", "T1")
        answer = await return_step(again)
        assert (answer["done"], answer["next"], bench.box.test_mode.tested_report(SLOT)) == ([], "clear", 1)
        assert progress_of(bench).people == people, "as after a lost link: nobody observed the machine meanwhile"
        await again.submit("slot", slot=SLOT, act="clear", by="T1")
        assert "clear: " in next_step_of_refusal(await again.submit("slot", slot=SLOT, act="acknowledge", by="F1"))
        await complete_return(bench, again)


@pytest.mark.parametrize("written", [True, False])
async def test_a_power_cut_while_the_fault_report_is_written_skips_no_step(tmp_path: Path, *, written: bool) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        controller, machine = bench.box.running_controller(), bench.machines[SLOT]
        machine.inject("dust:sensor=lift,percent=40")

        def cut(name: str, event: Any) -> None:
            if name == SLOT and isinstance(event, m.SelfTested):  # in the same call that reports the fault
                asyncio.get_running_loop().call_soon(controller.abandon)

        bench.box.on_device_event.append(cut)
        with contextlib.suppress(PitboxError):
            await shuffler_of(bench.box).self_test(1 << 61)
        procedure = controller.table.state.slots[SLOT].return_procedure
        assert isinstance(procedure, rp.FaultRecording)
        await bench.box.stop()
        for path in [] if written else list((tmp_path / "fault-reports").iterdir()):
            path.unlink()
        await start(bench, tmp_path)
        await asyncio.sleep(2.0)
        again = bench.box.running_controller().table.state.slots[SLOT].return_procedure
        assert isinstance(again, rp.ReturnProgress)
        assert (again.fault_report, again.next_text) == (1, "begin: a technician starts the return to service")
        report = files.read(tmp_path / "fault-reports", 1)
        assert (report.halt.what, report.at_ns) == ("self_test", procedure.at_ns)
        assert report.halt.message == ("SelfTested" if written else "lost in a power cut")
        assert files.steps_of(tmp_path / "fault-reports", 1) == [again.began]


async def test_lines_that_a_power_cut_prevented_follow_after_the_start(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await complete_return(bench, talk, until="sensor_test")
        await bench.box.stop()
        await start(bench, tmp_path)
        whole = files.steps_of(tmp_path / "fault-reports", 1)
        assert len(whole) > 3
        assert isinstance(whole[-1], StepsUndone), "of the start"
        await bench.box.stop()
        path = tmp_path / "fault-reports" / "000001.steps"
        lines = path.read_bytes().splitlines(keepends=True)
        for kept in range(len(lines) + 1):
            path.write_bytes(b"".join(lines[:kept]) + b"".join(lines[kept : kept + 1])[:9])
            await start(bench, tmp_path)
            assert files.steps_of(tmp_path / "fault-reports", 1) == whole
            await bench.box.stop()


async def test_deleting_the_files_skips_no_step(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await bench.box.stop()
        for path in (tmp_path / "fault-reports").iterdir():
            path.unlink()
        await start(bench, tmp_path)
        assert bench.box.running_controller().table.state.slots[SLOT].return_procedure is not None
        await asyncio.sleep(2.0)
        again = await DirectClient(bench.box).sign_on("F1", "T1")
        await complete_return(bench, again)  # with an incomplete report in place of the deleted one


async def test_test_mode_is_shown_everywhere_moves_no_meter_and_ends_with_the_return_to_service(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        box = bench.box
        panel = Panel(box, box.check_person, name="bench", status=str, in_thread=run_inline)
        meters, decks = protected_state(bench)[:2]

        def reported() -> set[bool]:
            """Return whether each of status, uplink and pages shows test mode."""
            state = describe_state(picture_of(box), None, "now")
            pictures = [panel.live.view(role) for role in ("dealer", "floorperson", "technician", "sign")]
            return {
                next(slot.testing for slot in box.pictures.box().slots if slot.name == SLOT) == 1,
                state.slots[SLOT].testing,
                *(machine_name(SLOT) in " ".join(picture["testing"]) for picture in pictures),
            }

        await fault(bench, "dust:sensor=lift,percent=70")
        assert reported() == {False}
        assert describe_state(picture_of(box), None, "now").slots[SLOT].next_step.startswith("begin: ")
        await return_step(talk, "begin", by="T1")
        assert reported() == {True}
        await complete_return(bench, talk, until="count")
        assert reported() == {True}
        await take_out(bench, talk)
        await return_step(talk, "leave", by="T1")
        assert reported() == {False}
        await return_step(talk, "begin", by="T1")
        assert reported() == {True}
        await complete_return(bench, talk)
        assert reported() == {False}
        assert protected_state(bench)[:2] == (meters, decks), "no cent and no card of the table moved"
        panel.close()


# --- a shoe that refuses to move --------------------------------------------------------------------------------------


SHOE_SLOT = "shoe.1"


async def refused(bench: BoxTestBench) -> None:
    """Make the shoe refuse a stack because its path is dark."""
    with pytest.raises(CommandRefused) as refusal:
        await slots_of(bench.box.slots, ShoeDriver)[SHOE_SLOT].driver.dispense(1 << 61, 7)
    assert refusal.value.reason == m.Reason.PATH_BLOCKED
    await asyncio.sleep(1.0)


async def test_dust_that_makes_a_shoe_refuse_is_a_machine_fault_that_requires_the_return_steps(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SHOE_SLOT]
        await talk.sign_on("F1", "T1")
        assert bench.box.running_controller().table.context.is_in_service(SHOE_SLOT)
        machine.inject("dust:sensor=draw,percent=70")
        await refused(bench)
        report = files.read(tmp_path / "fault-reports", 1)
        assert (report.machine.slot, report.halt.what, report.complete) == (SHOE_SLOT, "path_blocked", True)
        state = bench.box.running_controller().table.state.slots[SHOE_SLOT]
        assert (state.state, bench.box.service_state(SHOE_SLOT)) == ("faulted", "faulted")
        assert state.return_procedure is not None
        assert (state.return_procedure.fault_report, state.return_procedure.next_text) == (
            1,
            "begin: a technician starts the return to service",
        )
        machine.inject("mend")
        await talk.submit("slot", slot=SHOE_SLOT, act="clear", by="T1")
        answer = await talk.submit("slot", slot=SHOE_SLOT, act="acknowledge", by="F1")
        assert "next, in fault report 1: begin: " in next_step_of_refusal(answer), "wiped is not back in service"
        assert (await return_step(talk, "begin", by="F1")).startswith("PB-813"), "a technician's"
        assert (await return_step(talk, "begin", by="T1"))["next"] == "clear"
        assert bench.box.test_mode.tested_report(SHOE_SLOT) == 1


async def test_a_card_left_in_a_shoe_requires_no_return_steps_but_is_recorded(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SHOE_SLOT]
        await talk.sign_on("F1", "T1")
        machine.mechanics._edge(sh.Sensor.EXIT, True)
        await refused(bench)
        assert files.read(tmp_path / "fault-reports", 1).halt.what == "path_blocked"
        assert bench.box.running_controller().table.context.is_in_service(SHOE_SLOT)
        assert bench.box.running_controller().table.state.slots[SHOE_SLOT].return_procedure is None
        assert (await return_step(talk, "begin", by="F1"))["next"] == "clear", "a floorperson may take it up"
        assert bench.box.service_state(SHOE_SLOT) == UNVERIFIED, "no command goes to it while hands are in it"


async def test_a_report_of_a_slot_that_this_table_has_no_more_is_refused_and_the_table_runs(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        report = tmp_path / "fault-reports" / "000001.json"
        report.write_bytes(report.read_bytes().replace(SLOT.encode(), b"shuffler.9"))
        for step in ("begin", "leave", "path_empty", "count", "return"):
            reply = await return_step(talk, step, by="T1", cards=53)
            assert reply == "PB-631 fault report 1 is of shuffler.9, and this table has no such slot"
        who = ev.Person("technician", "T1")
        controller = bench.box.running_controller()
        for event in (
            ev.ReturnLeft("shuffler.9", 1, who),
            ev.StepReported("shuffler.9", 1, st.ReturnStep.RETURN, who),
            ev.ReturnTaken("shuffler.9", 1, who, st.Requirements(service=True, expected=53, has_door=True, motors=())),
        ):
            (refused,) = (await controller.submit_and_wait(event)).decisions
            assert isinstance(refused, RequestRefused)
            assert refused.what == "this table has no slot shuffler.9"
