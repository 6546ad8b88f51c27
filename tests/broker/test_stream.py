"""What mosquitto_sub receives of a table: every event in order, through every failure of the broker."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

from table_controller.journal import reader
from table_controller.journal.store import Policy
from tests.support.box.broker import BrokerCable, Mosquitto, MqttListener, publish, until
from tests.support.box.uplinks import PREFIX, LinkedBox, is_sent, running, settings
from tests.support.oracles.asyncapi_document import is_committed, undescribed_messages

if TYPE_CHECKING:
    from pathlib import Path


def without_repeats(reported: list[Any]) -> list[Any]:
    """Return each event once, in order of first arrival; a repeat must be identical."""
    first: dict[int, Any] = {}
    for event in reported:
        assert first.setdefault(event["seq"], event) == event, "a repeat differs"
    return list(first.values())


def received_steps(listener: MqttListener) -> list[int]:
    """Return the numbers of the received steps, in order, without repeats."""
    reported = without_repeats([event for event in listener.bodies_on("events") if event["seq"]])
    return [event["seq"] for event in reported if event["event"] != "start"]


async def check_all_received(listener: MqttListener, box: LinkedBox) -> None:
    """Wait until every record on disk was received, and check the order."""
    await box.until_acknowledged()
    await until(lambda: len(set(received_steps(listener))) >= len(box.on_disk()))
    assert received_steps(listener) == box.on_disk()


@pytest.mark.realtime
async def test_everything_that_is_sent_is_as_described_and_the_farewell_is_our_own(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        box.submit_refused_step(3)
        await check_all_received(listener, box)
        await until(lambda: all(listener.bodies_on(end) for end in ("state", "meters", "head", "health")))
        assert box.uplink.health.connected
        assert listener.bodies_on("state")[-1]["blocked_by"], "an empty table may not open a round"
        assert listener.bodies_on("meters")[-1]["display"] == "$10,000.00"
    await until(lambda: len(listener.bodies_on("status")) == 2)
    assert [(s["status"], s["reason"]) for s in listener.bodies_on("status")] == [
        ("online", "connected"), ("offline", "stopped"),
    ]  # fmt: skip
    heads = {head["seq"]: head["head"] for head in listener.bodies_on("head")}
    assert all(heads.get(event["seq"], event["head"]) == event["head"] for event in listener.bodies_on("events"))
    assert is_committed()
    assert (
        undescribed_messages(received for received in listener.received() if not received.topic.endswith("/hello"))
        == []
    )


@pytest.mark.realtime
async def test_a_late_subscriber_receives_what_is_retained(tmp_path: Path, broker: Mosquitto) -> None:
    async with running(tmp_path, settings(broker.port)) as box:
        await box.until_acknowledged()
        late = MqttListener(tmp_path, broker.port, f"{PREFIX}/#", name="late")
        try:
            await until(lambda: all(late.bodies_on(end) for end in ("status", "state", "meters", "head", "health")))
        finally:
            late.close()
    first = {received.topic.rpartition("/")[2]: received for received in reversed(late.received())}
    assert all(first[end].retained for end in ("status", "state", "meters", "head"))
    assert not late.bodies_on("events"), "events are not retained: they are a stream"


@pytest.mark.realtime
async def test_events_of_an_outage_across_a_restart_of_the_box_are_published_from_the_journal(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()
    async with BrokerCable(broker.port) as gate:
        async with running(tmp_path, settings(gate.port)) as box:
            box.submit_refused_step(2)
            await check_all_received(listener, box)
            await gate.unplug()
            await until(lambda: [s["reason"] for s in listener.bodies_on("status")] == ["connected", "lost"])
            box.submit_refused_step(700)  # more than memory keeps, and several snapshots
            await box.durable()
            await until(lambda: box.uplink.health.code == "PB-831")
            assert box.uplink.health.behind >= 700
        async with running(tmp_path, settings(gate.port)) as box:
            box.submit_refused_step(5)
            await gate.plug()
            await check_all_received(listener, box)
            assert len(listener.seqs()) == len(set(listener.seqs())), "what was acknowledged is not repeated"


@pytest.mark.realtime
async def test_a_listener_that_lags_reads_what_a_killed_broker_had_sent_it(
    broker: Mosquitto, listener: MqttListener
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
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()

    async def more() -> None:
        before = len(set(listener.seqs()))
        await until(lambda: len(set(listener.seqs())) > before + 20)

    async with BrokerCable(broker.port) as gate, running(tmp_path, settings(gate.port)) as box:
        player = asyncio.create_task(_asking(box))
        try:
            for end in (broker.stop, broker.kill):
                await more()
                end()
                await gate.unplug()  # so that the listener is back before the box is
                broker.start()
                await listener.ready()
                await gate.plug()
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
        await check_all_received(listener, box)
        assert box.uplink.health.connections >= 4
        assert box.uplink.health.code == ""


async def _asking(box: LinkedBox) -> None:
    """Keep the table busy."""
    while True:
        box.submit_refused_step()
        await asyncio.sleep(0.003)


@pytest.mark.realtime
async def test_a_broker_that_dies_while_nothing_happens_is_noticed_at_once(tmp_path: Path, broker: Mosquitto) -> None:
    quiet = {"health_every_s": 3600.0, "keep_alive_s": 3600}
    async with BrokerCable(broker.port) as gate, running(tmp_path, settings(gate.port, **quiet)) as box:
        await box.until_acknowledged()
        await gate.unplug()
        await until(lambda: not box.uplink.health.connected and box.uplink.health.code)
        assert box.uplink.health.code in ("PB-836", "PB-831")
        await gate.plug()
        await until(lambda: box.uplink.health.connections == 2)


@pytest.mark.realtime
async def test_a_full_broker_is_shown_by_its_code_until_it_has_room(tmp_path: Path) -> None:
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
            box.submit_refused_step()
            await box.until_acknowledged()
            assert box.uplink.health.code == ""
    finally:
        for other in others:
            other.close()
        broker.stop()


@pytest.mark.realtime
async def test_a_reader_that_hangs_fills_the_broker_and_slows_no_other(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path, "max_queued_messages 5")
    broker.start()
    slow = MqttListener(tmp_path, broker.port, f"{PREFIX}/#", qos=1)
    try:
        await until(lambda: "Sending SUBACK" in broker.log.read_text("utf-8"))
        slow.pause()
        async with running(tmp_path, settings(broker.port)) as box:
            box.submit_refused_step(4000)  # more than the buffers of a socket hold
            await box.until_acknowledged()
            assert box.uplink.health.connections == 1
        assert "messages are being dropped" in broker.log.read_text("utf-8"), "the broker was not full at all"
    finally:
        slow.close()
        broker.stop()


@pytest.mark.realtime
async def test_records_that_left_the_journal_unsent_are_published_as_a_gap(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()
    policy = Policy(segment_bytes=60_000, ballast_bytes=0, keep_bytes=1)
    async with running(tmp_path, settings(1), policy) as box:  # nobody listens at port 1
        for _ in range(12):
            box.submit_refused_step(40)
            await box.durable()
            box.controller.snapshot_if_idle()  # a snapshot: segments are closed, and leave
    first = reader.first_place(tmp_path / "journal").first
    assert first > 10
    async with running(tmp_path, settings(broker.port), policy) as box:
        await box.until_acknowledged()
        await until(lambda: listener.bodies_on("events"))
        gap = listener.bodies_on("events")[0]
        assert (gap["seq"], gap["items"]) == (first - 1, [{"item": "gap", "first": 1, "last": first - 1}])
        kept = [r.seq for r in box.store.read(first) if is_sent(r)]
        await until(lambda: len(set(received_steps(listener))) > len(kept))
        assert received_steps(listener)[1:] == kept  # after the gap, nothing is missing


@pytest.mark.realtime
async def test_a_journal_that_cannot_be_read_stops_the_events_and_nothing_else(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()
    segment, away = tmp_path / "journal" / "journal-000001.db", tmp_path / "away.db"
    async with BrokerCable(broker.port) as gate, running(tmp_path, settings(gate.port)) as box:
        await check_all_received(listener, box)
        await gate.unplug()
        box.submit_refused_step(600)
        await box.durable()
        received, states = len(listener.seqs()), len(listener.bodies_on("state"))
        segment.rename(away)
        await gate.plug()
        await until(lambda: box.uplink.health.code.startswith("PB-7"))
        await until(lambda: len(listener.bodies_on("state")) > states)
        assert len(listener.seqs()) == received
        away.rename(segment)
        await check_all_received(listener, box)
        await until(lambda: not box.uplink.health.code)


@pytest.mark.realtime
async def test_a_journal_that_was_rolled_back_is_reported_with_an_alarm(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener, caplog: pytest.LogCaptureFixture
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        box.submit_refused_step(10)
        await box.until_acknowledged()
        acknowledged = box.outbox.acknowledged
    cursor = tmp_path / "uplink.cursor"
    cursor.write_text(cursor.read_text("utf-8").replace(acknowledged.head, "ab" * 32), "utf-8")
    async with running(tmp_path, settings(broker.port)) as box:
        await until(lambda: any(event["seq"] == 0 for event in listener.bodies_on("events")))
        (notice,) = [event for event in listener.bodies_on("events") if event["seq"] == 0]
        assert notice["items"][0]["item"] == "history_differs"
        assert notice["items"][0]["acknowledged"] == acknowledged.seq
        await check_all_received(listener, box)  # and every event is published again with its own number
        assert "PB-838" in caplog.text
    async with running(tmp_path, settings(broker.port)) as box:
        await box.until_acknowledged()
        assert sum(event["seq"] == 0 for event in listener.bodies_on("events")) == 1
