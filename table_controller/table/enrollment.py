"""Enrolled devices and revoked keys, kept in the state and so in its copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from table_controller.table.signers import ENROLLMENT_SIGNERS
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context


def on_device_enrolled(c: Context, event: ev.DeviceEnrolled) -> None:
    """Enroll a device in a slot; the key of the device before it is revoked."""
    if event.slot not in c.state.slots:
        c.refuse(f"enroll: this table has no slot {event.slot}")
    elif {event.who.role, event.second.role} != ENROLLMENT_SIGNERS or event.who.is_same_person(event.second):
        c.refuse("enroll needs two people: a technician and a floorperson")
    elif (event.serial, event.fingerprint) in c.state.revoked:
        c.refuse(f"enroll: the key of {event.serial} was revoked")
    else:
        c.state.enrolled[event.slot] = (event.serial, event.fingerprint)
        people = f"{event.who.credential} and {event.second.credential}"
        text = f"{slot_label(event.slot)}: {event.serial} was enrolled by {people}"
        if event.replaces is not None:
            _revoke(c, event.replaces)
            text += f"; the key of {event.replaces[0]} is revoked"
        c.record_finding("device_enrolled", text)


def on_keys_revoked(c: Context, event: ev.KeysRevoked) -> None:
    """Record keys that were revoked before the journal recorded revocations."""
    for key in event.keys:
        _revoke(c, key)
    c.record_finding("keys_revoked", f"revoked earlier, recorded now: {', '.join(k[0] for k in event.keys)}")


def _revoke(c: Context, key: tuple[str, str]) -> None:
    if key not in c.state.revoked:
        c.state.revoked.append(key)
