"""The uplink: one coroutine that publishes the journal and the state to the broker. The table never waits for it.

Canceling `run` is the orderly end: it publishes "offline" if the broker accepts that within two seconds, and closes the
socket before it returns. CancelledError is never swallowed.
"""

from __future__ import annotations

import asyncio
import logging
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
    OutboxTooLong,
    PitboxError,
    UplinkError,
)
from table_controller.uplink import messages as m
from table_controller.uplink.broker_certificate import try_fetch_certificate
from table_controller.uplink.commands import CommandRequest, answer
from table_controller.uplink.connection import (
    ANSWER_SECONDS,
    CLOSE_SECONDS,
    OPEN_SECONDS,
    BrokerConnection,
    IncomingMessage,
)
from table_controller.uplink.outbox import Outbox, OutgoingEvent
from table_controller.uplink.retained import RetainedTopics
from table_controller.uplink.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from table_controller.controller.controller import DurableStep
    from table_controller.host.certificates import Certificate
    from table_controller.uplink.cursor import Cursor
    from table_controller.uplink.settings import MqttSettings
    from table_controller.uplink.source import BoxSource

log = logging.getLogger(__name__)

# Wait after each kind of failure (s): the first and the longest, doubling in between.
_WAITS: Final[list[tuple[type[UplinkError], float, float]]] = [
    (BrokerUntrusted, 10.0, 60.0),  # a person must act; more attempts only fill both logs
    (BrokerRefused, 10.0, 60.0),
    (BrokerDenied, 10.0, 60.0),
    (UplinkError, 0.5, 30.0),  # broker or network is down: reconnect soon, without flooding
]
# Wait before reading an unreadable journal again (s).
_UNREADABLE: Final = 5.0
# After a connection of at least this long (s), the next failure starts with the short wait again.
_GOOD: Final = 10.0
# The cursor is saved at most this often (s); after a crash, events of this time are repeated.
SAVE_EVERY_S: Final = 5.0
# The longest pause (s) before the uplink checks for unannounced changes, such as a halted box or a snapshot.
_LOOK: Final = 1.0
# A second `report_state` within this time (s) publishes nothing new.
REPUBLISH_EVERY_S: Final = 1.0
# Refused commands are logged as warnings at most this often (s).
COMPLAIN_EVERY_S: Final = 60.0
# This many commands are answered at once, and this many per second; the rest is dropped and counted.
MAX_COMMAND_BURST: Final = 20
# Most replies without acknowledgment; beyond that, commands are dropped and counted.
MAX_REPLIES: Final = 32
_ENCODER: Final = msgspec.json.Encoder()


class _Sent(NamedTuple):
    """A sent message: its acknowledgment (None: not sent, nothing to publish), the cursor after it, and the time."""

    ack: asyncio.Future[UplinkError | None] | None
    mark: Cursor | None
    at: float


class Uplink:
    """Publishes a box to the broker. `health` is the present state of the uplink.

    Calls `on_trouble` with each new error, and with None when it is over; calls `on_certificate` with the broker's
    certificate at each handshake, even if the box does not accept it. `pace` shortens every wait, for tests.
    """

    def __init__(
        self,
        settings: MqttSettings,
        source: BoxSource,
        cursor: Path,
        *,
        on_trouble: Callable[[UplinkError | None], None] = lambda _: None,
        on_certificate: Callable[[Certificate], None] = lambda _: None,
        pace: float = 1.0,
        jitter: Random | None = None,
    ) -> None:
        self.settings = settings
        self.topics = Topics(settings.prefix)
        self.outbox = None if source.store is None else Outbox(source.store, cursor)
        self.cause: UplinkError | None = None  # the present error
        self._last: UplinkError | None = None  # the last reported error
        self._source = source
        self._on_trouble = on_trouble
        self._on_certificate = on_certificate
        self._pace = pace
        self._jitter = jitter or Random()
        self._connection: BrokerConnection | None = None
        self._in_flight: deque[_Sent] = deque()
        self._others: deque[_Sent] = deque()
        self._queues = (self._others, self._in_flight)
        self._full = False  # the in-flight window is full until the next acknowledgment
        self._replies: set[asyncio.Future[UplinkError | None]] = set()
        self._connections = self._failures = self._commands = self._refused = self._dropped = 0
        self._retained = RetainedTopics(settings, self.topics, source, pace)
        self._opened = False
        self._unreadable: JournalError | None = None
        self._read_again = 0.0
        self._saved_at = 0.0
        self._reported = self._complained = float("-inf")
        self._tokens, self._refilled = float(MAX_COMMAND_BURST), 0.0
        self._waker: asyncio.Future[None] | None = None
        self._woken = False

    # --- called by others --------------------------------------------------------------------------------------------

    @property
    def health(self) -> m.UplinkHealth:
        """The health of the uplink."""
        outbox = self.outbox
        behind = 0 if outbox is None else outbox.behind
        trouble: PitboxError | None = self.cause or self._unreadable
        if trouble is None and outbox is not None and outbox.history_difference is not None:
            trouble = HistoryDiffers(outbox.history_difference.text)
        if trouble is None and behind > self.settings.outbox_records:
            trouble = OutboxTooLong(f"{behind} records wait for the broker")
        connection = self._connection
        return m.UplinkHealth(
            connected=connection is not None and connection.was_accepted and not connection.lost.done(),
            connections=self._connections,
            failures=self._failures,
            code="" if trouble is None else trouble.code,
            text="" if trouble is None else str(trouble),
            acknowledged=0 if outbox is None else outbox.acknowledged.seq,
            behind=behind,
            commands=self._commands,
            refused=self._refused,
            dropped=self._dropped + (0 if connection is None else connection.dropped),
        )

    def refresh(self) -> None:
        """Publish state and health again, after a change that is no step."""
        self._retained.refresh()
        self._wake()

    def _noted(self) -> None:
        """Publish the state after a durable note, which may be a finding."""
        self._retained.on_note()
        self._wake()

    def _follow(self, step: DurableStep) -> None:
        if self.outbox is not None:
            self.outbox.add_step(step)
        self._retained.on_step()
        self._wake()

    # --- one coroutine -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Publish to the broker until canceled."""
        controller = self._source.controller
        followers = [] if controller is None else controller.followers
        noted = [] if controller is None else controller.on_noted
        followers.append(self._follow)
        noted.append(self._noted)
        try:
            while True:
                began = asyncio.get_running_loop().time()
                cause = await self._one_life()
                self._note(cause, asyncio.get_running_loop().time() - began)
                await asyncio.sleep(self._wait_for(cause))
        finally:
            followers.remove(self._follow)
            noted.remove(self._noted)

    async def _one_life(self) -> UplinkError:
        """Connect and publish until the connection fails; return the error. The socket is always closed."""
        status = self._source.status()
        will = (self.topics.status, _ENCODER.encode(status))
        connection = self._connection = BrokerConnection(self.settings, will, self._asked, self._progress)
        try:
            await connection.open(self.topics.commands)
            self._presented(connection.certificate)
            self._begin(connection, msgspec.structs.replace(status, status="online", reason="connected"))
            await self._serve(connection)
        except UplinkError as cause:
            if isinstance(cause, BrokerUntrusted):
                self._presented(await asyncio.to_thread(try_fetch_certificate, self.settings, OPEN_SECONDS))
            return cause.with_traceback(None)  # the error is kept, and its frames would keep the socket open
        except asyncio.CancelledError:
            await self._farewell(connection, msgspec.structs.replace(status, reason="stopped"))
            raise
        finally:
            self._dropped += connection.dropped
            self._connection = None
            await connection.drop()
            await self._save()
        raise AssertionError("serving ends by an error or by cancellation")

    def _presented(self, certificate: Certificate | None) -> None:
        if certificate is not None:
            self._on_certificate(certificate)

    def _begin(self, connection: BrokerConnection, status: m.StatusMessage) -> None:
        self._connections += 1
        log.info("uplink: connected to %s:%d", self.settings.host, self.settings.port)
        self._in_flight.clear()
        self._others.clear()
        self._replies.clear()
        if self.outbox is not None and self._opened:
            self.outbox.rewind()
        self._retained.republish_all()
        self._send(connection, self.topics.status, status)

    async def _serve(self, connection: BrokerConnection) -> None:
        """Send due messages, process acknowledgments, pause; until the connection fails."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            self._settle()
            self._check(now, connection)
            room = self.settings.in_flight - len(self._in_flight)
            self._full = room <= 0
            taken = [] if self._full else await self._next_batch(room, now)
            for payload, mark in taken:
                ack = None if payload is None else connection.publish(self.topics.events, payload)
                self._in_flight.append(_Sent(ack, mark, loop.time()))
            for topic, body in await self._retained.due(loop.time(), lambda: self.health):
                self._send(connection, topic, body)
            if loop.time() - self._saved_at >= SAVE_EVERY_S * self._pace:
                await self._save()
            if not taken:
                await self._pause(min(self._retained.seconds_until_due(loop.time()), _LOOK * self._pace))

    async def _next_batch(self, room: int, now: float) -> list[OutgoingEvent]:
        """Return the next events. A journal that cannot be read stops the events, but not the retained topics."""
        outbox = self.outbox
        if outbox is None or now < self._read_again:
            return []
        try:
            if not self._opened:
                await outbox.open()
                self._opened = True
                if outbox.history_difference is not None:
                    log.error("uplink: %s %s", HistoryDiffers("").code, outbox.history_difference.text)
            taken = await outbox.next_batch(room)
        except JournalError as unreadable:
            if type(unreadable) is not type(self._unreadable):
                log.warning("uplink: %s %s", unreadable.code, unreadable)
            self._unreadable, self._read_again = unreadable, now + _UNREADABLE * self._pace
            return []
        self._unreadable = None
        return taken

    def _progress(self) -> None:
        """Process an acknowledgment or a broken connection; wake `run` only if it has something to do."""
        self._settle()
        connection = self._connection
        lost = connection is not None and connection.lost.done()
        if (
            lost
            or self._full
            or any(queue and queue[0].ack is not None and queue[0].ack.done() for queue in self._queues)
        ):
            self._wake()

    def _settle(self) -> None:
        """Process the acknowledged messages, in order."""
        for queue in self._queues:
            while queue:
                ack, mark, _ = queue[0]
                if ack is not None and (not ack.done() or ack.result() is not None):
                    break
                queue.popleft()
                if mark is not None and self.outbox is not None:
                    self.outbox.acknowledge(mark)
                if ack is not None and self.cause is not None:
                    self.cause = None
                    self._on_trouble(None)

    def _check(self, now: float, connection: BrokerConnection) -> None:
        """Raise an UplinkError if the broker refused a message, is gone, or is silent."""
        if connection.lost.done():
            raise connection.lost.result()
        for queue in self._queues:
            if not queue:
                continue
            ack, _, at = queue[0]
            refused = ack.result() if ack is not None and ack.done() else None
            if refused is not None:
                raise refused
            if now - at > ANSWER_SECONDS * self._pace:
                where = f"{self.settings.host}:{self.settings.port}"
                raise BrokerSilent(f"{where}: a message was not acknowledged for {now - at:.1f} s")
        self._replies = {reply for reply in self._replies if not reply.done()}

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

    def _send(self, connection: BrokerConnection, topic: str, body: m.UplinkMessage) -> None:
        ack = connection.publish(topic, _ENCODER.encode(body), retain=True)
        self._others.append(_Sent(ack, None, asyncio.get_running_loop().time()))

    # --- commands ----------------------------------------------------------------------------------------------------

    def _asked(self, incoming: IncomingMessage) -> None:
        """Reply to a command. Commands never reach the controller."""
        connection = self._connection
        if connection is None or len(self._replies) >= MAX_REPLIES or not self._patient():
            self._dropped += 1
            return
        self._commands += 1
        role, command = self.topics.command(incoming.topic)
        asked = CommandRequest(
            role, command, incoming.payload, incoming.retained, incoming.response_topic, incoming.correlation
        )  # fmt: skip
        box = self._source.identity(self.settings.prefix)
        given = answer(asked, self.topics.reply(_word(role)), box, self._source.now)
        if not given.reply.ok:
            self._refused += 1
            self._complain(f"uplink: command {command[:64]!r} of role {role[:64]!r} {given.reply.text}")
        now = asyncio.get_running_loop().time()
        if given.republishes and now - self._reported >= REPUBLISH_EVERY_S:
            self._reported = now
            self._retained.republish_all()
        try:
            ack = connection.publish(given.topic, _ENCODER.encode(given.reply), correlation=given.correlation)
        except UplinkError:
            return  # the connection has just broken; the sender will try again
        self._replies.add(ack)
        self._wake()

    def _complain(self, sentence: str) -> None:
        """Log a sentence that a stranger can cause: as a warning once in a while, else as debug."""
        now = asyncio.get_running_loop().time()
        loud = now - self._complained >= COMPLAIN_EVERY_S
        self._complained = now if loud else self._complained
        log.log(logging.WARNING if loud else logging.DEBUG, "%s", sentence)

    def _patient(self) -> bool:
        """Return whether a command may be answered now; the rate is limited to protect the table."""
        now = asyncio.get_running_loop().time()
        self._tokens = min(float(MAX_COMMAND_BURST), self._tokens + (now - self._refilled) * MAX_COMMAND_BURST)
        self._refilled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    # --- the end -----------------------------------------------------------------------------------------------------

    async def _farewell(self, connection: BrokerConnection, status: m.StatusMessage) -> None:
        """Publish "offline" before an orderly disconnect, because the broker then publishes no will."""
        if not connection.was_accepted:
            return
        try:
            for topic, body in self._retained.head():
                self._send(connection, topic, body)
            ack = connection.publish(self.topics.status, _ENCODER.encode(status), retain=True)
            await asyncio.wait({ack}, timeout=CLOSE_SECONDS * self._pace)
            self._settle()
        except UplinkError as cause:
            log.info("uplink: the status offline could not be published: %s", cause)
        await connection.close()

    async def _save(self) -> None:
        self._saved_at = asyncio.get_running_loop().time()
        try:
            if self.outbox is not None:
                await self.outbox.save()
        except OSError as error:
            log.warning("uplink: the cursor cannot be saved: %s", error)

    def _note(self, cause: UplinkError, lived: float) -> None:
        """Log the first failure of a kind as a warning, repeats as debug."""
        if lived > _GOOD * self._pace:
            self._failures = 0
        repeated = self._failures > 0 and type(cause) is type(self._last)
        self._failures += 1
        self.cause = self._last = cause
        level = logging.DEBUG if repeated else logging.WARNING
        self._on_trouble(cause)
        log.log(level, "uplink: %s %s (failure %d in a row)", cause.code, cause, self._failures)

    def _wait_for(self, cause: UplinkError) -> float:
        first, longest = next((first, longest) for kind, first, longest in _WAITS if isinstance(cause, kind))
        wait = min(longest, first * 2.0 ** min(self._failures - 1, 16))
        return wait * self._pace * self._jitter.uniform(0.75, 1.25)


def _word(role: str) -> str:
    """Return a role as part of a topic; `unknown` for an invalid one."""
    return role if role.isascii() and role.isidentifier() and len(role) <= 32 else "unknown"
