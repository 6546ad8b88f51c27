"""Cryptography of a link: proofs for the handshake, session keys, and the seal (MAC and counter) on every frame."""

from __future__ import annotations

from hashlib import blake2s
from hmac import compare_digest
from typing import Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge.errors import SessionExhausted

KEY_SIZE: Final = 32
CHALLENGE_SIZE: Final = 16
PROOF_SIZE: Final = 16
MAX_COUNTER: Final = 0xFFFF_FFFF

# Every frame is sealed, so its header is packed in place, not by `fr.head`.
_FIRST: Final = fr.VERSION << 4 | fr.SEALED
_pack: Final = fr.HEADER.pack


def transcript(host_hello: bytes, device_hello: bytes) -> bytes:
    """Return one digest over both hellos, and so over both challenges; the length prefix separates them."""
    digest = blake2s(len(host_hello).to_bytes(2, "big"))
    digest.update(host_hello)
    digest.update(device_hello)
    return digest.digest()


def derive(key: bytes, purpose: bytes, bound: bytes, size: int) -> bytes:
    """Derive a proof or a session key from the device's key, for one purpose and one transcript."""
    return blake2s(bound, key=key, person=purpose, digest_size=size).digest()


def device_proof(key: bytes, bound: bytes) -> bytes:
    """Return the proof that only a device with this key can give for this transcript."""
    return derive(key, b"pbdevice", bound, PROOF_SIZE)


def host_proof(key: bytes, bound: bytes) -> bytes:
    """Return the proof that only a host with this key can give for this transcript."""
    return derive(key, b"pbhost", bound, PROOF_SIZE)


class SessionKeys(msgspec.Struct, frozen=True):
    """The two session keys, one per direction."""

    to_device: bytes
    to_host: bytes

    def __repr__(self) -> str:
        """Hide the keys."""
        return "Session()"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Hide the keys."""
        return []


def derive_session_keys(key: bytes, bound: bytes) -> SessionKeys:
    """Derive the keys of both directions from a transcript that both ends have proved."""
    return SessionKeys(derive(key, b"pbtodev", bound, KEY_SIZE), derive(key, b"pbtohost", bound, KEY_SIZE))


class Sealer:
    """Seals the outgoing frames of one direction: each gets the next counter and a MAC."""

    def __init__(self, key: bytes, counter: int = fr.FIRST_COUNTER) -> None:
        self._fresh = blake2s(key=key, digest_size=fr.MAC_SIZE).copy
        self.counter = counter

    def seal(self, flags: int, type: int, seq: int, ack: int, re: int, payload: bytes) -> tuple[bytes, bytes]:  # noqa: A002
        """Return header + payload and their MAC; SessionWornOut once the counter is used up."""
        counter = self.counter
        if counter >= MAX_COUNTER:
            raise SessionExhausted("the session's frame counter is used up")
        self.counter = counter + 1
        signed = _pack(_FIRST | flags, type, seq, ack, re, counter) + payload
        digest = self._fresh()
        digest.update(signed)
        return signed, digest.digest()


class Opener:
    """Checks the incoming frames of one direction: the MAC must be right and the counter must rise."""

    def __init__(self, key: bytes) -> None:
        self._fresh = blake2s(key=key, digest_size=fr.MAC_SIZE).copy
        self._last = 0
        self.forged = 0
        self.replayed = 0

    def accepts(self, frame: fr.Frame) -> bool:
        """Return whether a frame is authentic and new. The caller must drop all others; they are counted."""
        digest = self._fresh()
        digest.update(frame.signed)
        if not compare_digest(digest.digest(), frame.mac):
            self.forged += 1
            return False
        if frame.counter <= self._last:
            self.replayed += 1
            return False
        self._last = frame.counter
        return True
