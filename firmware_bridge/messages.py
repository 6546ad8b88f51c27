"""The base of all messages, and the messages of the handshake. On the wire: msgpack arrays [tag, field, ...].

Tags 1-15 are for the handshake, 16-31 for commands of every kind of machine, 64 and up for the kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

import msgspec

from firmware_bridge.seal import CHALLENGE_SIZE, PROOF_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable

U8 = Annotated[int, msgspec.Meta(ge=0, le=0xFF)]
U16 = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]
U32 = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
CommandId = Annotated[int, msgspec.Meta(ge=1, le=0x7FFF_FFFF_FFFF_FFFF)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=32, pattern=r"^[ -~]*\Z")]  # ASCII: one byte per character
Role = Literal["table", "bench"]  # of the host
Challenge = Annotated[bytes, msgspec.Meta(min_length=CHALLENGE_SIZE, max_length=CHALLENGE_SIZE)]
Proof = Annotated[bytes, msgspec.Meta(min_length=PROOF_SIZE, max_length=PROOF_SIZE)]
Digest = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]


class Message(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Base of all messages. `carries_cards` marks a message that names cards; captures blank it, and so does `repr`."""

    carries_cards: ClassVar[bool] = False

    def __repr__(self) -> str:
        """Return the message as text for logs and errors, which must not name cards."""
        return f"{type(self).__name__}(...)" if self.carries_cards else super().__repr__()


# Returns the payload bytes of a message.
encode: Final[Callable[[Message], bytes]] = msgspec.msgpack.Encoder().encode


def tag_of(message: type[Message]) -> int:
    """Return the tag of a message class, the first element of its array."""
    tag = message.__struct_config__.tag
    assert isinstance(tag, int), message
    return tag


# --- handshake ---------------------------------------------------------------------------------------------


class HostHello(Message, frozen=True, tag=1):
    """The host starts: its role ("table" or "bench") and a new challenge."""

    role: Role
    challenge: Challenge


class DeviceHello(Message, frozen=True, tag=2):
    """The device identifies itself. All of it enters the session keys."""

    kind: Name
    serial: Name
    model: Name
    firmware: Name
    digest: Digest
    capabilities: Annotated[list[Name], msgspec.Meta(max_length=8)]
    boot_id: U32
    challenge: Challenge


class DeviceProof(Message, frozen=True, tag=3):
    """Sent right after the device's hello: its answer to both challenges."""

    proof: Proof


class HostProof(Message, frozen=True, tag=4):
    """The host's answer to both challenges."""

    proof: Proof


class Welcome(Message, frozen=True, tag=5):
    """The device's first sealed frame: the session is open."""

    boot_id: U32


class Refuse(Message, frozen=True, tag=6):
    """The device rejects the host's proof. Not authenticated: only a hint."""

    reason: U16


class NoSession(Message, frozen=True, tag=7):
    """The device has no session, for example after a reboot. Not authenticated: only a hint."""

    boot_id: U32


HandshakeToHost = DeviceHello | DeviceProof | Welcome | Refuse | NoSession
HandshakeToDevice = HostHello | HostProof


def decoder(union: Any) -> msgspec.msgpack.Decoder[Any]:
    """Return a strict decoder for a union of messages."""
    return msgspec.msgpack.Decoder(union)
