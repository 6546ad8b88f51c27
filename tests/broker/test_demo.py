"""`pitbox demo --mqtt`: a named broker receives the demo; one that does not answer is reported and not waited for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from simulators.casino.broker import free_port
from tests.support.box.broker import Mosquitto, MqttListener, until
from tests.support.box.processes import pitbox

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime
SHORT = ("--game", "dj_wild", "--rounds", "1", "--speed", "200", "--faults", "none")


async def test_a_named_broker_receives_the_demo_from_birth_to_farewell(tmp_path: Path, broker: Mosquitto) -> None:
    received = MqttListener(tmp_path, broker.port, "pitbox/#")
    try:
        await received.ready()
        shown = await asyncio.to_thread(pitbox, "demo", *SHORT, "--mqtt", f"127.0.0.1:{broker.port}")
        assert f"mosquitto_sub -h 127.0.0.1 -p {broker.port} -v -t 'pitbox/#'" in shown
        assert "PB-831" not in shown
        await until(
            lambda: [reported["reason"] for reported in received.bodies_on("status")] == ["connected", "stopped"]
        )
        states = [
            item["state"]
            for reported in received.bodies_on("events")
            for item in reported["items"]
            if item["item"] == "round"
        ]
        assert states == ["opened", "complete"]
    finally:
        received.close()


def test_the_installed_mosquitto_is_started_for_the_demo_and_a_silent_one_is_reported_and_not_waited_for() -> None:
    shown = pitbox("demo", *SHORT, "--mqtt")
    assert "listen with: mosquitto_sub" in shown
    assert "PB-831" not in shown
    shown = pitbox("demo", *SHORT, "--mqtt", f"127.0.0.1:{free_port()}")
    assert "PB-831" in shown
    assert "the table plays anyway" in shown
    assert "1 rounds, 0 void;" in shown
