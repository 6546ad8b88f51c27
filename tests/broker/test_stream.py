"""What mosquitto_sub receives of a table: every event in order, through every failure of the broker."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

from table_controller.journal import reader
from table_controller.journal.store import Policy
from tests.support.broker import Gate, Listener, Mosquitto, publish, until
from tests.support.described import is_the_file, undescribed
from tests.support.uplinks import PREFIX, Linked, is_sent, running, settings

if TYPE_CHECKING:
    from pathlib import Path


def without_repeats(reported: list[Any]) -> list[Any]:
    """Return each event once, in order of first arrival; a repeat must be identical."""
    first: dict[int, Any] = {}
    for event in reported:
        assert first.setdefault(event["seq"], event) == event, "a repeat differs"
    return list(first.values())


def steps_told(listener: Listener) -> list[int]:
    """Return the numbers of the received steps, in order, without repeats."""
    reported = without_repeats([event for event in listener.on("events") if event["seq"]])
    return [event["seq"] for event in reported if event["event"] != "start"]


async def all_heard(listener: Listener, box: Linked) -> None:
    """Wait until every record on disk was received, and check the order."""
    await box.told()
    await until(lambda: len(set(steps_told(listener))) >= len(box.on_disk()))
    assert steps_told(listener) == box.on_disk()


@pytest.mark.realtime
async def test_everything_that_is_sent_is_as_described_and_the_farewell_is_our_own(
    tmp_path: Path, broker: Mosquitto, listener: Listener
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        box.ask(3)
        await all_heard(listener, box)
        await until(lambda: all(listener.on(end) for end in ("state", "meters", "head", "health")))
        assert box.uplink.health.connected
        assert listener.on("state")[-1]["locked"], "an empty table may not open a round"
        assert listener.on("meters")[-1]["shown"] == "$10,000.00"
    await until(lambda: len(listener.on("status")) == 2)
    assert [(s["status"], s["reason"]) for s in listener.on("status")] == [
        ("online", "connected"), ("offline", "stopped"),
    ]  # fmt: skip
    heads = {head["seq"]: head["head"] for head in listener.on("head")}
    assert all(heads.get(event["seq"], event["head"]) == event["head"] for event in listener.on("events"))
    assert is_the_file()
    assert undescribed(received for received in listener.heard() if not received.topic.endswith("/hello")) == []


@pytest.mark.realtime
async def test_who_comes_late_finds_what_is_retained(tmp_path: Path, broker: Mosquitto) -> None:
    async with running(tmp_path, settings(broker.port)) as box:
        await box.told()
        late = Listener(tmp_path, broker.port, f"{PREFIX}/#", name="late")
        try:
            await until(lambda: all(late.on(end) for end in ("status", "state", "meters", "head", "health")))
        finally:
            late.close()
    first = {received.topic.rpartition("/")[2]: received for received in reversed(late.heard())}
    assert all(first[end].retained for end in ("status", "state", "meters", "head"))
    assert not late.on("events"), "events are not retained: they are a stream"


@pytest.mark.realtime
async def test_an_outage_across_a_restart_of_the_box_is_told_from_the_journal(
    tmp_path: Path, broker: Mosquitto, listener: Listener
) -> None:
    await listener.ready()
    async with Gate(broker.port) as gate:
        async with running(tmp_path, settings(gate.port)) as box:
            box.ask(2)
            await all_heard(listener, box)
            await gate.shut()
            await until(lambda: [s["reason"] for s in listener.on("status")] == ["connected", "lost"])
            box.ask(700)  # more than memory keeps, and several snapshots
            await box.durable()
            await until(lambda: box.uplink.health.code == "PB-831")
            assert box.uplink.health.behind >= 700
        async with running(tmp_path, settings(gate.port)) as box:
            box.ask(5)
            await gate.open()
            await all_heard(listener, box)
            assert len(listener.seqs()) == len(set(listener.seqs())), "what was acknowledged is not repeated"


@pytest.mark.realtime
async def test_a_listener_that_lags_reads_what_a_killed_broker_had_sent_it(
    broker: Mosquitto, listener: Listener
) -> None:
    """The other tests here rely on it to show that nothing is lost."""
    await listener.ready()
    listener.pause()
    for number in range(1, 31):
        publish(broker.port, f"{PREFIX}/events", f'{{"seq": {number}}}')
    broker.kill()
    listener.resume()
    await until(lambda: len(listener.seqs()) == 30)


@pytest.mark.realtime
async def test_restarted_killed_and_hanging_brokers_lose_nothing_and_repeats_carry_their_number(
    tmp_path: Path, broker: Mosquitto, listener: Listener
) -> None:
    await listener.ready()

    async def more() -> None:
        before = len(set(listener.seqs()))
        await until(lambda: len(set(listener.seqs())) > before + 20)

    async with Gate(broker.port) as gate, running(tmp_path, settings(gate.port)) as box:
        player = asyncio.create_task(_asking(box))
        try:
            for end in (broker.stop, broker.kill):
                await more()
                end()
                await gate.shut()  # so that the listener is back before the box is
                broker.start()
                await listener.ready()
                await gate.open()
            await more()
            broker.pause()
            await until(lambda: box.uplink.health.code == "PB-834")
            steps = len(box.on_disk())
            await until(lambda: len(box.on_disk()) > steps + 20)  # the table plays on
            broker.resume()
            await more()
        finally:
            player.cancel()
            await asyncio.wait({player})
        await all_heard(listener, box)
        assert box.uplink.health.connections >= 4
        assert box.uplink.health.code == ""


async def _asking(box: Linked) -> None:
    """Keep the table busy."""
    while True:
        box.ask()
        await asyncio.sleep(0.003)


@pytest.mark.realtime
async def test_a_broker_that_dies_while_nothing_happens_is_noticed_at_once(tmp_path: Path, broker: Mosquitto) -> None:
    quiet = {"health_every_s": 3600.0, "keep_alive_s": 3600}
    async with Gate(broker.port) as gate, running(tmp_path, settings(gate.port, **quiet)) as box:
        await box.told()
        await gate.shut()
        await until(lambda: not box.uplink.health.connected and box.uplink.health.code)
        assert box.uplink.health.code in ("PB-836", "PB-831")
        await gate.open()
        await until(lambda: box.uplink.health.connections == 2)


@pytest.mark.realtime
async def test_a_broker_without_room_is_told_by_its_code_until_it_has_some(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path, listener=("max_connections 3",))
    broker.start()
    others = [socket.create_connection(("127.0.0.1", broker.port), 5.0) for _ in range(6)]
    try:
        await until(lambda: "onnection" in broker.log.read_text("utf-8"))
        async with running(tmp_path, settings(broker.port)) as box:
            await until(lambda: box.uplink.health.code)
            assert box.uplink.health.code in ("PB-832", "PB-834", "PB-836")
            assert box.uplink.health.connections == 0
            for other in others:
                other.close()
            box.ask()
            await box.told()
            assert box.uplink.health.code == ""
    finally:
        for other in others:
            other.close()
        broker.stop()


@pytest.mark.realtime
async def test_a_reader_that_hangs_fills_the_broker_and_slows_nobody(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path, "max_queued_messages 5")
    broker.start()
    slow = Listener(tmp_path, broker.port, f"{PREFIX}/#", qos=1)
    try:
        await until(lambda: "Sending SUBACK" in broker.log.read_text("utf-8"))
        slow.pause()
        async with running(tmp_path, settings(broker.port)) as box:
            box.ask(4000)  # more than the buffers of a socket hold
            await box.told()
            assert box.uplink.health.connections == 1
        assert "messages are being dropped" in broker.log.read_text("utf-8"), "the broker was not full at all"
    finally:
        slow.close()
        broker.stop()


@pytest.mark.realtime
async def test_records_that_left_the_journal_unsent_are_told_as_a_gap(
    tmp_path: Path, broker: Mosquitto, listener: Listener
) -> None:
    await listener.ready()
    policy = Policy(segment_bytes=60_000, ballast_bytes=0, keep_bytes=1)
    async with running(tmp_path, settings(1), policy) as box:  # nobody listens at port 1
        for _ in range(12):
            box.ask(40)
            await box.durable()
            box.controller.keep()  # a snapshot: segments are closed, and leave
    first = reader.begin(tmp_path / "journal").first
    assert first > 10
    async with running(tmp_path, settings(broker.port), policy) as box:
        await box.told()
        await until(lambda: listener.on("events"))
        gap = listener.on("events")[0]
        assert (gap["seq"], gap["items"]) == (first - 1, [{"item": "gap", "first": 1, "last": first - 1}])
        kept = [r.seq for r in box.store.read(first) if is_sent(r)]
        await until(lambda: len(set(steps_told(listener))) > len(kept))
        assert steps_told(listener)[1:] == kept  # after the gap, nothing is missing


@pytest.mark.realtime
async def test_a_journal_that_cannot_be_read_stops_the_events_and_nothing_else(
    tmp_path: Path, broker: Mosquitto, listener: Listener
) -> None:
    await listener.ready()
    segment, away = tmp_path / "journal" / "journal-000001.db", tmp_path / "away.db"
    async with Gate(broker.port) as gate, running(tmp_path, settings(gate.port)) as box:
        await all_heard(listener, box)
        await gate.shut()
        box.ask(600)
        await box.durable()
        received, states = len(listener.seqs()), len(listener.on("state"))
        segment.rename(away)
        await gate.open()
        await until(lambda: box.uplink.health.code.startswith("PB-7"))
        await until(lambda: len(listener.on("state")) > states)
        assert len(listener.seqs()) == received
        away.rename(segment)
        await all_heard(listener, box)
        await until(lambda: not box.uplink.health.code)


@pytest.mark.realtime
async def test_a_journal_that_was_set_back_is_told_and_alarmed(
    tmp_path: Path, broker: Mosquitto, listener: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        box.ask(10)
        await box.told()
        acknowledged = box.outbox.acknowledged
    cursor = tmp_path / "uplink.cursor"
    cursor.write_text(cursor.read_text("utf-8").replace(acknowledged.head, "ab" * 32), "utf-8")
    async with running(tmp_path, settings(broker.port)) as box:
        await until(lambda: any(event["seq"] == 0 for event in listener.on("events")))
        (notice,) = [event for event in listener.on("events") if event["seq"] == 0]
        assert notice["items"][0]["item"] == "history_differs"
        assert notice["items"][0]["acknowledged"] == acknowledged.seq
        await all_heard(listener, box)  # and every event is published again with its own number
        assert "PB-838" in caplog.text
    async with running(tmp_path, settings(broker.port)) as box:
        await box.told()
        assert sum(event["seq"] == 0 for event in listener.on("events")) == 1
