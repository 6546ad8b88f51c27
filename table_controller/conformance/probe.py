"""A host that can break the protocol on purpose, frame by frame: any bytes, any number, any counter.

`Probe` works without a session, `Raw` within one. Neither repeats a frame by itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.frame_text import frame_text, message_text
from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.decoding import UNDECODABLE
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
from table_controller.conformance.requirements import Failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import LinkError
    from table_controller.conformance.tape import Tape

# Allowance (s) for the line and the operating systems, added to any time of the protocol.
LINE: Final = 0.25
# How long (s) checks wait for a reply; separate requirements check the device's reply times.
PATIENT: Final = 2.0
# How long (s) a check waits to see that nothing comes: longer than a reply may take.
QUIET: Final = 0.3 + LINE

_TO_HOST: Final = decoder(HandshakeToHost)


class Heard(msgspec.Struct, frozen=True):
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


def told(frames: list[Heard]) -> str:
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


def unsealed(payload: bytes, flags: int = 0, type_: int = fr.HANDSHAKE) -> bytes:
    """Return header and payload of an unsealed frame."""
    return fr.head(flags, type_, 0, 0, fr.NO_RE, 0) + payload


class Probe:
    """Sends bytes and unsealed frames to the device, and keeps every received frame."""

    def __init__(self, tape: Tape, key: bytes, entropy: Callable[[int], bytes], decode: Any) -> None:
        self.heard: list[Heard] = []
        self.on_sealed: Callable[[Heard], None] = lambda _: None
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
        """The loop's time, as in `Heard`."""
        return self._loop.time()

    def write(self, data: bytes) -> None:
        """Send bytes unchanged."""
        self._tape.write(data)

    async def pour(self, data: bytes) -> None:
        """Send many bytes, and wait as long as a serial line needs for them."""
        self.write(data)
        await self.listen(len(data) * 10 / BAUD)

    def say(self, message: Message | bytes, flags: int = 0) -> None:
        """Send an unsealed handshake frame."""
        payload = message if isinstance(message, bytes) else encode(message)
        self.write(fr.to_wire(unsealed(payload, flags)))

    def fresh_hello(self) -> bytes:
        """Return the payload of a hello with a new challenge."""
        return encode(HostHello("bench", self._entropy(seal.CHALLENGE_SIZE)))

    async def until(self, fits: Callable[[Heard], bool], within: float, since: int = 0) -> Heard | None:
        """Wait for a matching frame, from index `since` in `heard`; None if none comes."""
        until = self.now + within
        while True:
            for received in self.heard[since:]:
                if fits(received):
                    return received
            since = len(self.heard)
            if self._tape.lost is not None:
                raise self._tape.lost
            self._news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                return None

    async def listen(self, seconds: float) -> list[Heard]:
        """Return the frames of the next seconds."""
        since = len(self.heard)
        await self.until(lambda _: False, seconds)
        return self.heard[since:]

    async def answers(self, seconds: float = QUIET) -> list[Heard]:
        """Return the unsealed frames of the next seconds; sealed ones may belong to an earlier session."""
        return [received for received in await self.listen(seconds) if not received.frame.flags & fr.SEALED]

    async def introduced(self, since: int) -> list[Heard]:
        """Return the unsealed frames that answer a hello, including those that follow at once."""
        await self.said(DeviceProof, PATIENT, since)
        await self.listen(LINE)
        return [received for received in self.heard[since:] if not received.frame.flags & fr.SEALED]

    async def said(self, kind: type[Message], within: float = PATIENT, since: int = 0) -> Heard | None:
        """Wait for an unsealed handshake message."""
        return await self.until(
            lambda received: not received.frame.flags & fr.SEALED and isinstance(received.message, kind), within, since
        )

    async def greet(self, payload: bytes | None = None, flags: int = 0) -> Greeting:
        """Send a hello and wait for its answer."""
        since = len(self.heard)
        asked = self.fresh_hello() if payload is None else payload
        self.say(asked, flags)
        proof = await self.said(DeviceProof, PATIENT, since)
        hellos = [received for received in self.heard[since:] if isinstance(received.message, DeviceHello)]
        if proof is None or not hellos:
            raise Failed("a DeviceHello and a DeviceProof to a HostHello", told(self.heard[since:]))
        hello, proved = hellos[-1].message, proof.message
        assert isinstance(hello, DeviceHello)
        assert isinstance(proved, DeviceProof)
        return Greeting(asked, hellos[-1].frame.payload, hello, proved.proof, self._key)

    async def open(self, greeting: Greeting | None = None) -> Raw:
        """Complete the handshake; Failed if no session opens."""
        greeting = greeting or await self.greet()
        raw = Raw(self, greeting)
        since = len(self.heard)
        self.say(HostProof(greeting.host_proof))
        if await self.until(lambda _: bool(raw.welcomes), PATIENT, since) is None:
            raise Failed("a sealed Welcome to a HostProof that fits", told(self.heard[since:]))
        return raw

    def _on_bytes(self, data: bytes) -> None:
        for frame in self._framer.feed(data):
            received = Heard(self.now, frame)
            self.heard.append(received)
            if frame.flags & fr.SEALED:
                self.on_sealed(received)
        self._news.set()

    def _lost(self, _: LinkError) -> None:
        self._news.set()


class Raw:
    """A session in which the check chooses every number. While `attentive` it acknowledges and answers PINGs."""

    def __init__(self, probe: Probe, greeting: Greeting) -> None:
        keys = seal.session_keys(greeting.key, greeting.bound)
        self.probe = probe
        self.greeting = greeting
        self.attentive = True
        self.counter = fr.FIRST_COUNTER  # of our next frame
        self.seq = fr.FIRST_SEQ  # of our next request
        self.expected = fr.FIRST_SEQ  # from the device
        self.welcomes: list[Heard] = []
        self.got: list[Heard] = []  # authentic, in the order of arrival, welcomes included
        self.foreign: list[Heard] = []  # sealed, but not with this session's key
        self._to_device = keys.to_device
        self._opener = seal.Opener(keys.to_host)
        self._early: set[int] = set()
        probe.on_sealed = self._on_sealed

    # --- sending ---------------------------------------------------------------------------------------------

    def sealed(
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
        wire = fr.to_wire(*self.sealed(type_, payload, **numbers))
        self.probe.write(wire)
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

    def sequenced(self, since: int = 0) -> list[Heard]:
        """Return every reply and event, copies included."""
        return [received for received in self.got[since:] if received.frame.type in (fr.REPLY, fr.EVENT)]

    def replies(self, since: int = 0) -> list[Heard]:
        """Return every reply, copies included."""
        return [received for received in self.got[since:] if received.frame.type == fr.REPLY]

    def replies_to(self, seq: int) -> list[Heard]:
        """Return every reply to one request, copies included."""
        return [received for received in self.replies() if received.frame.re == seq]

    async def until(self, fits: Callable[[Heard], bool], within: float = PATIENT, since: int = 0) -> Heard | None:
        """Wait for a matching authentic frame, from index `since` in `got`; None if none comes."""

        def first_match() -> Heard | None:
            return next((frame for frame in self.got[since:] if fits(frame)), None)

        if first_match() is None:
            await self.probe.until(lambda _: first_match() is not None, within, len(self.probe.heard))
        return first_match()

    async def reply(self, seq: int, within: float = PATIENT) -> Any:
        """Wait for the reply to a request; return its message."""
        received = await self.until(
            lambda received: received.frame.type == fr.REPLY and received.frame.re == seq, within
        )
        if received is None:
            raise Failed(f"a reply to request {seq}", f"none within {within:g} s")
        return self.decoded(received)

    async def ask(self, message: Message | bytes, within: float = PATIENT) -> Any:
        """Send a request, and return the reply."""
        return await self.reply(self.request(message), within)

    def decoded(self, received: Heard) -> Any:
        """Return the message of a reply or event; Failed if it is not valid for this kind."""
        try:
            return self.probe.decode.decode(received.frame.payload)
        except UNDECODABLE as error:
            raise Failed(
                "a message that this kind of device may send", f"{message_text(received.frame.payload)}: {error}"
            ) from None

    async def lives(self) -> bool:
        """Send a PING to find out whether the device still has this session; NoSession means that it does not."""
        since, place = len(self.probe.heard), len(self.got)
        self.ping()
        received = await self.probe.until(
            lambda received: _no_session(received) or self._acknowledged(place), PATIENT, since
        )
        return received is None or not _no_session(received)

    def _acknowledged(self, since: int) -> bool:
        return any(received.frame.type == fr.ACK for received in self.got[since:])

    def _on_sealed(self, received: Heard) -> None:
        frame = received.frame
        if not self._opener.accepts(frame):
            if self.welcomes:  # before that they may belong to a session that is about to end
                self.foreign.append(received)
            return
        self.got.append(received)
        if frame.type == fr.HANDSHAKE:
            if isinstance(received.message, Welcome):
                self.welcomes.append(received)
        elif self.attentive and frame.type == fr.PING:
            self.send(fr.ACK, seq=frame.counter & 0xFFFF)
        elif frame.type in (fr.REPLY, fr.EVENT):
            self._advance(frame)

    def _advance(self, frame: fr.Frame) -> None:
        if (frame.seq - self.expected) & 0xFFFF < 0x8000:
            self._early.add(frame.seq)
        while self.attentive and self.expected in self._early:
            self._early.remove(self.expected)
            self.expected = self.expected + 1 & 0xFFFF
        if self.attentive:
            self.send(fr.ACK, seq=frame.counter & 0xFFFF)


def _no_session(received: Heard) -> bool:
    return not received.frame.flags & fr.SEALED and isinstance(received.message, NoSession)
