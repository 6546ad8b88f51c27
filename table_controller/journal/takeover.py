"""The mark that a restore leaves in the copy: from this record on, another box has this table.

Two boxes with the same journal would both pay the same meter. The restored journal ends with a `restored` record, and
the mark names it: the box that has this record is the new one; a box without it is the old one, and locks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import CopyTakenOver, JournalDamaged
from table_controller.journal import reader
from table_controller.journal.head_file import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

NAME: Final = "taken-over"


class TakeoverMark(msgspec.Struct, frozen=True):
    """The `restored` record of the new journal, the people who restored it (credentials by role), and the time."""

    seq: int
    head: str
    by: dict[str, str] = {}
    wall_ns: int = 0


def write_mark(folder: Path, mark: TakeoverMark) -> None:
    """Write the mark into a copy's folder; on disk when this returns."""
    fresh = folder / f"{NAME}.new"
    with fresh.open("wb") as file:
        file.write(msgspec.json.encode(mark))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / NAME)
    sync_folder(folder)


def read_mark(folder: Path) -> TakeoverMark | None:
    """Return the mark in a folder; None if there is none. JournalDamaged if it cannot be read."""
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=TakeoverMark)
    except FileNotFoundError:
        return None
    except (OSError, *UNDECODABLE) as error:
        raise JournalDamaged(f"{folder / NAME}: the takeover mark cannot be read: {error}") from error


def continues_from(mark: TakeoverMark, journal: Path) -> bool:
    """Return whether a journal continues from the restore that a mark names."""
    first, last = reader.bounds(journal)
    if not first <= mark.seq <= last:
        return mark.seq < first  # retired since: the journal continues from it
    record: Record = next(reader.read(journal, mark.seq, mark.seq))
    return record.head.hex() == mark.head


def check_mark(folder: Path, journal: Path) -> None:
    """Raise CopyTakenOver if a folder is marked and the journal does not continue from that restore."""
    mark = read_mark(folder)
    if mark is not None and not continues_from(mark, journal):
        people = " and ".join(f"{role} {credential}" for role, credential in mark.by.items()) or "nobody named"
        raise CopyTakenOver(
            f"{folder} was restored into another box by {people}: that box has this table and its meter from record "
            f"{mark.seq} on, and this box must not play"
        )
