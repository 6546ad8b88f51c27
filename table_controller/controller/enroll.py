"""A device takes a slot: under two people, written down, and the key of the one before is revoked for ever.

Keys come by file and stay in files; over the socket comes a file's name, never a key.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2s
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import BadKeyFile, BadRequest, KeyRevoked, LinkClosed, NotAllowed, SerialTwice
from firmware_bridge.keys import DeviceKey, load_key, save_key
from table_controller.controller.service_calls import against
from table_controller.journal import records as rec
from table_controller.journal.tip import sync_folder

if TYPE_CHECKING:
    from table_controller.config import TableConfig
    from table_controller.controller.box import Box
    from table_controller.controller.plan import Place
    from table_controller.table.events import Person

REVOKED: Final = "revoked.json"
_ENROLS: Final = ("technician", "floorperson")


def fingerprint(key: DeviceKey) -> str:
    """Return what tells keys apart and does not help to find one."""
    return blake2s(key.key, person=b"revoked", digest_size=16).hexdigest()


class Revoked:
    """The keys that never serve again at this table, by serial number and fingerprint, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._known = msgspec.json.decode(path.read_bytes(), type=list[tuple[str, str]])
        except FileNotFoundError:
            self._known = []
        except (OSError, *UNDECODABLE) as error:
            raise BadKeyFile(f"{path}: {error}") from error

    def check(self, key: DeviceKey, slot: str) -> None:
        """Raise KeyRevoked for a key that another one replaced."""
        if (key.serial, fingerprint(key)) in self._known:
            raise KeyRevoked(f"{slot}: the key of {key.serial} was revoked when another device was enrolled")

    def add(self, key: DeviceKey) -> None:
        """Revoke a key, once; on disk when this returns. OSError leaves the list as it was."""
        entry = (key.serial, fingerprint(key))
        if entry in self._known:
            return
        known = [*self._known, entry]
        draft = self._path.with_suffix(".part")
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(known))
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self._path)
        sync_folder(self._path.parent)
        self._known = known


async def enroll(box: Box, slot: str, file: str, who: Person, second: Person) -> dict[str, Any]:
    """Enroll the device of a key file in a slot; return its serial number and the one that was revoked, if any.

    Without a file, or with the key that the slot has already: the slot's first device becomes the table's own. Files
    are read and written aside: a disk that hangs holds up the enrolment, and no card.
    """
    if {who.role, second.role} != set(_ENROLS):
        raise NotAllowed("a device is enrolled by a technician and a floorperson, both signed on")
    async with box.enrolling:
        place = next((each for each in box.plan.places if each.name == slot), None)
        if place is None or place.key_file is None or box.revoked is None:
            raise BadRequest(f"there is no slot {slot} whose key can be changed; there are: {', '.join(box.slots)}")
        path = Path(file) if file else place.key_file
        key = await box.aside(lambda: load_key(path))
        controller = box.running()
        reasons = against(controller.table, slot, "enroll")
        if reasons:
            raise NotAllowed(f"enroll {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))
        _check(box, place, key)
        (old,) = place.trust.keys.values()
        new = replace(key, enrolled=f"{box.plan.name} {slot}")
        first = _same(old, new)
        text = f"{slot}: {new.kind} {new.serial} is enrolled"
        text += "" if first else f"; the key of {old.serial} is revoked"
        revoked, key_file = box.revoked, place.key_file
        await box.aside(lambda: _draft(key_file, new))
        await controller.noted(rec.Note("enrolled", text, who=who, second=second, slot=slot))
        await box.aside(lambda: _finish(revoked, None if first else old, key_file))
        box.expect(slot, new)
        link = box.slots[slot].supervisor.link
        if link is not None and not first:
            link.fail(LinkClosed(f"{slot}: another device was enrolled"))
    return {"slot": slot, "serial": new.serial, "revoked": None if first else old.serial}


def _same(one: DeviceKey, other: DeviceKey) -> bool:
    """Tell whether two key files are about one device with one key, enrolled or not."""
    return (one.serial, one.key) == (other.serial, other.key)


# --- files ------------------------------------------------------------------------------------------------------------
#
# An enrolment writes in this order: the new key beside the old one (`.NAME.new`), the note in the journal, the mark
# that the note is there (`.NAME.enrolled`), the revocation of the old key, the new key in its place. If the box ends
# before the mark, the next start undoes the enrolment; after it, the next start finishes it.


def _drafted(file: Path) -> Path:
    return file.with_name(f".{file.name}.new")


def _marked(file: Path) -> Path:
    return file.with_name(f".{file.name}.enrolled")


def _draft(file: Path, new: DeviceKey) -> None:
    """Bring the new key to the disk, beside the old one. BadKeyFile if it cannot be written: nothing has changed."""
    draft = _drafted(file)
    try:
        draft.unlink(missing_ok=True)
        save_key(draft, new)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        sync_folder(file.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise BadKeyFile(f"{draft}: {error.strerror}; nobody was enrolled, and the old key still serves") from error


def _finish(revoked: Revoked, old: DeviceKey | None, file: Path) -> None:
    """The note is on disk: mark that, revoke the old key if another one takes its place, and put the new one there."""
    try:
        if _drafted(file).exists():
            _drafted(file).rename(_marked(file))
            sync_folder(file.parent)
        if old is not None:
            revoked.add(old)
        _marked(file).rename(file)
        sync_folder(file.parent)
    except OSError as error:
        raise BadKeyFile(
            f"{file}: {error.strerror}; the enrolment is in the journal, and the next start finishes it: "
            "free the disk and restart the box"
        ) from error


def settle_enrolments(config: TableConfig) -> list[str]:
    """At a start: finish or undo enrolments that a box before began; return what was done, a sentence each.

    The configuration must be read again if anything was.
    """
    done = []
    for slot in config.slots:
        draft, mark = _drafted(slot.key_file), _marked(slot.key_file)
        try:
            if draft.exists():
                draft.unlink()
                sync_folder(draft.parent)
                done.append(f"{slot.name}: an enrolment that was cut off was undone; {slot.key.serial} still serves")
            if mark.exists():
                new = load_key(mark)
                _finish(Revoked(config.data / REVOKED), None if _same(slot.key, new) else slot.key, slot.key_file)
                done.append(f"{slot.name}: an enrolment that was cut off was finished; {new.serial} serves")
        except OSError as error:
            raise BadKeyFile(f"{slot.key_file}: {error.strerror}; an enrolment waits to be finished") from error
    return done


def _check(box: Box, place: Place, key: DeviceKey) -> None:
    """Raise what is against this key in this slot."""
    assert box.revoked is not None
    box.revoked.check(key, place.name)
    if key.kind != place.kind:
        raise BadKeyFile(f"{place.name} is the place of a {place.kind}; this is the key of a {key.kind}")
    if key.enrolled:
        raise BadKeyFile(f"{key.serial} is enrolled at {key.enrolled}")
    if any(_same(key, own) and own.enrolled for own in place.trust.keys.values()):
        raise BadKeyFile(f"{key.serial} with this key is enrolled as the device of {place.name} already")
    for other in box.plan.places:
        if other.name != place.name and key.serial in other.trust.keys:
            raise SerialTwice(f"{other.name} has the serial number {key.serial}")
