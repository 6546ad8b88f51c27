"""Reads the revoked keys of a table from its journal, which any version of the software may have written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.journal import reader
from table_controller.journal.chain import FIRST_SEQ
from table_controller.journal.former_names import renew_snapshot
from table_controller.journal.records import STEP, VERSION, current_body

if TYPE_CHECKING:
    from pathlib import Path

Keys = tuple[tuple[str, str], ...]  # serial number and fingerprint


class _StateFields(msgspec.Struct, frozen=True):
    """The field of a state that is read here."""

    revoked: Keys = ()


class _SnapshotFields(msgspec.Struct, frozen=True):
    """The field of a snapshot that is read here."""

    state: bytes


class _EventFields(msgspec.Struct, frozen=True):
    """The fields that are read here: the replaced key of an enrollment, the keys of a revocation list."""

    type: str
    replaces: tuple[str, str] | None = None
    keys: Keys = ()


class _StepFields(msgspec.Struct, frozen=True):
    event: msgspec.Raw
    decisions: list[dict[str, object]] = []


_STEP_FIELDS: Final = msgspec.json.Decoder(_StepFields)
_EVENT_NAMES: Final = (b'"DeviceEnrolled"', b'"KeysRevoked"')


def revoked_in(folder: Path) -> Keys:
    """Return every revoked key; JournalError if the journal cannot be read."""
    snapshot = reader.latest_snapshot(folder)
    keys: list[tuple[str, str]] = []
    if snapshot is not None:
        kept = msgspec.msgpack.decode(renew_snapshot(snapshot.body, VERSION), type=_SnapshotFields)
        keys += msgspec.msgpack.decode(kept.state, type=_StateFields).revoked
    for record in reader.read(folder, FIRST_SEQ if snapshot is None else snapshot.seq + 1):
        body = current_body(record.kind, record.body)
        if record.kind != STEP or not any(name in body for name in _EVENT_NAMES):
            continue
        step = _STEP_FIELDS.decode(body)
        if any(decision.get("type") == "RequestRefused" for decision in step.decisions):
            continue
        event = msgspec.json.decode(step.event, type=_EventFields)
        keys += [event.replaces] if event.replaces is not None else []
        keys += event.keys if event.type == "KeysRevoked" else ()
    return tuple(dict.fromkeys(keys))
