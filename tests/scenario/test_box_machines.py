"""Machines through a running box, in virtual time: queries, orders of a technician, and the frames of both."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from firmware_bridge.commands import Outcome
from table_controller.access.request_json import read_line
from table_controller.table import state_machines as mc
from tests.support.box.boxes import running

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_technician_uses_a_machine_through_the_box_when_no_round_needs_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        assert (await talk.ask("device", slot="shoe.1", call="status"))["type"] == "Status"
        assert (await talk.ask("device", slot="shoe.1", call="self_test")).startswith("PB-813")
        await talk.sign_on("D1", "T1")
        assert (await talk.ask("device", slot="shoe.1", call="self_test", by="D1")).startswith(
            "PB-813 self_test is for"
        )
        assert (await talk.ask("device", slot="shoe.1", call="dispense", by="T1")).startswith("PB-814")
        assert (await talk.ask("device", slot="tray.1", call="status")).startswith("PB-814 there is no slot")
        assert (await talk.ask("device", slot="shoe.1", call="status", arguments={"x": 1})).startswith("PB-814")
        answer = await talk.ask("device", slot="shoe.1", call="self_test", by="T1")
        assert Outcome(answer["outcome"]) is Outcome.DONE
        assert bench.notes("service")[0].slot == "shoe.1"
        assert box.controller is not None
        box.controller.table.state.round.state = mc.DEALING
        denied = await talk.ask("device", slot="shoe.1", call="self_test", by="T1")
        assert denied.startswith("PB-813 self_test shoe.1: a round is under way")
        box.controller.table.state.round.state = mc.IDLE
        mode = await talk.ask("device", slot="shuffler.1", call="set_mode", arguments={"mode": "dance"}, by="T1")
        assert mode.startswith("PB-814 there is no mode")


async def test_an_invalid_query_reaches_no_machine(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        before = len(bench.records())
        for command in ("x", -1, 0, None, 1.5, True, [1], 10**30):
            answer = await talk.ask("device", slot="shoe.1", call="outcome", arguments={"command": command})
            is_other_type = command is None or isinstance(command, float | list)
            why = "not a request: Expected `bool | int | str`" if is_other_type else "command must be"
            assert answer.startswith(f"PB-814 {why}"), (command, answer)
        await asyncio.sleep(1.0)
        assert len(bench.records()) == before, "no link fell"
        assert box.pictures.box().slots[0].state == "in_service"


async def test_a_query_writes_nothing_and_sends_the_table_no_event(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, _, talk):
        before = len(bench.records())
        for slot in ("shoe.1", "shuffler.1", "bet_sensor.1", "shaker.1"):
            for _ in range(3):
                assert (await talk.ask("device", slot=slot, call="report"))["type"] == "Status"
            answer = await talk.ask("device", slot=slot, call="outcome", arguments={"command": 7})
            assert answer["type"] == "Settled", answer
        assert len(bench.records()) == before, "nobody is signed on"
        await talk.sign_on("D1")
        before = len(bench.records())
        await talk.ask("device", slot="shoe.1", call="report", by="D1")
        assert len(bench.records()) == before, "a dealer is no technician"
        await talk.sign_on("T1")
        before = len(bench.records())
        await talk.ask("device", slot="shoe.1", call="report", by="T1")
        await asyncio.sleep(1.0)
        assert len(bench.records()) > before, "a technician has it read anew for the table"


async def test_an_order_whose_sender_disconnected_is_not_recorded_as_done(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, _box, talk):
        await talk.sign_on("T1")
        request = {"do": "device", "id": 99, "slot": "shuffler.1", "call": "self_test"}
        talk.session.handle(read_line(msgspec.json.encode(request)))
        while not bench.notes("service"):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.005)
        talk.session.close()
        await asyncio.sleep(1.0)
        assert [note.text for note in bench.notes("service")] == [
            "self_test: ordered", "self_test: it was sent, and the technician disconnected before its end",
        ]  # fmt: skip


async def test_no_order_goes_out_that_is_not_on_disk_or_not_permitted_any_more(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        await talk.sign_on("T1")
        request = {"do": "device", "id": 99, "slot": "shoe.1", "call": "self_test"}
        talk.session.handle(read_line(msgspec.json.encode(request)))
        await asyncio.sleep(0)
        assert box.controller is not None
        box.controller.table.state.round.state = mc.DEALING  # a round began before the order was on disk
        await asyncio.sleep(2.0)
        answer = next(line for line in talk.lines if line.get("id") == 99)
        assert "a round is under way" in answer["error"]["text"]
        ordered, ended = (note.text for note in bench.notes("service"))
        assert ordered == "self_test: ordered"
        assert ended.startswith("self_test: PB-813")
        box.controller.table.state.round.state = mc.IDLE


async def test_frames_can_be_watched_and_no_card_is_in_them(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, box, talk):
        assert (await talk.ask("trace", slots=["shoe.9"])).startswith("PB-814")
        assert (await talk.ask("trace", slots=["shoe.1"] * 3)) == {"slots": ["shoe.1"]}
        assert len(box.frame_monitors["shoe.1"].watchers) == 1, "a slot that is named often sends each frame once"
        await talk.ask("device", slot="shoe.1", call="status")
        frames = [line["frame"] for line in talk.lines if "frame" in line]
        assert {frame["slot"] for frame in frames} == {"shoe.1"}
        assert {frame["outgoing"] for frame in frames} == {True, False}
        assert box.frame_monitors["shoe.1"].watchers
        talk.session.close()
        assert not box.frame_monitors["shoe.1"].watchers
