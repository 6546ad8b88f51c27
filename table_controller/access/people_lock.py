"""The lock of the people file: one process at a time changes it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firmware_bridge.errors import BadPeopleFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def lock_people_file(path: Path) -> Iterator[None]:
    """Lock the file against other processes. The lock is a separate file, because the people file is replaced."""
    if not path.parent.is_dir():
        raise BadPeopleFile(f"{path}: the folder {path.parent} is missing")
    lock = path.with_name(f".{path.name}.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BadPeopleFile(f"{lock}: {error.strerror}") from error
    try:
        if os.geteuid() == 0:  # so that the box, which runs as another user, can lock it too
            owner = (path if path.exists() else path.parent).stat()
            os.fchown(handle, owner.st_uid, owner.st_gid)
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
