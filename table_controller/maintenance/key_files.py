"""The key files of the devices of a table during an enrollment, and the list of revoked keys of earlier software.

The journal has the revoked keys (`State.revoked`). An enrollment writes the new key to a draft (`.NAME.new`), then its
record to the journal, then renames the draft to the key file. If the box ends in between, the next start looks into the
journal: it finishes a recorded enrollment and undoes any other.

Earlier software kept revoked keys in `revoked.json` and marked a recorded enrollment with `.NAME.enrolled`. A start
finishes the marked enrollments, copies the list to the journal and renames it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2s
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import BadKeyFile
from firmware_bridge.keys import DeviceKey, load_key, save_key
from table_controller.journal.head_file import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig
    from table_controller.table.state import TableState

FORMER_LIST: Final = "revoked.json"
# The name of `revoked.json` when the journal has its keys.
RETIRED_LIST: Final = "revoked.in-journal.json"


def fingerprint(key: DeviceKey) -> str:
    """Return a digest that identifies a key without revealing it."""
    return blake2s(key.key, person=b"revoked", digest_size=16).hexdigest()


def identity(key: DeviceKey) -> tuple[str, str]:
    """Return how the journal names a key: the serial number of the device and the fingerprint of the key."""
    return key.serial, fingerprint(key)


def is_same_key(one: DeviceKey, other: DeviceKey) -> bool:
    """Return whether two key files have the same device and the same key, enrolled or not."""
    return (one.serial, one.key) == (other.serial, other.key)


# --- the list of earlier software -------------------------------------------------------------------------------------


def read_former_list(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the keys in the list of earlier software; none if there is no list."""
    try:
        return tuple(msgspec.json.decode(path.read_bytes(), type=list[tuple[str, str]]))
    except FileNotFoundError:
        return ()
    except (OSError, *UNDECODABLE) as error:
        raise BadKeyFile(f"{path}: {error}") from error


def write_former_list(path: Path, keys: tuple[tuple[str, str], ...]) -> None:
    """Write such a list for the next start; it is on disk when this returns."""
    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(keys))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    sync_folder(path.parent)


def retire_former_list(path: Path) -> None:
    """Rename a list that the journal has. If that fails, the next start copies it again, which changes nothing."""
    with suppress(OSError):
        path.rename(path.with_name(RETIRED_LIST))
        sync_folder(path.parent)


# --- drafts -----------------------------------------------------------------------------------------------------------


def _drafted(file: Path) -> Path:
    return file.with_name(f".{file.name}.new")


def write_draft(file: Path, new: DeviceKey) -> None:
    """Write the new key next to the old one; raise BadKeyFile, with nothing changed, if that fails."""
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
        raise BadKeyFile(f"{draft}: {error.strerror}; nothing was enrolled, and the old key is still valid") from error


def discard_draft(file: Path) -> None:
    """Undo an enrollment that was not recorded."""
    with suppress(OSError):
        _drafted(file).unlink(missing_ok=True)
        sync_folder(file.parent)


def finish_draft(file: Path) -> None:
    """Put the new key in place, after the enrollment is recorded."""
    try:
        _drafted(file).rename(file)
        sync_folder(file.parent)
    except OSError as error:
        raise BadKeyFile(
            f"{file}: {error.strerror}; the enrollment is in the journal, and the next start finishes it: "
            "make room on the disk and restart the box"
        ) from error


def settle_draft(state: TableState, slot: str, file: Path) -> tuple[DeviceKey | None, str]:
    """At a start, finish an interrupted enrollment if the journal has it, otherwise undo it.

    Return the new key if it was finished, and a sentence; None and "" if there was nothing to do.
    """
    draft = _drafted(file)
    if not draft.exists():
        return None, ""
    try:
        new = load_key(draft)
    except BadKeyFile:  # interrupted during the write, and so before the record
        discard_draft(file)
        return None, f"{slot}: an interrupted enrollment was undone"
    if state.enrolled.get(slot) != identity(new):
        discard_draft(file)
        return None, f"{slot}: an interrupted enrollment was undone"
    finish_draft(file)
    return new, f"{slot}: an interrupted enrollment was finished; {new.serial} is enrolled"


# --- marks of earlier software ----------------------------------------------------------------------------------------


def _marked(file: Path) -> Path:
    return file.with_name(f".{file.name}.enrolled")


def finish_former_enrollments(config: TableConfig) -> list[str]:
    """At a start, finish the enrollments that earlier software marked; return a sentence for each.

    The caller must read the configuration again if there was one.
    """
    done = []
    for slot in config.slots:
        mark = _marked(slot.key_file)
        try:
            if not mark.exists():
                continue
            new, path = load_key(mark), config.data / FORMER_LIST
            if not is_same_key(slot.key, new):
                write_former_list(path, tuple(dict.fromkeys((*read_former_list(path), identity(slot.key)))))
            mark.rename(slot.key_file)
            sync_folder(slot.key_file.parent)
        except OSError as error:
            raise BadKeyFile(f"{slot.key_file}: {error.strerror}; an enrollment is not finished") from error
        done.append(f"{slot.name}: an interrupted enrollment was finished; {new.serial} is enrolled")
    return done
