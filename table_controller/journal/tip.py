"""The tip: a small file that remembers the last acknowledged record beside the database. It knows no records.

SQLite quietly drops the end of a write-ahead log that it cannot read, and is content with a missing one. The tip is
what tells an end that was lost from an end that was never reached. It is written after every commit and not synced (a
commit is one sync), so it may be older than the journal and never newer; checkpoints sync it. Two slots in two
sectors: a torn write spoils the one that is older anyway.
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
    """Bring a folder's list of names to the disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Tip(msgspec.Struct, frozen=True):
    """A journal's id, and the number and head of a record that was acknowledged."""

    journal: bytes
    seq: int
    head: bytes


def _check(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK).digest()


def _slots(data: bytes) -> list[tuple[int, Tip]]:
    found = []
    for start in (0, _SLOT):
        packed = data[start : start + _PACKED.size]
        if len(packed) < _PACKED.size or data[start + _PACKED.size :][:_CHECK] != _check(packed):
            continue
        magic, turn, journal, seq, head = _PACKED.unpack(packed)
        if magic == _MAGIC:
            found.append((turn, Tip(journal, seq, head)))
    return sorted(found, key=lambda slot: slot[0])


def read_tip(folder: Path, name: str = NAME) -> Tip | None:
    """Return the newest readable tip. None: there is no file. ValueError: there is one and neither slot can be read."""
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError:
        return None
    slots = _slots(data)
    if not slots:
        raise ValueError("neither slot of the tip can be read")
    return slots[-1][1]


def create_tip(folder: Path, journal: bytes, name: str = NAME) -> None:
    """Lay a tip that remembers nothing yet, whole and synced before it has its name: an unreadable tip is damage.

    It comes before the first segment, so that a segment without a tip is damage too. All its room is taken here:
    remembering must not fail on a full disk.
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


class TipFile:
    """The open tip of a running journal."""

    def __init__(self, folder: Path, name: str = NAME) -> None:
        self._fd = os.open(folder / name, os.O_RDWR | os.O_CLOEXEC)
        slots = _slots(os.pread(self._fd, 2 * _SLOT, 0))
        self._turn = slots[-1][0] if slots else 0

    def write(self, tip: Tip) -> None:
        """Remember an acknowledged record; not synced."""
        self._turn += 1
        packed = _PACKED.pack(_MAGIC, self._turn, tip.journal, tip.seq, tip.head)
        os.pwrite(self._fd, packed + _check(packed), _SLOT * (self._turn % 2))

    def sync(self) -> None:
        """Bring what was written to the disk."""
        os.fdatasync(self._fd)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
