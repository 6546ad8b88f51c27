"""What every test with a broker needs: the broker, and somebody who listens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.broker import Listener, Mosquitto
from tests.support.uplinks import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    """A Mosquitto that everybody may use."""
    found = Mosquitto(tmp_path)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def listener(tmp_path: Path, broker: Mosquitto) -> Iterator[Listener]:
    """mosquitto_sub on everything below the table's prefix."""
    found = Listener(tmp_path, broker.port, f"{PREFIX}/#")
    yield found
    found.close()
