"""Enrolls a device in a slot: two people sign, the core records it, and the previous key is revoked forever.

Keys stay in files; a request over the socket names a file and never contains a key.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from firmware_bridge.errors import (
    BadKeyFile,
    BadRequest,
    KeyRevoked,
    LinkClosed,
    NotAllowed,
    PitboxError,
    SerialClaimedTwice,
)
from firmware_bridge.keys import DeviceKey, load_key
from table_controller.journal.record_text import plain_text
from table_controller.maintenance import key_files as files
from table_controller.maintenance.service_calls import reasons_against
from table_controller.table import events as ev
from table_controller.table.decisions import RequestRefused
from table_controller.table.signers import ENROLLMENT_SIGNERS

if TYPE_CHECKING:
    from table_controller.controller.box import Box
    from table_controller.controller.plan import SlotPlan
    from table_controller.table.state import TableState


def check_not_revoked(state: TableState, key: DeviceKey, slot: str) -> None:
    """Raise KeyRevoked for a key that was replaced."""
    if files.identity(key) not in state.revoked:
        return
    now = state.enrolled.get(slot)
    serves = f"; {now[0]} is enrolled there now: use its key file" if now is not None else ""
    raise KeyRevoked(f"{slot}: the key of {key.serial} was revoked when another device was enrolled{serves}")


def check_enrolled(state: TableState, key: DeviceKey, slot: str) -> None:
    """Raise KeyRevoked for a slot whose key is not the one that two people enrolled."""
    check_not_revoked(state, key, slot)
    now = state.enrolled.get(slot)
    if now is not None and now != files.identity(key):
        raise KeyRevoked(
            f"{slot}: somebody put the key of {key.serial} there; two people enrolled {now[0]}: use its key file"
        )


async def enroll(box: Box, slot: str, file: str, who: ev.Person, second: ev.Person) -> dict[str, Any]:
    """Enroll the device of a key file in a slot; return its serial number and the revoked one, if any.

    Without a file, or with the key that the slot has already, the device in the slot is enrolled for the first time.
    Files are read and written in a thread, so that a slow disk delays the enrollment and not the game.
    """
    if {who.role, second.role} != ENROLLMENT_SIGNERS:
        raise NotAllowed("a technician and a floorperson must sign on to enroll a device")
    return await box.run_to_completion(_enroll(box, slot, file, who, second))


async def _enroll(box: Box, slot: str, file: str, who: ev.Person, second: ev.Person) -> dict[str, Any]:
    """Enroll; runs to its end even if the client disconnects, because a revoked device must not stay in service."""
    async with box.enrollment_lock:
        place = next((each for each in box.plan.slots if each.name == slot), None)
        if place is None or place.key_file is None:
            raise BadRequest(f"there is no slot {slot} whose key can be changed; slots: {', '.join(box.slots)}")
        path, key_file = Path(file) if file else place.key_file, place.key_file
        key = await box.run_in_thread(lambda: load_key(path))
        _check(box, _permitted(box, slot), place, key)
        (old,) = place.trust.keys.values()
        new = replace(key, enrolled=f"{box.plan.name} {slot}")
        first = files.is_same_key(old, new)
        await box.run_in_thread(lambda: files.write_draft(key_file, new))
        try:
            _permitted(box, slot)  # a round may have begun in the meantime
        except PitboxError:
            await box.run_in_thread(lambda: files.discard_draft(key_file))
            raise
        replaces = None if first else files.identity(old)
        await _record(box, ev.DeviceEnrolled(slot, *files.identity(new), who, second, replaces), key_file)
        box.expect(slot, new)
        link = box.slots[slot].supervisor.link
        if link is not None and not first:
            link.fail(LinkClosed(f"{slot}: another device was enrolled"))
        await box.run_in_thread(lambda: files.finish_draft(key_file))
    return {"slot": slot, "serial": new.serial, "revoked": None if first else old.serial}


def _permitted(box: Box, slot: str) -> TableState:
    """Return the state of the table; raise NotAllowed if an enrollment is not permitted now."""
    controller = box.running_controller()
    reasons = reasons_against(controller.table, slot)
    if reasons:
        raise NotAllowed(f"enroll {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))
    return controller.table.state


async def _record(box: Box, event: ev.DeviceEnrolled, key_file: Path) -> None:
    """Submit the enrollment and wait until it is on disk; raise NotAllowed, with nothing changed, if it is refused."""
    step = await box.running_controller().submit_and_wait(event)
    refused = next((each for each in step.decisions if isinstance(each, RequestRefused)), None)
    if refused is not None:
        await box.run_in_thread(lambda: files.discard_draft(key_file))
        raise NotAllowed(plain_text(refused.what))


def _check(box: Box, state: TableState, place: SlotPlan, key: DeviceKey) -> None:
    """Raise the error that forbids this key in this slot."""
    check_not_revoked(state, key, place.name)
    if key.kind != place.kind:
        raise BadKeyFile(f"{place.name} is the slot of a {place.kind}; this is the key of a {key.kind}")
    if key.enrolled:
        raise BadKeyFile(f"{key.serial} is already enrolled at {key.enrolled}")
    if any(files.is_same_key(key, own) and own.enrolled for own in place.trust.keys.values()):
        raise BadKeyFile(f"{key.serial} with this key is already enrolled in {place.name}")
    for other in box.plan.slots:
        if other.name != place.name and key.serial in other.trust.keys:
            raise SerialClaimedTwice(f"{other.name} has the serial number {key.serial}")
