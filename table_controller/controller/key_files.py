"""The key files of a table's devices while an enrolment changes them, and the list of revoked keys of software before.

Which keys are revoked is in the journal (`State.revoked`), and so in its snapshots and its second copy. An enrolment
writes the new key to a draft (`.NAME.new`), then the journal's record, then renames the draft to the key file. If the
box ends in between, the next start asks the journal: recorded, it finishes the enrolment; not recorded, it undoes it.

Software before this one kept revoked keys in `revoked.json`, and marked a recorded enrolment by `.NAME.enrolled`. A
start finishes those marks, takes the list over into the journal and renames it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2s
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import BadKeyFile
from firmware_bridge.keys import DeviceKey, load_key, save_key
from table_controller.journal.tip import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.table.state import State

REVOKED: Final = "revoked.json"
# What `revoked.json` is called once the journal has it.
TAKEN_OVER: Final = "revoked.in-journal.json"


def fingerprint(key: DeviceKey) -> str:
    """Return what tells keys apart and does not help to find one."""
    return blake2s(key.key, person=b"revoked", digest_size=16).hexdigest()


def identity(key: DeviceKey) -> tuple[str, str]:
    """Return what the journal knows a key by: the device's serial number and the key's fingerprint."""
    return key.serial, fingerprint(key)


def same_key(one: DeviceKey, other: DeviceKey) -> bool:
    """Return whether two key files are about one device with one key, enrolled or not."""
    return (one.serial, one.key) == (other.serial, other.key)


# --- the list that boxes once kept ------------------------------------------------------------------------------------


def read_revoked(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the keys of a list that software before this one kept; none if there is no such file."""
    try:
        return tuple(msgspec.json.decode(path.read_bytes(), type=list[tuple[str, str]]))
    except FileNotFoundError:
        return ()
    except (OSError, *UNDECODABLE) as error:
        raise BadKeyFile(f"{path}: {error}") from error


def write_revoked(path: Path, keys: tuple[tuple[str, str], ...]) -> None:
    """Write such a list, for the next start to take over; on disk when this returns."""
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(keys))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    sync_folder(path.parent)


def set_aside(path: Path) -> None:
    """Rename a list that the journal has now. One that stays where it is, is taken over again and changes nothing."""
    with suppress(OSError):
        path.rename(path.with_name(TAKEN_OVER))
        sync_folder(path.parent)


# --- drafts -----------------------------------------------------------------------------------------------------------


def _drafted(file: Path) -> Path:
    return file.with_name(f".{file.name}.new")


def write_draft(file: Path, new: DeviceKey) -> None:
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


def discard_draft(file: Path) -> None:
    """Undo an enrolment that was not recorded."""
    with suppress(OSError):
        _drafted(file).unlink(missing_ok=True)
        sync_folder(file.parent)


def finish_draft(file: Path) -> None:
    """The enrolment is recorded: put the new key in its place."""
    try:
        _drafted(file).rename(file)
        sync_folder(file.parent)
    except OSError as error:
        raise BadKeyFile(
            f"{file}: {error.strerror}; the enrolment is in the journal, and the next start finishes it: "
            "free the disk and restart the box"
        ) from error


def settle_draft(state: State, slot: str, file: Path) -> tuple[DeviceKey | None, str]:
    """At a start: finish or undo an enrolment that was cut off, as the journal has it.

    Return the key that the slot's file has now, if it was finished, and a sentence; "" if nothing was to be done.
    """
    draft = _drafted(file)
    if not draft.exists():
        return None, ""
    try:
        new = load_key(draft)
    except BadKeyFile:  # cut off while it was written, and so before the record
        discard_draft(file)
        return None, f"{slot}: an enrolment that was cut off was undone"
    if state.enrolled.get(slot) != identity(new):
        discard_draft(file)
        return None, f"{slot}: an enrolment that was cut off was undone"
    finish_draft(file)
    return new, f"{slot}: an enrolment that was cut off was finished; {new.serial} serves"


# --- marks of software before -----------------------------------------------------------------------------------------


def _marked(file: Path) -> Path:
    return file.with_name(f".{file.name}.enrolled")


def settle_marks(config: TableConfig) -> list[str]:
    """At a start: finish enrolments that software before this one recorded and marked; a sentence for each.

    The configuration must be read again if there was one.
    """
    done = []
    for slot in config.slots:
        mark = _marked(slot.key_file)
        try:
            if not mark.exists():
                continue
            new, path = load_key(mark), config.data / REVOKED
            if not same_key(slot.key, new):
                write_revoked(path, tuple(dict.fromkeys((*read_revoked(path), identity(slot.key)))))
            mark.rename(slot.key_file)
            sync_folder(slot.key_file.parent)
        except OSError as error:
            raise BadKeyFile(f"{slot.key_file}: {error.strerror}; an enrolment waits to be finished") from error
        done.append(f"{slot.name}: an enrolment that was cut off was finished; {new.serial} serves")
    return done
