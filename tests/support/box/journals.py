"""Small journals for tests: opened, filled, and copied as a power cut leaves them."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.journal import records as rec
from table_controller.journal.store import Policy, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.journal.chain import NewRecord, Record

DIGESTS: Final = {"software": "aa", "edition": "bb", "configuration": "cc"}
SMALL: Final = Policy(segment_bytes=40_000, ballast_bytes=0)


def open_journal(folder: Path, **more: Any) -> Store:
    """Open a journal, by default with small segments and no ballast."""
    chosen: dict[str, Any] = {"version": 1, "digests": DIGESTS, "policy": SMALL}
    return Store.open(folder, **chosen | more)


def entries(store: Store, count: int, size: int = 20) -> list[NewRecord]:
    """Make entries for this boot."""
    return [("event", 1000 + n, n, store.boot, bytes([n % 256]) * size) for n in range(count)]


def newest(store: Store) -> Record:
    """Return the newest record."""
    last = store.last()
    assert last is not None
    return last


def fill_segments(store: Store, segments: int) -> None:
    """Append records and snapshots until there are so many more segments."""
    until = len(list(store.folder.glob("journal-*.db"))) + segments
    while len(list(store.folder.glob("journal-*.db"))) < until:
        store.append(entries(store, 50, 200))
        store.snapshot(newest(store).seq, b"state %d" % newest(store).seq)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Yield a temporary folder in memory, if possible, so that syncs are fast."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def copy_as_cut(folder: Path, image: Path) -> Path:
    """Copy a journal's files as a killed process leaves them. No process may write meanwhile."""
    shutil.copytree(folder, image)
    for shared in image.glob("*-shm"):  # memory of the process, not of the disk
        shared.unlink()
    return image


def decode_migration(body: bytes) -> rec.MigrationRecord:
    """Return the decoded body of a migration record."""
    return msgspec.json.decode(body, type=rec.MigrationRecord)
