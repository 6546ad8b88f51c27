"""The box as a whole, in memory and virtual time: start, followers, failures, stop."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from devices.service import ABSENT, FAULTED, IN_SERVICE
from devices.shuffler.driver import ShufflerDriver
from firmware_bridge.errors import DiskFailed, JournalBusy, PanelNotServed, PitboxError, ReplayDiffers
from simulators.world.table import TRAY
from table_controller.controller.slot import slots_of
from table_controller.controller.supervise import TaskSupervisor
from table_controller.journal import records as rec
from table_controller.journal.chain import SNAPSHOT, STOP
from table_controller.table import events as ev
from table_controller.table.core import Table
from tests.support.box.boxes import BoxTestBench, DirectClient, running

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.controller.box import Box


async def hold_of(talk: DirectClient) -> None:
    """Report the shoe unusable: a hold that people must clear."""
    answer = await talk.submit("report", trigger="device_unusable", slot="shoe.1", by="D1")
    assert any(d["type"] == "HoldOpened" for d in answer["decisions"]), answer


# --- start and stop ---------------------------------------------------------------------------------------------------


async def test_a_box_starts_shows_itself_and_stops_in_order(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        status = await talk.ask("status")
        assert (status["phase"], status["boot"], status["cause"], status["dealer"]) == ("running", 1, None, None)
        assert {slot["state"] for slot in status["slots"]} == {"in_service"}
        assert status["copy"]["words"].startswith("There is no second copy")
        opening = status["state"]["permits"][0]
        assert opening["act"] == "open_bets"
        assert {"deck_not_ready", "dice_not_fresh"} <= {reason["key"] for reason in opening["reasons"]}
        assert all({"clause", "clears", "evidence", "text"} <= set(reason) for reason in opening["reasons"])
        assert status["state"]["meters"]["current"] == 10_000_000_000
        await box.stop()
        assert [record.kind for record in bench.records()[-2:]] == [SNAPSHOT, STOP]
        again = await bench.start()
        assert again.boot == 2
        assert again.controller is not None
        assert not again.controller.table.state.holds


async def test_a_journal_that_cannot_be_opened_locks_the_box_which_still_gives_the_reason(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    bench.journal_error = ReplayDiffers("record 7 gives other decisions")
    box = await bench.start()
    try:
        talk = DirectClient(box)
        status = await talk.ask("status")
        assert (status["phase"], status["cause"]["code"], status["state"]) == ("locked", "PB-730", None)
        assert box.safe_mode is not None
        assert {"shuffler.1", "shoe.1", "shaker.1"} <= set(box.safe_mode.stopped_slots)
        assert {slot["state"] for slot in status["slots"]} == {"locked"}, "none of them serves"
        assert (await talk.ask("sign_on", credential="D1", pin="271828")).startswith("PB-815 PB-730")
        assert (await talk.ask("follow")).startswith("PB-815")
        assert (await talk.submit("open_round")).startswith("PB-815")
        assert not bench.records()
    finally:
        await box.stop()
        bench.close()


async def test_safe_mode_keeps_the_service_states_that_no_core_keeps(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    bench.journal_error = ReplayDiffers("record 7 gives other decisions")
    box = await bench.start()
    try:
        assert {box.service_state(slot) for slot in box.slots} == {IN_SERVICE}
        bench.machines["shaker.1"].inject("unplug:seconds=600")
        bench.machines["shuffler.1"].inject("dust:sensor=lift,percent=40")
        with pytest.raises(PitboxError):
            await slots_of(box.slots, ShufflerDriver)["shuffler.1"].driver.self_test(1 << 62)
        await asyncio.sleep(10.0)
        assert (box.service_state("shaker.1"), box.service_state("shuffler.1")) == (ABSENT, FAULTED)
        status = {slot["name"]: slot["state"] for slot in (await DirectClient(box).ask("status"))["slots"]}
        assert (status["shaker.1"], status["shuffler.1"], status["shoe.1"]) == (ABSENT, FAULTED, "locked")
    finally:
        await box.stop()
        bench.close()


async def test_a_box_does_not_start_while_another_process_writes_its_journal(tmp_path: Path) -> None:
    bench = BoxTestBench(tmp_path)
    bench.journal_error = JournalBusy("process 1 writes this journal")
    with pytest.raises(JournalBusy):
        await bench.start()
    assert not bench.box.slots, "its machines may be another box's"
    bench.close()


async def test_a_disk_that_fails_halts_the_box_and_releases_waiting_clients_with_the_cause(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        await talk.sign_on("D1")
        bench.disk.fault = DiskFailed("the disk is gone")
        assert (await talk_until_halted(box, talk)).startswith("PB-815 PB-718")
        status = await talk.ask("status")
        assert (status["phase"], status["cause"]["code"]) == ("halted", "PB-718")
        assert "in_service" not in {slot["state"] for slot in status["slots"]}
        assert (await talk.submit("open_round", by="D1")).startswith("PB-815")


async def talk_until_halted(box: Box, talk: DirectClient) -> Any:
    box.on_halted.append(talk.session.on_halted)
    return await talk.submit("deck", deck="blue")


# --- following --------------------------------------------------------------------------------------------------------


async def test_a_follower_can_rebuild_the_state_from_the_first_state_and_the_steps(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, box, talk):
        await talk.sign_on("D1")
        assert box.controller is not None
        mirror = Table(box.plan.edition, box.plan.submission, dict(box._kinds))
        box.controller.submit(ev.DeckReceived("red", ev.Person("dealer", "D1")))  # not on disk yet
        answer = await talk.ask("follow", device_events=True)
        mirror.restore(msgspec.convert(answer["state"], bytes))
        await talk.submit("deck", deck="blue")
        steps = [line["step"] for line in talk.lines if "step" in line]
        assert steps
        assert all(step["seq"] > answer["seq"] for step in steps)
        for step in steps:
            taken = rec.decode_step(msgspec.json.encode(step))
            assert mirror.step(taken.event) == taken.decisions
        assert mirror.snapshot() == box.controller.table.snapshot()


# --- trouble ----------------------------------------------------------------------------------------------------------


async def test_a_hold_that_nobody_clears_is_escalated_again_and_again(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        await talk.sign_on("D1", "F1")
        await hold_of(talk)
        await asyncio.sleep(11)
        assert [note.hold for note in bench.notes("escalated")] == [next(iter(box.pictures.box().state.holds)).hold.id]  # type: ignore[union-attr]
        await asyncio.sleep(10)
        status = await talk.ask("status")
        assert status["state"]["holds"][0]["escalated"] == 2
        while prompts := (await talk.ask("status"))["state"]["prompts"]:
            prompt = next((p for p in prompts if p["hold"] is not None), None)
            if prompt is None:
                break
            by = {"floorperson": "F1", "dealer": "D1"}[prompt["role"]]
            await talk.submit("answer", prompt=prompt["id"], choice=prompt["choices"][0], by=by)
        assert not (await talk.ask("status"))["state"]["holds"]
        await asyncio.sleep(30)
        assert len(bench.notes("escalated")) == 2


async def test_a_background_service_that_dies_is_restarted_and_the_journal_records_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        lives: list[float] = []

        async def panel() -> None:
            lives.append(asyncio.get_running_loop().time())
            if len(lives) < 4:
                raise RuntimeError("a page is missing")
            await asyncio.sleep(3600)

        box.supervise("panel", panel)
        await asyncio.sleep(20)
        assert [round(b - a, 1) for a, b in pairwise(lives)] == [0.5, 1.0, 2.0]
        assert [note.text.partition(" ")[0] for note in bench.notes("died")] == ["panel"] * 3
        status = await talk.ask("status")
        (task,) = [task for task in status["tasks"] if task["name"] == "panel"]
        assert (task["state"], task["restarts"]) == ("running", 3)
        assert status["phase"] == "running"


async def test_an_operator_error_is_logged_once_as_a_sentence_and_a_bug_each_time_with_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "table_controller.controller.supervise")
    errors = [PanelNotServed("port 8080: in use"), PanelNotServed("port 8080: in use"), ValueError("a slip")]

    async def work() -> None:
        if errors:
            raise errors.pop(0)

    tasks = TaskSupervisor(lambda _: None)
    tasks.supervise("panel", work)
    await asyncio.sleep(10)
    assert [(record.levelname, bool(record.exc_info)) for record in caplog.records] == [
        ("ERROR", False), ("DEBUG", False), ("ERROR", True),
    ]  # fmt: skip
    assert caplog.records[0].getMessage().startswith("panel: PB-818 port 8080: in use; next try in 0.5 s")
    assert (tasks.states["panel"].state, tasks.states["panel"].restarts) == ("ended", 3)
    await tasks.close()


async def test_a_sign_that_showed_amounts_before_the_box_restarted_is_not_sent_old_numbers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as (bench, box, _):
        sign: Any = bench.machines["meter_sign.1"]
        before = sign.firmware._sequence
        assert before
        await box.stop()
        await bench.start()
        assert sign.firmware._sequence > before
        assert "does not show" not in caplog.text


async def test_tasks_end_when_asked_and_one_that_returns_is_not_restarted() -> None:
    ends: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(0 if name == "short" else 1e6)
        finally:
            ends.append(name)

    tasks = TaskSupervisor(lambda _: None)
    for name in ("first", "short", "second"):
        tasks.supervise(name, lambda name=name: work(name))  # type: ignore[misc]
    await asyncio.sleep(5)
    assert tasks.states["short"].state == "ended"
    await tasks.close()
    assert ends == ["short", "second", "first"]


async def test_a_driver_that_fails_is_reconnected_and_the_table_goes_on(tmp_path: Path) -> None:
    errors: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["message"]))
    async with running(tmp_path) as (bench, box, talk):
        await talk.sign_on("T1")
        slot = box.slots["shoe.1"]
        kind, fold = slot.kind, slot.kind.fold

        def fails_once(view: Any, event: Any) -> Any:
            slot.kind.fold = fold
            raise ValueError("an event that nobody thought of")

        kind.fold = fails_once
        try:
            await talk.ask("device", slot="shoe.1", call="report", by="T1")
            await asyncio.sleep(0.2)
            assert box.pictures.box().phase == "running"
            await asyncio.sleep(5)
        finally:
            kind.fold = fold
        assert errors
        assert "shoe.1" in bench.notes("died")[0].text
        status = await talk.ask("status")
        assert {s["name"]: s["connected"] for s in status["slots"]}["shoe.1"]
        assert status["phase"] == "running"


async def test_a_core_that_fails_leaves_no_machine_moving(tmp_path: Path) -> None:
    errors: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["message"]))
    async with running(tmp_path) as (bench, box, talk):
        await talk.sign_on("D1")
        machine: Any = bench.machines["shuffler.1"]
        machine.world.move_all("shuffler.1/intake", TRAY)
        assert box.controller is not None
        stops: list[str] = []
        for name in ("shuffler.1", "shoe.1"):
            driver: Any = box.slots[name].driver
            stop = driver.stop

            def reported(number: int, name: str = name, stop: Any = stop) -> Any:
                stops.append(name)
                return stop(number)

            driver.stop = reported
        locks = [bench.machines[f"bet_sensor.{seat}"] for seat in range(1, 7)]
        box.controller.table.apply = _broken  # type: ignore[method-assign,assignment]
        box.on_halted.append(talk.session.on_halted)
        assert (await talk.submit("open_round")).startswith("PB-815 PB-817")
        await asyncio.sleep(1)
        assert stops == ["shuffler.1", "shoe.1"]
        assert all(sensor.firmware.state.name != "AWAITING" for sensor in locks)
        assert (await talk.ask("status"))["cause"]["code"] == "PB-817"
        assert errors == ["the core failed at OpenRound"]
        assert "PB-817" in bench.notes("failed")[0].text


def _broken(_: ev.Event) -> Any:
    raise AssertionError("a step that does not end")
