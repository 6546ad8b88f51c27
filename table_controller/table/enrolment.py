"""Which devices two people enrolled, and which keys never serve again: part of the state, and so of its copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.context import Context

_PEOPLE: Final = {"technician", "floorperson"}


def enrolled(c: Context, event: ev.DeviceEnrolled) -> None:
    """A device takes a slot; the key of the one before is revoked."""
    if event.slot not in c.state.slots:
        c.refuse(f"enroll: there is no slot {event.slot}")
    elif {event.who.role, event.second.role} != _PEOPLE or event.who.same_person(event.second):
        c.refuse("enroll is for a technician and a floorperson, who are two")
    elif (event.serial, event.fingerprint) in c.state.revoked:
        c.refuse(f"enroll: the key of {event.serial} was revoked")
    else:
        c.state.enrolled[event.slot] = (event.serial, event.fingerprint)
        people = f"{event.who.credential} and {event.second.credential}"
        text = f"{event.slot}: {c.state.slots[event.slot].kind} {event.serial} is enrolled by {people}"
        if event.replaces is not None:
            _revoke(c, event.replaces)
            text += f"; the key of {event.replaces[0]} is revoked"
        c.finding("device_enrolled", text)


def revoked_before(c: Context, event: ev.KeysRevoked) -> None:
    """Keys that were revoked before the journal kept that."""
    for key in event.keys:
        _revoke(c, key)
    c.finding("keys_revoked", f"revoked before, and in the journal from now on: {', '.join(k[0] for k in event.keys)}")


def _revoke(c: Context, key: tuple[str, str]) -> None:
    if key not in c.state.revoked:
        c.state.revoked.append(key)
