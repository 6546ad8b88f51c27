"""A recorded machine: it plays the messages of a captured machine again, at their recorded times, over a real link.

The handshake is new and uses a key of its own, so a replay needs no key of the captured machine. Payloads that the
capture blanked are not played.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from devices.message_registry import all_messages
from firmware_bridge import frame as fr
from firmware_bridge.commands import Accepted, AskCommand, GetReport, Report, Settled
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import PortMissing
from firmware_bridge.handshake import DeviceHandshake
from firmware_bridge.messages import DeviceHello, Message, decoder
from firmware_bridge.transport.memory import memory_pair
from firmware_bridge.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from firmware_bridge.capture import CapturedFrame
    from firmware_bridge.keys import DeviceKey
    from firmware_bridge.link import Link
    from firmware_bridge.wire import Transport

# Time after the last frame (s) for the frame and its acknowledgment to arrive.
SETTLE_TIME_S: Final = 0.2
_BY_TAG: Final = {message.__struct_config__.tag: message for message in all_messages()}


class RecordedMessage(NamedTuple):
    """One recorded message: time (s since the start), direction, frame type, content. `re`: the answered request."""

    at: float
    outgoing: bool
    type: int
    seq: int
    reply_to: int
    message: Message


class RecordedSession(NamedTuple):
    """The messages between one handshake and the next. Without `hello` the recording starts in mid-session."""

    hello: DeviceHello | None
    messages: list[RecordedMessage]


def read_message(payload: bytes) -> Message | None:
    """Return the message of a payload; None if it is empty, blanked, or of another version."""
    try:
        tag, *_ = msgspec.msgpack.decode(payload)
        message: Message = msgspec.msgpack.decode(payload, type=_BY_TAG[tag])
    except (KeyError, TypeError, ValueError, *UNDECODABLE):
        return None
    return message


def split_sessions(packets: Iterable[CapturedFrame], began_ns: int) -> list[RecordedSession]:
    """Split the frames of one slot into sessions. Retransmissions and blanked frames are left out."""
    split: list[RecordedSession] = []
    seen: set[tuple[bool, int, int]] = set()
    for packet in packets:
        frame = packet.frame
        message = None if packet.blanked else read_message(frame.payload)
        if message is None:
            continue
        if frame.type == fr.HANDSHAKE:
            if isinstance(message, DeviceHello) and (not split or split[-1].messages or split[-1].hello is None):
                split.append(RecordedSession(message, []))
                seen.clear()
            continue
        key = (packet.outgoing, frame.type, frame.seq)
        if frame.flags & fr.RETRANSMIT and key in seen:
            continue
        seen.add(key)
        if not split:
            split.append(RecordedSession(None, []))
        at = (packet.time_ns - began_ns) / 1e9
        split[-1].messages.append(RecordedMessage(at, packet.outgoing, frame.type, frame.seq, frame.re, message))
    return [session for session in split if session.messages]


class RecordedMachine:
    """Plays one session. `open` is its port; `play` sends its events at their times and returns after the last one."""

    def __init__(
        self, session: RecordedSession, hello: DeviceHello, key: DeviceKey, rng: Random, messages: Any
    ) -> None:
        self.unanswered: list[str] = []  # questions of the driver without a recorded answer
        self._session = session
        self._hello = hello
        self._key = key
        self._rng = rng
        self._messages = messages
        self._link: Link | None = None
        self._greeter: DeviceHandshake | None = None
        self._port: Transport | None = None
        self._answers: dict[type[Message], list[tuple[Any, Message]]] = {}
        asked: dict[int, Message] = {}
        for recorded in session.messages:  # in order: sequence numbers repeat
            if recorded.outgoing and recorded.type == fr.REQUEST:
                asked[recorded.seq] = recorded.message
            elif not recorded.outgoing and recorded.type == fr.REPLY and recorded.reply_to in asked:
                request = asked[recorded.reply_to]
                self._answers.setdefault(type(request), []).append((request, recorded.message))

    async def open(self) -> Transport:
        """Open the port; possible once, since a session has one start."""
        if self._greeter is not None:
            raise PortMissing("the recording of this session has ended")
        near, far = memory_pair()
        self._port = far
        self._greeter = DeviceHandshake(
            Wire(far), self._key.key, self._hello, decoder(self._messages), self._began, self._rng.randbytes
        )
        return near

    def _began(self, link: Link, _role: str) -> None:
        self._link = link
        link.on_request = self._request

    def _request(self, message: Any, seq: int) -> None:
        reply = self._reply(message)
        if reply is None:
            self.unanswered.append(type(message).__name__)
        elif self._link is not None:
            self._link.send_reply(seq, reply)

    def _reply(self, message: Any) -> Message | None:
        """Return the recorded answer to this command, or to the next question of this type."""
        known = self._answers.get(type(message), [])
        command = getattr(message, "command", None)
        if command is not None:
            reply = next((reply for asked, reply in known if asked.command == command), None)
            return reply or self._settled(command) or (None if isinstance(message, AskCommand) else Accepted(command))
        if known:
            reply = known.pop(0)[1] if len(known) > 1 else known[0][1]
            if isinstance(reply, Report):
                return msgspec.structs.replace(reply, boot_id=self._hello.boot_id)
            return reply
        return Report(self._hello.boot_id, 0, 0, []) if isinstance(message, GetReport) else None

    def _settled(self, command: int) -> Message | None:
        ends = [recorded.message for recorded in self._session.messages if isinstance(recorded.message, Settled)]
        return next((end for end in reversed(ends) if end.command == command), None)

    async def play(self, began: float, on_request: Callable[[RecordedMessage], None]) -> None:
        """Send every event at its time; call `on_request` for every recorded request, so that it can be repeated."""
        loop = asyncio.get_running_loop()
        for recorded in self._session.messages:
            wait = began + recorded.at - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            if recorded.outgoing and recorded.type == fr.REQUEST:
                on_request(recorded)
            elif (
                not recorded.outgoing
                and recorded.type == fr.EVENT
                and self._link is not None
                and self._link.down is None
            ):
                if self._link.is_congested:  # the replay is late; wait for acknowledgments
                    await asyncio.sleep(SETTLE_TIME_S)
                self._link.send_event(recorded.message)
        await asyncio.sleep(SETTLE_TIME_S)

    def unplug(self) -> None:
        """End the session, as it ended in the recording."""
        if self._link is not None and self._port is not None:
            self._link.close()
            self._port.close()
