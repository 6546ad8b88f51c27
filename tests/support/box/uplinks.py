"""A box with a real journal and no machines, and its uplink; its steps are rejected requests of a dealer."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import TYPE_CHECKING, Any, Final

from simulators.casino.power import NoCredentials
from simulators.casino.table_layout import default_choices
from table_controller.controller.box import Box
from table_controller.controller.clock import BoxClock
from table_controller.controller.plan import Plan
from table_controller.journal.records import VERSION, decode_step
from table_controller.journal.store import Policy, Store
from table_controller.journal.writer import GroupCommitWriter
from table_controller.rulebook import check_submission, edition
from table_controller.table import events as ev
from table_controller.uplink.service import source_of
from table_controller.uplink.settings import MqttSettings
from table_controller.uplink.uplink import Uplink
from tests.support.box.broker import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from table_controller.controller.controller import Controller
    from table_controller.journal.chain import Record

PREFIX: Final = "pitbox/riverside/table-7"
GAME: Final = "face_up_pai_gow"
DEALER: Final = ev.Person("dealer", "dealer-1")
# Every wait of the uplink is so much shorter than on a real box.
PACE: Final = 0.1


def settings(port: int, **more: Any) -> MqttSettings:
    chosen: dict[str, Any] = {"host": "127.0.0.1", "port": port, "prefix": PREFIX, "client_id": "pitbox-test"}
    chosen |= {"meters_every_s": 0.05, "health_every_s": 0.2, "keep_alive_s": 5}
    return MqttSettings(**chosen | more)


class LinkedBox:
    """One boot of the shipped box, without machines, and its uplink."""

    def __init__(self, folder: Path, box: Box, mqtt: MqttSettings) -> None:
        self.box = box
        self.uplink = Uplink(mqtt, source_of(box), folder / "uplink.cursor", pace=PACE, jitter=Random(1))
        assert self.uplink.outbox is not None
        self.outbox = self.uplink.outbox

    @property
    def controller(self) -> Controller:
        return self.box.running_controller()

    @property
    def store(self) -> Store:
        assert isinstance(self.box.store, Store)
        return self.box.store

    def submit_refused_step(self, times: int = 1) -> None:
        """Have the dealer request a round that cannot be opened: one journaled and reported step each."""
        for _ in range(times):
            self.controller.submit(ev.OpenRound(DEALER))

    async def durable(self) -> None:
        await until(lambda: self.box.pending_records == 0)

    async def until_acknowledged(self) -> None:
        """Wait until the broker has acknowledged everything."""
        await self.durable()
        await until(lambda: self.outbox.behind == 0)

    def on_disk(self) -> list[int]:
        """Return the numbers of all records of steps that are sent."""
        return [record.seq for record in self.store.read(1) if is_sent(record)]


def is_sent(record: Record) -> bool:
    """Whether a record is a step that goes out: an orderly stop decides nothing, and its farewell is the status."""
    return record.kind == "step" and not isinstance(decode_step(record.body).event, ev.BoxHalted)


@asynccontextmanager
async def running(folder: Path, mqtt: MqttSettings, policy: Policy | None = None) -> AsyncIterator[LinkedBox]:
    """Run a box with its uplink, and stop both in order."""
    rules = edition(GAME)
    submission = check_submission(rules, {"adjacent_boxes": 1} | default_choices(GAME))
    box = Box(Plan("linked", rules, submission, (), NoCredentials()), BoxClock(), snapshot_every=50)

    def open_journal(digests: Mapping[str, str]) -> tuple[Store, GroupCommitWriter]:
        store = Store.open(
            folder / "journal", version=VERSION, digests=digests, policy=policy or Policy(ballast_bytes=0)
        )
        return store, GroupCommitWriter(store, lambda _: None)

    await box.begin(open_journal)
    linked = LinkedBox(folder, box, mqtt)
    task = asyncio.create_task(linked.uplink.run())
    try:
        yield linked
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await box.stop()
