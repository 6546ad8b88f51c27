"""The ballast: a file that reserves disk space, deleted when the disk is full so that the journal can record that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from table_controller.journal.head_file import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "ballast"
# Allocated only if at least this many times its size is free, so that the ballast itself never fills the disk.
_SPARE: Final = 2


class Ballast:
    """Reserved disk space. `is_allocated`: the file exists and can be freed."""

    def __init__(self, folder: Path, size: int) -> None:
        self._path = folder / NAME
        self._size = size
        self.is_allocated = False

    def allocate(self) -> bool:
        """Allocate the file if the disk has enough space. Returns whether it is allocated."""
        if not self._size:
            return False
        self.is_allocated = self._path.exists()
        if self.is_allocated and self._path.stat().st_size == self._size:
            return True
        free = os.statvfs(self._path.parent)
        if free.f_bavail * free.f_frsize < _SPARE * self._size:
            return self.is_allocated
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
        try:
            os.ftruncate(fd, 0)
            os.posix_fallocate(fd, 0, self._size)
            os.fsync(fd)
        except OSError:
            self._path.unlink(missing_ok=True)
            self.is_allocated = False
            return False
        finally:
            os.close(fd)
        sync_folder(self._path.parent)
        self.is_allocated = True
        return True

    def free(self) -> bool:
        """Delete the file. Returns whether there was one."""
        self.is_allocated = False
        if not self._path.exists():
            return False
        self._path.unlink()
        sync_folder(self._path.parent)
        return True
