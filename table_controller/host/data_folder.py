"""The data folder of a box: its lock and the paths in it. Only one box can use it at a time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BoxAlreadyRunning, DataFolderUnusable, JournalBusy
from table_controller.diagnosis.fault_report_store import FOLDER, FORMER_FOLDER, folder_in, rename_former_folder
from table_controller.journal.store import lock_folder

if TYPE_CHECKING:
    from pathlib import Path

JOURNAL: Final = "journal"
SOCKET: Final = "control.sock"
# Only a box whose table ran creates these: a folder with one of them and no journal has lost its journal.
_TRACES: Final = (FOLDER, FORMER_FOLDER, "revoked.json", "revoked.in-journal.json", "uplink.cursor")


def former_files(folder: Path) -> tuple[Path, ...]:
    """Return the files, other than journal and anchor, that show that a table ran from this folder."""
    return tuple(folder / name for name in _TRACES if (folder / name).exists())


class DataFolder:
    """The folder of one table, locked by this process until `close`; a read-only disk cannot be locked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._lock = -1
        self.is_read_only = False
        if not folder.is_dir():
            raise DataFolderUnusable(f"{folder} is not a folder; create it: mkdir -p {folder}")
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            self.is_read_only = True
            return
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DataFolderUnusable(f"{folder} cannot be written by user {os.geteuid()}")
        try:
            self._lock = lock_folder(folder)
        except JournalBusy as busy:
            owner = str(busy).rpartition(": ")[2].removesuffix(" writes this journal")
            raise BoxAlreadyRunning(f"{folder}: another box uses it: {owner}") from None
        except OSError as error:
            raise DataFolderUnusable(f"{folder}: {error.strerror}") from error
        rename_former_folder(folder)

    @property
    def journal(self) -> Path:
        """The folder of the journal."""
        return self.path / JOURNAL

    @property
    def fault_reports(self) -> Path:
        """The folder of fault reports."""
        return folder_in(self.path)

    @property
    def socket(self) -> Path:
        """The path of the control socket."""
        return self.path / SOCKET

    def close(self) -> None:
        """Let another box use it."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
