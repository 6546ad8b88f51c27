"""`pitbox run` with a broker: a whole table on ptys, what the broker hears of it, and what it never hears."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from simulators.house.far_table import FarTable
from simulators.table import BENCH_PEOPLE, BENCH_PIN
from table_controller.journal import reader
from table_controller.journal.records import STEP
from table_controller.table import machines as mc
from table_controller.uplink.tell import tell_record
from tests.support.broker import Listener, Mosquitto, until
from tests.support.described import undescribed
from tests.support.running import running

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

GAME = "face_up_pai_gow"


def with_broker(table: FarTable, port: int) -> None:
    """Add a broker to the table's configuration."""
    table.config.write_text(
        table.config.read_text() + f'\n[mqtt]\nhost = "127.0.0.1"\nport = {port}\nhealth_every_s = 1\n'
    )


async def test_a_table_that_plays_and_is_killed_is_heard_whole(tmp_path: Path, broker: Mosquitto) -> None:
    heard = Listener(tmp_path, broker.port, "pitbox/#")
    try:
        await heard.ready()
        async with FarTable(tmp_path, GAME, seed=5, speed=400.0, pace=0.01) as table:
            with_broker(table, broker.port)
            with running(table.config) as box:
                await table.meet()
                await table.rest()
                await table.bring("blue")
                await table.round((1, 2))
                await until(lambda: any(health["links"]["shoe.1"]["sent"] for health in heard.on("health")))
                play = asyncio.create_task(table.round((2, 4)))
                await until(lambda: table.controller.table.state.round.state == mc.DEALING)
                await asyncio.to_thread(box.end, signal.SIGKILL)
                await play
                await until(lambda: [s["reason"] for s in heard.on("status")] == ["connected", "lost"])
            with running(table.config) as box:
                await table.meet()
                await until(lambda: heard.on("state")[-1]["holds"])
                held = heard.on("state")[-1]["holds"]
                assert {hold["trigger"] for hold in held} & {"box_restarted", "shoe_fault"}
                assert all(hold["clauses"] for hold in held)
                last = len([r for r in reader.read(tmp_path / "data" / "journal", 1) if r.kind == STEP])
                await until(lambda: len({e["seq"] for e in heard.on("events")}) > last / 4)
                assert await asyncio.to_thread(box.end) == 0
            await until(lambda: heard.on("status")[-1]["reason"] == "stopped")
        _compare(tmp_path, heard)
    finally:
        heard.close()


def _compare(folder: Path, heard: Listener) -> None:
    """Everything worth telling up to the head that was published last was told, in order; and no secret with it."""
    told: dict[int, Any] = {}
    for event in heard.on("events"):
        assert told.setdefault(event["seq"], event) == event, "a repeat says something else"
    assert list(told) == sorted(told)
    expected, number = {}, 0
    for record in reader.read(folder / "data" / "journal", 1):
        telling = tell_record(record, number)
        number = telling.round
        if telling.items:
            expected[record.seq] = (record.head.hex(), number, msgspec.json.decode(msgspec.json.encode(telling.items)))
    reach = max(told)
    assert reach >= max(expected) - 20, "what comes after the uplink has ended is told by the next start"
    whole = {seq: (event["head"], event["round"], event["items"]) for seq, event in told.items()}
    assert whole == {seq: said for seq, said in expected.items() if seq <= reach}
    items = {item["item"] for event in told.values() for item in event["items"]}
    assert {"round", "service", "money", "irregularity_found", "journal_opened", "box_started", "note"} <= items
    everything = heard.path.read_text("utf-8")
    assert not [secret for secret in (*BENCH_PEOPLE, BENCH_PIN) if secret in everything]
    assert undescribed(each for each in heard.heard() if not each.topic.endswith("/hello")) == []


async def test_a_locked_box_says_why_and_an_unreachable_broker_is_shown_by_status(
    tmp_path: Path, broker: Mosquitto
) -> None:
    heard = Listener(tmp_path, broker.port, "pitbox/#")
    try:
        await heard.ready()
        async with FarTable(tmp_path, GAME, seed=5, speed=400.0, pace=0.01) as table:
            good = table.config.read_text()
            with_broker(table, 1)
            with running(table.config) as box:

                def trouble() -> str:
                    (task,) = [task for task in box.status()["tasks"] if task["name"] == "uplink"]
                    return str(task["error"])

                await until(lambda: trouble().startswith("PB-831"))
                await asyncio.to_thread(box.until, "shoe.1", "in_service")
            (segment,) = (tmp_path / "data" / "journal").glob("journal-*.db")
            damaged = bytearray(segment.read_bytes())
            place = damaged.rindex(b"SlotChanged")
            damaged[place : place + 11] = b"SlotChangee"
            segment.write_bytes(damaged)
            table.config.write_text(good)
            with_broker(table, broker.port)
            with running(table.config) as box:
                await until(lambda: heard.on("state") and heard.on("health"))
                (state, *_) = heard.on("state")
                assert (state["phase"], state["halted"]["code"]) == ("locked", "PB-713")
                assert not heard.on("events")
        assert undescribed(each for each in heard.heard() if not each.topic.endswith("/hello")) == []
    finally:
        heard.close()
