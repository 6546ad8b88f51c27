"""The retained topics: which of them are due, and their present messages."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final

from table_controller.picture.pictures import problem_of
from table_controller.uplink import messages as m
from table_controller.uplink.state_messages import (
    describe_copy,
    describe_health,
    describe_links,
    describe_locked,
    describe_meters,
    describe_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import PitboxError
    from table_controller.uplink.settings import MqttSettings
    from table_controller.uplink.source import BoxSource
    from table_controller.uplink.topics import Topics

# State is published at most this often (s): a round has many steps, and nobody reads faster.
STATE_EVERY_S: Final = 0.25
# The journal's head is published at most this often (s) while records are written.
HEAD_EVERY_S: Final = 5.0
_NEVER: Final = float("-inf")


class _Topic:
    """Published when it has changed, and at most once in `every` seconds."""

    def __init__(self, every: float) -> None:
        self.every = every
        self.due = True
        self.at = _NEVER

    def anew(self) -> None:
        self.due, self.at = True, _NEVER

    def ready(self, now: float) -> bool:
        """Return whether it is due now, and mark it as published."""
        if not self.due or now - self.at < self.every:
            return False
        self.due, self.at = False, now
        return True


class RetainedTopics:
    """The retained topics of one table."""

    def __init__(
        self,
        settings: MqttSettings,
        topics: Topics,
        source: BoxSource,
        pace: float,
    ) -> None:
        self._topics = topics
        self._source = source
        self._state = _Topic(STATE_EVERY_S * pace)
        self._meters = _Topic(settings.meters_every_s)
        self._head = _Topic(HEAD_EVERY_S * pace)
        self._health = _Topic(settings.health_every_s)
        self._all = (self._state, self._meters, self._head, self._health)
        self._halted: PitboxError | None = None

    def on_step(self) -> None:
        """Mark state, meters and head as changed after a durable step."""
        self._state.due = self._meters.due = self._head.due = True

    def on_note(self) -> None:
        """Mark the state as changed after a durable note, which may be a finding."""
        self._state.due = True

    def republish_all(self) -> None:
        """Make every topic due now."""
        for topic in self._all:
            topic.anew()

    def refresh(self) -> None:
        """Mark state and health as changed by something other than a step."""
        self._state.due = True
        self._health.anew()

    def seconds_until_due(self, now: float) -> float:
        """Return the seconds until a topic is due."""
        return min((max(0.001, topic.at + topic.every - now) for topic in self._all if topic.due), default=3600.0)

    async def due(self, now: float, uplink: Callable[[], m.UplinkHealth]) -> list[tuple[str, m.UplinkMessage]]:
        """Return the messages that are due now, with their topics.

        State and meters wait until their records are on disk, so that a power cut cannot undo a published value.
        """
        source, messages = self._source, list[tuple[str, m.UplinkMessage]]()
        if source.cause is not self._halted:
            self._halted = source.cause
            self._state.due = True
        if source.is_ready():
            if self._state.ready(now):
                messages.append((self._topics.state, self._described()))
            if self._meters.ready(now):
                messages += self._metered()
        if self._head.ready(now):
            messages += self.head()
        if self._health.ready(now):
            self._health.due = True  # health is published again and again
            disk = await asyncio.to_thread(self._disk)
            pictures = source.pictures
            links = {} if pictures is None else describe_links(pictures.machines(source.table()))
            copy = None if pictures is None else describe_copy(pictures.copy())
            messages.append((self._topics.health, describe_health(uplink(), links, disk, copy, source.clock)))
        return messages

    def _described(self) -> m.StateMessage:
        source, table = self._source, self._source.table()
        if table is None:
            return describe_locked(source.game, source.chapter, problem_of(source.locked), source.now)
        return describe_state(table, problem_of(source.cause), source.now)

    def _metered(self) -> list[tuple[str, m.UplinkMessage]]:
        table = self._source.table()
        meters = None if table is None else describe_meters(table, self._source.now)
        return [] if meters is None else [(self._topics.meters, meters)]

    def head(self) -> list[tuple[str, m.UplinkMessage]]:
        """Return the head message with its topic."""
        last = self._source.last
        if last is None:
            return []
        head = m.HeadMessage(
            journal=self._source.journal, seq=last.seq, head=last.head.hex(), boot=last.boot,
            at=m.instant(last.wall_ns),
        )  # fmt: skip
        return [(self._topics.head, head)]

    def _disk(self) -> m.DiskHealth | None:
        """Return the health of the journal's disk; called in a thread, because a disk can hang."""
        store = self._source.store
        if store is None:
            return None
        try:
            space = os.statvfs(store.folder)
        except OSError:
            return None
        return m.DiskHealth(
            free_bytes=space.f_bavail * space.f_frsize, size_bytes=space.f_blocks * space.f_frsize,
            ballast=store.ballast.is_allocated, waiting_records=self._source.waiting(),
        )  # fmt: skip
