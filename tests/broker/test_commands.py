"""Which MQTT commands are answered and refused, and that none moves a card, a cent or an acknowledgment."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.journal.records import EVENTS
from table_controller.uplink import uplink
from tests.support.box.broker import LIMIT, Mosquitto, MqttListener, publish, until
from tests.support.box.uplinks import PREFIX, LinkedBox, running, settings
from tests.support.oracles.asyncapi_document import undescribed_messages
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from pathlib import Path

ASK: Final = f"{PREFIX}/command/technician"


async def answers(listener: MqttListener, count: int) -> list[Any]:
    """Wait for that many answers on any topic and return them."""

    def results() -> list[Any]:
        return [received for received in listener.received() if received.topic.startswith(f"{PREFIX}/reply/")]

    await until(lambda: len(results()) >= count)
    assert undescribed_messages(results()) == []
    return [received.body for received in results()]


@pytest.mark.realtime
async def test_what_is_listed_is_answered_to_its_role(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port, health_every_s=3600.0)) as box:
        await box.until_acknowledged()
        await until(lambda: listener.bodies_on("health"))
        publish(broker.port, f"{ASK}/ping", '{"id": "one"}')
        (ping,) = await answers(listener, 1)
        assert (ping["ok"], ping["id"], ping["role"], ping["box"]) == (True, "one", "technician", None)
        publish(broker.port, f"{ASK}/identify", "")
        identity = (await answers(listener, 2))[1]["box"]
        assert (identity["prefix"], identity["boot"]) == (PREFIX, box.store.boot)
        before = len(listener.bodies_on("health"))
        publish(broker.port, f"{PREFIX}/command/floorperson/report_state", "{}")
        await until(lambda: len(listener.bodies_on("health")) > before)
        publish(broker.port, f"{PREFIX}/command/floorperson/identify", "")
        refused = (await answers(listener, 4))[3]
        assert (refused["ok"], refused["allowed"]) == (False, ["ping", "report_state"])
        assert "not for the role floorperson" in refused["text"]


@pytest.mark.realtime
async def test_the_answer_goes_to_the_response_topic_with_its_correlation_and_never_among_our_own(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        await box.until_acknowledged()
        program = need_tool("mosquitto_rr", "mosquitto-clients")
        asked = [
            program, "-h", "127.0.0.1", "-p", str(broker.port), "-V", "mqttv5", "-W", "5", "-t", f"{ASK}/ping",
            "-e", f"{PREFIX}/reply/technician/desk-4", "-m", "{}", "-D", "publish", "correlation-data", "abc",
            "-F", "%D %p",
        ]  # fmt: skip
        process = await asyncio.create_subprocess_exec(*asked, stdout=subprocess.PIPE)
        printed, _ = await process.communicate()
        assert printed.startswith(b"abc {"), printed
        before = box.store.last()
        for wrong in ("events", "reply/auditor/x", "reply/technician/+", "status"):
            options = ("-D", "publish", "response-topic", f"{PREFIX}/{wrong}")
            if "+" not in wrong:  # the client itself refuses to send that one
                publish(broker.port, f"{ASK}/ping", "", *options)
        refused = [reply for reply in await answers(listener, 4) if not reply["ok"]]
        assert len(refused) == 3
        assert all("response topic must be" in reply["text"] for reply in refused)
        assert all("items" in event for event in listener.bodies_on("events")), "no answer stands among the events"
        assert box.store.last() == before


def tries() -> list[tuple[str, str]]:
    """Return topics below `command/` and payloads that an attacker might try."""
    names = [event.__name__ for event in EVENTS]
    names += ["acknowledge", "answer", "clear", "correct_meter", "reset_meter", "pay", "unlock", "open_bets", "submit"]
    names += ["dispense", "shuffle", "return_to_service", "test", "Ping", "ping ", "ping/now", ""]
    body = '{"who": {"role": "floorperson", "credential": "floor-1"}, "amount": 1000000, "document": "x"}'
    return [(f"floorperson/{name}", body) for name in names]


@pytest.mark.realtime
async def test_nothing_over_mqtt_moves_a_meter_a_card_or_an_acknowledgment(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uplink, "MAX_COMMAND_BURST", 1000)  # everything is to be answered, however fast it comes
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        await box.until_acknowledged()
        state, last = box.controller.table.snapshot(), box.store.last()
        tried = tries()
        for first in range(0, len(tried), 16):
            _flood(broker, [(f"{PREFIX}/command/{topic}", body) for topic, body in tried[first : first + 16]])
            await answers(listener, len(tried[: first + 16]))
        replies = await answers(listener, len(tried))
        assert not any(reply["ok"] for reply in replies)
        assert all(reply["allowed"] == ["ping", "report_state"] for reply in replies)
        for topic in ("state", "events", "meters", "status"):  # our own messages are not delivered to us
            publish(broker.port, f"{PREFIX}/{topic}", '{"current": 1}')
        publish(broker.port, f"{ASK}/ping", "")
        await answers(listener, len(tried) + 1)
        assert box.controller.table.snapshot() == state
        assert box.store.last() == last, "nothing of it is a record either"


def _flood(broker: Mosquitto, messages: list[tuple[str, str]]) -> None:
    """Send many messages over one connection."""
    import paho.mqtt.client as paho
    from paho.mqtt.enums import CallbackAPIVersion

    client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    sent = [client.publish(topic, body, qos=1) for topic, body in messages]
    for each in sent:
        each.wait_for_publish(LIMIT)
    client.disconnect()
    client.loop_stop()


BAD: Final = {
    "not JSON": "ping me",
    "cut off": '{"id": "o',
    "another key": '{"id": "x", "amount": 5}',
    "another type": '{"id": 7}',
    "an array": "[1, 2, 3]",
    "deep": "[" * 500,
    "a long word": '{"id": "' + "x" * 200 + '"}',
    "too large": '{"id": "' + "x" * 2000 + '"}',
    "no text": "\ufffe",
}


@pytest.mark.realtime
async def test_malformed_oversized_retained_and_too_many_commands(
    tmp_path: Path, broker: Mosquitto, listener: MqttListener
) -> None:
    publish(broker.port, f"{ASK}/ping", "{}", "-r")  # an old one waits in the broker
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        (old,) = await answers(listener, 1)
        assert "retained" in old["text"]
        _flood(broker, [(f"{ASK}/ping", body) for body in BAD.values()])
        replies = (await answers(listener, 1 + len(BAD)))[1:]
        assert not any(reply["ok"] for reply in replies)
        assert "at most 1024 bytes" in replies[list(BAD).index("too large")]["text"]
        _flood(broker, [(f"{ASK}/ping", "x" * 100_000)])  # larger than we let the broker send us
        await _flooded(box, broker)
        box.submit_refused_step()
        await box.until_acknowledged()
        assert box.uplink.health.connected
        assert box.uplink.health.connections == 1


async def _flooded(box: LinkedBox, broker: Mosquitto) -> None:
    """Send more than any client needs: some are answered, the others are dropped and counted."""
    before = box.uplink.health
    _flood(broker, [(f"{ASK}/ping", "")] * 300)
    await until(
        lambda: box.uplink.health.commands + box.uplink.health.dropped >= before.commands + before.dropped + 300
    )
    assert box.uplink.health.dropped > before.dropped
