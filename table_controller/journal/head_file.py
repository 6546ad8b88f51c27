"""The head file: a small file, named `tip`, with the number and head of the last acknowledged record.

SQLite silently drops the end of a write-ahead log that it cannot read, and accepts a missing log. The head file shows
that records were lost at the end. It is written after every commit without a sync (a commit is one sync), so it may be
older than the journal but never newer; checkpoints sync it. It has two slots in two sectors: a torn write damages only
the older one.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from struct import Struct as Packing
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "tip"
_SLOT: Final = 4096
_CHECK: Final = 16
_MAGIC: Final = b"PBTP"
_PACKED: Final = Packing(">4sQ16sQ32s")


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that new and removed names are on disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class JournalHead(msgspec.Struct, frozen=True):
    """A journal's id, and the number and head of an acknowledged record."""

    journal: bytes
    seq: int
    head: bytes


def _check(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK).digest()


def _slots(data: bytes) -> list[tuple[int, JournalHead]]:
    slots = []
    for start in (0, _SLOT):
        packed = data[start : start + _PACKED.size]
        if len(packed) < _PACKED.size or data[start + _PACKED.size :][:_CHECK] != _check(packed):
            continue
        magic, turn, journal, seq, head = _PACKED.unpack(packed)
        if magic == _MAGIC:
            slots.append((turn, JournalHead(journal, seq, head)))
    return sorted(slots, key=lambda slot: slot[0])


def read_head(folder: Path, name: str = NAME) -> JournalHead | None:
    """Return the newest readable head; None if there is no file. ValueError if neither slot can be read."""
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError:
        return None
    slots = _slots(data)
    if not slots:
        raise ValueError("neither slot of the head file (tip) can be read")
    return slots[-1][1]


def create_head_file(folder: Path, journal: bytes, name: str = NAME) -> None:
    """Create an empty head file; it is complete and synced before it gets its name.

    It is created before the first segment, so a segment without a head file is damage. Its full size is allocated here,
    so that later writes cannot fail on a full disk.
    """
    packed = _PACKED.pack(_MAGIC, 0, journal, 0, bytes(32))
    slot = (packed + _check(packed)).ljust(_SLOT, b"\0")
    draft = folder / f"{name}.new"
    with draft.open("wb") as file:
        file.write(2 * slot)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(folder / name)
    sync_folder(folder)


class HeadFile:
    """The open head file of a running journal."""

    def __init__(self, folder: Path, name: str = NAME) -> None:
        self._fd = os.open(folder / name, os.O_RDWR | os.O_CLOEXEC)
        slots = _slots(os.pread(self._fd, 2 * _SLOT, 0))
        self._turn = slots[-1][0] if slots else 0

    def write(self, tip: JournalHead) -> None:
        """Write the head of an acknowledged record; not synced."""
        self._turn += 1
        packed = _PACKED.pack(_MAGIC, self._turn, tip.journal, tip.seq, tip.head)
        os.pwrite(self._fd, packed + _check(packed), _SLOT * (self._turn % 2))

    def sync(self) -> None:
        """Sync the file to disk."""
        os.fdatasync(self._fd)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
