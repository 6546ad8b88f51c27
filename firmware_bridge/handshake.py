"""The handshake: both ends prove that they hold the device's key and derive session keys. Host's and device's side.

host                                         device
HostHello(role, challenge)         ------>
                                   <------   DeviceHello(..., challenge), DeviceProof
HostProof                          ------>
                                   <------   Welcome, the first sealed frame
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import (
    CapabilityMissing,
    FirmwareNotApproved,
    HostRefused,
    LinkError,
    LinkSilent,
    SessionLost,
    UnknownSerial,
    WrongKey,
    WrongKind,
)
from firmware_bridge.keys import ApprovedFirmware, DeviceKey
from firmware_bridge.link import HOST_HEARTBEAT_S, Link
from firmware_bridge.messages import (
    DeviceHello,
    DeviceProof,
    HandshakeToDevice,
    HandshakeToHost,
    HostHello,
    HostProof,
    Message,
    NoSession,
    Refuse,
    Role,
    Welcome,
    decoder,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware_bridge.errors import PitboxError
    from firmware_bridge.wire import Wire

# A handshake step is repeated after this long (s), doubled each time: hello and proof take 0.25 s at 9600 baud.
FIRST_RETRY_S: Final = 0.4
# The longest wait (s) before a repeat, so that a returning device is met before its old session ends after 3.5 s.
MAX_RETRY_S: Final = 1.6
# Attempts at one step before the port counts as silent.
MAX_ATTEMPTS: Final = 6

_TO_HOST: Final = decoder(HandshakeToHost)
_TO_DEVICE: Final = decoder(HandshakeToDevice)


class Trust(msgspec.Struct, frozen=True):
    """What a host accepts at one port: the kind, keys by serial number, approved firmware, needed capabilities."""

    kind: str
    keys: Mapping[str, DeviceKey]
    approved: frozenset[ApprovedFirmware]
    role: Role = "table"
    needs: frozenset[str] = frozenset()  # capabilities that the device must have here


def check_hello(hello: DeviceHello, trust: Trust) -> DeviceKey:
    """Return the key for this device, or raise the TrustError that rules it out. Nothing is proved yet."""
    if hello.kind != trust.kind:
        raise WrongKind(f"a {trust.kind} is expected here, a {hello.kind} ({hello.serial}) answers")
    key = trust.keys.get(hello.serial)
    if key is None:
        known = ", ".join(sorted(trust.keys)) or "none"
        raise UnknownSerial(f"no key for {hello.kind} {hello.serial}; known serial numbers: {known}")
    if key.kind != hello.kind:
        raise WrongKind(f"the key for {hello.serial} was made for a {key.kind}, a {hello.kind} answers")
    return key


def check_firmware(hello: DeviceHello, trust: Trust) -> None:
    """Raise FirmwareNotApproved unless this firmware is on the approved list. Call after the device proved its key."""
    if ApprovedFirmware(hello.kind, hello.firmware, hello.digest) not in trust.approved:
        raise FirmwareNotApproved(
            f"{hello.kind} {hello.serial} runs {hello.firmware} with digest {hello.digest.hex()[:16]}..., "
            "which is not on the approved list"
        )


def check_capabilities(hello: DeviceHello, trust: Trust) -> None:
    """Raise CapabilityMissing unless the device can do what is needed here. Call after it proved its key."""
    lacking = ", ".join(sorted(trust.needs.difference(hello.capabilities)))
    if lacking:
        raise CapabilityMissing(
            f"{hello.kind} {hello.serial} ({hello.model}) lacks what the rules of this table need: {lacking}"
        )


async def open_session(
    wire: Wire,
    trust: Trust,
    decode: msgspec.msgpack.Decoder[Any],
    entropy: Callable[[int], bytes] = secrets.token_bytes,
) -> tuple[Link, DeviceHello]:
    """Perform the handshake as the host; return the open link and the device's proven hello.

    Raises a TrustError if the device is not an accepted one, a LinkError if it does not answer.
    """
    inbox: asyncio.Queue[fr.Frame | LinkError] = asyncio.Queue()
    wire.on_frame = inbox.put_nowait
    wire.transport.on_lost = inbox.put_nowait
    hello_bytes = encode(HostHello(trust.role, entropy(seal.CHALLENGE_SIZE)))
    wire.transport.write(b"\0")  # delimits any noise that the device received before
    hello, device_bytes, proof = await _step(wire, inbox, hello_bytes, _HelloCollector())
    key = check_hello(hello, trust)
    bound = seal.transcript(hello_bytes, device_bytes)
    if not compare_digest(proof, seal.device_proof(key.key, bound)):
        raise WrongKey(f"{hello.kind} {hello.serial} does not have the key that is known for it")
    check_firmware(hello, trust)
    check_capabilities(hello, trust)
    session = seal.derive_session_keys(key.key, bound)
    opener = seal.Opener(session.to_host)
    await _step(wire, inbox, encode(HostProof(seal.host_proof(key.key, bound))), _WelcomeCollector(opener))
    link = Link(wire, seal.Sealer(session.to_device), opener, decode, f"{hello.kind} {hello.serial}", HOST_HEARTBEAT_S)
    if not inbox.empty():  # frames right behind the welcome wait until the owner has set its callbacks
        wire.on_frame = inbox.put_nowait
        asyncio.get_running_loop().call_soon(_catch_up, link, inbox)
    return link, hello


def _catch_up(link: Link, inbox: asyncio.Queue[fr.Frame | LinkError]) -> None:
    """Pass the frames that came before the link was ready, in order."""
    if link.down is None:
        link.wire.on_frame = link.receive
    while link.down is None and not inbox.empty():
        early = inbox.get_nowait()
        if isinstance(early, LinkError):
            link.fail(early)
        else:
            link.receive(early)


class _HelloCollector:
    """Collects the device's hello and the proof that follows it."""

    def __init__(self) -> None:
        self._hello: DeviceHello | None = None
        self._bytes = b""

    def collect(self, message: Message, frame: fr.Frame) -> tuple[DeviceHello, bytes, bytes] | None:
        if isinstance(message, DeviceHello):
            self._hello, self._bytes = message, frame.payload
        elif isinstance(message, DeviceProof) and self._hello is not None:
            return self._hello, self._bytes, message.proof
        return None


class _WelcomeCollector:
    """Waits for the first sealed frame, which only a device with the session keys can send."""

    def __init__(self, opener: seal.Opener) -> None:
        self._opener = opener

    def collect(self, message: Message, frame: fr.Frame) -> bool | None:
        if isinstance(message, Refuse):
            raise HostRefused("the device does not accept this host's proof of its key")
        if isinstance(message, NoSession):
            raise SessionLost("the device forgot the handshake; it may have rebooted")
        if isinstance(message, Welcome) and frame.flags & fr.SEALED and self._opener.accepts(frame):
            return True
        return None


async def _step(wire: Wire, inbox: asyncio.Queue[fr.Frame | LinkError], payload: bytes, collector: Any) -> Any:
    """Send one handshake step; repeat it with the RETRANSMIT flag until the collector returns a result."""
    loop = asyncio.get_running_loop()
    wait = FIRST_RETRY_S
    for attempt in range(MAX_ATTEMPTS):
        flags = fr.RETRANSMIT if attempt else 0
        wire.send(fr.pack_header(flags, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + payload)
        until = loop.time() + wait
        wait = min(MAX_RETRY_S, wait * 2)
        while True:
            try:
                async with asyncio.timeout_at(until):
                    frame = await inbox.get()
            except TimeoutError:
                break
            if isinstance(frame, LinkError):
                raise frame
            message = _handshake_message(frame, _TO_HOST)
            taken = None if message is None else collector.collect(message, frame)
            if taken is not None:
                return taken
    raise LinkSilent(f"no device answered the handshake in {MAX_ATTEMPTS} attempts")


def _handshake_message(frame: fr.Frame, decode: msgspec.msgpack.Decoder[Any]) -> Message | None:
    """Return the handshake message in a frame; None for any other frame."""
    if frame.type != fr.HANDSHAKE:
        return None
    try:
        message: Message = decode.decode(frame.payload)
    except UNDECODABLE:
        return None
    return message


class DeviceHandshake:
    """The device's side: answers hellos at any time, and opens a link for each host that proves the key.

    An old session lives until a new host has proved the key, so noise and strangers cannot end it. Each challenge is
    valid for one session, so a recorded handshake opens nothing.
    """

    def __init__(
        self,
        wire: Wire,
        key: bytes,
        identity: DeviceHello,
        decode: msgspec.msgpack.Decoder[Any],
        on_session: Callable[[Link, str], None],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._wire = wire
        self._key = key
        self._identity = identity
        self._decode = decode
        self._on_session = on_session
        self._entropy = entropy
        self._asked = b""  # the host hello that was answered, until its proof comes
        self._role = ""
        self._answer = b""
        self._bound = b""
        self._link: Link | None = None
        self._opened_by = b""  # the host proof that opened the running session
        self._sealer: seal.Sealer | None = None
        wire.on_frame = self.receive

    def receive(self, frame: fr.Frame) -> None:
        """Process a frame that is not part of a session."""
        if frame.flags & fr.SEALED:
            if self._link is None:
                self._send_unsealed(NoSession(self._identity.boot_id))
            return
        message = _handshake_message(frame, _TO_DEVICE)
        if isinstance(message, HostHello):
            self._take_hello(message, frame.payload)
        elif isinstance(message, HostProof):
            self._take_proof(message)

    def end_session(self, cause: LinkError) -> None:
        """End the session, for example because the port is gone."""
        if self._link is not None:
            self._link.fail(cause)

    def _take_hello(self, message: HostHello, payload: bytes) -> None:
        if payload != self._asked:  # a repeated hello gets the same answer
            self._asked, self._role = payload, message.role
            challenge = self._entropy(seal.CHALLENGE_SIZE)
            self._answer = encode(msgspec.structs.replace(self._identity, challenge=challenge))
            self._bound = seal.transcript(payload, self._answer)
        self._wire.send(fr.pack_header(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + self._answer)
        self._send_unsealed(DeviceProof(seal.device_proof(self._key, self._bound)))

    def _take_proof(self, message: HostProof) -> None:
        if self._link is not None and self._sealer is not None and message.proof == self._opened_by:
            self._send_welcome(self._sealer)  # our first welcome was lost
            return
        if (
            not self._asked and self._link is None
        ):  # after a reboot, or when our session ended and the host does not know it
            self._send_unsealed(NoSession(self._identity.boot_id))
            return
        if not self._asked or not compare_digest(message.proof, seal.host_proof(self._key, self._bound)):
            self._send_unsealed(Refuse(HostRefused.number))
            return
        self._asked = b""
        self.end_session(LinkError("a new session took over"))
        session = seal.derive_session_keys(self._key, self._bound)
        sealer = seal.Sealer(session.to_host)
        self._send_welcome(sealer)
        link = Link(self._wire, sealer, seal.Opener(session.to_device), self._decode, name="host")
        link.on_unsealed = self.receive
        link.on_down = self._session_ended
        self._link, self._opened_by, self._sealer = link, message.proof, sealer
        self._on_session(link, self._role)

    def _session_ended(self, _: PitboxError) -> None:
        self._link = self._sealer = None
        self._wire.on_frame = self.receive

    def _send_welcome(self, sealer: seal.Sealer) -> None:
        welcome = encode(Welcome(self._identity.boot_id))
        self._wire.send(*sealer.seal(0, fr.HANDSHAKE, 0, fr.FIRST_SEQ, fr.NO_RE, welcome))

    def _send_unsealed(self, message: Message) -> None:
        self._wire.send(fr.pack_header(0, fr.HANDSHAKE, 0, 0, fr.NO_RE, 0) + encode(message))
