"""Mutants of payloads (PL): decoders that guess, and an encoder that is not minimal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge.commands import Report
from firmware_bridge.messages import encode
from simulators.mutants.mutant_tools import Mistake, MutantGroup, Real, method, replaced

if TYPE_CHECKING:
    from collections.abc import Callable


GROUP: Final = MutantGroup()
row: Final = GROUP.row
# The tag of AskCommand, whose one field is an id, and those that only devices send.
_ASK: Final = 18
_OF_DEVICES: Final = (16, 17, 20)


def _fields(payload: bytes) -> Any:
    try:
        return msgspec.msgpack.decode(payload)
    except msgspec.MsgspecError:
        return None


def guessed(change: Callable[[bytes], bytes | None]) -> Mistake:
    """Change payloads before they are decoded; None ignores a message."""

    def deliver(link: Any, real: Real, frame: fr.Frame, now: float) -> None:
        payload = change(frame.payload)
        if payload is None:
            link._expected = frame.seq + 1
            link._acknowledge(now)
        else:
            real(replaced(frame, payload=payload), now)

    return method("link._deliver", deliver)


def asked_with(change: Callable[[list[Any]], list[Any]]) -> Mistake:
    """Change the fields of AskCommand before they are decoded."""

    def asking(payload: bytes) -> bytes:
        fields = _fields(payload)
        is_asking = isinstance(fields, list) and fields[:1] == [_ASK]
        return msgspec.msgpack.encode(change(fields)) if is_asking else payload

    return guessed(asking)


def ignores(*tags: int) -> Mistake:
    """Ignore messages with these tags."""

    def change(payload: bytes) -> bytes | None:
        fields = _fields(payload)
        return None if isinstance(fields, list) and fields[0] in tags else payload

    return guessed(change)


row("PL-01", "ignores-unknown-tags", "Messages that it does not know are ignored.", ignores(63))
row("PL-02", "ignores-rubbish", "Payloads that are no messages are ignored.",
    guessed(lambda payload: payload if payload and 0x90 <= payload[0] <= 0xDD else None), also="FR-14")  # fmt: skip
row("PL-03", "ignores-more-fields", "Fields that it does not know are ignored.", asked_with(lambda fields: fields[:2]))
row("PL-04", "guesses-missing-fields", "A missing field is 1.",
    asked_with(lambda fields: [*fields, 1][: max(2, len(fields))]))  # fmt: skip


def _clamped(fields: list[Any]) -> list[Any]:
    integer = len(fields) == 2 and type(fields[1]) is int
    return [fields[0], min(max(fields[1], 1), (1 << 63) - 1)] if integer else fields


row("PL-05", "clamps-values", "An id out of range is brought into it.", asked_with(_clamped))


def _without_tail(payload: bytes) -> bytes:
    for end in range(1, len(payload)):
        if isinstance(_fields(payload[:end]), list):
            return payload[:end]
    return payload


row("PL-06", "ignores-trailing-bytes", "It reads a message and not what comes after it.", guessed(_without_tail))
row(
    "PL-07",
    "converts-numbers",
    "7.0 is 7, and true is 1.",
    asked_with(
        lambda fields: [fields[0], *(int(value) if isinstance(value, float | bool) else value for value in fields[1:])]
    ),
)
row("PL-08", "takes-devices-messages", "It accepts messages that only devices send.", ignores(*_OF_DEVICES))
row("PL-09", "events-are-requests", "An event of the host is as good as a request.",
    method("link._deliver", lambda _, real, frame, now: real(replaced(frame, type=fr.REQUEST), now)))  # fmt: skip


@GROUP.method("link._decode", "PL-10")
def shortest_form_only(_: Any, real: Real, payload: bytes) -> Any:
    """It reads only the shortest form."""
    message = real(payload)
    if encode(message) != payload:
        raise msgspec.ValidationError("not the shortest form")
    return message


@GROUP.method("link._post", "PL-11")
def long_form(_: Any, real: Real, out: Any, urgent: bool) -> None:
    """Its reports are longer than they must be."""
    if out.payload[:2] == encode(Report(0, 0, 0, []))[:2]:
        out.payload = b"\xdc\0" + bytes([out.payload[0] & 0x0F]) + out.payload[1:]
    real(out, urgent)
