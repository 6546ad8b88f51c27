"""Maps errors of SQLite and of the operating system to errors of the catalog."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import (
    DiskFailed,
    DiskFull,
    DiskReadOnly,
    JournalBusy,
    JournalDamaged,
    JournalError,
    PitboxError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What reading and writing may raise; some damaged databases cause decoding errors.
STORAGE_ERRORS: Final = (sqlite3.Error, OSError, *UNDECODABLE)
# The primary result code of SQLite; the upper bits hold the extended code.
_PRIMARY: Final = 0xFF
# A disk with less free space (bytes) counts as full: SQLite cannot write a page and its log.
_NO_ROOM: Final = 64 * 1024


def _full(folder: Path) -> bool:
    """Return whether the disk is full. SQLite reports some full disks as an input/output error."""
    try:
        free = os.statvfs(folder)
    except OSError:
        return False
    return free.f_bavail * free.f_frsize < _NO_ROOM


def _read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY) or not os.access(folder, os.W_OK)
    except OSError:
        return False


def to_pitbox_error(error: Exception, folder: Path) -> PitboxError:
    """Return the catalog's error for an error in a folder."""
    if isinstance(error, PitboxError):
        return error
    if isinstance(error, OSError):
        return _of_system(error, folder)
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _full(folder)):
        return DiskFull(f"{folder}: no room left ({error})")
    if code == sqlite3.SQLITE_READONLY or (code == sqlite3.SQLITE_CANTOPEN and _read_only(folder)):
        return DiskReadOnly(f"{folder} cannot be written ({error})")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return JournalBusy(f"{folder}: another process uses the database ({error})")
    if code == sqlite3.SQLITE_IOERR:
        return DiskFailed(f"{folder}: {error} ({getattr(error, 'sqlite_errorname', 'unknown')})")
    if code == sqlite3.SQLITE_CANTOPEN:
        return JournalError(f"{folder}: the database cannot be opened ({error})")
    if isinstance(error, (sqlite3.Error, *UNDECODABLE)):
        # Not a database of this software, or columns of other types than were written.
        return JournalDamaged(f"{folder}: the database cannot be read ({error})")
    raise error


def _of_system(error: OSError, folder: Path) -> PitboxError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"{folder}: no room left ({error.strerror})")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return DiskReadOnly(f"{folder} cannot be written ({error.strerror})")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return JournalError(f"{folder}: {error.strerror}")
    return DiskFailed(f"{folder}: {error.strerror or error}")


@contextmanager
def map_errors(folder: Path) -> Iterator[None]:
    """Raise storage errors inside the block as errors of the catalog."""
    try:
        yield
    except STORAGE_ERRORS as error:
        raise to_pitbox_error(error, folder) from error
