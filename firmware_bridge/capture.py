"""Writes every frame of a table's ports to one pcapng file, and reads it back. It never holds a key or a card.

A packet is a four-byte pseudo header, then the frame without stuffing and CRC:

0        1          2      3         4..15   16..     8 bytes
version  direction  flags  reserved  header  payload  MAC if sealed

Direction 0 is to the box, 1 to the machine. Flag bit 0: the payload was blanked, which means that all bytes after the
message's tag are zero, and the MAC too. (With the device's key, the MAC would reveal which of the few possible payloads
it was.) Challenges and proofs of the handshake stay: they are not keys and reveal none.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from typing import TYPE_CHECKING, BinaryIO, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge import pcapng
from firmware_bridge.errors import BadCapture
from firmware_bridge.messages import Message, tag_of
from firmware_bridge.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from firmware_bridge.wire import Capture

log = logging.getLogger(__name__)

PSEUDO_VERSION: Final = 1
PSEUDO_SIZE: Final = 4
TO_BOX: Final = 0
TO_MACHINE: Final = 1
BLANKED: Final = 1
# Bytes. A busy shuffler fills it in about a day; a forgotten capture must not fill the journal's disk.
MAX_CAPTURE_BYTES: Final = 256 << 20


class CaptureFile:
    """Writes frames to an open binary file, block by block. A failure is kept in `error`, never raised."""

    def __init__(
        self,
        file: BinaryIO,
        known: Iterable[type[Message]],
        clock: Callable[[], int] = time.time_ns,
        limit: int = MAX_CAPTURE_BYTES,
    ) -> None:
        self.error: Exception | None = None  # why capturing stopped
        self.packets = 0
        self._file = file
        self._blanker = Blanker(known)
        self._clock = clock
        self._room = limit
        self._ports: dict[str, int] = {}
        self._guarded(pcapng.section(f"pitbox {VERSION}"))

    def port(self, slot: str) -> Capture:
        """Return the capture callback for the port of one slot; a slot may be passed again, as after a reconnect."""
        index = self._ports.get(slot)
        if index is None:
            index = self._ports[slot] = len(self._ports)
            self._guarded(pcapng.interface(slot, pcapng.LINK_USER0))

        def capture(outgoing: bool, signed: bytes, mac: bytes) -> None:
            self._record(index, outgoing, signed, mac)

        return capture

    def close(self) -> None:
        """Stop and close the file; later frames are not recorded. Closing twice is harmless."""
        try:
            self._file.close()
        except OSError as error:
            self._stop(error)

    def _record(self, port: int, outgoing: bool, signed: bytes, mac: bytes) -> None:
        if self.error is not None or self._file.closed:
            return
        try:
            self._write(self._packet(port, outgoing, signed, mac))
        except Exception as error:  # noqa: BLE001 - a failing capture must not end the link
            self._stop(error)
        else:
            self.packets += 1

    def _packet(self, port: int, outgoing: bool, signed: bytes, mac: bytes) -> bytes:
        header, payload = signed[: fr.HEADER_SIZE], signed[fr.HEADER_SIZE :]
        comment = self._blanker.blank_reason(payload)
        if comment:
            payload, mac = self._blanker.blank(payload), bytes(len(mac))
        pseudo = bytes([PSEUDO_VERSION, TO_MACHINE if outgoing else TO_BOX, BLANKED if comment else 0, 0])
        direction = pcapng.OUTBOUND if outgoing else pcapng.INBOUND
        return pcapng.packet(port, self._clock(), pseudo + header + payload + mac, direction, comment)

    def _guarded(self, block: bytes) -> None:
        if self.error is not None:
            return
        try:
            self._write(block)
        except (OSError, ValueError) as error:
            self._stop(error)

    def _write(self, block: bytes) -> None:
        """Write a whole block and flush it, so that a killed process leaves whole packets."""
        if len(block) > self._room:
            raise OSError(errno.EFBIG, "the capture has reached its limit")
        self._room -= len(block)
        if self._file.write(block) != len(block):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._file.flush()

    def _stop(self, error: Exception) -> None:
        if self.error is None:
            self.error = error
            log.warning("capturing stopped after %d packets: %s", self.packets, error)


class Blanker:
    """Decides from a payload's tag whether it may be recorded: only messages known to carry no cards may."""

    def __init__(self, known: Iterable[type[Message]]) -> None:
        messages = list(known)
        self._cards = {tag_of(message): message.__name__ for message in messages if message.carries_cards}
        self._harmless = {tag_of(message) for message in messages} - self._cards.keys()

    def blank_reason(self, payload: bytes) -> str:
        """Return why a payload must be blanked; an empty text if it may be recorded."""
        if not payload:
            return ""
        tag, _ = read_tag(payload)
        if tag in self._harmless:
            return ""
        if tag is None:
            return "payload blanked: it has no readable tag and could name cards"
        if tag in self._cards:
            return f"payload blanked: {self._cards[tag]} names cards"
        return f"payload blanked: tag {tag} is unknown and could name cards"

    def blank(self, payload: bytes) -> bytes:
        """Return a payload of the same length with zeros after its tag."""
        _, end = read_tag(payload)
        return payload[:end] + bytes(len(payload) - end)


def read_tag(payload: bytes) -> tuple[int | None, int]:
    """Return the tag, the first element of a payload's array, and where it ends; (None, 0) if it cannot be read.

    Reads only the shortest encodings, which the protocol requires of every sender.
    """
    if len(payload) >= 2 and 0x91 <= payload[0] <= 0x9F:
        if payload[1] < 0x80:
            return payload[1], 2
        if len(payload) >= 3 and payload[1] == 0xCC and payload[2] >= 0x80:
            return payload[2], 3
    return None, 0


# --- reading -------------------------------------------------------------------------------------------------


class CapturedFrame(msgspec.Struct, frozen=True):
    """One captured frame: its slot, time and direction. `blanked`: payload and MAC are zeros."""

    slot: str
    time_ns: int
    outgoing: bool
    blanked: bool
    comment: str
    frame: fr.Frame


def read_capture(path: Path) -> Iterator[CapturedFrame]:
    """Yield a capture's frames in order, without one cut off at the end. BadCapture if it is not a capture.

    Packets of other link types are skipped, so the file may be merged with a network capture.
    """
    try:
        with path.open("rb") as file:
            for number, captured in enumerate(pcapng.read(file), 1):
                if captured.interface.link_type == pcapng.LINK_USER0:
                    yield _packet(captured, number)
    except pcapng.BadPcapng as error:
        raise BadCapture(f"{path}: {error}") from error
    except OSError as error:
        raise BadCapture(f"{path}: {error.strerror or error}") from error


def _packet(captured: pcapng.CapturedPacket, number: int) -> CapturedFrame:
    data = captured.data
    if len(data) < PSEUDO_SIZE + fr.HEADER_SIZE or data[0] != PSEUDO_VERSION:
        raise pcapng.BadPcapng(f"packet {number} is not of a pitbox capture")
    frame = fr.parse(data[PSEUDO_SIZE:] + bytes(fr.CRC_SIZE))
    if frame is None:
        raise pcapng.BadPcapng(f"packet {number} contains no frame of this version")
    outgoing, blanked = data[1] == TO_MACHINE, bool(data[2] & BLANKED)
    return CapturedFrame(captured.interface.name, captured.time_ns, outgoing, blanked, captured.comment, frame)
