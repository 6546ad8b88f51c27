"""A host that can break the protocol on purpose, frame by frame: any bytes, any number, any counter.

`RawHost` works without a session, `RawSession` within one. Neither repeats a frame by itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.conformance.requirements import RequirementFailed
from devices.frame_text import frame_text, message_text
from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.framer import Framer
from firmware_bridge.messages import (
    DeviceHello,
    DeviceProof,
    HandshakeToHost,
    HostHello,
    HostProof,
    Message,
    NoSession,
    Welcome,
    decoder,
    encode,
)
from firmware_bridge.transport.serial import BAUD

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.conformance.transcript import Transcript
    from firmware_bridge.errors import LinkError

# Allowance (s) for the line and the operating systems, added to any time of the protocol.
LINE_ALLOWANCE_S: Final = 0.25
# How long (s) checks wait for a reply; separate requirements check the device's reply times.
REPLY_WAIT_S: Final = 2.0
# How long (s) a check waits to see that nothing comes: longer than a reply may take.
QUIET_S: Final = 0.3 + LINE_ALLOWANCE_S

_TO_HOST: Final = decoder(HandshakeToHost)


class ReceivedFrame(msgspec.Struct, frozen=True):
    """A received frame and its time (seconds of the event loop)."""

    at: float
    frame: fr.Frame

    @property
    def message(self) -> Message | None:
        """The handshake message in it, if it is one."""
        try:
            received: Message = _TO_HOST.decode(self.frame.payload)
        except UNDECODABLE:
            return None
        return received if self.frame.type == fr.HANDSHAKE else None

    def __str__(self) -> str:
        """Return one line of text."""
        return frame_text(False, self.frame.signed).removeprefix("<- ")


def frames_text(frames: list[ReceivedFrame]) -> str:
    """Return frames as evidence."""
    return "; ".join(map(str, frames)) or "nothing"


class Greeting(msgspec.Struct, frozen=True):
    """A hello and its answer, byte for byte, with the proofs that follow from them and the device's key."""

    asked: bytes
    answered: bytes
    hello: DeviceHello
    proof: bytes
    key: bytes

    @property
    def bound(self) -> bytes:
        """The transcript of both hellos."""
        return seal.transcript(self.asked, self.answered)

    @property
    def host_proof(self) -> bytes:
        """The proof that opens a session."""
        return seal.host_proof(self.key, self.bound)


def unsealed_frame(payload: bytes, flags: int = 0, type_: int = fr.HANDSHAKE) -> bytes:
    """Return header and payload of an unsealed frame."""
    return fr.pack_header(flags, type_, 0, 0, fr.NO_RE, 0) + payload


class RawHost:
    """Sends bytes and unsealed frames to the device, and keeps every received frame."""

    def __init__(self, tape: Transcript, key: bytes, entropy: Callable[[int], bytes], decode: Any) -> None:
        self.received: list[ReceivedFrame] = []
        self.on_sealed: Callable[[ReceivedFrame], None] = lambda _: None
        self.decode = decode
        self._tape = tape
        self._key = key
        self._entropy = entropy
        self._framer = Framer()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        tape.on_bytes = self._on_bytes
        tape.on_lost = self._lost
        self.write(b"\0")  # ends an incomplete frame of an earlier check

    @property
    def now(self) -> float:
        """The loop's time, as in `ReceivedFrame`."""
        return self._loop.time()

    def write(self, data: bytes) -> None:
        """Send bytes unchanged."""
        self._tape.write(data)

    async def write_paced(self, data: bytes) -> None:
        """Send many bytes, and wait as long as a serial line needs for them."""
        self.write(data)
        await self.listen(len(data) * 10 / BAUD)

    def send_unsealed(self, message: Message | bytes, flags: int = 0) -> None:
        """Send an unsealed handshake frame."""
        payload = message if isinstance(message, bytes) else encode(message)
        self.write(fr.to_wire(unsealed_frame(payload, flags)))

    def fresh_hello(self) -> bytes:
        """Return the payload of a hello with a new challenge."""
        return encode(HostHello("bench", self._entropy(seal.CHALLENGE_SIZE)))

    async def wait_until(
        self, fits: Callable[[ReceivedFrame], bool], within: float, since: int = 0
    ) -> ReceivedFrame | None:
        """Wait for a matching frame, from index `since` in `received`; None if none comes."""
        until = self.now + within
        while True:
            for received in self.received[since:]:
                if fits(received):
                    return received
            since = len(self.received)
            if self._tape.lost is not None:
                raise self._tape.lost
            self._news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                return None

    async def listen(self, seconds: float) -> list[ReceivedFrame]:
        """Return the frames of the next seconds."""
        since = len(self.received)
        await self.wait_until(lambda _: False, seconds)
        return self.received[since:]

    async def unsealed_frames(self) -> list[ReceivedFrame]:
        """Return the unsealed frames of the next moment; sealed ones may belong to an earlier session."""
        return [received for received in await self.listen(QUIET_S) if not received.frame.flags & fr.SEALED]

    async def hello_frames(self, since: int) -> list[ReceivedFrame]:
        """Return the unsealed frames that answer a hello, including those that follow at once."""
        await self.wait_for_message(DeviceProof, REPLY_WAIT_S, since)
        await self.listen(LINE_ALLOWANCE_S)
        return [received for received in self.received[since:] if not received.frame.flags & fr.SEALED]

    async def wait_for_message(
        self, kind: type[Message], within: float = REPLY_WAIT_S, since: int = 0
    ) -> ReceivedFrame | None:
        """Wait for an unsealed handshake message."""
        return await self.wait_until(
            lambda received: not received.frame.flags & fr.SEALED and isinstance(received.message, kind), within, since
        )

    async def greet(self, payload: bytes | None = None, flags: int = 0) -> Greeting:
        """Send a hello and wait for its answer."""
        since = len(self.received)
        asked = self.fresh_hello() if payload is None else payload
        self.send_unsealed(asked, flags)
        proof = await self.wait_for_message(DeviceProof, REPLY_WAIT_S, since)
        hellos = [received for received in self.received[since:] if isinstance(received.message, DeviceHello)]
        if proof is None or not hellos:
            raise RequirementFailed(
                "a DeviceHello and a DeviceProof to a HostHello", frames_text(self.received[since:])
            )
        hello, proved = hellos[-1].message, proof.message
        assert isinstance(hello, DeviceHello)
        assert isinstance(proved, DeviceProof)
        return Greeting(asked, hellos[-1].frame.payload, hello, proved.proof, self._key)

    async def open_session(self, greeting: Greeting | None = None) -> RawSession:
        """Complete the handshake; Failed if no session opens."""
        greeting = greeting or await self.greet()
        raw = RawSession(self, greeting)
        since = len(self.received)
        self.send_unsealed(HostProof(greeting.host_proof))
        if await self.wait_until(lambda _: bool(raw.welcomes), REPLY_WAIT_S, since) is None:
            raise RequirementFailed("a sealed Welcome to a HostProof that fits", frames_text(self.received[since:]))
        return raw

    def _on_bytes(self, data: bytes) -> None:
        for frame in self._framer.feed(data):
            received = ReceivedFrame(self.now, frame)
            self.received.append(received)
            if frame.flags & fr.SEALED:
                self.on_sealed(received)
        self._news.set()

    def _lost(self, _: LinkError) -> None:
        self._news.set()


class RawSession:
    """A session in which the check chooses every number. While it `acknowledges`, it also answers PINGs."""

    def __init__(self, host: RawHost, greeting: Greeting) -> None:
        keys = seal.derive_session_keys(greeting.key, greeting.bound)
        self.host = host
        self.greeting = greeting
        self.acknowledges = True
        self.counter = fr.FIRST_COUNTER  # of our next frame
        self.seq = fr.FIRST_SEQ  # of our next request
        self.expected = fr.FIRST_SEQ  # from the device
        self.welcomes: list[ReceivedFrame] = []
        self.authentic: list[ReceivedFrame] = []  # authentic, in the order of arrival, welcomes included
        self.unauthentic: list[ReceivedFrame] = []  # sealed, but not with this session's key
        self._to_device = keys.to_device
        self._opener = seal.Opener(keys.to_host)
        self._early: set[int] = set()
        host.on_sealed = self._on_sealed

    # --- sending ---------------------------------------------------------------------------------------------

    def seal(
        self,
        type_: int,
        payload: bytes = b"",
        *,
        seq: int = 0,
        ack: int | None = None,
        re: int = fr.NO_RE,
        flags: int = 0,
        counter: int | None = None,
    ) -> tuple[bytes, bytes]:
        """Return header + payload and MAC of a frame; `counter` defaults to the next one."""
        if counter is None:
            counter, self.counter = self.counter, self.counter + 1
        return seal.Sealer(self._to_device, counter).seal(
            flags, type_, seq, self.expected if ack is None else ack, re, payload
        )

    def send(self, type_: int, payload: bytes = b"", **numbers: Any) -> bytes:
        """Send a sealed frame; return its bytes on the wire."""
        wire = fr.to_wire(*self.seal(type_, payload, **numbers))
        self.host.write(wire)
        return wire

    def request(self, message: Message | bytes, *, seq: int | None = None, **numbers: Any) -> int:
        """Send a request, with the next number unless one is given; return its number."""
        if seq is None:
            seq, self.seq = self.seq, self.seq + 1 & 0xFFFF
        payload = message if isinstance(message, bytes) else encode(message)
        self.send(fr.REQUEST, payload, seq=seq, **numbers)
        return seq

    def ping(self) -> int:
        """Send a ping; return its counter."""
        counter = self.counter
        self.send(fr.PING)
        return counter

    # --- receiving -------------------------------------------------------------------------------------------

    def sequenced(self, since: int = 0) -> list[ReceivedFrame]:
        """Return every reply and event, copies included."""
        return [received for received in self.authentic[since:] if received.frame.type in (fr.REPLY, fr.EVENT)]

    def replies(self, since: int = 0) -> list[ReceivedFrame]:
        """Return every reply, copies included."""
        return [received for received in self.authentic[since:] if received.frame.type == fr.REPLY]

    def replies_to(self, seq: int) -> list[ReceivedFrame]:
        """Return every reply to one request, copies included."""
        return [received for received in self.replies() if received.frame.re == seq]

    async def wait_until(
        self, fits: Callable[[ReceivedFrame], bool], within: float = REPLY_WAIT_S, since: int = 0
    ) -> ReceivedFrame | None:
        """Wait for a matching authentic frame, from index `since` in `authentic`; None if none comes."""

        def first_match() -> ReceivedFrame | None:
            return next((frame for frame in self.authentic[since:] if fits(frame)), None)

        if first_match() is None:
            await self.host.wait_until(lambda _: first_match() is not None, within, len(self.host.received))
        return first_match()

    async def wait_reply(self, seq: int, within: float = REPLY_WAIT_S) -> Any:
        """Wait for the reply to a request; return its message."""
        received = await self.wait_until(
            lambda received: received.frame.type == fr.REPLY and received.frame.re == seq, within
        )
        if received is None:
            raise RequirementFailed(f"a reply to request {seq}", f"none within {within:g} s")
        return self.decode(received)

    async def ask(self, message: Message | bytes, within: float = REPLY_WAIT_S) -> Any:
        """Send a request, and return the reply."""
        return await self.wait_reply(self.request(message), within)

    def decode(self, received: ReceivedFrame) -> Any:
        """Return the message of a reply or event; Failed if it is not valid for this kind."""
        try:
            return self.host.decode.decode(received.frame.payload)
        except UNDECODABLE as error:
            raise RequirementFailed(
                "a message that this kind of device may send", f"{message_text(received.frame.payload)}: {error}"
            ) from None

    async def is_alive(self) -> bool:
        """Send a PING to find out whether the device still has this session; NoSession means that it does not."""
        since, place = len(self.host.received), len(self.authentic)
        self.ping()
        received = await self.host.wait_until(
            lambda received: _no_session(received) or self._acknowledged(place), REPLY_WAIT_S, since
        )
        return received is None or not _no_session(received)

    def _acknowledged(self, since: int) -> bool:
        return any(received.frame.type == fr.ACK for received in self.authentic[since:])

    def _on_sealed(self, received: ReceivedFrame) -> None:
        frame = received.frame
        if not self._opener.accepts(frame):
            if self.welcomes:  # before that they may belong to a session that is about to end
                self.unauthentic.append(received)
            return
        self.authentic.append(received)
        if frame.type == fr.HANDSHAKE:
            if isinstance(received.message, Welcome):
                self.welcomes.append(received)
        elif self.acknowledges and frame.type == fr.PING:
            self.send(fr.ACK, seq=frame.counter & 0xFFFF)
        elif frame.type in (fr.REPLY, fr.EVENT):
            self._advance(frame)

    def _advance(self, frame: fr.Frame) -> None:
        if (frame.seq - self.expected) & 0xFFFF < 0x8000:
            self._early.add(frame.seq)
        while self.acknowledges and self.expected in self._early:
            self._early.remove(self.expected)
            self.expected = self.expected + 1 & 0xFFFF
        if self.acknowledges:
            self.send(fr.ACK, seq=frame.counter & 0xFFFF)


def _no_session(received: ReceivedFrame) -> bool:
    return not received.frame.flags & fr.SEALED and isinstance(received.message, NoSession)
