"""The reliable, authenticated link of one session: in order, once, acknowledged. Symmetric: both ends run this.

Everything happens in callbacks: a frame is written in the call that asks for it, unless the window is full. Two lazy
timers: a slow one for heartbeats, silence and reply deadlines, and a quick one, set only while there is something to
acknowledge or to repeat. Opening ports, handshakes and reconnecting are not done here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge.decoding import UNDECODABLE
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
    SessionLost,
    SessionWornOut,
)
from firmware_bridge.messages import HandshakeToHost, Message, NoSession, decoder, encode
from firmware_bridge.round_trip import ACK_DELAY, RoundTrip

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.seal import Opener, Sealer
    from firmware_bridge.wire import Wire

# Frames that may be on the way unacknowledged; a microcontroller keeps them all for retransmission.
WINDOW: Final = 8
# Stop and lock find room even when the window is full.
URGENT_WINDOW: Final = WINDOW + 4
# Messages that may wait for the window. A device that is asked for more is being misused.
QUEUE_LIMIT: Final = 64
# A frame that is not acknowledged for this long (s) while its sender is heard: the other end does not do its work.
UNACKNOWLEDGED: Final = 10.0
# How far the spacing of repetitions grows while nothing is heard.
MAX_BACKOFF: Final = 8
# A reply may come this many retransmission times after the device's own thinking time: a question and its answer that
# are lost several times each, on a line that carries other frames.
REPLY_RTOS: Final = 16
# After this long without sending (s), show that we live; after this long without hearing, the other end is gone.
HEARTBEAT: Final = 2.0
SILENCE: Final = 3.5
# The host waits this long (s): a device that shows its life is answered, and needs no question besides.
HOST_HEARTBEAT: Final = 2.2
# After this long without hearing (s), a heartbeat and its answer are missing: knock.
ANXIOUS: Final = 2.25
# Knock this often (s): ten times before the silence, so that a line that only loses frames is not taken for a dead one.
KNOCK: Final = 0.125
# A wake-up that is as near as this (s) when something is heard was set for the case that nothing is: it is put off.
_NEAR: Final = 0.3
# A timer that fires sooner than this (s) would only spin.
_LEAST: Final = 0.001

_HINTS: Final = decoder(HandshakeToHost)


class LinkCounters(msgspec.Struct):
    """What a technician wants to know of a link's quality."""

    sent: int = 0
    received: int = 0
    retransmitted: int = 0
    duplicates: int = 0
    gaps: int = 0
    late_replies: int = 0
    unsealed: int = 0


class _Outgoing:
    """A sequenced message on its way: queued, sent, acknowledged; a request then waits for its reply."""

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
    """Take what nobody listens to."""


class Link:
    """One session's reliable stream of messages in both directions."""

    # Python keeps less than thirty attributes of an object where it finds them quickly; slots it finds however many.
    __slots__ = (
        "__dict__", "__weakref__", "_ack_due", "_decode", "_early", "_echo", "_expected", "_heartbeat", "_last_heard",
        "_last_sent", "_loop", "_next_seq", "_opener", "_questions", "_queue", "_quick", "_quick_at", "_sealer",
        "_time", "_timer", "_timer_at", "_trip", "_unacked", "_urgent", "counters", "down", "name", "on_down",
        "on_event", "on_request", "on_unsealed", "wire",
    )  # fmt: skip

    def __init__(
        self,
        wire: Wire,
        sealer: Sealer,
        opener: Opener,
        decode: msgspec.msgpack.Decoder[Any],
        name: str = "link",
        heartbeat: float = HEARTBEAT,
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
        self._echo = 0  # the low half of the counter of the frame that came last
        self._early: dict[int, fr.Frame] = {}  # came before their turn; never more than a window
        self._questions: dict[int, _Outgoing] = {}  # requests that wait for their reply, by sequence number
        self._trip = RoundTrip()
        now = self._time()
        self._last_sent = now
        self._last_heard = now
        self._ack_due = 0.0  # 0: nothing to acknowledge
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._quick: asyncio.TimerHandle | None = None
        self._quick_at = 0.0
        wire.on_frame = self.receive
        wire.transport.on_lost = self.fail
        self._arm(now + heartbeat)

    # --- what the owner does ---------------------------------------------------------------------------------

    @property
    def congested(self) -> bool:
        """True while messages wait for the window: hold back what can be left out."""
        return len(self._unacked) >= WINDOW

    @property
    def round_trip(self) -> float:
        """The smoothed round-trip time in seconds; 0 before the first measurement."""
        return self._trip.smoothed

    @property
    def rto(self) -> float:
        """The present retransmission time in seconds."""
        return self._trip.rto

    @property
    def forged(self) -> int:
        """How many sealed frames did not carry our session's MAC."""
        return self._opener.forged

    @property
    def replayed(self) -> int:
        """How many authentic frames came a second time."""
        return self._opener.replayed

    def request(
        self,
        message: Message,
        patience: float,
        *,
        urgent: bool = False,
        actuation: bool = False,
        on_end: Callable[[Any], None] | None = None,
    ) -> asyncio.Future[Any]:
        """Send a question now (or queue it) and return the future of its reply.

        The deadline is on the reply: `patience` seconds for the device to think, plus what the line needs by its
        measured round trips. An urgent message overtakes what is queued, and revokes queued actuations: a stop must
        never be followed by the motion that it was meant to stop. `on_end` is called with the reply like an event, in
        the callback that read it, so that replies and events are told in the order of the wire; or with the error.
        """
        waiter: asyncio.Future[Any] = self._loop.create_future()
        if self.down is not None:
            waiter.set_exception(_caused(NotSent(f"{self.name} is down: {self.down}"), self.down))
            return waiter
        if urgent and self._queue:
            self._revoke_queued()
        out = _Outgoing(fr.REQUEST, fr.NO_RE, encode(message))
        out.waiter, out.actuation, out.on_end = waiter, actuation, on_end
        out.deadline = self._time() + patience + REPLY_RTOS * self._trip.rto
        try:
            self._post(out, urgent)
        except QueueFull as full:
            waiter.set_exception(full)
        else:
            self._arm(out.deadline)
        return waiter

    def event(self, message: Message) -> None:
        """Send an event (a device's side); QueueFull if the host has stopped taking them."""
        if self.down is None:
            self._post(_Outgoing(fr.EVENT, fr.NO_RE, encode(message)), False)

    def reply(self, seq: int, message: Message) -> None:
        """Answer the request that came with this sequence number (a device's side).

        A host that asks on and does not take its answers ends the session: the link fails with QueueFull.
        """
        if self.down is None:
            try:
                self._post(_Outgoing(fr.REPLY, seq, encode(message)), False)
            except QueueFull as full:
                self.fail(full)

    def close(self) -> None:
        """End the session by our own will; waiters get LinkClosed."""
        self.fail(LinkClosed(f"{self.name} was closed"))

    def fail(self, cause: PitboxError) -> None:
        """End the session: release every waiter with the cause, then tell the owner. The first cause stays."""
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
        """Send at once if the window allows, else queue."""
        assert len(out.payload) <= fr.MAX_PAYLOAD, f"{self.name}: no frame carries {len(out.payload)} bytes"
        first = not self._urgent and (urgent or not self._queue)
        if first and len(self._unacked) < (URGENT_WINDOW if urgent else WINDOW):
            self._send(out)
            return
        lane = self._urgent if urgent else self._queue  # each with its own bound: questions never crowd out a stop
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
        self._arm_quick(out.sent_at + self._trip.rto)

    def _transmit(self, out: _Outgoing, flags: int) -> None:
        out.sent_at = self._time()
        if not out.tries:
            out.first_sent_at = out.sent_at
        out.tries += 1
        self._trip.departs(self._sealer.counter, out.sent_at)
        self._write(out.sent_at, flags, out.type, out.seq, out.re, out.payload)

    def _acknowledge(self, now: float, held: int = fr.NO_RE) -> None:
        """Say what has arrived: all before `_expected`, the copy that came last, and one that is held early."""
        self._write(now, 0, fr.ACK, self._echo, held, b"")

    def _write(self, now: float, flags: int, type_: int, seq: int, re: int, payload: bytes) -> None:
        try:
            signed, mac = self._sealer.seal(flags, type_, seq, self._expected, re, payload)
        except SessionWornOut as worn:
            self._loop.call_soon(self.fail, worn)  # later: whoever writes has not noted its question yet
            return
        self._ack_due = 0.0
        self._last_sent = now
        self.counters.sent += 1
        self.wire.send(signed, mac)

    def _flush(self) -> None:
        """Send what waited, urgent first, as far as the window allows."""
        while self.down is None:
            if self._urgent and len(self._unacked) < URGENT_WINDOW:
                out = self._urgent.popleft()
            elif self._queue and len(self._unacked) < WINDOW:
                out = self._queue.popleft()
            else:
                return
            if out.waiter is None or not out.waiter.done():  # else given up while it waited
                self._send(out)

    def _revoke_queued(self) -> None:
        """Take back the actuations that wait; what is urgent itself (another stop, a lock) stays."""
        for out in [out for out in self._queue if out.actuation]:
            self._queue.remove(out)
            _release(out, Revoked(f"{self.name}: a stop overtook this command before it was sent"))

    # --- receiving -------------------------------------------------------------------------------------------

    def receive(self, frame: fr.Frame) -> None:
        """Take one frame from the wire."""
        if not frame.flags & fr.SEALED:
            self.counters.unsealed += 1
            self.on_unsealed(frame)
            return
        if not self._opener.accepts(frame):
            return
        now = self._time()
        self._last_heard = now
        self.counters.received += 1
        type_ = frame.type
        if type_ == fr.HANDSHAKE:  # a welcome once more; it acknowledges nothing
            return
        if self._unacked:
            self._take_ack(frame.ack, now)
        if type_ == fr.ACK:
            self._trip.echoed(frame.seq, now)
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
        """Deliver what is next, hold what is early, drop what came before; whatever is not next is told at once."""
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
        """The other end holds a later frame and misses this one: repeat it, once per round trip."""
        if not self._unacked or self._unacked[0].seq != missing:
            return
        if now - self._unacked[0].sent_at >= max(self._trip.smoothed, ACK_DELAY):
            self.counters.retransmitted += 1
            self._transmit(self._unacked[0], fr.RETRANSMIT)

    def _deliver(self, frame: fr.Frame, now: float) -> None:
        self._expected = (frame.seq + 1) & 0xFFFF
        if not self._ack_due:
            self._ack_due = now + ACK_DELAY
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
        if not copies:  # else it waited for a copy, and which copy, only an acknowledgement's echo tells (Karn)
            self._trip.took(now - newest.sent_at)
        self._trip.backoff = 1
        if unacked:
            self._arm_quick(unacked[0].sent_at + self._trip.rto)
        if self._queue or self._urgent:
            self._flush()

    def _take_hint(self, frame: fr.Frame) -> None:
        """An unsealed frame in a session proves nothing; "no session" is reason enough to shake hands again."""
        try:
            hint = _HINTS.decode(frame.payload)
        except UNDECODABLE:
            return
        if isinstance(hint, NoSession):
            self.fail(SessionLost(f"{self.name}: the device does not know the session any more; it may have rebooted"))

    def _unexpected_request(self, message: Message, _seq: int) -> None:
        self.fail(BadMessage(f"{self.name}: a device may not ask, but sent {message!r}"))

    # --- time ------------------------------------------------------------------------------------------------

    def _arm(self, at: float) -> None:
        """Make sure the slow timer fires no later than `at`."""
        if self._timer is not None:
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._tick)

    def _put_off(self, now: float) -> None:
        """A link at rest was heard: wake when it is time to show life again, if nothing else waits for the timer."""
        if self._timer is not None and not (self._questions or self._queue or self._urgent):
            self._timer.cancel()
            self._timer = None
            self._arm(min(now + ANXIOUS, self._last_sent + self._heartbeat))

    def _tick(self) -> None:
        self._timer = None
        now = self._time()
        if now >= self._last_heard + SILENCE:
            self.fail(LinkSilent(f"{self.name}: nothing heard for {SILENCE} s"))
            return
        if self._questions or self._queue or self._urgent:
            self._expire_questions(now)
            if self.down is not None:
                return
        ping = self._next_ping(now)
        if now >= ping:
            self._trip.departs(self._sealer.counter, now)
            self._write(now, 0, fr.PING, 0, fr.NO_RE, b"")
            ping = self._next_ping(now)
        silence = self._last_heard + SILENCE
        due = min(silence, ping)
        if self._questions or self._queue or self._urgent:
            due = self._first_deadline(due)
        self._arm(due if due - now > _LEAST else now + _LEAST)

    def _arm_quick(self, at: float) -> None:
        """Make sure the quick timer fires no later than `at`."""
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
            again = self._unacked[0].sent_at + self._trip.rto * self._trip.backoff
            if not due or again < due:
                due = again
        if due:
            self._arm_quick(due if due - now > _LEAST else now + _LEAST)

    def _next_ping(self, now: float) -> float:
        """Return when to show that we live."""
        anxious = self._last_heard + ANXIOUS
        if now >= anxious:
            return self._last_sent + KNOCK
        ping = self._last_sent + self._heartbeat
        if ping > anxious:
            return anxious
        return ping

    def _first_deadline(self, due: float) -> float:
        """Return when the first reply is late, but `due` at the latest."""
        for out in (*self._questions.values(), *self._urgent, *self._queue):
            if out.waiter is not None and out.deadline < due:
                due = out.deadline
        return due

    def _repeat_unacknowledged(self, now: float) -> None:
        """Repeat the first unacknowledged frame; the other end holds what came after it.

        The spacing doubles while nothing at all is heard. As long as anything is, the line only loses frames.
        """
        if not self._unacked or now < self._unacked[0].sent_at + self._trip.rto * self._trip.backoff:
            return
        first = self._unacked[0]
        if now > first.first_sent_at + UNACKNOWLEDGED:
            self.fail(LinkSilent(f"{self.name}: a frame was not acknowledged for {UNACKNOWLEDGED:g} s"))
        elif self.wire.transport.backlog:  # the first copy has not even left
            first.sent_at = now
        else:
            received = self._last_heard > first.sent_at
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
            out.waiter.exception()  # retrieved: it is told, whoever waits
    if out.on_end is not None:
        out.on_end(error)


def _caused(error: Any, cause: BaseException) -> Any:
    error.__cause__ = cause
    return error
