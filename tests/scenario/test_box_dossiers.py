"""A running box freezes faults and leads people back to service: enforced, written down, taken up after a restart."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.service import UNVERIFIED
from devices.shoe import messages as sh
from devices.shuffler import messages as m
from firmware_bridge.errors import CommandRefused, PitboxError
from simulators.world.table import TRAY
from table_controller import people
from table_controller.controller.dossiers import Dossiers
from table_controller.controller.status import status_of
from table_controller.diagnosis import steps as st
from table_controller.diagnosis import store as files
from table_controller.panel.panel import Panel
from table_controller.table import events as ev
from table_controller.uplink.describe import describe_state
from tests.support.boxes import CHEAP, PIN, Bench, Talk
from tests.support.panels import here

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
    """Let the shuffler fail with the deck that lies on the table."""
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


async def test_a_fault_is_frozen_with_what_the_table_knew(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("D1", "F1", "T1")
        await talk.say("DeckReceived", deck="blue", by="F1")
        await fault(bench, "jam:segment=lift,card=9")
        dossier = files.read(tmp_path / "dossiers", 1)
        assert dossier.complete
        assert (dossier.halt.what, dossier.halt.segment, dossier.machine.slot) == ("jam", "lift", SLOT)
        assert {each.slot for each in dossier.table} == set(bench.box.slots)
        assert next(each for each in dossier.table if each.slot == SLOT).service == "faulted"
        assert any(permit.act == "shuffle" and permit.reasons and permit.clauses for permit in dossier.permits)
        assert {permit.on for permit in dossier.permits} >= set(bench.box.slots) - {"keypad.1", "sign.1"}
        assert dossier.orders[-1] == "acknowledge"
        assert dossier.clauses
        assert dossier.versions["game"] == "face_up_pai_gow"
        assert [deck.name for deck in dossier.decks] == ["blue"]
        assert dossier.decks[0].age_s is not None
        assert dossier.account.expected == bench.plan.edition.cards.count
        assert dossier.frames
        assert dossier.edges


async def test_the_way_back_ticks_by_what_the_machine_does_and_by_nothing_else(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("F1", "T1")
        await fault(bench, "jam:segment=lift,card=9", "dust:sensor=lift,percent=70")
        assert (await tell(talk, "begin", by="F1")).startswith("PB-813"), "a fault of the machine is a technician's"
        assert (await order(talk, "shuffle")).startswith("PB-814"), "nobody moves cards of a machine not in test mode"
        told = await tell(talk, "begin", by="T1")
        assert (told["done"], told["next"]) == ([], "clear")
        assert next(s.testing for s in status_of(bench.box).slots if s.name == SLOT) == 1
        assert (await tell(talk, "clear", by="T1")).startswith("PB-631"), "a word is no evidence"
        assert (await tell(talk, "count", by="T1", cards=53)).startswith("PB-631"), "not its turn"
        machine.inject("mend")
        machine.inject("clear_path")
        await order(talk, "clear_jam")
        assert (await tell(talk))["next"] == "path_empty"
        machine.inject("dust:sensor=exit,percent=70")
        assert "sensor exit is dark" in await tell(talk, "path_empty", by="T1")
        machine.inject("mend")
        assert (await tell(talk, "path_empty", by="T1"))["next"] == "sensor_test"
        await order(talk, "self_test")
        assert (await tell(talk))["next"] == "motor_jog"
        await jog(bench, talk)
        assert (await tell(talk))["next"] == "one_card"
        before, known = bench.box.running().newest, _known(bench)
        await _through(bench, talk, 1)
        assert (await tell(talk))["next"] == "full_deck"
        await _through(bench, talk, 53)
        assert (await tell(talk))["next"] == "count"
        assert not [r for r in bench.records() if r.seq > before and b"ShuffleEnded" in r.body], (
            "the table hears nothing"
        )
        assert _known(bench) == known, "no meter, deck or round has changed"
        assert "53 should be there" in await tell(talk, "count", by="T1", cards=52)
        assert (await tell(talk, "count", by="T1", cards=53))["next"] == "return"
        assert "second person" in await tell(talk, "return", by="T1") or "floorperson" in await tell(
            talk, "return", by="T1"
        )
        assert (await tell(talk, "return", by="F1"))["next"] is None
        assert SLOT not in bench.box.testing
        ticks = [note for note in bench.notes("step") if "Ticked" in note.text]
        assert len(ticks) == 8, "every tick is in the journal"
        taken = next(note for note in bench.notes("step") if "TakenUp" in note.text)
        assert taken.who is not None
        assert taken.who.credential == "T1"


def _known(bench: Bench) -> tuple[Any, ...]:
    """What the table knows of money, cards and the round."""
    state = bench.box.running().table.state
    return tuple(msgspec.json.encode(part) for part in (state.money.book.meters, state.decks, state.round))


async def jog(bench: Bench, talk: Talk) -> None:
    """Turn every motor, with nothing in the intake."""
    machine: Any = bench.machines[SLOT]
    machine.world.move_all(machine.mechanics.intake, TRAY)
    machine.twin.hands_moved()
    for motor in m.Motor:
        told = await order(talk, "jog", motor=motor.name.lower())
        assert not isinstance(told, str), told


async def _through(bench: Bench, talk: Talk, cards: int) -> None:
    """Send cards through the machine in test mode."""
    machine: Any = bench.machines[SLOT]
    world, mechanics = machine.world, machine.mechanics
    await _take_out(bench, talk)
    for card in world.at(TRAY)[:cards]:
        world.move(card, mechanics.intake)
    machine.twin.hands_moved()
    told = await order(talk, "shuffle")
    assert not isinstance(told, str), told


async def _take_out(bench: Bench, talk: Talk) -> None:
    """Have the machine give out what it holds, and take it: cards that no account has keep it from serving."""
    machine: Any = bench.machines[SLOT]
    world, mechanics = machine.world, machine.mechanics
    told = await order(talk, "eject") if world.count(mechanics.gate) else None
    assert not isinstance(told, str), told
    for place in (mechanics.place("presented"), mechanics.intake):
        world.move_all(place, TRAY)
    machine.twin.hands_moved()


async def _counted(bench: Bench, talk: Talk) -> Any:
    await _take_out(bench, talk)
    return await tell(talk, "count", by="T1", cards=53)


async def test_one_person_with_two_credentials_is_no_second_person(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        people.add(tmp_path / "people.json", "F7", "floorperson", PIN, person="T1", cost=CHEAP)
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("F1", "F7", "T1")
        await fault(bench, "jam:segment=lift,card=9")
        assert (await tell(talk, "begin", by="T1"))["next"] == "clear"
        machine.inject("clear_path")
        await order(talk, "clear_jam")
        await tell(talk, "path_empty", by="T1")
        assert (await tell(talk, "count", by="T1", cards=53))["next"] == "return"
        assert "second person" in await tell(talk, "return", by="F7")
        assert (await tell(talk, "return", by="F1"))["next"] is None


async def test_a_way_that_was_begun_is_taken_up_again_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await tell(talk, "begin", by="T1")
        machine.inject("mend")
        machine.inject("clear_path")
        await order(talk, "clear_jam")
        assert (await tell(talk, "path_empty", by="T1"))["done"] == ["clear", "path_empty"]
        await bench.box.stop()
        await start(bench, tmp_path)
        again = Talk(bench.box)
        told = await tell(again)
        assert (told["begun"], told["done"], told["next"]) == (True, ["clear", "path_empty"], "sensor_test")
        assert bench.box.testing == {SLOT: 1}


async def test_a_new_fault_in_test_mode_begins_the_way_anew_and_has_its_own_dossier(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        machine: Any = bench.machines[SLOT]
        await talk.sign_on("T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await tell(talk, "begin", by="T1")
        machine.inject("mend")
        machine.inject("clear_path")
        await order(talk, "clear_jam")
        await tell(talk, "path_empty", by="T1")
        await order(talk, "self_test")
        await jog(bench, talk)
        assert (await tell(talk))["next"] == "one_card"
        await order(talk, "eject")
        machine.inject("take_deck")
        machine.inject("load")
        machine.inject("jam:segment=bridge,card=2")
        assert str(await order(talk, "shuffle")).startswith("PB-430")
        assert [m.Jam.__name__] == [files.read(tmp_path / "dossiers", 2).halt.said]
        assert (await tell(talk))["next"] == "clear"
        assert "dossier 1 is under way" in await talk.ask("jam", dossier=2, step="begin", by="T1")


async def test_a_dossier_is_pinned_until_its_machine_serves_again(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        folder, machine = tmp_path / "dossiers", bench.machines[SLOT]
        await talk.sign_on("F1", "T1")
        machine.inject("dust:sensor=lift,percent=40")
        await order(talk, "self_test")
        await asyncio.sleep(1.0)
        assert files.is_pinned(folder, 1)
        await bench.box.stop()
        await start(bench, tmp_path)
        again = await Talk(bench.box).sign_on("F1", "T1")
        assert files.is_pinned(folder, 1), "a restart is no repair"
        machine.inject("mend")
        await walk(bench, again)
        for act in ("clear", "acknowledge"):
            told = await again.say("SlotOrdered", slot=SLOT, act=act, by="F1")
            assert not isinstance(told, str), told
        await asyncio.sleep(2.0)
        assert bench.box.running().table.context.serves(SLOT)
        assert not files.is_pinned(folder, 1)


async def walk(bench: Bench, talk: Talk, *, until: str | None = None) -> None:
    """Go the whole way back of dossier 1, or as far as one step."""
    machine: Any = bench.machines[SLOT]

    async def clear() -> None:
        machine.inject("clear_path")
        await order(talk, "clear_jam")

    async def test() -> None:
        await order(talk, "self_test")

    ways: dict[str, Any] = {
        "clear": clear,
        "path_empty": lambda: tell(talk, "path_empty", by="T1"),
        "sensor_test": test,
        "motor_jog": lambda: jog(bench, talk),
        "one_card": lambda: _through(bench, talk, 1),
        "full_deck": lambda: _through(bench, talk, 53),
        "count": lambda: _counted(bench, talk),
        "return": lambda: tell(talk, "return", by="F1"),
    }
    machine.inject("mend")
    if (await tell(talk))["open"].startswith("begin"):
        assert (await tell(talk, "begin", by="T1"))["technician"] == "t1"
    for name, go in ways.items():
        told = await tell(talk)
        if name in told["done"]:
            continue
        if name == until:
            return
        assert told["next"] == name
        await go()
        assert name in (await tell(talk))["done"], name


async def acknowledge(bench: Bench, talk: Talk) -> Any:
    """Answer what an irregularity asks, up to the acknowledgement; return what came of that."""
    by = {"dealer": "D1", "floorperson": "F1", "technician": "T1"}
    await talk.sign_on("D1")
    for _ in range(12):
        prompts = bench.box.running().table.state.prompts.values()
        prompt = next(prompt for prompt in prompts if prompt.hold is not None)
        number = {"number": 53} if prompt.number else {}
        told = await talk.say("Answer", prompt=prompt.id, choice=prompt.choices[0], by=by[prompt.role], **number)
        if prompt.kind == "acknowledge":
            return told
    raise AssertionError("nobody was asked to acknowledge")


def refusals(told: Any) -> list[Any]:
    assert not isinstance(told, str), told
    return [decision for decision in told["decisions"] if decision["type"] == "Refused"]


def against(told: Any) -> str:
    """What a refusal says of the step that is next."""
    assert not isinstance(told, str), told
    (refused,) = [decision for decision in told["decisions"] if decision["type"] == "Refused"]
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
        assert f"next in dossier 1: {step}: " in against(
            await talk.say("SlotOrdered", slot=SLOT, act="acknowledge", by="F1")
        )
        permit = bench.box.running().table.permit("return_to_service", SLOT)
        assert "steps_open" in [reason.key for reason in permit], "shown wherever permits are"
        assert f"next in dossier 1: {step}: " in against(await acknowledge(bench, talk))
        bench.box.running().submit(ev.SlotOrdered(SLOT, "acknowledge", ev.Person("floorperson", "F1")))
        await asyncio.sleep(1.0)
        assert not bench.box.running().table.context.serves(SLOT)


async def test_between_the_fault_and_its_dossier_nobody_is_quicker(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        machine: Any = bench.machines[SLOT]
        machine.inject("dust:sensor=lift,percent=70")
        controller, seen = bench.box.running(), []

        def told(name: str, event: Any) -> None:
            if name == SLOT and isinstance(event, m.Jam | m.Fault):  # in the very call that tells of the fault
                for act, who in (("clear", "technician"), ("acknowledge", "floorperson")):
                    controller.submit(ev.SlotOrdered(SLOT, act, ev.Person(who, "X")))  # type: ignore[arg-type]
                way = controller.table.state.slots[SLOT].way
                seen.append(None if way is None else (way.dossier, way.step.partition(":")[0]))

        bench.box.on_told.append(told)
        with pytest.raises(PitboxError):
            await bench.box.slots[SLOT].driver.shuffle(1 << 61)
        assert seen == [(0, "dossier")]
        await asyncio.sleep(2.0)
        way = controller.table.state.slots[SLOT].way
        assert way is not None
        assert way.dossier == 1
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
        await _take_out(bench, talk)
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
        machine.inject("door:to=open")  # a look inside, and a test, end its doubt
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
        way = st.replay(files.steps_of(dossier.folder, 1))
        assert way is not None
        assert "in its place SelfTested" in st.wanted(way, st.Step.MOTOR_JOG)


async def test_what_was_left_in_the_middle_is_taken_up_again_by_another_and_test_mode_restores_the_mode(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (bench, talk):
        people.add(tmp_path / "people.json", "T2", "technician", PIN, cost=CHEAP)
        await talk.sign_on("F1", "T1", "T2")
        await fault(bench, "dust:sensor=lift,percent=70")
        await walk(bench, talk, until="one_card")
        told = await order(talk, "set_mode", mode="sort")
        assert not isinstance(told, str), told
        machine: Any = bench.machines[SLOT]
        assert machine.twin.mode.name == "SORT"
        left = await tell(talk, "leave", by="T1")
        assert (left["technician"], left["open"]) == ("", "begin: a technician takes it up")
        assert SLOT not in bench.box.testing
        await asyncio.sleep(1.0)
        assert machine.twin.mode.name == "SHUFFLE", "as it was before somebody took it up"
        assert str(await order(talk, "shuffle")).startswith("PB-814"), "out of test mode nothing moves"
        told = await tell(talk, "begin", by="T2")
        assert (told["next"], told["technician"]) == ("one_card", "t2")
        await walk(bench, talk)
        assert SLOT not in bench.box.testing


@pytest.mark.parametrize("step", ["clear", "path_empty", "motor_jog", "one_card", "count", "return"])
async def test_a_box_that_loses_power_on_the_way_goes_on_where_it_was(tmp_path: Path, step: str) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        await walk(bench, talk, until=step)
        done = (await tell(talk))["done"]
        bench.box.running().dead()  # nothing is taken, sent or told from here on
        await bench.box.stop()
        await start(bench, tmp_path)
        again = await Talk(bench.box).sign_on("F1", "T1")
        told = await tell(again)
        assert (told["done"], told["next"], bench.box.testing) == (done, step, {SLOT: 1})
        await again.say("SlotOrdered", slot=SLOT, act="clear", by="T1")
        assert f"{step}: " in against(await again.say("SlotOrdered", slot=SLOT, act="acknowledge", by="F1"))
        await walk(bench, again)


async def test_power_that_goes_while_the_dossier_is_written_unbinds_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, talk):
        await talk.sign_on("F1", "T1")
        await fault(bench, "dust:sensor=lift,percent=70")
        slot = bench.box.running().table.state.slots[SLOT]
        bench.box.running().submit(ev.WayBack(SLOT, 0, "dossier: the box is writing down what happened"))
        (tmp_path / "dossiers" / "000001.steps").unlink()
        await asyncio.sleep(1.0)
        assert slot.way is not None
        bench.box.running().dead()
        await bench.box.stop()
        await start(bench, tmp_path)
        way = bench.box.running().table.state.slots[SLOT].way
        assert way is not None
        assert (way.dossier, way.step) == (1, "begin: a technician takes it up")


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
        meters, decks = _known(bench)[:2]

        def told() -> set[bool]:
            """Whether each that tells of the table says that the machine is in test mode."""
            state = describe_state(controller.table, None, 1, "now")
            pictures = [panel.live.picture(role) for role in ("dealer", "floorperson", "technician", "sign")]
            return {
                next(slot.testing for slot in status_of(box).slots if slot.name == SLOT) == 1,
                state.slots[SLOT].testing,
                *(SLOT in " ".join(picture["testing"]) for picture in pictures),
            }

        await fault(bench, "dust:sensor=lift,percent=70")
        assert told() == {False}
        assert describe_state(controller.table, None, 1, "now").slots[SLOT].step.startswith("begin: ")
        await tell(talk, "begin", by="T1")
        assert told() == {True}
        await walk(bench, talk, until="count")
        assert told() == {True}
        await tell(talk, "leave", by="T1")
        assert told() == {False}
        await tell(talk, "begin", by="T1")
        assert told() == {True}
        await walk(bench, talk)
        assert told() == {False}
        assert _known(bench)[:2] == (meters, decks), "no cent and no card of the table moved"
        panel.close()


# --- a shoe that refuses to move --------------------------------------------------------------------------------------

SHOE_SLOT = "shoe.1"


async def refused(bench: Bench) -> None:
    """Have the shoe refuse a stack because its path is dark."""
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
        assert (state.way.dossier, state.way.step) == (1, "begin: a technician takes it up")
        machine.inject("mend")
        await talk.say("SlotOrdered", slot=SHOE_SLOT, act="clear", by="T1")
        told = await talk.say("SlotOrdered", slot=SHOE_SLOT, act="acknowledge", by="F1")
        assert "next in dossier 1: begin: " in against(told), "wiped is not back in service"
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
