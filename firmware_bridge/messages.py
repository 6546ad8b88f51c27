"""The link's own messages and the base of all others: frozen structs that travel as msgpack arrays [tag, field, ...].

Tags 1-15 are the handshake's, 16-31 belong to commands (every kind of machine), 64 and up to the machines.
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
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=32, pattern=r"^[ -~]*\Z")]  # ASCII: a byte a character
Role = Literal["table", "bench"]  # what a host is to the device
Challenge = Annotated[bytes, msgspec.Meta(min_length=CHALLENGE_SIZE, max_length=CHALLENGE_SIZE)]
Proof = Annotated[bytes, msgspec.Meta(min_length=PROOF_SIZE, max_length=PROOF_SIZE)]
Digest = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]


class Message(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Base of everything that travels. A message that names cards says so, and captures blank it."""

    carries_cards: ClassVar[bool] = False


# Returns a message's payload bytes.
encode: Final[Callable[[Message], bytes]] = msgspec.msgpack.Encoder().encode


def tag_of(message: type[Message]) -> int:
    """Return the number that stands first in a message's array."""
    tag = message.__struct_config__.tag
    assert isinstance(tag, int), message
    return tag


# --- handshake ---------------------------------------------------------------------------------------------


class HostHello(Message, frozen=True, tag=1):
    """The host begins: which role it plays ("table" or "bench") and its fresh challenge."""

    role: Role
    challenge: Challenge


class DeviceHello(Message, frozen=True, tag=2):
    """The device says who it is; the whole of it enters the session keys."""

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
    """The device's first sealed frame: the session stands."""

    boot_id: U32


class Refuse(Message, frozen=True, tag=6):
    """The device does not accept the host's proof. Not authenticated: a hint, never more."""

    reason: U16


class NoSession(Message, frozen=True, tag=7):
    """The device knows no session, as after a reboot. Not authenticated: a hint, never more."""

    boot_id: U32


HandshakeToHost = DeviceHello | DeviceProof | Welcome | Refuse | NoSession
HandshakeToDevice = HostHello | HostProof


def decoder(union: Any) -> msgspec.msgpack.Decoder[Any]:
    """Return a strict decoder for a union of messages."""
    return msgspec.msgpack.Decoder(union)
