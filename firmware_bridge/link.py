"""The reliable, authenticated link of one session: each message arrives once, in order. Both ends run this class.

All work is done in callbacks: a frame is written in the call that requests it, unless the window is full. There are two
timers: a slow one for heartbeats, silence and reply deadlines, and a quick one, set only while a frame waits to be
acknowledged or repeated. The supervisor opens ports, performs handshakes and reconnects.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import (
    BadMessage,
    LinkClosed,
    LinkError,
    LinkSilent,
    NotSent,
    PitboxError,
    QueueFull,
    ReplyTimeout,
    Revoked,
    SessionExhausted,
    SessionLost,
)
from firmware_bridge.messages import HandshakeToHost, Message, NoSession, decoder, encode
from firmware_bridge.rtt_estimator import ACK_DELAY_S, RttEstimator

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.seal import Opener, Sealer
    from firmware_bridge.wire import Wire

# Unacknowledged frames in flight; a microcontroller must keep all of them for retransmission.
WINDOW: Final = 8
# Extra room for stop and lock commands when the window is full.
URGENT_WINDOW: Final = WINDOW + 4
# Messages that may wait for the window; more would overload the device.
QUEUE_LIMIT: Final = 64
# The link fails if one frame stays unacknowledged for this long (s), although other frames arrive.
UNACKNOWLEDGED_LIMIT_S: Final = 10.0
# The largest factor by which the retransmission time grows while nothing is received.
MAX_BACKOFF: Final = 8
# A reply may take this many retransmission times in addition to the device's own time: request and reply may each be
# lost several times, on a line that carries other frames.
REPLY_RTOS: Final = 16
# After this long (s) without sending, send a PING; after this long without receiving, the other end is gone.
HEARTBEAT_S: Final = 2.0
SILENCE_LIMIT_S: Final = 3.5
# The host's heartbeat (s): longer, because it answers each PING of the device and needs no PING of its own.
HOST_HEARTBEAT_S: Final = 2.2
# After this long (s) without receiving, a heartbeat and its answer are missing: send PINGs quickly.
PROBE_AFTER_S: Final = 2.25
# The interval (s) of quick PINGs: ten before the silence limit, so that a lossy line is not taken for a dead one.
PROBE_EVERY_S: Final = 0.125
# A frame that arrives this shortly (s) before a wake-up postpones it: the wake-up is for a silent line.
_NEAR: Final = 0.3
# A timer that fires sooner than this (s) would only spin.
_LEAST: Final = 0.001

_HINTS: Final = decoder(HandshakeToHost)


class LinkCounters(msgspec.Struct):
    """Counters that show a link's quality to a technician."""

    sent: int = 0
    received: int = 0
    retransmitted: int = 0
    duplicates: int = 0
    gaps: int = 0
    late_replies: int = 0
    unsealed: int = 0


class _Outgoing:
    """A sequenced message: queued, sent, acknowledged. A request then waits for its reply."""

    __slots__ = (
        "actuation", "deadline", "first_sent_at", "on_end", "payload", "re", "sent_at", "seq", "tries", "type",
        "waiter",
    )  # fmt: skip

    def __init__(self, type_: int, re: int, payload: bytes) -> None:
        self.type = type_
        self.re = re
        self.payload = payload
        self.waiter: asyncio.Future[Any] | None = None  # of a request
        self.on_end: Callable[[Any], None] | None = None
        self.deadline = 0.0  # of its reply
        self.actuation = False
        self.seq = 0
        self.first_sent_at = 0.0
        self.sent_at = 0.0
        self.tries = 0


def _ignore(_: Any) -> None:
    """Ignore it: the default callback."""


class Link:
    """One session's reliable stream of messages in both directions."""

    # CPython finds up to thirty instance attributes quickly; slots have no such limit.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_ack_due",
        "_decode",
        "_early",
        "_echo",
        "_expected",
        "_heartbeat",
        "_last_received",
        "_last_sent",
        "_loop",
        "_next_seq",
        "_opener",
        "_questions",
        "_queue",
        "_quick",
        "_quick_at",
        "_sealer",
        "_time",
        "_timer",
        "_timer_at",
        "_trip",
        "_unacked",
        "_urgent",
        "counters",
        "down",
        "name",
        "on_down",
        "on_event",
        "on_request",
        "on_unsealed",
        "wire",
    )

    def __init__(
        self,
        wire: Wire,
        sealer: Sealer,
        opener: Opener,
        decode: msgspec.msgpack.Decoder[Any],
        name: str = "link",
        heartbeat: float = HEARTBEAT_S,
    ) -> None:
        self.name = name
        self._heartbeat = heartbeat
        self.wire = wire
        self.counters = LinkCounters()
        self.down: PitboxError | None = None
        self.on_event: Callable[[Any], None] = _ignore
        self.on_request: Callable[[Any, int], None] = self._unexpected_request
        self.on_down: Callable[[PitboxError], None] = _ignore
        self.on_unsealed: Callable[[fr.Frame], None] = self._take_hint
        self._loop = asyncio.get_running_loop()
        self._time = self._loop.time
        self._sealer = sealer
        self._opener = opener
        self._decode = decode.decode
        self._next_seq = fr.FIRST_SEQ
        self._expected = fr.FIRST_SEQ
        self._unacked: deque[_Outgoing] = deque()
        self._queue: deque[_Outgoing] = deque()
        self._urgent: deque[_Outgoing] = deque()
        self._echo = 0  # low 16 bits of the counter of the latest received frame
        self._early: dict[int, fr.Frame] = {}  # arrived out of order; never more than a window
        self._questions: dict[int, _Outgoing] = {}  # requests that wait for a reply, by sequence number
        self._trip = RttEstimator()
        now = self._time()
        self._last_sent = now
        self._last_received = now
        self._ack_due = 0.0  # 0: nothing to acknowledge
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._quick: asyncio.TimerHandle | None = None
        self._quick_at = 0.0
        wire.on_frame = self.receive
        wire.transport.on_lost = self.fail
        self._arm(now + heartbeat)

    # --- for the owner ---------------------------------------------------------------------------------

    @property
    def is_congested(self) -> bool:
        """True while the window is full: the caller should skip optional messages."""
        return len(self._unacked) >= WINDOW

    @property
    def round_trip_s(self) -> float:
        """The smoothed round-trip time in seconds; 0 before the first measurement."""
        return self._trip.smoothed_s

    @property
    def rto_s(self) -> float:
        """The current retransmission time in seconds."""
        return self._trip.rto_s

    @property
    def forged(self) -> int:
        """How many sealed frames had a wrong MAC."""
        return self._opener.forged

    @property
    def replayed(self) -> int:
        """How many authentic frames were replays."""
        return self._opener.replayed

    def request(
        self,
        message: Message,
        device_time_s: float,
        *,
        urgent: bool = False,
        actuation: bool = False,
        on_end: Callable[[Any], None] | None = None,
    ) -> asyncio.Future[Any]:
        """Send a request now, or queue it; return the future of its reply.

        The deadline is on the reply: `device_time_s` for the device, plus time for the line by its measured round
        trips. An urgent message overtakes queued ones and revokes queued actuations, because a stop must never be
        followed by the motion that it was meant to stop. `on_end` gets the reply, or the error, in the callback that
        read it; so replies and events are reported in the order of the wire.
        """
        waiter: asyncio.Future[Any] = self._loop.create_future()
        if self.down is not None:
            waiter.set_exception(_caused(NotSent(f"{self.name} is down: {self.down}"), self.down))
            return waiter
        if urgent and self._queue:
            self._revoke_queued()
        out = _Outgoing(fr.REQUEST, fr.NO_RE, encode(message))
        out.waiter, out.actuation, out.on_end = waiter, actuation, on_end
        out.deadline = self._time() + device_time_s + REPLY_RTOS * self._trip.rto_s
        try:
            self._post(out, urgent)
        except QueueFull as full:
            waiter.set_exception(full)
        else:
            self._arm(out.deadline)
        return waiter

    def send_event(self, message: Message) -> None:
        """Send an event (device's side); QueueFull if the host does not acknowledge events."""
        if self.down is None:
            self._post(_Outgoing(fr.EVENT, fr.NO_RE, encode(message)), False)

    def send_reply(self, seq: int, message: Message) -> None:
        """Answer the request with this sequence number (device's side).

        The link fails with QueueFull if the host keeps sending requests and acknowledges no replies.
        """
        if self.down is None:
            try:
                self._post(_Outgoing(fr.REPLY, seq, encode(message)), False)
            except QueueFull as full:
                self.fail(full)

    def close(self) -> None:
        """End the session on purpose; waiting callers get LinkClosed."""
        self.fail(LinkClosed(f"{self.name} was closed"))

    def fail(self, cause: PitboxError) -> None:
        """End the session: release every waiting caller with the cause, then `on_down`. Only the first call acts."""
        if self.down is not None:
            return
        self.down = cause
        for timer in (self._timer, self._quick):
            if timer is not None:
                timer.cancel()
        self.wire.on_frame = _ignore
        for out in (*self._urgent, *self._queue):
            _release(out, _caused(NotSent(f"{self.name} went down before the message was sent"), cause))
        lost = cause if isinstance(cause, LinkError) else _caused(LinkError(f"{self.name}: {cause}"), cause)
        for out in self._questions.values():
            _release(out, lost)
        self._questions.clear()
        self._unacked.clear()
        self._queue.clear()
        self._urgent.clear()
        self._early.clear()
        self.on_down(cause)

    # --- sending ---------------------------------------------------------------------------------------------

    def _post(self, out: _Outgoing, urgent: bool) -> None:
        """Send now if the window allows, else queue."""
        assert len(out.payload) <= fr.MAX_PAYLOAD, f"{self.name}: no frame carries {len(out.payload)} bytes"
        first = not self._urgent and (urgent or not self._queue)
        if first and len(self._unacked) < (URGENT_WINDOW if urgent else WINDOW):
            self._send(out)
            return
        lane = self._urgent if urgent else self._queue  # each has its own limit: requests never crowd out a stop
        if len(lane) >= QUEUE_LIMIT:
            raise QueueFull(f"{self.name}: {QUEUE_LIMIT} messages wait already; nothing was sent")
        lane.append(out)

    def _send(self, out: _Outgoing) -> None:
        out.seq = self._next_seq
        self._next_seq = (out.seq + 1) & 0xFFFF
        self._unacked.append(out)
        if out.waiter is not None:
            stale = self._questions.pop(out.seq, None)
            if stale is not None:  # 65,536 frames later, and still no reply
                _release(stale, ReplyTimeout(f"{self.name}: no reply"))
            self._questions[out.seq] = out
        self._transmit(out, 0)
        self._arm_quick(out.sent_at + self._trip.rto_s)

    def _transmit(self, out: _Outgoing, flags: int) -> None:
        out.sent_at = self._time()
        if not out.tries:
            out.first_sent_at = out.sent_at
        out.tries += 1
        self._trip.record_sent(self._sealer.counter, out.sent_at)
        self._write(out.sent_at, flags, out.type, out.seq, out.re, out.payload)

    def _acknowledge(self, now: float, held: int = fr.NO_RE) -> None:
        """Send an ACK: all frames before `_expected`, the counter of the latest frame, and one early frame if held."""
        self._write(now, 0, fr.ACK, self._echo, held, b"")

    def _write(self, now: float, flags: int, type_: int, seq: int, re: int, payload: bytes) -> None:
        try:
            signed, mac = self._sealer.seal(flags, type_, seq, self._expected, re, payload)
        except SessionExhausted as worn:
            self._loop.call_soon(self.fail, worn)  # later: the caller has not registered its request yet
            return
        self._ack_due = 0.0
        self._last_sent = now
        self.counters.sent += 1
        self.wire.send(signed, mac)

    def _flush(self) -> None:
        """Send queued messages, urgent ones first, as far as the window allows."""
        while self.down is None:
            if self._urgent and len(self._unacked) < URGENT_WINDOW:
                out = self._urgent.popleft()
            elif self._queue and len(self._unacked) < WINDOW:
                out = self._queue.popleft()
            else:
                return
            if out.waiter is None or not out.waiter.done():  # else its caller gave up
                self._send(out)

    def _revoke_queued(self) -> None:
        """Revoke the queued actuations; urgent ones (another stop, a lock) stay."""
        for out in [out for out in self._queue if out.actuation]:
            self._queue.remove(out)
            _release(out, Revoked(f"{self.name}: a stop overtook this command before it was sent"))

    # --- receiving -------------------------------------------------------------------------------------------

    def receive(self, frame: fr.Frame) -> None:
        """Process one frame from the wire."""
        if not frame.flags & fr.SEALED:
            self.counters.unsealed += 1
            self.on_unsealed(frame)
            return
        if not self._opener.accepts(frame):
            return
        now = self._time()
        self._last_received = now
        self.counters.received += 1
        type_ = frame.type
        if type_ == fr.HANDSHAKE:  # a repeated Welcome; it acknowledges nothing
            return
        if self._unacked:
            self._take_ack(frame.ack, now)
        if type_ == fr.ACK:
            self._trip.record_echo(frame.seq, now)
            if frame.re != fr.NO_RE:
                self._fill_gap(frame.ack, now)
            if self._timer_at - now < _NEAR:
                self._put_off(now)
            return
        self._echo = frame.counter & 0xFFFF
        if type_ == fr.PING:
            self._acknowledge(now)
            if self._timer_at - now < _NEAR:
                self._put_off(now)
        else:
            self._take_sequenced(frame, now)

    def _take_sequenced(self, frame: fr.Frame, now: float) -> None:
        """Deliver the next frame, hold an early one, drop a duplicate; acknowledge the last two at once."""
        ahead = (frame.seq - self._expected) & 0xFFFF
        if not ahead:
            self._deliver(frame, now)
            while self._early and self.down is None and self._expected in self._early:
                self._deliver(self._early.pop(self._expected), now)
        elif ahead < URGENT_WINDOW:
            self.counters.gaps += 1
            self._early[frame.seq] = frame
            self._acknowledge(now, frame.seq)
        else:
            self.counters.duplicates += 1
            self._acknowledge(now)

    def _fill_gap(self, missing: int, now: float) -> None:
        """Repeat the frame that the other end is missing, at most once per round trip."""
        if not self._unacked or self._unacked[0].seq != missing:
            return
        if now - self._unacked[0].sent_at >= max(self._trip.smoothed_s, ACK_DELAY_S):
            self.counters.retransmitted += 1
            self._transmit(self._unacked[0], fr.RETRANSMIT)

    def _deliver(self, frame: fr.Frame, now: float) -> None:
        self._expected = (frame.seq + 1) & 0xFFFF
        if not self._ack_due:
            self._ack_due = now + ACK_DELAY_S
            self._arm_quick(self._ack_due)
        try:
            message = self._decode(frame.payload)
        except UNDECODABLE as error:
            self.fail(_caused(BadMessage(f"{self.name}: {error}"), error))
            return
        if frame.type == fr.REPLY:
            asked = self._questions.pop(frame.re, None)
            if asked is None or asked.waiter is None or asked.waiter.done():
                self.counters.late_replies += 1
            else:
                asked.waiter.set_result(message)
            if asked is not None and asked.on_end is not None:
                asked.on_end(message)
        elif frame.type == fr.EVENT:
            self.on_event(message)
        else:
            self.on_request(message, frame.seq)

    def _take_ack(self, ack: int, now: float) -> None:
        unacked = self._unacked
        if not 0 < (ack - unacked[0].seq) & 0xFFFF <= len(unacked):
            return
        newest, copies = unacked[0], False
        while unacked and (ack - unacked[0].seq) & 0xFFFF:
            newest = unacked.popleft()
            copies = copies or newest.tries > 1
        if not copies:  # of copies, only the echo in an ACK shows which one arrived (Karn)
            self._trip.add_sample(now - newest.sent_at)
        self._trip.backoff = 1
        if unacked:
            self._arm_quick(unacked[0].sent_at + self._trip.rto_s)
        if self._queue or self._urgent:
            self._flush()

    def _take_hint(self, frame: fr.Frame) -> None:
        """Read an unsealed frame in a session: a NoSession, though unproven, is reason enough for a new handshake."""
        try:
            hint = _HINTS.decode(frame.payload)
        except UNDECODABLE:
            return
        if isinstance(hint, NoSession):
            self.fail(SessionLost(f"{self.name}: the device does not know the session any more; it may have rebooted"))

    def _unexpected_request(self, message: Message, _seq: int) -> None:
        self.fail(BadMessage(f"{self.name}: a device may not send requests, but sent {message!r}"))

    # --- time ------------------------------------------------------------------------------------------------

    def _arm(self, at: float) -> None:
        """Set the slow timer to fire no later than `at`."""
        if self._timer is not None:
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._tick)

    def _put_off(self, now: float) -> None:
        """Postpone the slow timer of an idle link until the next PING is due."""
        if self._timer is not None and not (self._questions or self._queue or self._urgent):
            self._timer.cancel()
            self._timer = None
            self._arm(min(now + PROBE_AFTER_S, self._last_sent + self._heartbeat))

    def _tick(self) -> None:
        self._timer = None
        now = self._time()
        if now >= self._last_received + SILENCE_LIMIT_S:
            self.fail(LinkSilent(f"{self.name}: nothing received for {SILENCE_LIMIT_S} s"))
            return
        if self._questions or self._queue or self._urgent:
            self._expire_questions(now)
            if self.down is not None:
                return
        ping = self._next_ping(now)
        if now >= ping:
            self._trip.record_sent(self._sealer.counter, now)
            self._write(now, 0, fr.PING, 0, fr.NO_RE, b"")
            ping = self._next_ping(now)
        silence = self._last_received + SILENCE_LIMIT_S
        due = min(silence, ping)
        if self._questions or self._queue or self._urgent:
            due = self._first_deadline(due)
        self._arm(due if due - now > _LEAST else now + _LEAST)

    def _arm_quick(self, at: float) -> None:
        """Set the quick timer to fire no later than `at`."""
        if self._quick is not None:
            if self._quick_at <= at:
                return
            self._quick.cancel()
        self._quick_at = at
        self._quick = self._loop.call_at(at, self._quick_tick)

    def _quick_tick(self) -> None:
        self._quick = None
        now = self._time()
        if self._unacked:
            self._repeat_unacknowledged(now)
            if self.down is not None:
                return
        if self._ack_due and now >= self._ack_due:
            self._acknowledge(now)
        due = self._ack_due
        if self._unacked:
            again = self._unacked[0].sent_at + self._trip.rto_s * self._trip.backoff
            if not due or again < due:
                due = again
        if due:
            self._arm_quick(due if due - now > _LEAST else now + _LEAST)

    def _next_ping(self, now: float) -> float:
        """Return when the next PING is due."""
        anxious = self._last_received + PROBE_AFTER_S
        if now >= anxious:
            return self._last_sent + PROBE_EVERY_S
        ping = self._last_sent + self._heartbeat
        if ping > anxious:
            return anxious
        return ping

    def _first_deadline(self, due: float) -> float:
        """Return the earliest reply deadline, but at most `due`."""
        for out in (*self._questions.values(), *self._urgent, *self._queue):
            if out.waiter is not None and out.deadline < due:
                due = out.deadline
        return due

    def _repeat_unacknowledged(self, now: float) -> None:
        """Repeat the first unacknowledged frame; the other end holds the later ones.

        The interval doubles while nothing is received. If anything is received, the line merely loses frames.
        """
        if not self._unacked or now < self._unacked[0].sent_at + self._trip.rto_s * self._trip.backoff:
            return
        first = self._unacked[0]
        if now > first.first_sent_at + UNACKNOWLEDGED_LIMIT_S:
            self.fail(LinkSilent(f"{self.name}: a frame was not acknowledged for {UNACKNOWLEDGED_LIMIT_S:g} s"))
        elif self.wire.transport.backlog:  # the first copy is still in the send buffer
            first.sent_at = now
        else:
            received = self._last_received > first.sent_at
            self._trip.backoff = 1 if received else min(MAX_BACKOFF, self._trip.backoff * 2)
            self.counters.retransmitted += 1
            self._transmit(first, fr.RETRANSMIT)

    def _expire_questions(self, now: float) -> None:
        for out in [out for out in self._questions.values() if now >= out.deadline]:
            del self._questions[out.seq]
            _release(out, ReplyTimeout(f"{self.name}: no reply within the deadline"))
        for lane in (self._urgent, self._queue):
            for out in [out for out in lane if out.waiter is not None and now >= out.deadline]:
                lane.remove(out)
                _release(out, NotSent(f"{self.name}: the message never left the queue"))


def _release(out: _Outgoing, error: PitboxError) -> None:
    if out.waiter is not None and not out.waiter.done():
        out.waiter.set_exception(error)
        if out.on_end is not None:
            out.waiter.exception()  # marks it as retrieved: on_end reports it
    if out.on_end is not None:
        out.on_end(error)


def _caused(error: Any, cause: BaseException) -> Any:
    error.__cause__ = cause
    return error
