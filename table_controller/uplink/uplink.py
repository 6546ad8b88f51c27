"""The uplink: one coroutine that keeps the broker told, whatever the broker does. The table never waits for it.

Cancellation rules: cancelling `run` is the orderly end; "offline" goes out if the broker takes it within two seconds,
and the socket is given back before it returns. CancelledError is never swallowed.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from firmware_bridge.errors import (
    BrokerDenied,
    BrokerRefused,
    BrokerSilent,
    BrokerUntrusted,
    HistoryDiffers,
    JournalError,
    OutboxLong,
    PitboxError,
    UplinkError,
)
from firmware_bridge.version import VERSION
from table_controller.uplink import messages as m
from table_controller.uplink.commands import Asked, answer
from table_controller.uplink.connection import ANSWER_SECONDS, CLOSE_SECONDS, Connection, Incoming
from table_controller.uplink.describe import (
    describe_copy,
    describe_health,
    describe_links,
    describe_meters,
    describe_state,
)
from table_controller.uplink.outbox import Outbox
from table_controller.uplink.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from table_controller.controller.clock import Clock
    from table_controller.controller.loop import Controller, Step
    from table_controller.journal.copier import CopyState
    from table_controller.journal.store import Store
    from table_controller.uplink.cursor import Mark
    from table_controller.uplink.settings import MqttSettings

log = logging.getLogger(__name__)

# How long to wait after each kind of failure (s): first and longest, doubling in between.
_WAITS: Final[list[tuple[type[PitboxError], float, float]]] = [
    (BrokerUntrusted, 10.0, 60.0),  # a person must act; asking more often only fills both logs
    (BrokerRefused, 10.0, 60.0),
    (BrokerDenied, 10.0, 60.0),
    (JournalError, 5.0, 60.0),
    (PitboxError, 0.5, 30.0),  # the broker or the network is away: quick when it returns, no storm when it does not
]
# A connection that lived this long (s) was good: its next failure starts with the short wait again.
_GOOD: Final = 10.0
# State is told at most so often (s): a round has many steps, and nobody reads faster.
STATE_EVERY: Final = 0.25
# The journal's head is told at most so often (s) while records come.
HEAD_EVERY: Final = 5.0
# The cursor is saved at most so often (s): at a crash, events of so long are repeated.
SAVE_EVERY: Final = 5.0
# The longest pause (s): what nobody announces (the box halted, a snapshot was taken) is seen after it.
_LOOK: Final = 1.0
# What is asked for again within this time (s) was told just now.
REPORT_EVERY: Final = 1.0
# So many commands are answered at once, and so many more in every second; the rest is dropped and counted.
BURST: Final = 20
# Answers to commands that the broker has not taken yet; beyond that commands are dropped and counted.
MAX_REPLIES: Final = 32
_ENCODER: Final = msgspec.json.Encoder()


class _Topic:
    """A retained topic: told when it has changed, and at most once in `every` seconds."""

    def __init__(self, topic: str, every: float) -> None:
        self.topic = topic
        self.every = every
        self.due = True
        self.at = float("-inf")

    def anew(self) -> None:
        """A new connection, or somebody asked: tell it again at once."""
        self.due, self.at = True, float("-inf")

    def ready(self, now: float) -> bool:
        return self.due and now - self.at >= self.every

    def told(self, now: float) -> None:
        self.due, self.at = False, now


class _Sent(NamedTuple):
    """A message on its way: its acknowledgement (None: it needs none), what is reached with it, when it was sent."""

    ack: asyncio.Future[UplinkError | None] | None
    mark: Mark | None
    at: float


class Uplink:
    """Tells the broker what the controller's journal says. `health` is what people may know of it, at any time.

    `waiting` says how many records are not yet durable: state and meters are told only when there are none, so that
    nothing is ever told that a power cut could take back.
    """

    def __init__(
        self,
        settings: MqttSettings,
        controller: Controller,
        store: Store,
        cursor: Path,
        clock: Clock,
        *,
        waiting: Callable[[], int],
        copy: Callable[[], CopyState | None] = lambda: None,
        pace: float = 1.0,
        jitter: Random | None = None,
    ) -> None:
        """`pace` shortens every wait, for tests."""
        self.settings = settings
        self.topics = Topics(settings.prefix)
        self.outbox = Outbox(store, cursor)
        self.cause: PitboxError | None = None  # of the trouble that there is now
        self._last: PitboxError | None = None  # the cause that was reported last
        self._controller = controller
        self._store = store
        self._clock = clock
        self._waiting = waiting
        self._copy = copy
        self._pace = pace
        self._jitter = jitter or Random()
        self._connection: Connection | None = None
        self._in_flight: deque[_Sent] = deque()
        self._others: deque[_Sent] = deque()
        self._replies: set[asyncio.Future[UplinkError | None]] = set()
        self._connections = self._failures = self._commands = self._refused = self._dropped = 0
        self._state = _Topic(self.topics.state, STATE_EVERY * pace)
        self._meters = _Topic(self.topics.meters, settings.meters_every_s)
        self._head = _Topic(self.topics.head, HEAD_EVERY * pace)
        self._health = _Topic(self.topics.health, settings.health_every_s)
        self._halted: PitboxError | None = None
        self._saved_at = 0.0
        self._reported = float("-inf")
        self._tokens, self._refilled = float(BURST), 0.0
        self._seq = 0
        self._waker: asyncio.Future[None] | None = None
        self._woken = False

    # --- what others call --------------------------------------------------------------------------------------------

    @property
    def health(self) -> m.UplinkHealth:
        """How the uplink is."""
        behind, trouble = self.outbox.behind, self.cause
        if trouble is None and self.outbox.differs is not None:
            trouble = HistoryDiffers(self.outbox.differs.text)
        if trouble is None and behind > self.settings.outbox_records:
            trouble = OutboxLong(f"{behind} records wait for the broker")
        connection = self._connection
        return m.UplinkHealth(
            connected=connection is not None and not connection.lost.done(),
            connections=self._connections,
            failures=self._failures,
            code="" if trouble is None else trouble.code,
            text="" if trouble is None else str(trouble),
            acknowledged=self.outbox.acknowledged.seq,
            behind=behind,
            commands=self._commands,
            refused=self._refused,
            dropped=self._dropped + (0 if connection is None else connection.dropped),
        )

    def look_again(self) -> None:
        """Something has changed that is no step: tell the state and the health anew."""
        self._state.due = True
        self._health.anew()
        self._wake()

    def _follow(self, step: Step) -> None:
        self.outbox.follow(step)
        self._seq = step.seq
        self._state.due = self._meters.due = self._head.due = True
        self._wake()

    # --- one coroutine -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep the broker told until cancelled."""
        self._controller.followers.append(self._follow)
        try:
            opened = False
            while True:
                began = asyncio.get_running_loop().time()
                try:
                    if not opened:
                        await self.outbox.open()
                        opened = True
                        if self.outbox.differs is not None:
                            log.error("uplink: %s: %s", HistoryDiffers("").code, self.outbox.differs.text)
                    cause: PitboxError = await self._one_life()
                except JournalError as unreadable:
                    cause = unreadable
                self._note(cause, asyncio.get_running_loop().time() - began)
                await asyncio.sleep(self._wait_for(cause))
        finally:
            self._controller.followers.remove(self._follow)

    async def _one_life(self) -> PitboxError:
        """Connect, tell, and live until the connection fails; return why. The socket is given back on every way out."""
        status = m.Status(
            status="offline", reason="lost", boot=self._store.boot, journal=self.outbox.acknowledged.journal,
            version=VERSION,
        )  # fmt: skip
        will = (self.topics.status, _ENCODER.encode(status))
        connection = self._connection = Connection(self.settings, will, self._asked, self._wake)
        try:
            await connection.open(self.topics.commands)
            self._begin(connection, msgspec.structs.replace(status, status="online", reason="connected"))
            await self._serve(connection)
        except UplinkError as cause:
            return cause
        except asyncio.CancelledError:
            await self._farewell(connection, msgspec.structs.replace(status, reason="stopped"))
            raise
        finally:
            self._dropped += connection.dropped
            self._connection = None
            await connection.drop()
            await self._save()
        raise AssertionError("serving ends by an error or by cancelling")

    def _begin(self, connection: Connection, status: m.Status) -> None:
        self._connections += 1
        log.info("uplink: connected to %s:%d", self.settings.host, self.settings.port)
        self._in_flight.clear()
        self._others.clear()
        self._replies.clear()
        self.outbox.rewind()
        last = self._store.last()
        self._seq = 0 if last is None else last.seq
        for topic in (self._state, self._meters, self._head, self._health):
            topic.anew()
        self._send(connection, self.topics.status, status, retain=True)

    async def _serve(self, connection: Connection) -> None:
        """Send what is to be sent, settle what was acknowledged, pause; until the connection fails."""
        loop = asyncio.get_running_loop()
        while True:
            self._settle(loop.time())
            room = self.settings.in_flight - len(self._in_flight)
            taken = await self.outbox.take(room) if room > 0 else []
            for payload, mark in taken:
                ack = None if payload is None else connection.publish(self.topics.events, payload)
                self._in_flight.append(_Sent(ack, mark, loop.time()))
            await self._tell_retained(connection, loop.time())
            if loop.time() - self._saved_at >= SAVE_EVERY * self._pace:
                await self._save()
            if not taken:
                await self._pause(self._until(loop.time()))

    def _settle(self, now: float) -> None:
        """Take what the broker has acknowledged, in order; raise what it refused, or that it is silent."""
        for queue in (self._others, self._in_flight):
            while queue and (queue[0].ack is None or queue[0].ack.done()):
                sent = queue.popleft()
                refused = None if sent.ack is None else sent.ack.result()
                if refused is not None:
                    raise refused
                if sent.mark is not None:
                    self.outbox.acknowledge(sent.mark)
                self.cause = None
            if queue and now - queue[0].at > ANSWER_SECONDS * self._pace:
                where = f"{self.settings.host}:{self.settings.port}"
                raise BrokerSilent(f"{where}: a message was not acknowledged for {now - queue[0].at:.1f} s")
        self._replies = {reply for reply in self._replies if not reply.done()}

    def _until(self, now: float) -> float:
        """Return how long nothing is to be done (s)."""
        topics = (self._state, self._meters, self._head, self._health)
        soonest = min((max(0.001, t.at + t.every - now) for t in topics if t.due), default=_LOOK)
        return min(soonest, _LOOK * self._pace)

    async def _pause(self, seconds: float) -> None:
        if not self._woken:
            loop = asyncio.get_running_loop()
            self._waker = loop.create_future()
            timer = loop.call_later(seconds, self._wake)
            try:
                await self._waker
            finally:
                timer.cancel()
                self._waker = None
        self._woken = False

    def _wake(self) -> None:
        self._woken = True
        if self._waker is not None and not self._waker.done():
            self._waker.set_result(None)

    # --- what is retained --------------------------------------------------------------------------------------------

    def _send(self, connection: Connection, topic: str, body: m.Body, *, retain: bool) -> None:
        ack = connection.publish(topic, _ENCODER.encode(body), retain=retain)
        self._others.append(_Sent(ack, None, asyncio.get_running_loop().time()))

    async def _tell_retained(self, connection: Connection, now: float) -> None:
        """Tell every retained topic that is due. State and meters wait until the journal has what they show."""
        controller = self._controller
        if controller.halted is not self._halted:
            self._halted = controller.halted
            self._state.due = True
        settled = self._waiting() == 0 or controller.halted is not None
        at = m.instant(self._clock.now()[0])
        if settled and self._state.ready(now):
            self._state.told(now)
            state = describe_state(controller.table, controller.halted, self._seq, at)
            self._send(connection, self.topics.state, state, retain=True)
        if settled and self._meters.ready(now):
            self._meters.told(now)
            meters = describe_meters(controller.table, self._seq, at)
            if meters is not None:
                self._send(connection, self.topics.meters, meters, retain=True)
        if self._head.ready(now):
            self._head.told(now)
            self._tell_head(connection)
        if now - self._health.at >= self._health.every:
            self._health.told(now)
            disk = await asyncio.to_thread(self._disk)
            links = describe_links(controller.slots)
            health = describe_health(self.health, links, disk, describe_copy(self._copy()), self._clock)
            self._send(connection, self.topics.health, health, retain=True)

    def _tell_head(self, connection: Connection) -> None:
        last = self._store.last()
        if last is not None:
            head = m.Head(
                journal=self.outbox.acknowledged.journal, seq=last.seq, head=last.head.hex(), boot=last.boot,
                at=m.instant(last.wall_ns),
            )  # fmt: skip
            self._send(connection, self.topics.head, head, retain=True)

    def _disk(self) -> m.DiskHealth | None:
        try:
            found = os.statvfs(self._store.folder)
        except OSError:
            return None
        return m.DiskHealth(
            free_bytes=found.f_bavail * found.f_frsize, size_bytes=found.f_blocks * found.f_frsize,
            ballast=self._store.ballast.lies, waiting_records=self._waiting(),
        )  # fmt: skip

    # --- what is asked -----------------------------------------------------------------------------------------------

    def _asked(self, incoming: Incoming) -> None:
        """Answer a command. Nothing of it reaches the controller."""
        connection = self._connection
        if connection is None or len(self._replies) >= MAX_REPLIES or not self._patient():
            self._dropped += 1
            return
        self._commands += 1
        role, command = self.topics.command(incoming.topic)
        asked = Asked(
            role, command, incoming.payload, incoming.retained, incoming.response_topic, incoming.correlation
        )  # fmt: skip
        box = m.Identity(
            prefix=self.settings.prefix, game=self._controller.table.context.edition.game, version=VERSION,
            journal=self.outbox.acknowledged.journal, boot=self._store.boot,
        )  # fmt: skip
        given = answer(asked, self.topics.reply(_word(role)), box, m.instant(self._clock.now()[0]))
        if not given.reply.ok:
            self._refused += 1
            log.warning("uplink: command %r of role %r %s", command[:64], role[:64], given.reply.text)
        now = asyncio.get_running_loop().time()
        if given.reports and now - self._reported >= REPORT_EVERY:
            self._reported = now
            for topic in (self._state, self._meters, self._head, self._health):
                topic.anew()
        try:
            ack = connection.publish(given.topic, _ENCODER.encode(given.reply), correlation=given.correlation)
        except UplinkError:
            return  # the connection has just broken; whoever asked will ask again
        self._replies.add(ack)
        self._wake()

    def _patient(self) -> bool:
        """Tell whether a command may be answered now: a flood of them must not cost the table its time."""
        now = asyncio.get_running_loop().time()
        self._tokens = min(float(BURST), self._tokens + (now - self._refilled) * BURST)
        self._refilled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    # --- the end -----------------------------------------------------------------------------------------------------

    async def _farewell(self, connection: Connection, status: m.Status) -> None:
        """Say "offline" ourselves: leaving in order, the broker publishes no will."""
        if not connection.stood:
            return
        try:
            self._tell_head(connection)
            ack = connection.publish(self.topics.status, _ENCODER.encode(status), retain=True)
            await asyncio.wait({ack}, timeout=CLOSE_SECONDS * self._pace)
            self._settle(asyncio.get_running_loop().time())
        except UplinkError as cause:
            log.info("uplink: the broker was not told that we leave: %s", cause)
        await connection.close()

    async def _save(self) -> None:
        self._saved_at = asyncio.get_running_loop().time()
        try:
            await self.outbox.save()
        except OSError as error:
            log.warning("uplink: how far the broker has acknowledged cannot be saved: %s", error)

    def _note(self, cause: PitboxError, lived: float) -> None:
        """First failure loud, repeats quiet; a new kind of failure is loud again."""
        if lived > _GOOD * self._pace:
            self._failures = 0
        repeated = self._failures > 0 and type(cause) is type(self._last)
        self._failures += 1
        self.cause = self._last = cause
        level = logging.DEBUG if repeated else logging.WARNING
        log.log(level, "uplink: %s %s (failure %d in a row)", cause.code, cause, self._failures)

    def _wait_for(self, cause: PitboxError) -> float:
        first, longest = next((first, longest) for kind, first, longest in _WAITS if isinstance(cause, kind))
        wait = min(longest, first * 2.0 ** min(self._failures - 1, 16))
        return wait * self._pace * self._jitter.uniform(0.75, 1.25)


def _word(role: str) -> str:
    """Return a role as a part of a topic; what is none is answered where everybody looks for it."""
    return role if role.isascii() and role.isidentifier() and len(role) <= 32 else "unknown"
