"""The cursor: a small file with the last journal record that the broker has acknowledged.

It may be behind the real acknowledgment (then some events are repeated with their numbers), never ahead of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from table_controller.journal.head_file import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "uplink.cursor"


class Cursor(msgspec.Struct, frozen=True):
    """A place in a journal (id in hex): everything up to record `seq` with head `head` is acknowledged.

    `round` is the last round opened up to there: events name it, and no record does.
    """

    journal: str
    seq: int
    head: str
    round: int


def load_cursor(path: Path) -> Cursor | None:
    """Return the saved cursor; None if there is no readable file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Cursor)
    except (FileNotFoundError, *UNDECODABLE):
        return None


def save_cursor(path: Path, mark: Cursor) -> None:
    """Save a cursor and sync it; call it in a thread. An OSError leaves the old file."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(mark))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    sync_folder(path.parent)
