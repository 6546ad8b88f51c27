"""Mutants of payloads (PL): decoders that guess, and an encoder that is not minimal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge import frame as fr
from firmware_bridge.commands import Report
from firmware_bridge.messages import encode
from simulators.mutants.mutant_tools import MutantGroup, each_session, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.engine.machine import SimulatedMachine

GROUP: Final = MutantGroup()
# The tag of AskCommand, whose one field is an id, and those that only devices send.
_ASK: Final = 18
_OF_DEVICES: Final = (16, 17, 20)


def _fields(payload: bytes) -> Any:
    try:
        return msgspec.msgpack.decode(payload)
    except msgspec.MsgspecError:
        return None


def _guess(machine: SimulatedMachine, change: Callable[[bytes], bytes | None]) -> None:
    """Change payloads before they are decoded; None ignores a message."""

    def spoil(link: Any) -> None:
        def deliver(real: Callable[..., None], frame: fr.Frame, now: float) -> None:
            payload = change(frame.payload)
            if payload is None:
                link._expected = frame.seq + 1
                link._acknowledge(now)
            else:
                real(replaced(frame, payload=payload), now)

        wrap(link, "_deliver", deliver)

    each_session(machine, spoil)


def _asking(payload: bytes, change: Callable[[list[Any]], list[Any]]) -> bytes:
    """Change the fields of AskCommand."""
    fields = _fields(payload)
    if isinstance(fields, list) and fields[:1] == [_ASK]:
        return msgspec.msgpack.encode(change(fields))
    return payload


@GROUP.mutant("PL-01")
def ignores_unknown_tags(machine: SimulatedMachine) -> None:
    """Messages that it does not know are ignored."""

    def change(payload: bytes) -> bytes | None:
        fields = _fields(payload)
        return None if isinstance(fields, list) and fields[0] == 63 else payload

    _guess(machine, change)


@GROUP.mutant("PL-02", also="FR-14")
def ignores_rubbish(machine: SimulatedMachine) -> None:
    """Payloads that are no messages are ignored."""
    _guess(machine, lambda payload: payload if payload and 0x90 <= payload[0] <= 0xDD else None)


@GROUP.mutant("PL-03")
def ignores_more_fields(machine: SimulatedMachine) -> None:
    """Fields that it does not know are ignored."""
    _guess(machine, lambda payload: _asking(payload, lambda fields: fields[:2]))


@GROUP.mutant("PL-04")
def guesses_missing_fields(machine: SimulatedMachine) -> None:
    """A missing field is 1."""
    _guess(machine, lambda payload: _asking(payload, lambda fields: [*fields, 1][: max(2, len(fields))]))


@GROUP.mutant("PL-05")
def clamps_values(machine: SimulatedMachine) -> None:
    """An id out of range is brought into it."""

    def change(fields: list[Any]) -> list[Any]:
        integer = len(fields) == 2 and type(fields[1]) is int
        return [fields[0], min(max(fields[1], 1), (1 << 63) - 1)] if integer else fields

    _guess(machine, lambda payload: _asking(payload, change))


@GROUP.mutant("PL-06")
def ignores_trailing_bytes(machine: SimulatedMachine) -> None:
    """It reads a message and not what comes after it."""

    def change(payload: bytes) -> bytes:
        for end in range(1, len(payload)):
            if isinstance(_fields(payload[:end]), list):
                return payload[:end]
        return payload

    _guess(machine, change)


@GROUP.mutant("PL-07")
def converts_numbers(machine: SimulatedMachine) -> None:
    """7.0 is 7, and true is 1."""

    def change(fields: list[Any]) -> list[Any]:
        return [fields[0], *(int(value) if isinstance(value, float | bool) else value for value in fields[1:])]

    _guess(machine, lambda payload: _asking(payload, change))


@GROUP.mutant("PL-08")
def takes_devices_messages(machine: SimulatedMachine) -> None:
    """It accepts messages that only devices send."""

    def change(payload: bytes) -> bytes | None:
        fields = _fields(payload)
        return None if isinstance(fields, list) and fields[0] in _OF_DEVICES else payload

    _guess(machine, change)


@GROUP.mutant("PL-09")
def events_are_requests(machine: SimulatedMachine) -> None:
    """An event of the host is as good as a request."""

    def spoil(link: Any) -> None:
        wrap(link, "_deliver", lambda real, frame, now: real(replaced(frame, type=fr.REQUEST), now))

    each_session(machine, spoil)


@GROUP.mutant("PL-10")
def shortest_form_only(machine: SimulatedMachine) -> None:
    """It reads only the shortest form."""

    def spoil(link: Any) -> None:
        def decode(real: Callable[[bytes], Any], payload: bytes) -> Any:
            message = real(payload)
            if encode(message) != payload:
                raise msgspec.ValidationError("not the shortest form")
            return message

        wrap(link, "_decode", decode)

    each_session(machine, spoil)


@GROUP.mutant("PL-11")
def long_form(machine: SimulatedMachine) -> None:
    """Its reports are longer than they must be."""

    def spoil(link: Any) -> None:
        def post(real: Callable[..., None], out: Any, urgent: bool) -> None:
            if out.payload[:2] == encode(Report(0, 0, 0, []))[:2]:
                out.payload = b"\xdc\0" + bytes([out.payload[0] & 0x0F]) + out.payload[1:]
            real(out, urgent)

        wrap(link, "_post", post)

    each_session(machine, spoil)
