"""`pitbox run` with a broker: a whole table on ptys, what the broker receives, and what it must never receive."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from simulators.casino.remote_table import RemoteTable
from simulators.casino.table_layout import BENCH_PEOPLE, BENCH_PIN
from table_controller.journal import reader
from table_controller.table import state_machines as mc
from table_controller.uplink.event_mapping import map_record
from tests.support.box.broker import Mosquitto, MqttListener, until
from tests.support.box.running_box import RunningBox
from tests.support.oracles.asyncapi_document import undescribed_messages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime

GAME = "face_up_pai_gow"


def with_broker(table: RemoteTable, port: int) -> None:
    """Add a broker to the table's configuration."""
    table.config.write_text(
        table.config.read_text() + f'\n[mqtt]\nhost = "127.0.0.1"\nport = {port}\nhealth_every_s = 1\n'
    )


async def _in_a_deal(table: RemoteTable) -> asyncio.Task[None]:
    """Play until a round is past its bets and not over; return the running play."""
    state, deal = table.controller.table, mc.UNDER_WAY[1:]
    while True:
        play = asyncio.create_task(table.round((2, 4)))
        await until(lambda play=play: play.done() or state.state.round.state in deal, pause=0.001)  # type: ignore[misc]
        if not play.done():
            return play


async def test_the_broker_receives_every_event_of_a_table_that_plays_and_is_killed(
    tmp_path: Path, broker: Mosquitto
) -> None:
    received = MqttListener(tmp_path, broker.port, "pitbox/#")
    try:
        await received.ready()
        async with RemoteTable(tmp_path, GAME, seed=5, speed=400.0, pace=0.01) as table:
            with_broker(table, broker.port)
            with RunningBox(table.config) as box:
                await table.connect_to_box()
                await table.until_quiescent()
                await table.bring_deck("blue")
                await table.round((1, 2))
                await until(lambda: any(health["links"]["shoe.1"]["sent"] for health in received.bodies_on("health")))
                play = await _in_a_deal(table)
                os.kill(box.process.pid, signal.SIGKILL)
                await asyncio.to_thread(box.end, signal.SIGKILL)
                await play
                await until(lambda: [s["reason"] for s in received.bodies_on("status")] == ["connected", "lost"])
                before = len(received.bodies_on("state"))
            with RunningBox(table.config) as box:
                await table.connect_to_box()
                least = max(_expected(tmp_path))
                await until(lambda: max(received.seqs()) >= least and len(received.bodies_on("state")) > before)
                assert await asyncio.to_thread(box.end) == 0
            await until(lambda: received.bodies_on("status")[-1]["reason"] == "stopped")
        assert [s["new_journal"] for s in received.bodies_on("status")] == [True, True, False, False], (
            "the journal began once"
        )
        _compare(tmp_path, received, least)
    finally:
        received.close()


def _expected(folder: Path) -> dict[int, Any]:
    """Return what the journal's records must publish: head, round and items by record."""
    expected, number = {}, 0
    for record in reader.read(folder / "data" / "journal", 1):
        published = map_record(record, number)
        number = published.round
        if published.items:
            items = msgspec.json.decode(msgspec.json.encode(published.items))
            expected[record.seq] = (record.head.hex(), number, items)
    return expected


def _compare(folder: Path, received: MqttListener, least: int) -> None:
    """Check that every record was published in order, and no secret with it.

    Records written while the box stopped may wait for its next start.
    """
    reported: dict[int, Any] = {}
    for event in received.bodies_on("events"):
        assert reported.setdefault(event["seq"], event) == event, "a repeat differs"
    assert list(reported) == sorted(reported)
    expected, reach = _expected(folder), max(reported)
    assert reach >= least
    whole = {seq: (event["head"], event["round"], event["items"]) for seq, event in reported.items()}
    assert whole == {seq: text for seq, text in expected.items() if seq <= reach}
    items = {item["item"] for event in reported.values() for item in event["items"]}
    assert {"round", "service", "money", "journal_opened", "box_started", "note"} <= items
    assert all(hold["clauses"] for state in received.bodies_on("state") for hold in state["holds"])
    everything = received.path.read_text("utf-8")
    assert not [secret for secret in (*BENCH_PEOPLE, BENCH_PIN) if secret in everything]
    assert undescribed_messages(each for each in received.received() if not each.topic.endswith("/hello")) == []


async def test_a_locked_box_gives_the_reason_and_status_shows_an_unreachable_broker(
    tmp_path: Path, broker: Mosquitto
) -> None:
    received = MqttListener(tmp_path, broker.port, "pitbox/#")
    try:
        await received.ready()
        async with RemoteTable(tmp_path, GAME, seed=5, speed=400.0, pace=0.01) as table:
            good = table.config.read_text()
            with_broker(table, 1)
            with RunningBox(table.config) as box:

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
            with RunningBox(table.config) as box:
                await until(lambda: received.bodies_on("state") and received.bodies_on("health"))
                (state, *_) = received.bodies_on("state")
                assert (state["phase"], state["halted"]["code"]) == ("locked", "PB-713")
                assert not received.bodies_on("events")
        assert undescribed_messages(each for each in received.received() if not each.topic.endswith("/hello")) == []
    finally:
        received.close()
