"""A device takes a slot: under two people, recorded by the core, and the key of the one before is revoked for ever.

Keys come by file and stay in files; over the socket comes a file's name, never a key.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from firmware_bridge.errors import BadKeyFile, BadRequest, KeyRevoked, LinkClosed, NotAllowed, PitboxError, SerialTwice
from firmware_bridge.keys import DeviceKey, load_key
from table_controller.controller import key_files as files
from table_controller.controller.service_calls import against
from table_controller.table import events as ev
from table_controller.table.decisions import Refused

if TYPE_CHECKING:
    from table_controller.controller.box import Box
    from table_controller.controller.plan import Place
    from table_controller.table.state import State

_ENROLS: Final = ("technician", "floorperson")


def check_key(state: State, key: DeviceKey, slot: str) -> None:
    """Raise KeyRevoked for a key that another one replaced."""
    if files.identity(key) not in state.revoked:
        return
    now = state.enrolled.get(slot)
    serves = f"; {now[0]} is enrolled there now, and its key file belongs here" if now is not None else ""
    raise KeyRevoked(f"{slot}: the key of {key.serial} was revoked when another device was enrolled{serves}")


def check_enrolled(state: State, key: DeviceKey, slot: str) -> None:
    """Raise KeyRevoked for a slot whose key is another than the one that two people enrolled there."""
    check_key(state, key, slot)
    now = state.enrolled.get(slot)
    if now is not None and now != files.identity(key):
        raise KeyRevoked(
            f"{slot}: the key of {key.serial} was put there by hand; two people enrolled {now[0]}, and its key file "
            "belongs here"
        )


async def enroll(box: Box, slot: str, file: str, who: ev.Person, second: ev.Person) -> dict[str, Any]:
    """Enroll the device of a key file in a slot; return its serial number and the one that was revoked, if any.

    Without a file, or with the key that the slot has already: the slot's first device becomes the table's own. Files
    are read and written aside: a disk that hangs holds up the enrolment, and no card.
    """
    if {who.role, second.role} != set(_ENROLS):
        raise NotAllowed("a device is enrolled by a technician and a floorperson, both signed on")
    return await box.finish(_enroll(box, slot, file, who, second))


async def _enroll(box: Box, slot: str, file: str, who: ev.Person, second: ev.Person) -> dict[str, Any]:
    """The box does this to its end, also if whoever asked hangs up: a revoked device must not go on serving."""
    async with box.enrolling:
        place = next((each for each in box.plan.places if each.name == slot), None)
        if place is None or place.key_file is None:
            raise BadRequest(f"there is no slot {slot} whose key can be changed; there are: {', '.join(box.slots)}")
        path, key_file = Path(file) if file else place.key_file, place.key_file
        key = await box.aside(lambda: load_key(path))
        _check(box, _permitted(box, slot), place, key)
        (old,) = place.trust.keys.values()
        new = replace(key, enrolled=f"{box.plan.name} {slot}")
        first = files.same_key(old, new)
        await box.aside(lambda: files.write_draft(key_file, new))
        try:
            _permitted(box, slot)  # a round may have begun meanwhile
        except PitboxError:
            await box.aside(lambda: files.discard_draft(key_file))
            raise
        replaces = None if first else files.identity(old)
        await _record(box, ev.DeviceEnrolled(slot, *files.identity(new), who, second, replaces), key_file)
        box.expect(slot, new)
        link = box.slots[slot].supervisor.link
        if link is not None and not first:
            link.fail(LinkClosed(f"{slot}: another device was enrolled"))
        await box.aside(lambda: files.finish_draft(key_file))
    return {"slot": slot, "serial": new.serial, "revoked": None if first else old.serial}


def _permitted(box: Box, slot: str) -> State:
    """Return the table's state; NotAllowed if something is against an enrolment now."""
    controller = box.running()
    reasons = against(controller.table, slot, "enroll")
    if reasons:
        raise NotAllowed(f"enroll {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))
    return controller.table.state


async def _record(box: Box, event: ev.DeviceEnrolled, key_file: Path) -> None:
    """Have the core take it, and wait until that is on disk. NotAllowed if it is refused: then nothing has changed."""
    decisions = await box.running().taken(event)
    refused = next((each for each in decisions if isinstance(each, Refused)), None)
    if refused is not None:
        await box.aside(lambda: files.discard_draft(key_file))
        raise NotAllowed(refused.what)


def _check(box: Box, state: State, place: Place, key: DeviceKey) -> None:
    """Raise what is against this key in this slot."""
    check_key(state, key, place.name)
    if key.kind != place.kind:
        raise BadKeyFile(f"{place.name} is the place of a {place.kind}; this is the key of a {key.kind}")
    if key.enrolled:
        raise BadKeyFile(f"{key.serial} is enrolled at {key.enrolled}")
    if any(files.same_key(key, own) and own.enrolled for own in place.trust.keys.values()):
        raise BadKeyFile(f"{key.serial} with this key is enrolled as the device of {place.name} already")
    for other in box.plan.places:
        if other.name != place.name and key.serial in other.trust.keys:
            raise SerialTwice(f"{other.name} has the serial number {key.serial}")
