"""A real driver with pyserial on a port that the test provides."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING, Any

from devices.kinds import SHUFFLER
from firmware_bridge.handshake import Trust
from firmware_bridge.keys import load_approved, load_key
from firmware_bridge.supervisor import Supervisor
from firmware_bridge.transport.serial import open_serial

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class ConnectedDriver:
    """A driver with its supervisor, and the reports it delivered."""

    def __init__(self, url: str, folder: Path, name: str = "shuffler.1") -> None:
        key = load_key(folder / f"{name}.key")
        self.events: list[Any] = []
        self.driver = SHUFFLER.driver(self._on_event)
        trust = Trust(SHUFFLER.name, {key.serial: key}, load_approved(folder / "approved.toml"))
        self.supervisor = Supervisor(
            name, lambda: open_serial(url), trust, SHUFFLER.decoder, self.driver, jitter=Random(1)
        )
        self._waiting: list[tuple[type, asyncio.Future[Any]]] = []

    def _on_event(self, event: Any) -> None:
        self.events.append(event)
        for kind, future in self._waiting:
            if isinstance(event, kind) and not future.done():
                future.set_result(event)

    async def next(self, kind: type, seconds: float = 20.0) -> Any:
        """Wait for the next event of a kind."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((kind, future))
        async with asyncio.timeout(seconds):
            return await future

    def events_of(self, kind: type) -> list[Any]:
        """Return every event of a kind so far."""
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def connected(url: str, folder: Path) -> AsyncIterator[ConnectedDriver]:
    """Connect a driver and wait for its first report."""
    c = ConnectedDriver(url, folder)
    c.supervisor.start()
    try:
        async with asyncio.timeout(20):
            await c.driver.ready()
        yield c
    finally:
        await c.supervisor.close()
