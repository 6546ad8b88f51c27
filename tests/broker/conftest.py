"""Fixtures of every test with a broker: the broker and a listener."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.box.broker import Mosquitto, MqttListener
from tests.support.box.uplinks import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A Mosquitto that accepts every client."""
    created = Mosquitto(tmp_path)
    created.start()
    yield created
    created.stop()


@pytest.fixture
def listener(tmp_path: Path, broker: Mosquitto) -> Iterator[MqttListener]:
    """mosquitto_sub on everything below the table's prefix."""
    created = MqttListener(tmp_path, broker.port, f"{PREFIX}/#")
    yield created
    created.close()
