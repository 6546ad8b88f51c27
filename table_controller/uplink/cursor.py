"""How far the broker has acknowledged the journal: one small file, replaced whole. It knows no broker and no records.

It may be older than the truth (then some events are repeated, with their numbers), never newer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from table_controller.journal.tip import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "uplink.cursor"


class Mark(msgspec.Struct, frozen=True):
    """A place in a journal (its id, in hex): everything up to record `seq`, whose head is `head`, is told.

    `round` is the round that was opened last up to there: events name it, and no record does.
    """

    journal: str
    seq: int
    head: str
    round: int


def load_cursor(path: Path) -> Mark | None:
    """Return where the broker's acknowledgement stands; None if there is no file, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Mark)
    except (FileNotFoundError, *UNDECODABLE):
        return None


def save_cursor(path: Path, mark: Mark) -> None:
    """Keep a mark, synced; for a thread. OSError leaves the mark of before."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("wb") as file:
        file.write(msgspec.json.encode(mark))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    sync_folder(path.parent)
