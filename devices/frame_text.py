"""Formats a frame as one line of text: direction, type, message, numbers. Card payloads are never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from devices.message_registry import all_messages
from firmware_bridge import frame as fr
from firmware_bridge.capture import Blanker
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.messages import tag_of

if TYPE_CHECKING:
    from firmware_bridge.messages import Message

_BY_TAG: Final[dict[int, type[Message]]] = {tag_of(message): message for message in all_messages()}
_BLANKER: Final = Blanker(all_messages())


def frame_text(outgoing: bool, signed: bytes) -> str:
    """Return a line such as `-> REQUEST StartCycle(command=7)  seq 259 ack 260`."""
    first, type_, seq, ack, re, _ = fr.HEADER.unpack_from(signed)
    arrow = "->" if outgoing else "<-"
    numbers = f"ack {ack}" if type_ in (fr.ACK, fr.PING) else f"seq {seq} ack {ack}"
    if type_ == fr.HANDSHAKE:
        numbers = ""
    if type_ == fr.REPLY:
        numbers += f" re {re}"
    mark = "" if first & fr.SEALED else " unsealed"
    mark += " again" if first & fr.RETRANSMIT else ""
    payload = message_text(signed[fr.HEADER_SIZE :])
    return f"{arrow} {fr.TYPE_NAMES[type_]:9s} {payload}  {numbers}{mark}".rstrip()


def message_text(payload: bytes) -> str:
    """Return the message name and fields of a payload; cards and unknown payloads are hidden."""
    if not payload:
        return ""
    objection = _BLANKER.blank_reason(payload)
    try:
        tag, *values = msgspec.msgpack.decode(payload)
    except (TypeError, ValueError, *UNDECODABLE):
        return f"({objection or 'unreadable'})"
    message = _BY_TAG.get(tag) if isinstance(tag, int) else None
    if objection or message is None:
        return f"{message.__name__ if message else tag} ({objection or 'unknown'})"
    fields = ", ".join(
        f"{name}={value.hex() if isinstance(value, bytes) else value}"
        for name, value in zip(message.__struct_fields__, values, strict=False)
    )
    return f"{message.__name__}({fields})"
