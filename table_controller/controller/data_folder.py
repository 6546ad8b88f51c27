"""A box's folder: its lock, its journal, its socket. Where things lie, and that only one box uses them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BoxRuns, DataFolderUnusable, JournalBusy
from table_controller.journal.store import take_lock

if TYPE_CHECKING:
    from pathlib import Path

JOURNAL: Final = "journal"
SOCKET: Final = "control.sock"
DOSSIERS: Final = "dossiers"
# Made by boxes whose table ran, and by nothing before: a folder that has one of these and no journal had one.
_TRACES: Final = (DOSSIERS, "revoked.json", "revoked.in-journal.json", "uplink.cursor")


def traces(folder: Path) -> tuple[Path, ...]:
    """Return what tells that a table was run from this folder before, journal and anchor apart."""
    return tuple(folder / name for name in _TRACES if (folder / name).exists())


class DataFolder:
    """One table's folder, held by this process until `close`. On a disk that turned read-only nothing can hold it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._lock = -1
        self.read_only = False
        if not folder.is_dir():
            raise DataFolderUnusable(f"{folder} is no folder; make it: mkdir -p {folder}")
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            self.read_only = True
            return
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataFolderUnusable(f"{folder} cannot be written by user {os.geteuid()}")
        try:
            self._lock = take_lock(folder)
        except JournalBusy as busy:
            owner = str(busy).rpartition(": ")[2].removesuffix(" writes this journal")
            raise BoxRuns(f"{folder}: {owner} is a box that uses it") from None
        except OSError as error:
            raise DataFolderUnusable(f"{folder}: {error.strerror}") from error

    @property
    def journal(self) -> Path:
        """Where its journal is."""
        return self.path / JOURNAL

    @property
    def socket(self) -> Path:
        """Where its control socket is."""
        return self.path / SOCKET

    def close(self) -> None:
        """Let another box use it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
