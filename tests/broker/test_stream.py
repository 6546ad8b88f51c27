"""What the broker hears of a table, read by mosquitto_sub: everything, in order, whatever happens to the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.broker import Listener, Mosquitto, until
from tests.support.uplinks import PREFIX, running, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    found = Mosquitto(tmp_path)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def listener(tmp_path: Path, broker: Mosquitto) -> Iterator[Listener]:
    found = Listener(tmp_path, broker.port, f"{PREFIX}/#")
    yield found
    found.close()


@pytest.mark.realtime
async def test_birth_state_events_meters_head_health_and_an_own_farewell(
    tmp_path: Path, broker: Mosquitto, listener: Listener
) -> None:
    await listener.ready()
    async with running(tmp_path, settings(broker.port)) as box:
        box.ask(3)
        await box.told()
        await until(lambda: listener.on("health") and listener.on("state"))
        assert box.uplink.health.connected
    await until(lambda: len(listener.on("status")) == 2)
    assert [(status["status"], status["reason"]) for status in listener.on("status")] == [
        ("online", "connected"), ("offline", "stopped"),
    ]  # fmt: skip
