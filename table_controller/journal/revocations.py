"""Which keys a journal's table had revoked, read from its folder, whichever software wrote it. Only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal import reader
from table_controller.journal.chain import FIRST
from table_controller.journal.former_names import renew_snapshot
from table_controller.journal.records import STEP, VERSION, current_body

if TYPE_CHECKING:
    from pathlib import Path

Keys = tuple[tuple[str, str], ...]  # serial number and fingerprint


class _State(msgspec.Struct, frozen=True):
    """What is read of a state."""

    revoked: Keys = ()


class _Kept(msgspec.Struct, frozen=True):
    """What is read of a snapshot."""

    state: bytes


class _Event(msgspec.Struct, frozen=True):
    """What is read of an event: of an enrolment what it replaces, of a list its keys."""

    type: str
    replaces: tuple[str, str] | None = None
    keys: Keys = ()


class _Step(msgspec.Struct, frozen=True):
    event: msgspec.Raw
    decisions: list[dict[str, object]] = []


_STEPS: Final = msgspec.json.Decoder(_Step)
_NAMES: Final = (b'"DeviceEnrolled"', b'"KeysRevoked"')


def revoked_in(folder: Path) -> Keys:
    """Return every key that was revoked; JournalError if the journal cannot be read."""
    snapshot = reader.latest_snapshot(folder)
    found: list[tuple[str, str]] = []
    if snapshot is not None:
        kept = msgspec.msgpack.decode(renew_snapshot(snapshot.body, VERSION), type=_Kept)
        found += msgspec.msgpack.decode(kept.state, type=_State).revoked
    for record in reader.read(folder, FIRST if snapshot is None else snapshot.seq + 1):
        body = current_body(record.kind, record.body)
        if record.kind != STEP or not any(name in body for name in _NAMES):
            continue
        step = _STEPS.decode(body)
        if any(decision.get("type") == "Refused" for decision in step.decisions):
            continue
        event = msgspec.json.decode(step.event, type=_Event)
        found += [event.replaces] if event.replaces is not None else []
        found += event.keys if event.type == "KeysRevoked" else ()
    return tuple(dict.fromkeys(found))
