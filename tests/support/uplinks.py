"""A box with a real journal and no machines, and its uplink; steps are what a dealer asks in vain. No tests here."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import TYPE_CHECKING, Any, Final

from simulators.house.table import CHOICES
from table_controller.controller.clock import BoxClock
from table_controller.controller.start import start
from table_controller.journal.records import VERSION
from table_controller.journal.store import Policy, Store
from table_controller.journal.versions import digests_of
from table_controller.journal.writer import Writer
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.table.core import Table
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.source import Source
from table_controller.uplink.uplink import Uplink
from tests.support.broker import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PREFIX: Final = "pitbox/riverside/table-7"
GAME: Final = "face_up_pai_gow"
DEALER: Final = ev.Person("dealer", "dealer-1")
# Every wait of the uplink is so much shorter than on a real box.
PACE: Final = 0.1


def settings(port: int, **more: Any) -> MqttSettings:
    chosen: dict[str, Any] = {"host": "127.0.0.1", "port": port, "prefix": PREFIX, "client_id": "pitbox-test"}
    chosen |= {"meters_every_s": 0.05, "health_every_s": 0.2, "keep_alive_s": 5}
    return MqttSettings(**chosen | more)


class Box:
    """One boot: journal, controller, and an uplink that runs while `told` does."""

    def __init__(self, folder: Path, mqtt: MqttSettings, policy: Policy | None = None) -> None:
        rules = edition(GAME)
        submission = check_submission(rules, {"adjacent_boxes": 1} | CHOICES[GAME])
        digests, clock = digests_of(rules, submission, {}), BoxClock()
        self.store = Store.open(
            folder / "journal", version=VERSION, digests=digests, policy=policy or Policy(ballast_bytes=0)
        )
        self.writer = Writer(self.store, lambda _: None)
        self.controller = start(
            Table(rules, submission, {}), self.store, self.writer, clock, digests, lambda *_: None, snapshot_every=50
        )
        source = Source(
            game=rules.game, chapter=rules.chapter, clock=clock, slots={}, waiting=lambda: self.writer.waiting,
            controller=self.controller, store=self.store,
        )  # fmt: skip
        self.uplink = Uplink(mqtt, source, folder / "uplink.cursor", pace=PACE, jitter=Random(1))
        assert self.uplink.outbox is not None
        self.outbox = self.uplink.outbox
        self.controller.begin()

    def ask(self, times: int = 1) -> None:
        """Have the dealer ask for a round that cannot be opened: one journaled step, told each."""
        for _ in range(times):
            self.controller.submit(ev.OpenRound(DEALER))

    async def durable(self) -> None:
        await until(lambda: self.writer.waiting == 0)

    async def told(self) -> None:
        """Wait until the broker has acknowledged everything."""
        await self.durable()
        await until(lambda: self.outbox.behind == 0)

    def on_disk(self) -> list[int]:
        """Return the numbers of all records of steps."""
        return [record.seq for record in self.store.read(1) if record.kind == "step"]


@asynccontextmanager
async def running(folder: Path, mqtt: MqttSettings, policy: Policy | None = None) -> AsyncIterator[Box]:
    """Run a box with its uplink, and stop both in order."""
    box = Box(folder, mqtt, policy)
    task = asyncio.create_task(box.uplink.run())
    try:
        yield box
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await box.controller.close()
        await box.writer.close()
        box.store.close()
